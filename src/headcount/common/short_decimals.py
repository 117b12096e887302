"""Short decimals: what is written down comes out the same on every machine.

Calibration ends in a float whose last bits depend on the processor, because exponentials and
logarithms differ there. A setting is therefore moved, toward more privacy, to the decimal with the
fewest digits nearby. That costs one part in 2048 of noise at the most. Claims are rounded up to a
few digits for the same reason.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

NEAR = 2.0**-11  # how far a setting may move, as a part of the way to the nearer end of its range
AT_END = 1e-9  # how far the accurate end may, as a part of its distance from 0 and 1
CLAIMED = 4  # significant digits of a delta that is claimed
COMPARED = 6  # significant digits by which errors are compared
WIDER = 1 + Decimal("1e-9")  # more than a claim's own rounding errors
LAST_BITS = 1e-15  # about four units in the last place
_EXACT, _MANY = Context(prec=2_000), Context(prec=50)


def shortest(start: float, end: float) -> float:
    """The decimal with the fewest digits from `start` to `end`; of several, nearest to `start`."""
    if start == end:
        return start
    rounding = ROUND_CEILING if end > start else ROUND_FLOOR
    origin = Decimal(repr(float(start)))
    first, last = sorted((origin, Decimal(repr(float(end)))))
    exponent = max(first.copy_abs(), last.copy_abs()).adjusted() + 1
    while True:
        candidate = origin.quantize(Decimal(1).scaleb(exponent), rounding, _EXACT)
        if first <= candidate <= last:
            return float(candidate)
        exponent -= 1


def shortened(value: float, accurate: float, private: float) -> float:
    """The shortest decimal a little closer to the `private` end of the range than `value` is."""
    room = room_around(value, accurate, private)
    if value == accurate:  # an end, whose last bits are a machine's own
        room = AT_END * min(abs(value), abs(1.0 - value), abs(private - value))
    return shortest(value, value + room if private > accurate else value - room)


def settled(value: float) -> float:
    """The short decimal next to a value that differs from it in its last bits only, or the value.

    So exp(log(0.5)) is one half.
    """
    short = compared(value)
    return short if math.isclose(value, short, rel_tol=LAST_BITS) else value


def room_around(value: float, accurate: float, private: float) -> float:
    """How far a setting may move between the ends of its range."""
    return NEAR * min(abs(value - accurate), abs(private - value))


def rounded_up(value: float, digits: int = CLAIMED, finest: float = 0.0) -> float:
    """The value rounded up to this many significant digits, none finer than `finest`.

    What is a short decimal but for its last bits, which may be on either side of it, has the next
    one.
    """
    written = Decimal(repr(float(value))) * WIDER
    if not written:
        return 0.0
    last = Decimal(1).scaleb(max(written.adjusted() - digits + 1, Decimal(repr(finest)).adjusted() if finest else -400))
    return float(written.quantize(last, ROUND_CEILING, _EXACT))


def rounded_down(value: float, digits: int = CLAIMED) -> float:
    """The value rounded down to this many significant digits."""
    written = Decimal(repr(float(value))) / WIDER
    return float(written.quantize(Decimal(1).scaleb(written.adjusted() - digits + 1), ROUND_FLOOR, _EXACT))


def decayed(rate: float) -> float:
    """e^-rate, one step above the nearest float; no machine's own exponential is asked."""
    return math.nextafter(float(_MANY.exp(-Decimal(rate))), 1.0)


def log_of_rest(part: float) -> float:
    """ln(1 - part), the nearest float; no machine's own logarithm is asked."""
    return float(_MANY.ln(1 - Decimal(part)))


def compared(error: float, beside: float = 0.0) -> float:
    """An error rounded to the digits by which errors are compared and shown.

    What stands `beside` a larger number, as a bias does beside an error, has its last digit where
    that one has.
    """
    if not (math.isfinite(error) and math.isfinite(beside)):
        return error
    exact, most = Decimal(error), max(Decimal(error).copy_abs(), Decimal(beside).copy_abs())
    return float(exact.quantize(Decimal(1).scaleb(most.adjusted() - COMPARED + 1), context=_EXACT) + 0) if most else 0.0
