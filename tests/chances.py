"""What chance allows: from exact laws, where few runs are too few for a normal one."""

from scipy.stats import binom

ALARM = 1e-6  # the chance of a false alarm


def fewest(of: int, share: float = 0.95, alarm: float = ALARM) -> int:
    """So many of `of` intervals must cover: fewer do with a chance below `alarm` where each does with `share`."""
    return int(binom.ppf(alarm, of, share))
