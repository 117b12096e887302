"""A lower bound on delta from one integer statistic of the view, for crowds of any size.

Every message has a score of -1, 0 or 1: whether people who hold the last value send more of its
kind than those who hold the first, as many, or fewer. The sum of the scores is post-processing of
the view, and its law is a convolution of people's own. It loses no more than the whole view does,
so that a smaller claim is refuted. In the central and threshold models the statistic is the first
or the last released total.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, repeat
from typing import Any

import numpy as np

from headcount.audit.conformance.outcomes import outcome_bound
from headcount.audit.enumeration import Enumerated
from headcount.programme.brick import All, Brick, Copies, Each, Emit, Let, Maybe
from headcount.programme.field import Field, Names
from headcount.programme.law import Law
from headcount.programme.report_law import WHOLE, Message
from headcount.programme.table import Table
from headcount.protocols.base.protocol import Protocol

FEW = 64  # different messages, or things that a brick of many parts may send
WIDE = 1 << 12  # outcomes of a number of copies
WIDEST = 2_000  # people, by which the scores of a crowd may spread
WORK = 20_000  # bricks that are gone through for one report
SURE = 1e-9  # relative, of a mass: a million convolutions of doubles
NOTHING = Law(0, np.ones(1))

Score = Callable[[Message], int]


class TooSpread(Exception):
    """A report has too many outcomes for the law of its score to be computed."""


class Scores:
    """The law of the sum of the scores of a brick's messages."""

    def __init__(self, score: Score) -> None:
        self.score, self._steps = score, 0

    def of(self, brick: Any, names: Names) -> Law:
        self._steps += 1
        if self._steps > WORK:
            raise TooSpread
        match brick:
            case Emit():
                return NOTHING.shifted(self.score(tuple(int(field.at(names)) for field in brick.fields)))
            case All():
                return _together(self.of(part, names) for part in brick.parts)
            case Maybe():
                yes = float(brick.chance)
                return _mixed([(yes, self.of(brick.then, names)), (1.0 - yes, self.of(brick.otherwise, names))])
            case Copies(amount=Field() as amount):
                return self.of(brick.brick, names).power(int(amount.at(names)))
            case Copies(amount=Table() as table):
                once = self.of(brick.brick, names)
                if once.masses.size * len(table.masses) > WIDE:
                    raise TooSpread
                powers = accumulate(repeat(once, len(table.masses) - 1), Law.__add__, initial=NOTHING)
                return _mixed([(mass / WHOLE, power) for mass, power in zip(table.masses, powers, strict=True)])
            case Let():
                drawn = brick.source.law(names)
                whole = sum(weight for _, weight in drawn)
                return _mixed([(w / whole, self.of(brick.brick, {**names, brick.name: v})) for v, w in drawn])
            case Each():
                return _together(self.of(brick.brick, {**names, brick.name: i}) for i in range(brick.times))
            case _:
                return self._listed(brick, names)

    def _listed(self, brick: Brick, names: Names) -> Law:
        """The law of the score of a brick whose messages have many fields."""
        if outcome_bound(brick, names) > FEW:
            raise TooSpread
        law = brick.law(names)
        return _mixed(
            [
                (mass / law.total, NOTHING.shifted(sum(times * self.score(message) for message, times in sent)))
                for sent, mass in law.masses.items()
            ]
        )


def _together(laws: Iterable[Law]) -> Law:
    return reduce(Law.__add__, laws, NOTHING)


def _mixed(parts: list[tuple[float, Law]]) -> Law:
    return reduce(Law.__or__, (law.weighed(weight) for weight, law in parts if weight))


@dataclass(frozen=True)
class ScalarProjection:
    """A protocol of which one integer statistic is observed."""

    protocol: Protocol

    @property
    def _ends(self) -> tuple[int, int]:
        return 0, self.protocol.task.values - 1

    @cached_property
    def _more(self) -> dict[Message, float]:
        """The difference in each message's mean number between the last and the first value."""
        seen, more = set[Message](), dict[Message, float]()

        def note(message: Message) -> int:
            seen.add(message)
            return 0

        for value in self._ends:
            Scores(note).of(self.protocol.programme, {"value": value})
        if len(seen) > FEW:
            raise TooSpread
        for message in seen:
            first, last = (self._report(value, message.__eq__) for value in self._ends)
            more[message] = last.mean - first.mean
        return more

    def _report(self, value: int, score: Score) -> Law:
        return Scores(score).of(self.protocol.programme, {"value": value})

    def _scores(self) -> Iterator[Score]:
        if self.protocol.model.releases:
            enumerated = Enumerated(self.protocol)
            yield from map(enumerated.adds_to, {0, self.protocol.nobody().totals.size - 1})
            return
        signs = {message: int(np.sign(more)) * (abs(more) > SURE) for message, more in self._more.items()}
        if any(signs.values()):
            yield lambda message: signs.get(message, 0)
            yield lambda message: int(signs.get(message, 0) > 0)

    def delta(self, epsilon: float) -> tuple[float, str]:
        """The largest delta that is surely exceeded, and in which crowd."""
        others, worst = self.protocol.crowd.honest - 1, (0.0, "")
        for score in self._scores():
            first, last = (self._report(value, score) for value in self._ends)
            if others * max(first.variance, last.variance) > WIDEST**2:
                raise TooSpread
            for holders in _grid(others):
                rest = last.power(holders) + first.power(others - holders)
                one, other = (self._released(law) for law in self._neighbours(rest, first, last))
                found = max(_excess(one, other, epsilon), _excess(other, one, epsilon))
                worst = max(worst, (found, f"of {others:,} others {holders:,} hold the last value"))
        return worst

    def _neighbours(self, rest: Law, first: Law, last: Law) -> tuple[Law, Law]:
        private = self.protocol.neighbours.hides_size
        return (rest if private else rest + first), rest + last

    def _released(self, law: Law) -> Law:
        if not self.protocol.model.releases:
            return law
        if law.masses.size > WIDE:
            raise TooSpread
        shown: Counter[int] = Counter()
        dropped = law.dropped
        for total, mass in zip(law.values.tolist(), law.masses.tolist(), strict=True):
            released = self.protocol.released().law(total)
            dropped += mass * ((WHOLE - sum(released.values())) / WHOLE)
            for outcome, part in released.items():
                shown[outcome] += mass * (part / WHOLE)
        start = min(shown)
        return Law(start, np.array([shown[k] for k in range(start, max(shown) + 1)]), dropped)


def _excess(p: Law, q: Law, epsilon: float) -> float:
    """A lower bound on hockey-stick divergence, first law from second, with rounding charged."""
    growth, start = math.exp(epsilon), min(p.start, q.start)
    here, there = (np.pad(law.masses, (law.start - start, 0)) for law in (p, q))
    size = max(here.size, there.size)
    here, there = (np.pad(side, (0, size - side.size)) for side in (here, there))
    event = here > growth * there
    mine, theirs = float(here[event].sum()), growth * float(there[event].sum())
    return mine - theirs - SURE * (mine + theirs) - p.dropped - growth * q.dropped


def _grid(most: int) -> list[int]:
    """Numbers from none to all: 1, 3, 10, 30, … and half of all."""
    few = (times * 10**k for k in range(len(str(most))) for times in (1, 3))
    return sorted({0, most // 2, most, *(number for number in few if number < most)})
