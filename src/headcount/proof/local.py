"""One person's report, seen by itself: every two values are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import comb

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

Chances = Counter[tuple[Fraction, Fraction]]


def prove(claim: Claim) -> Proof | None:
    if claim.model != "local" or claim.neighbours != "replace" or claim.values is None:
        return None
    return Proof(compared(claim.report, claim.values).bounds, "every two values were compared, message by message")


class Compared(ABC):
    """How well a report tells any two values apart."""

    @abstractmethod
    def bounds(self, epsilon: Fraction) -> Bounds: ...

    @property
    @abstractmethod
    def odds(self) -> Fraction | None:
        """The largest likelihood ratio between two values; None if it is infinite."""


@dataclass(frozen=True)
class Kinds(Compared):
    """The distinct ways in which two values compare: chances and numbers of equal messages."""

    kinds: dict[frozenset[tuple[tuple[Fraction, Fraction], int]], str]  # how many messages have which chances

    @classmethod
    def of(cls, *found: tuple[Chances, str]) -> Kinds:
        return cls({frozenset((both, n) for both, n in chances.items() if n): text for chances, text in found})

    def bounds(self, epsilon: Fraction) -> Bounds:
        return worst_of(
            either_order(epsilon, _pair((n * p, n * q) for (p, q), n in kind)).among(text)
            for kind, text in self.kinds.items()
        )

    @property
    def odds(self) -> Fraction | None:
        both = {chances for kind in self.kinds for chances, _ in kind}
        if any(bool(p) != bool(q) for p, q in both):
            return None
        return max(max(p / q, q / p) for p, q in both if p)


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

    @property
    def odds(self) -> Fraction | None:
        both = [part.odds for weight, part in ((self.chance, self.then), (1 - self.chance, self.otherwise)) if weight]
        return None if None in both else max(odds for odds in both if odds is not None)


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
        case Row(width, here, off, on) if here == Expression("name", (name,)) and values <= width:
            return Kinds.of((_row(off, on), text))
        case Subset(width, size, here, likely) if here == Expression("name", (name,)) and values <= width:
            return Kinds.of((_subset(width, size, likely), text))
        case Let(u, Below(units), Let(v, Below(prime), inner)) if units == prime - 1 and values <= prime:
            if (hashed := _hashed(inner, u, v, prime, name)) is not None:
                return Kinds.of((hashed, text))
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
    spend(LAW * values)
    sent: set[Sent] = set()
    for value in range(values):
        sent |= law_of(step, {name: value}).keys()
        if len(sent) > MOST_SENT:
            raise TooLarge("there are too many messages to compare them one by one")
    return sent


def _row(off: Fraction, on: Fraction) -> Chances:
    """The chances of the bits at the two values; all other bits cancel."""
    chances: Chances = Counter()
    for first, second in product((0, 1), repeat=2):
        p = (on if first else 1 - on) * (off if second else 1 - off)
        q = (off if first else 1 - off) * (on if second else 1 - on)
        chances[p, q] += 1
    return chances


def _subset(width: int, size: int, likely: Fraction) -> Chances:
    """The chances of sets that hold one of two values, the other, both or neither."""
    spend(width)
    inside, outside = (
        weight / comb(width - 1, chosen) if 0 <= chosen <= width - 1 else Fraction(0)
        for weight, chosen in ((likely, size - 1), (1 - likely, size))
    )
    one, both, none = (comb(width - 2, chosen) if chosen >= 0 else 0 for chosen in (size - 1, size - 2, size))
    chances: Chances = Counter({(inside, outside): one})
    for where, times in (((outside, inside), one), ((inside, inside), both), ((outside, outside), none)):
        chances[where] += times
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
    return Counter({(p * share, q * share): int(met[i, j]) for (i, p), (j, q) in both})


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
        return cls(tuple(masses), table, word)

    @property
    def odds(self) -> Fraction | None:
        largest, smallest = (
            [self.masses[i] for i in ends.tolist()] for ends in (self.table.max(axis=0), self.table.min(axis=0))
        )
        return None if not all(smallest) else max(a / b for a, b in zip(largest, smallest, strict=True))

    def bounds(self, epsilon: Fraction) -> Bounds:
        return self._kinds.bounds(epsilon)

    @cached_property
    def _kinds(self) -> Kinds:
        """The distinct pairs of rows, by how often one mass meets another: exact in doubles."""
        if len(self.masses) > FEW_MASSES:
            raise TooLarge("messages have too many different chances to compare all values")
        spend(self.table.size * len(self.table) * len(self.masses) ** 2 // FLOPS + len(self.table) ** 2)
        levels = [(self.table == i).astype(np.float64) for i in range(len(self.masses))]
        both = [(p, q) for p in self.masses for q in self.masses]
        found: dict[tuple[float, ...], str] = {}
        for value in range(len(self.table)):
            counts = np.stack([second @ first[value] for first in levels for second in levels], axis=-1)
            for other, row in enumerate(map(tuple, counts.tolist())):
                found.setdefault(row, f"one person holds the {self.word} {value} or {other}")
        rows = ((dict(zip(both, map(int, row), strict=True)), text) for row, text in found.items())
        return Kinds.of(*((Counter(times), text) for times, text in rows))
