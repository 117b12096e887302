"""The views of a few people behind a shuffler, for any randomiser with finitely many outcomes:
multisets, in integers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import TypeAlias

from headcount.audit.enumeration import Held, crowds

PLACE = 16  # bits for how often a message occurs

View: TypeAlias = Mapping[int, int]  # how much each multiset of messages weighs; a multiset is packed into an integer
Factor: TypeAlias = Fraction | float  # a double only if it is infinite


def multiset(*times: int) -> int:
    """How often each message is sent."""
    return sum(count << PLACE * i for i, count in enumerate(times))


@dataclass(frozen=True, eq=False)
class Randomiser:
    """A randomiser: for each value the weights of its messages, all in parts of the same total."""

    reports: tuple[View, ...]

    @classmethod
    def single(cls, rows: Sequence[Sequence[int]]) -> Randomiser:
        """One message each: a row of weights for each value."""
        return cls(tuple({1 << PLACE * i: w for i, w in enumerate(row) if w} for row in _alike(rows)))

    @property
    def total(self) -> int:
        return sum(self.reports[0].values())

    @cached_property
    def _known(self) -> dict[Held, View]:
        return {}

    def view(self, held: Held) -> View:
        """The view of a crowd with these numbers of holders, in parts of total**people."""
        if not any(held):
            return {0: 1}
        if held not in self._known:
            last = max(value for value, people in enumerate(held) if people)
            fewer = self.view(tuple(people - (value == last) for value, people in enumerate(held)))
            weights: defaultdict[int, int] = defaultdict(int)
            for seen, weight in fewer.items():
                for sent, more in self.reports[last].items():
                    weights[seen + sent] += weight * more
            self._known[held] = dict(weights)
        return self._known[held]

    def neighbours(self, people: int) -> Iterator[tuple[Held, Held]]:
        for others in crowds(len(self.reports), people - 1):
            every = [tuple(k + (i == value) for i, k in enumerate(others)) for value in range(len(self.reports))]
            yield from permutations(every, 2)

    def factor(self, people: int) -> Factor:
        """e**epsilon at delta 0: the largest ratio of neighbours' views. Of one person: local."""
        worst = Fraction(1)
        for first, second in self.neighbours(people):
            here, there = self.view(first), self.view(second)
            if here.keys() - there.keys():
                return math.inf
            top, bottom = _steepest(here, there)
            if top * worst.denominator > worst.numerator * bottom:
                worst = Fraction(top, bottom)
        return worst

    def telling(self, people: int) -> int:
        """The number of views of a crowd of this size that are impossible for its neighbour."""
        return sum(len(self.view(first).keys() - self.view(second).keys()) for first, second in self.neighbours(people))

    def delta(self, people: int, factor: Fraction) -> Fraction:
        """The delta of the guarantee with this e**epsilon."""
        p, q = factor.numerator, factor.denominator
        worst = 0
        for first, second in self.neighbours(people):
            here, there = self.view(first), self.view(second)
            worst = max(worst, sum(max(0, q * w - p * there.get(seen, 0)) for seen, w in here.items()))
        return Fraction(worst, q * self.total**people)


def _steepest(here: View, there: View) -> tuple[int, int]:
    """The largest ratio."""
    top, bottom = 1, 1
    for seen, weight in here.items():
        other = there[seen]
        if weight * bottom > top * other:
            top, bottom = weight, other
    return top, bottom


def _alike(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The same chances with the same total in every row."""
    total = math.lcm(*(sum(row) for row in rows))
    return [[w * (total // sum(row)) for w in row] for row in rows]
