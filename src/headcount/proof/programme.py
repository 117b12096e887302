"""Reading a report programme from a certificate: what one person sends, as a tree of small steps.

This reader shares nothing with the code that writes and draws programmes, so that either can show
the other wrong. What it does not know it refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from headcount.proof.effort import spend
from headcount.proof.expression import WORD, Expression, Names, Unreadable, chance, integer, short

WIDEST = 1 << 17  # row of bits

# Where drawn integers come from.


@dataclass(frozen=True)
class Table:
    """Integer masses of `start`, `start` + 1, ..., out of their sum."""

    start: int
    masses: tuple[int, ...]

    @classmethod
    def read(cls, encoded: Any) -> Table:
        match encoded:
            case {"start": start, "coarse": list(coarse), "fine": list(fine)} if len(encoded) == 3:
                first, second = [*map(integer, coarse)], [*map(integer, fine)]
                spill = WORD - sum(first)
                if min(first, default=-1) < 0 or spill < 0 or spill == WORD:
                    raise Unreadable("the masses of a table do not fit a word")
                if not second:  # what falls into the spill is drawn again, until it does not
                    return cls(integer(start), tuple(first))
                if len(second) != len(first) or min(second) < 0 or sum(second) != WORD:
                    raise Unreadable("the fine masses of a table do not fill a word")
                return cls(integer(start), tuple((a << 64) + spill * b for a, b in zip(first, second, strict=True)))
        raise Unreadable(f"no such table: {short(encoded)}")

    @cached_property
    def total(self) -> int:
        return sum(self.masses)


@dataclass(frozen=True)
class Below:
    bound: int


@dataclass(frozen=True)
class Rounded:
    """The expression times to / from, rounded up or down at random so that its mean is exact."""

    of: Expression
    steps: int
    levels: int


Draw: TypeAlias = Table | Below | Rounded


def _draw(encoded: Any) -> Draw:
    match encoded:
        case {"below": bound} if len(encoded) == 1:
            return Below(_positive(bound))
        case {"table": table} if len(encoded) == 1:
            return Table.read(table)
        case {"round": of, "from": steps, "to": levels} if len(encoded) == 3:
            return Rounded(Expression.read(of), _positive(steps), _positive(levels))
    raise Unreadable(f"no such draw: {short(encoded)}")


def _positive(encoded: Any) -> int:
    number = integer(encoded)
    if number < 1:
        raise Unreadable(f"{number} should be positive")
    return number


# The steps.


@dataclass(frozen=True)
class Emit:
    fields: tuple[Expression, ...]


@dataclass(frozen=True)
class All:
    parts: tuple[Step, ...]


@dataclass(frozen=True)
class Maybe:
    chance: Fraction
    then: Step
    otherwise: Step


@dataclass(frozen=True)
class Copies:
    amount: Expression | Table
    step: Step


@dataclass(frozen=True)
class Let:
    name: str
    draw: Draw
    step: Step


@dataclass(frozen=True)
class Each:
    name: str
    times: int
    step: Step


@dataclass(frozen=True)
class Row:
    """A row of bits: that at `here` is on with chance `on`, every other with chance `off`."""

    width: int
    here: Expression | None
    off: Fraction
    on: Fraction


@dataclass(frozen=True)
class Subset:
    """A row of which `size` bits are on: that at `here` with this chance, the others evenly."""

    width: int
    size: int
    here: Expression
    chance: Fraction


@dataclass(frozen=True)
class Shares:
    """`count` messages, uniform modulo `modulus` but for their sum."""

    of: Expression
    modulus: int
    count: int


Step: TypeAlias = Emit | All | Maybe | Copies | Let | Each | Row | Subset | Shares


def read(encoded: Any, known: frozenset[str] = frozenset({"value"})) -> Step:
    """The step with no names but the known ones, none of which is bound again."""
    step = _read(encoded, known)
    if not reads(step) <= known:
        raise Unreadable(f"no such name: {short(min(reads(step) - known))}")
    return step


def _read(encoded: Any, known: frozenset[str]) -> Step:
    match encoded:
        case {"emit": list(fields)} if len(encoded) == 1 and fields:
            return Emit(tuple(map(Expression.read, fields)))
        case {"all": list(parts)} if len(encoded) == 1:
            return All(tuple(_read(part, known) for part in parts))
        case {"maybe": likely, "then": then, "else": otherwise} if len(encoded) == 3:
            return Maybe(chance(likely), _read(then, known), _read(otherwise, known))
        case {"copies": dict(table), "brick": step} if len(encoded) == 2 and "coarse" in table:
            if (drawn := Table.read(table)).start:
                raise Unreadable("a number of copies must start at 0")
            return Copies(drawn, _read(step, known))
        case {"copies": amount, "brick": step} if len(encoded) == 2:
            return Copies(Expression.read(amount), _read(step, known))
        case {"let": str(name), "be": draw, "in": step} if len(encoded) == 3:
            return Let(name, _draw(draw), _read(step, _named(name, known)))
        case {"each": str(name), "below": times, "do": step} if len(encoded) == 3:
            return Each(name, _positive(times), _read(step, _named(name, known)))
        case {"row": width, "here": here, "off": off, "on": on} if len(encoded) == 4:
            place = None if here is None else Expression.read(here)
            return Row(_width(width), place, chance(off), chance(on))
        case {"subset": width, "size": size, "here": here, "with": likely} if len(encoded) == 4:
            if _positive(size) >= _width(width):
                raise Unreadable("a subset must leave something out")
            return Subset(_width(width), _positive(size), Expression.read(here), chance(likely))
        case {"shares": of, "modulus": modulus, "count": count} if len(encoded) == 3:
            return Shares(Expression.read(of), _positive(modulus), _positive(count))
    raise Unreadable(f"no such step: {short(encoded)}")


def _named(name: str, known: frozenset[str]) -> frozenset[str]:
    if name in known or not name.isidentifier():
        raise Unreadable(f"a name that is taken, or is none: {short(name)}")
    return known | {name}


def _width(encoded: Any) -> int:
    if (width := _positive(encoded)) > WIDEST:
        raise Unreadable("a row of too many bits")
    return width


def reads(step: Step) -> frozenset[str]:
    """The names that a step looks at."""
    match step:
        case Emit(fields):
            return frozenset().union(*(field.reads for field in fields))
        case All(parts):
            return frozenset().union(*map(reads, parts))
        case Maybe(_, then, otherwise):
            return reads(then) | reads(otherwise)
        case Copies(amount, inner):
            return reads(inner) | (amount.reads if isinstance(amount, Expression) else frozenset())
        case Let(name, draw, inner):
            drawn = draw.of.reads if isinstance(draw, Rounded) else frozenset()
            return (reads(inner) - {name}) | drawn
        case Each(name, _, inner):
            return reads(inner) - {name}
        case Row(_, here, _, _):
            return here.reads if here else frozenset()
        case Subset(_, _, here, _):
            return here.reads
        case Shares(of, _, _):
            return of.reads


def sends_one(step: Step) -> bool:
    """Whether exactly one message is sent, whatever is drawn."""
    match step:
        case Emit() | Row() | Subset():
            return True
        case Maybe(_, then, otherwise):
            return sends_one(then) and sends_one(otherwise)
        case Let(_, _, inner):
            return sends_one(inner)
    return False


def substituted(step: Step, what: Mapping[Expression, Expression]) -> Step:
    """The same step with expressions replaced by others."""
    match step:
        case Emit(fields):
            return Emit(tuple(field.with_(what) for field in fields))
        case All(parts):
            return All(tuple(substituted(part, what) for part in parts))
        case Maybe(likely, then, otherwise):
            return Maybe(likely, substituted(then, what), substituted(otherwise, what))
        case Let(name, Below() | Table() as draw, inner):
            return Let(name, draw, substituted(inner, what))
    return step


def without_fields(step: Step, first: int) -> Step:
    """The same step, where messages lack their first fields."""
    match step:
        case Emit(fields):
            return Emit(fields[first:])
        case All(parts):
            return All(tuple(without_fields(part, first) for part in parts))
        case Maybe(likely, then, otherwise):
            return Maybe(likely, without_fields(then, first), without_fields(otherwise, first))
        case Let(name, draw, inner):
            return Let(name, draw, without_fields(inner, first))
    return step


def times(amount: Expression, names: Names) -> int:
    """A number of copies."""
    number = amount.at(names)
    if number < 0:
        raise Unreadable("a number of copies below 0")
    spend(number)
    return number
