"""Reading a report programme from a certificate: what one person sends, as a tree of small steps.

This reader shares nothing with the code that writes and draws programmes, so that either can show the other wrong.
What it does not know it refuses.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb
from operator import itemgetter
from typing import Any, TypeAlias

from headcount.proof.effort import TooLarge, spend

Message: TypeAlias = tuple[int, ...]
Sent: TypeAlias = tuple[tuple[Message, int], ...]  # messages and how often each is sent, sorted
Names: TypeAlias = Mapping[str, int]

WORD = 1 << 64
MOST_OUTCOMES = 1 << 18
LARGEST = 1 << 512  # no integer that is worked out on the way may be as large
WIDEST = 1 << 17  # row of bits


class Unreadable(ValueError):
    """The certificate says something that this reader does not understand."""


# Integers that depend on what a person holds.

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "^": operator.xor, "&": operator.and_,
}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """An integer, a name, or an operation on expressions."""

    operation: str
    parts: tuple[Any, ...]

    @classmethod
    def read(cls, encoded: Any) -> Expression:
        match encoded:
            case bool():
                pass
            case int() | str():
                return cls("integer", (integer(encoded),))
            case {"name": str(name)} if len(encoded) == 1:
                return cls("name", (name,))
            case ["parity", part]:
                return cls("parity", (cls.read(part),))
            case [str(operation), first, second] if operation in _OPERATIONS:
                return cls(operation, (cls.read(first), cls.read(second)))
        raise Unreadable(f"no such expression: {_short(encoded)}")

    def at(self, names: Names) -> int:
        return self._evaluate(names)

    @cached_property
    def _evaluate(self) -> Callable[[Names], int]:
        match self.operation, self.parts:
            case "integer", (number,):
                return lambda _: number
            case "name", (name,):
                return itemgetter(name)
            case "parity", (part,):
                inner = part._evaluate
                return lambda names: inner(names).bit_count() % 2
            case operation, (first, second):
                combine, left, right = _OPERATIONS[operation], first._evaluate, second._evaluate
                return lambda names: _bounded(combine(left(names), right(names)))
        raise Unreadable(f"no such expression: {self.operation}")

    def with_(self, what: Mapping[Expression, Expression]) -> Expression:
        """The same expression with some of its parts replaced."""
        if self in what:
            return what[self]
        parts = (part.with_(what) if isinstance(part, Expression) else part for part in self.parts)
        return Expression(self.operation, tuple(parts))

    @cached_property
    def reads(self) -> frozenset[str]:
        if self.operation == "name":
            return frozenset(self.parts)
        return frozenset().union(*(part.reads for part in self.parts if isinstance(part, Expression)))


def is_linear(field: Expression) -> bool:
    """Whether it takes its extremes at the ends of a range."""
    match field.operation, field.parts:
        case (("integer" | "name"), _):
            return True
        case (("+" | "-"), (first, second)):
            return is_linear(first) and is_linear(second)
        case "*", (first, second):
            return is_linear(first) and is_linear(second) and not (first.reads and second.reads)
    return False


def integer(encoded: Any) -> int:
    if isinstance(encoded, bool) or not isinstance(encoded, int | str):
        raise Unreadable(f"not an integer: {_short(encoded)}")
    try:
        return _bounded(int(encoded))
    except (ValueError, TooLarge):
        raise Unreadable(f"not an integer: {_short(encoded)}") from None


def _bounded(number: int) -> int:
    if -LARGEST < number < LARGEST:
        return number
    raise TooLarge("an integer is too large")


def chance(encoded: Any) -> Fraction:
    """A whole number of 2**-64."""
    threshold = integer(encoded)
    if not 0 <= threshold <= WORD:
        raise Unreadable(f"not a chance: {_short(encoded)}")
    return Fraction(threshold, WORD)


def _short(encoded: Any) -> str:
    text = encoded if isinstance(encoded, str) else type(encoded).__name__
    return text if len(text) < 60 else text[:57] + "..."


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
        raise Unreadable(f"no such table: {_short(encoded)}")

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
    raise Unreadable(f"no such draw: {_short(encoded)}")


def _positive(encoded: Any) -> int:
    number = integer(encoded)
    if number < 1:
        raise Unreadable(f"{number} should be positive")
    return number


def outcomes(draw: Draw, names: Names) -> Iterator[tuple[int, Fraction]]:
    match draw:
        case Below(bound):
            _limit(bound)
            yield from ((k, Fraction(1, bound)) for k in range(bound))
        case Table(start, masses):
            _limit(len(masses))
            yield from ((start + k, Fraction(mass, draw.total)) for k, mass in enumerate(masses) if mass)
        case Rounded(of, steps, levels):
            down, rest = divmod(_bounded(of.at(names) * levels), steps)
            yield down, 1 - Fraction(rest, steps)
            if rest:
                yield down + 1, Fraction(rest, steps)


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
    """The step that this stands for, in which nothing but the known names is looked at, and none gets a new meaning."""
    step = _read(encoded, known)
    if not reads(step) <= known:
        raise Unreadable(f"no such name: {_short(min(reads(step) - known))}")
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
    raise Unreadable(f"no such step: {_short(encoded)}")


def _named(name: str, known: frozenset[str]) -> frozenset[str]:
    if name in known or not name.isidentifier():
        raise Unreadable(f"a name that is taken, or is none: {_short(name)}")
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


Law: TypeAlias = dict[Sent, Fraction]


def law(step: Step, names: Names) -> Law:
    """Everything that may be sent, with its chance, exactly: for steps with few outcomes."""
    spend(8)
    match step:
        case Emit(fields):
            return {((tuple(field.at(names) for field in fields), 1),): Fraction(1)}
        case All(parts):
            return _together(law(part, names) for part in parts)
        case Maybe(likely, then, otherwise):
            return _mixed([(likely, law(then, names)), (1 - likely, law(otherwise, names))])
        case Copies(Expression() as amount, inner):
            return _together([law(inner, names)] * times(amount, names))
        case Copies(Table() as table, inner):
            once = law(inner, names)
            return _mixed((weight, _together([once] * often)) for often, weight in outcomes(table, names))
        case Let(name, Below(bound), Emit(fields)):  # the same in fewer operations
            _limit(bound)
            sent = Counter(tuple(field.at({**names, name: i}) for field in fields) for i in range(bound))
            return {((message, 1),): Fraction(often, bound) for message, often in sent.items()}
        case Let(name, draw, inner):
            return _mixed((weight, law(inner, {**names, name: drawn})) for drawn, weight in outcomes(draw, names))
        case Each(name, rounds, inner):
            return _together(law(inner, {**names, name: i}) for i in range(rounds))
        case Row(width, here, off, on):
            _limit(width << width if width < 60 else 1 << 60)
            chances = [off] * width
            if here:
                chances[_place(here, width, names)] = on
            return _alone({bits: _all_of(bits, chances) for bits in product((0, 1), repeat=width)})
        case Subset(width, size, here, likely):
            return _alone(_subsets(width, size, _place(here, width, names), likely))
        case Shares(of, modulus, count):
            _limit(count)
            _limit(count * modulus ** (count - 1) if modulus.bit_length() * count < 1 << 10 else 1 << 60)
            shares = product(range(modulus), repeat=count - 1)
            last = of.at(names)
            every = (tuple((s,) for s in (*drawn, (last - sum(drawn)) % modulus)) for drawn in shares)
            return _mixed((Fraction(1, modulus ** (count - 1)), {_sent(messages): Fraction(1)}) for messages in every)
    raise Unreadable("no such step")


def times(amount: Expression, names: Names) -> int:
    """A number of copies."""
    number = amount.at(names)
    if number < 0:
        raise Unreadable("a number of copies below 0")
    spend(number)
    return number


def _place(here: Expression, width: int, names: Names) -> int:
    place = here.at(names)
    if not 0 <= place < width:
        raise Unreadable("a place outside of its row")
    return place


def _sent(messages: tuple[Message, ...]) -> Sent:
    return tuple(sorted(Counter(messages).items()))


def _all_of(bits: tuple[int, ...], chances: list[Fraction]) -> Fraction:
    mass = Fraction(1)
    for bit, likely in zip(bits, chances, strict=True):
        mass *= likely if bit else 1 - likely
    return mass


def _subsets(width: int, size: int, here: int, likely: Fraction) -> dict[tuple[int, ...], Fraction]:
    others = [j for j in range(width) if j != here]
    _limit(width * comb(width, size) if width < 60 else 1 << 60)
    found = {}
    for inside, weight in ((1, likely), (0, 1 - likely)):
        chosen = list(combinations(others, size - inside))
        for places in chosen:
            on = {*places, here} if inside else {*places}
            found[tuple(int(j in on) for j in range(width))] = weight / len(chosen)
    return found


def _alone(rows: dict[tuple[int, ...], Fraction]) -> Law:
    return {((row, 1),): mass for row, mass in rows.items() if mass}


def _mixed(parts: Any) -> Law:
    mixture: defaultdict[Sent, Fraction] = defaultdict(Fraction)
    for weight, part in parts:
        spend(len(part))
        for sent, mass in part.items():
            mixture[sent] += weight * mass
        if len(mixture) > MOST_OUTCOMES:
            raise TooLarge("there are too many outcomes to go through one by one")
    return {sent: mass for sent, mass in mixture.items() if mass}


def _together(parts: Any) -> Law:
    whole: Law = {(): Fraction(1)}
    for part in parts:
        joined: defaultdict[Sent, Fraction] = defaultdict(Fraction)
        _limit(len(whole) * len(part))
        spend(len(whole) * len(part) * _length(whole))
        for one, mass in whole.items():
            for other, weight in part.items():
                joined[_union(one, other)] += mass * weight
        whole = dict(joined)
    return whole


def _length(whole: Law) -> int:
    """About how many words a union with its longest outcome takes."""
    return max(map(len, whole)) + max(mass.denominator.bit_length() for mass in whole.values()) // 64


def _union(one: Sent, other: Sent) -> Sent:
    return tuple(sorted((Counter(dict(one)) + Counter(dict(other))).items())) if one and other else one or other


def _limit(outcomes: int) -> None:
    if outcomes > MOST_OUTCOMES:
        raise TooLarge("there are too many outcomes to go through one by one")
    spend(outcomes)
