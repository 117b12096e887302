"""Small laws for the checks: binomial masses, likelihood ratios in fractions, divergences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from headcount.privacy.laws import binomial_masses
from headcount.programme.law import Floats

Word: TypeAlias = tuple[Any, ...]
Exact: TypeAlias = Mapping[Word, Fraction]


def binomial(n: int, chance: float) -> Floats:
    """P[Bin(n, chance) = 0 .. n]."""
    return binomial_masses(np.arange(n + 1.0), float(n), chance, 1.0 - chance)


def tail(n: int, chance: float, least: float) -> float:
    """P[Bin(n, chance) >= least]."""
    return float(binomial(n, chance)[max(0, math.ceil(least)) :].sum())


def ratios(masses: Floats, shift: int) -> Floats:
    """P[Y = y] / P[Y = y + shift] at every y; infinite where the second is impossible."""
    places = np.arange(masses.size) + shift
    inside = (places >= 0) & (places < masses.size)
    moved = np.where(inside, masses[np.clip(places, 0, masses.size - 1)], 0.0)
    with np.errstate(divide="ignore"):
        return np.where(moved > 0.0, masses / np.where(moved > 0.0, moved, 1.0), np.inf)


def smoothness(masses: Floats, epsilon: float, k: int) -> float:
    """The smallest delta for which the law is (epsilon, delta, k)-smooth, shifts by 0 left out."""
    shifts = [shift for shift in range(-k, k + 1) if shift]
    return max(float(masses[ratios(masses, s) >= math.exp(abs(s) * epsilon)].sum()) for s in shifts)


def divergence(p: Floats, q: Floats, epsilon: float) -> float:
    """The larger of the two hockey-stick divergences."""
    factor = math.exp(epsilon)
    return float(max(np.maximum(p - factor * q, 0.0).sum(), np.maximum(q - factor * p, 0.0).sum()))


def shifted(masses: Floats, epsilon: float) -> float:
    """The exact delta of a count with this noise added."""
    return divergence(np.append(masses, 0.0), np.append(0.0, masses), epsilon)


def two_cells(masses: Floats, epsilon: float) -> float:
    """The exact delta of two counts with own noise, where one person moves between them."""
    a, b = np.append(masses, 0.0), np.append(0.0, masses)
    return divergence(a[:, None] * b[None, :], b[:, None] * a[None, :], epsilon)


def mass_ratio(n: int, chance: Fraction, y: int, shift: int) -> Fraction:
    """P[Bin = y] / P[Bin = y + shift], exactly."""
    first, second = (math.comb(n, v) * chance**v * (1 - chance) ** (n - v) for v in (y, y + shift))
    return first / second


def sequences(reports: Sequence[Exact]) -> dict[Word, Fraction]:
    """The law of everybody's report, in order."""
    laws: dict[Word, Fraction] = {}
    for choice in itertools.product(*(law.items() for law in reports)):
        laws[tuple(value for value, _ in choice)] = math.prod((mass for _, mass in choice), start=Fraction(1))
    return laws


def shuffled(reports: Sequence[Exact]) -> dict[Word, Fraction]:
    """The law of the multiset of all messages; a report is a tuple of messages."""
    view: dict[Word, Fraction] = {(): Fraction(1)}
    for law in reports:
        grown: dict[Word, Fraction] = {}
        for seen, chance in view.items():
            for report, mass in law.items():
                word = tuple(sorted((*seen, *report)))
                grown[word] = grown.get(word, Fraction(0)) + chance * mass
        view = grown
    return view


def pure_epsilon(p: Exact, q: Exact) -> float:
    """The largest log ratio in either direction."""
    if {key for key, mass in p.items() if mass} != {key for key, mass in q.items() if mass}:
        return math.inf
    return max(abs(math.log(p[key] / q[key])) for key, mass in p.items() if mass)
