"""Does the time of one draw of noise tell how large it is? Prints |correlation| beside that of a sampler with a loop.

python benchmarks/draws.py [--draws 100000]
"""

from __future__ import annotations

import argparse

from headcount.programme.chance import Chance
from headcount.programme.coins import Coins
from headcount.protocols import named
from work import clocked, noise_of


def by_flips(coins: Coins) -> int:
    """Geometric noise from a loop that runs once for every step of it."""
    steps = 0
    while coins.bernoulli(Chance(0.75), 1)[0]:
        steps += 1
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100_000)
    draws = parser.parse_args().draws
    contenders = {
        f"{name}, {tiny.task.name}": noise_of(tiny)
        for name in ("geometric", "laplace")
        for tiny in named(name).tinies()
    }
    for what, draw in {**contenders, "a loop": by_flips}.items():
        work = clocked(draw, draws=draws)
        print(f"{what:<22} |correlation| {abs(work.correlation):.4f}, by chance up to {4.0 / draws**0.5:.4f}")


if __name__ == "__main__":
    main()
