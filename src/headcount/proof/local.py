"""One person's report, seen by itself: every two values are compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from flint import fmpz

from headcount.proof.claim import Claim, Proof
from headcount.proof.compared_values import Chances, Compared, Kinds, Laws, pair_of
from headcount.proof.divergence import Bounds, either_order
from headcount.proof.effort import TooLarge, spend
from headcount.proof.enumeration import Sent
from headcount.proof.enumeration import law as law_of
from headcount.proof.expression import Expression, is_linear
from headcount.proof.known_chances import of_response, of_row, of_subset, of_windows
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

MOST_SENT = 1 << 20
LAW = 300  # units for the law of one value


def prove(claim: Claim) -> Proof | None:
    if claim.model != "local" or claim.neighbours != "replace" or claim.values is None:
        return None
    return Proof(compared(claim.report, claim.values).bounds, "every two values were compared, message by message")


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
        found = either_order(epsilon, pair_of(self.ends)).among("one person holds the first value or the last")
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
                return Kinds.of((of_response(lie, kinds), text))
    match step:
        case Row(width, here, off, on) if here == Expression("name", (name,)) and values <= width:
            return Kinds.of((of_row(off, on), text))
        case Subset(width, size, here, likely) if here == Expression("name", (name,)) and values <= width:
            return Kinds.of((of_subset(width, size, likely), text))
        case Let(u, Below(units), Let(v, Below(prime), inner)) if units == prime - 1 and values <= prime:
            if (hashed := _hashed(inner, u, v, prime, name)) is not None:
                return Kinds.of((hashed, text))
        case Maybe(likely, then, otherwise) if (window := _window(then, otherwise, name, values)) is not None:
            return Kinds.of((of_windows(likely, *window), f"one person holds the first {word} or the last"))
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
