"""Every number of others who hold one of two values, in stretches.

What is seen of some people tells no less than what is seen of them and of others whom nothing is
known about. So all numbers from k to k + length - 1 are covered by k, without the people who differ
within the stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from headcount.proof.divergence import Bounds, worst_of
from headcount.proof.effort import TooLarge

MOST = 40_000  # stretches

Found = dict[Fraction, Bounds]  # at each epsilon
At = Callable[[int, int], Found]  # with k who hold the one value, of this many others


def every_number(
    others: int, claimed: Mapping[Fraction, Fraction], at: At, covered: At, first_length: int, unit: int = 1
) -> Found:
    """Bounds for the worst number: first the ends, where a claim fails if it does, then stretches.

    Each stretch is as long as stays within the claim. `covered` may be quicker than `at` and have
    no lower bound; only multiples of `unit` are numbers that a crowd can have.
    """
    ends = [at(k, others) for k in {0, others}]
    found = {epsilon: worst_of(end[epsilon] for end in ends) for epsilon in claimed}
    if any(found[epsilon].low > delta for epsilon, delta in claimed.items()):
        return found
    first, length, worst = 0, max(1, first_length), dict[Fraction, int]()
    for _ in range(MOST):
        length = min(length, others - first + 1)
        here = covered(first, others - length + 1)
        if length > 1 and any(here[epsilon].high > delta for epsilon, delta in claimed.items()):
            length = max(1, length * 3 // 4)
            continue
        for epsilon, bounds in here.items():
            if bounds.high > found[epsilon].high:
                worst[epsilon] = first - first % unit
            low = bounds.low if length == 1 and first % unit == 0 else Fraction(0)
            found[epsilon] = worst_of([found[epsilon], replace(bounds, low=low)])
        first, length = first + length, max(length + 1, length * 9 // 8)
        if first > others:
            return {e: worst_of([found[e], at(worst.get(e, 0), others)[e]]) for e in found}
    raise TooLarge(f"{MOST:,} totals were not enough to cover every number of ones")
