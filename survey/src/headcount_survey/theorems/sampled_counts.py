"""Sampled counts, shown from a threshold on: what one holder more or less gives away."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import comb

from flint import arb

from headcount.proof.ball_laws import ball
from headcount_survey.theorems.tails import above


def mass(k: int, rate: Fraction, v: int) -> Fraction:
    return comb(k, v) * rate**v * (1 - rate) ** (k - v)


@lru_cache(maxsize=4096)
def one_more(rate: Fraction, threshold: int, factor: Fraction) -> arb:
    """delta of one holder more, for the worst number k of them.

    The ratio exceeds the factor from v = (k + 1) q on, q = 1 - (1 - rate) / factor. A tail that far
    out has a chance of at most exp(-(k + 1) KL), KL the divergence of q from the rate: the search
    ends where that is less than was found.
    """
    q = 1 - (1 - rate) / factor
    gap = ball(q) * ball(q / rate).log() + ball(1 - q) * ball((1 - q) / (1 - rate)).log()
    chance, worst, k = ball(rate), arb(0), threshold - 1
    while not (-(k + 1) * gap).exp() < worst:
        first = max(threshold, -(-((k + 1) * q.numerator) // q.denominator))
        worst = worst.max(above(k + 1, chance, first) - ball(factor) * above(k, chance, first))
        k += 1
    return worst


def shown_counts(k: int, rate: Fraction, threshold: int) -> list[Fraction]:
    """The law of the shown count of a bucket with k holders; suppression comes first."""
    hidden = sum((mass(k, rate, v) for v in range(min(threshold, k + 1))), Fraction(0))
    return [hidden, *(mass(k, rate, v) for v in range(threshold, k + 1))]


def excess(first: list[Fraction], second: list[Fraction], factor: Fraction) -> Fraction:
    """The divergence of the first law from the second."""
    pairs = zip(*same_length(first, second), strict=True)
    return sum((max(a - factor * b, Fraction(0)) for a, b in pairs), Fraction(0))


def same_length(first: list[Fraction], second: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    wide = max(len(first), len(second))
    a, b = (law + [Fraction(0)] * (wide - len(law)) for law in (first, second))
    return a, b


def one_fewer(rate: Fraction, threshold: int, factor: Fraction) -> Fraction:
    """delta of one holder fewer, among not too many."""
    laws = [shown_counts(k, rate, threshold) for k in range(max(0, threshold - 1), 4 * threshold + 8)]
    return max(excess(fewer, more, factor) for fewer, more in pairwise(laws))
