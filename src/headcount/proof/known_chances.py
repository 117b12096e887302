"""The chances of messages under two values, for reports known without listing every message."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

from headcount.proof.compared_values import Chances
from headcount.proof.effort import spend


def of_response(lie: Fraction, kinds: int) -> Chances:
    """The chances where any of the messages is sent with chance `lie`, the own one otherwise."""
    other = lie / kinds
    own = 1 - lie + other
    chances: Chances = Counter({(own, other, other): 1, (other, own, other): 1})
    chances[other, other, other] += kinds - 2
    return chances


def of_windows(likely: Fraction, inside: int, outside: int) -> Chances:
    """The chances under the first and last window, which overlap least: others tell no more."""
    within, without = likely / inside, (1 - likely) / outside
    less, apart = min(within, without), min(inside, outside)
    chances: Chances = Counter({(within, without, less): apart, (without, within, less): apart})
    neither = (within, within, within) if inside > outside else (without, without, less)
    chances[neither] += abs(inside - outside)
    return chances


def of_row(off: Fraction, on: Fraction) -> Chances:
    """The chances of the bits at the two values; all other bits cancel."""
    chances: Chances = Counter()
    less = min(chance / usual for chance, usual in ((on, off), (1 - on, 1 - off)) if usual)  # of any row
    for first, second in product((0, 1), repeat=2):
        p = (on if first else 1 - on) * (off if second else 1 - off)
        q = (off if first else 1 - off) * (on if second else 1 - on)
        chances[p, q, less * (off if first else 1 - off) * (off if second else 1 - off)] += 1
    return chances


def of_subset(width: int, size: int, likely: Fraction) -> Chances:
    """The chances of sets that hold one of two values, the other, both or neither."""
    spend(width)
    inside, outside = (
        weight / comb(width - 1, chosen) if 0 <= chosen <= width - 1 else Fraction(0)
        for weight, chosen in ((likely, size - 1), (1 - likely, size))
    )
    less = min(inside, outside)
    one, both, none = (comb(width - 2, chosen) if chosen >= 0 else 0 for chosen in (size - 1, size - 2, size))
    chances: Chances = Counter({(inside, outside, less): one})
    for p, q, times in ((outside, inside, one), (inside, inside, both), (outside, outside, none)):
        chances[p, q, less] += times
    return chances
