"""One person's report, seen by itself: every two values are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from flint import fmpz

from headcount.proof.ball_laws import ball
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import BallPair, Bounds, either_order, worst_of
from headcount.proof.effort import TooLarge, spend
from headcount.proof.enumeration import Sent
from headcount.proof.enumeration import law as law_of
from headcount.proof.expression import Expression, is_linear
from headcount.proof.programme import (
    Below,
    Emit,
    Let,
    Maybe,
    Rounded,
    Row,
    Step,
    Subset,
    reads,
    substituted,
    without_fields,
)

MOST_CELLS = 1 << 22
MOST_SENT = 1 << 20
LAW = 300  # units for the law of one value
MOVED = 100  # cells of a table that are filled in a unit
FEW_MASSES = 8
FLOPS = 2_000  # of doubles, that take as long as a few operations on fractions

# How many messages have which chances under two values, and at least which under any value.
Kind: TypeAlias = frozenset[tuple[tuple[Fraction, Fraction, Fraction], int]]
Chances: TypeAlias = Counter[tuple[Fraction, Fraction, Fraction]]


def prove(claim: Claim) -> Proof | None:
    if claim.model != "local" or claim.neighbours != "replace" or claim.values is None:
        return None
    return Proof(compared(claim.report, claim.values).bounds, "every two values were compared, message by message")


class Compared(ABC):
    """How well a report tells any two values apart."""

    @abstractmethod
    def bounds(self, epsilon: Fraction) -> Bounds: ...

    @abstractmethod
    def worst(self) -> list[Chances]:
        """Pairs of values, one of which is told apart best among messages of others."""


@dataclass(frozen=True)
class Kinds(Compared):
    """The distinct ways in which two values compare: chances and numbers of equal messages."""

    kinds: dict[Kind, str]

    @classmethod
    def of(cls, *found: tuple[Chances, str]) -> Kinds:
        return cls({frozenset((both, n) for both, n in chances.items() if n): text for chances, text in found})

    def bounds(self, epsilon: Fraction) -> Bounds:
        return worst_of(
            either_order(epsilon, _pair((n * p, n * q) for (p, q, _), n in kind)).among(text)
            for kind, text in self.kinds.items()
        )

    def worst(self) -> list[Chances]:
        """The kind with the least overlap, among those that differ in that alone.

        Where the chance of a message is w or a w, a message that is likelier under both and one
        that is under neither lie between two of which either is under one: as steps of a walk
        they vary less, and have the same mean.
        """
        least: dict[Hashable, tuple[Fraction, Kind]] = {}
        for kind in self.kinds:
            alike, both = _overlap(kind)
            if alike not in least or both < least[alike][0]:
                least[alike] = both, kind
        return [Counter(dict(kind)) for _, kind in least.values()]


def _overlap(kind: Kind) -> tuple[Hashable, Fraction]:
    """All but the overlap, and how likely messages are at least that are likelier under both values."""
    raised = {chance / w for (p, q, w), _ in kind for chance in (p, q) if w and chance > w}
    if len(raised) > 1 or not all(w for (_, _, w), _ in kind):
        return kind, Fraction(0)
    every = sum((n * w for (_, _, w), n in kind), Fraction(0))
    own = sum((n * w for (p, _, w), n in kind if p > w), Fraction(0))
    other = sum((n * w for (_, q, w), n in kind if q > w), Fraction(0))
    return (*raised, every, own, other), sum((n * w for (p, q, w), n in kind if min(p, q) > w), Fraction(0))


def _pair(chances: Iterable[tuple[Fraction, Fraction]]) -> BallPair:
    both = list(chances)
    return BallPair([ball(p) for p, _ in both], [ball(q) for _, q in both])


@dataclass(frozen=True)
class Either(Compared):
    """One of two reports, visibly: the loss is at most the mean of both at their worst.

    How well the first and the last value are told apart is certain.
    """

    chance: Fraction
    then: Compared
    otherwise: Compared
    ends: tuple[tuple[Fraction, Fraction], ...]

    def bounds(self, epsilon: Fraction) -> Bounds:
        parts = [(self.chance, self.then), (1 - self.chance, self.otherwise)]
        high = sum((weight * part.bounds(epsilon).high for weight, part in parts if weight), Fraction(0))
        found = either_order(epsilon, _pair(self.ends)).among("one person holds the first value or the last")
        return replace(found, high=high)

    def worst(self) -> list[Chances]:
        """Any pair for the one report with any for the other."""
        then, otherwise = (
            [Counter({(part * p, part * q, part * w): n for (p, q, w), n in kind.items()}) for kind in found.worst()]
            for part, found in ((self.chance, self.then), (1 - self.chance, self.otherwise))
        )
        return [first + second for first, second in product(then, otherwise)] if self.chance < 1 else then


def compared(step: Step, values: int, of: str = "value") -> Compared:
    """How the report tells values apart.

    A value rounded at random is a mixture of levels: two mixtures are no further apart than the two
    levels that differ most. Only the first and the last level are sure to be held.
    """
    match step:
        case Let(name, Rounded(expression, steps, levels), inner) if _spans(expression, of, values - 1, steps):
            if not reads(inner) <= {name}:
                raise TooLarge("a report looks at a value that is also rounded")
            found = _compared(inner, name, levels + 1, "level")
            return Either(Fraction(1), found, found, _ends(inner, name, levels)) if isinstance(found, Laws) else found
        case _:
            return _compared(step, of, values, of)


def _spans(expression: Expression, name: str, last: int, steps: int) -> bool:
    """Whether it goes from 0 to `steps` as the name goes from 0 to `last`."""
    return (
        is_linear(expression)
        and expression.reads == {name}
        and expression.at({name: 0}) == 0
        and (expression.at({name: last}) == steps)
    )


def _compared(step: Step, name: str, values: int, word: str) -> Compared:
    text = f"one person holds one {word} or another"
    if values < 2:
        raise TooLarge("there is nothing to tell apart")
    match step:
        case Maybe(lie, Let(drawn, Below(kinds), Emit((Expression("name", (sent,)),))), Emit((told,))):
            if drawn == sent and told == Expression("name", (name,)) and values == kinds:
                return Kinds.of((_response(lie, kinds), text))
    match step:
        case Row(width, here, off, on) if here == Expression("name", (name,)) and values <= width:
            return Kinds.of((_row(off, on), text))
        case Subset(width, size, here, likely) if here == Expression("name", (name,)) and values <= width:
            return Kinds.of((_subset(width, size, likely), text))
        case Let(u, Below(units), Let(v, Below(prime), inner)) if units == prime - 1 and values <= prime:
            if (hashed := _hashed(inner, u, v, prime, name)) is not None:
                return Kinds.of((hashed, text))
        case Maybe(likely, then, otherwise) if (window := _window(then, otherwise, name, values)) is not None:
            return Kinds.of((_slid(likely, *window), f"one person holds the first {word} or the last"))
        case Maybe(likely, then, otherwise) if _sent(then, name, values).isdisjoint(_sent(otherwise, name, values)):
            first, second = (compared(part, values, name) for part in (then, otherwise))
            return Either(likely, first, second, _ends(step, name, values - 1))
    return Laws.of(step, name, values, word)


def _ends(step: Step, name: str, last: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """The chances of every message under the first value and under the last."""
    first, other = (law_of(step, {name: value}) for value in (0, last))
    return tuple((first.get(sent, Fraction(0)), other.get(sent, Fraction(0))) for sent in first.keys() | other.keys())


def _sent(step: Step, name: str, values: int) -> set[Sent]:
    """Everything that may be sent, whatever is held."""
    match step:
        case Maybe(_, Let() as then, Let() as otherwise) if (
            window := _window(then, otherwise, name, values)
        ) is not None:
            spend(sum(window))
            return {(((place,), 1),) for place in range(sum(window))}
    spend(LAW * values)
    sent: set[Sent] = set()
    for value in range(values):
        sent |= law_of(step, {name: value}).keys()
        if len(sent) > MOST_SENT:
            raise TooLarge("there are too many messages to compare them one by one")
    return sent


def _response(lie: Fraction, kinds: int) -> Chances:
    """The chances where any of the messages is sent with chance `lie`, the own one otherwise."""
    other = lie / kinds
    own = 1 - lie + other
    chances: Chances = Counter({(own, other, other): 1, (other, own, other): 1})
    chances[other, other, other] += kinds - 2
    return chances


def _window(then: Step, otherwise: Step, name: str, values: int) -> tuple[int, int] | None:
    """How many places there are in a window, which begins at the value, and outside of it."""
    match then, otherwise:
        case Let(place, Below(inside), Emit((first,))), Let(other, Below(outside), Emit((second,))):
            begins = ["+", {"name": name}, {"name": place}]
            after = ["%", ["+", ["+", {"name": name}, inside], {"name": other}], inside + outside]
            same = (first, second) == (Expression.read(begins), Expression.read(after))
            if same and values == outside + 1 and name not in (place, other):
                return inside, outside
    return None


def _slid(likely: Fraction, inside: int, outside: int) -> Chances:
    """The chances under the first window and the last, which overlap least: others are told apart no better."""
    within, without = likely / inside, (1 - likely) / outside
    less, apart = min(within, without), min(inside, outside)
    chances: Chances = Counter({(within, without, less): apart, (without, within, less): apart})
    neither = (within, within, within) if inside > outside else (without, without, less)
    chances[neither] += abs(inside - outside)
    return chances


def _row(off: Fraction, on: Fraction) -> Chances:
    """The chances of the bits at the two values; all other bits cancel."""
    chances: Chances = Counter()
    less = min(chance / usual for chance, usual in ((on, off), (1 - on, 1 - off)) if usual)  # of any row
    for first, second in product((0, 1), repeat=2):
        p = (on if first else 1 - on) * (off if second else 1 - off)
        q = (off if first else 1 - off) * (on if second else 1 - on)
        chances[p, q, less * (off if first else 1 - off) * (off if second else 1 - off)] += 1
    return chances


def _subset(width: int, size: int, likely: Fraction) -> Chances:
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


def _hashed(step: Step, u: str, v: str, prime: int, name: str) -> Chances | None:
    """The chances for a hash function, sent along: (u + 1) value + v modulo a prime.

    For two values the residues are any two different ones, equally likely, and u and v are known.
    """
    if not fmpz(prime).is_prime():
        return None
    hashed = Expression.read(["%", ["+", ["*", ["+", {"name": u}, 1], {"name": name}], {"name": v}], prime])
    residue = "the residue"  # a name that no step can bind
    rest = substituted(step, {hashed: Expression("name", (residue,))})
    known = (Expression.read(["+", {"name": u}, 1]), Expression.read({"name": v}))
    if not _tells(rest, known) or reads(without_fields(rest, 2)) != {residue}:
        return None
    laws = Laws.of(without_fields(rest, 2), residue, prime, "residue")
    often = np.stack([(laws.table == i).sum(axis=0) for i in range(len(laws.masses))])  # of each mass, at each message
    met = often @ often.T - np.diag(often.sum(axis=1))
    share = Fraction(1, prime * (prime - 1))
    both = product(enumerate(laws.masses), repeat=2)
    less = share * laws.masses[int(laws.table.min())]
    return Counter({(p * share, q * share, less): int(met[i, j]) for (i, p), (j, q) in both})


def _tells(step: Step, known: tuple[Expression, ...]) -> bool:
    """Whether every message begins with these fields."""
    match step:
        case Emit(fields):
            return fields[: len(known)] == known and len(fields) > len(known)
        case Maybe(_, then, otherwise):
            return _tells(then, known) and _tells(otherwise, known)
        case Let(_, _, inner):
            return _tells(inner, known)
    return False


@dataclass(frozen=True)
class Laws(Compared):
    """The exact law of every value's report: `table[value, message]` is a place in `masses`."""

    masses: tuple[Fraction, ...]
    table: npt.NDArray[np.int64]
    word: str

    @classmethod
    def of(cls, step: Step, name: str, values: int, word: str) -> Laws:
        columns: dict[Sent, int] = {}
        places: dict[Fraction, int] = {Fraction(0): 0}
        rows = []
        for value in range(values):
            law = law_of(step, {name: value})
            spend(4 * len(law))
            known = {id(mass): mass for mass in law.values()}  # most are one object
            place = {key: places.setdefault(mass, len(places)) for key, mass in known.items()}
            here = [columns.setdefault(messages, len(columns)) for messages in law]
            rows.append((np.array(here), np.array([place[id(mass)] for mass in law.values()])))
            if len(columns) * values > MOST_CELLS:
                raise TooLarge("there are too many values and messages to compare them one by one")
        spend(len(columns) * values // MOVED)
        masses = sorted(places)
        rank = {mass: i for i, mass in enumerate(masses)}
        ranks = np.array([rank[mass] for mass in places])
        table = np.zeros((values, len(columns)), dtype=np.int64)  # 0 is the smallest mass
        for value, (sent, placed) in enumerate(rows):
            table[value, sent] = ranks[placed]
        unused = int(table.min())  # whether every message may be sent under every value
        return cls(tuple(masses[unused:]), table - unused, word)

    def worst(self) -> list[Chances]:
        return self._kinds.worst()

    def bounds(self, epsilon: Fraction) -> Bounds:
        return self._kinds.bounds(epsilon)

    @cached_property
    def _kinds(self) -> Kinds:
        """The distinct pairs of rows, by how often one mass meets another: exact in doubles."""
        if len(self.masses) > FEW_MASSES:
            return self._message_by_message()
        lowest = self.table.min(axis=0)
        lows = np.unique(lowest)
        flops = self.table.size * len(self.table) * len(self.masses) ** 2 * len(lows)
        spend(flops // FLOPS + len(self.table) ** 2)
        levels = [(self.table == i).astype(np.float64) for i in range(len(self.masses))]
        both = [(p, q, self.masses[w]) for w in lows.tolist() for p in self.masses for q in self.masses]
        found: dict[tuple[float, ...], str] = {}
        for value in range(len(self.table)):
            here = [first[value] * (lowest == low) for low in lows for first in levels]
            counts = np.stack([second @ first for first in here for second in levels], axis=-1)
            for other, row in enumerate(map(tuple, counts.tolist())):
                found.setdefault(row, f"one person holds the {self.word} {value} or {other}")
        rows = ((dict(zip(both, map(int, row), strict=True)), text) for row, text in found.items())
        return Kinds.of(*((Counter(times), text) for times, text in rows))

    def _message_by_message(self) -> Kinds:
        values = len(self.table)
        if self.table.size * values > MOST_CELLS:
            raise TooLarge("messages have too many different chances to compare all values")
        spend(self.table.size * values)
        masses = [
            [self.masses[place] for place in row] for row in (*self.table.tolist(), self.table.min(axis=0).tolist())
        ]
        pairs = ((i, j) for i in range(values) for j in range(i))
        return Kinds.of(
            *(
                (
                    Counter(zip(masses[i], masses[j], masses[-1], strict=True)),
                    f"one person holds the {self.word} {j} or {i}",
                )
                for i, j in pairs
            )
        )
