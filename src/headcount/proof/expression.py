"""Integers that depend on what a person holds, read from a certificate and worked out with care."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeAlias

from headcount.proof.effort import TooLarge, spend

Names: TypeAlias = Mapping[str, int]

WORD = 1 << 64
LARGEST = 1 << 512  # a bound on every intermediate integer


class Unreadable(ValueError):
    """The certificate says something that this reader does not understand."""


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "^": operator.xor,
    "&": operator.and_,
}


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
        raise Unreadable(f"no such expression: {short(encoded)}")

    def at(self, names: Names) -> int:
        spend(1 + self.size // 4)
        return self._evaluate(names)

    @cached_property
    def size(self) -> int:
        """The number of integers, names and operations in it."""
        return 1 + sum(part.size for part in self.parts if isinstance(part, Expression))

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
                return lambda names: bounded(combine(left(names), right(names)))
        raise Unreadable(f"no such expression: {self.operation}")

    def with_(self, what: Mapping[Expression, Expression]) -> Expression:
        """The same expression with some of its parts replaced."""
        spend(1)
        for old, new in what.items():
            if self == old:
                return new
        parts = (part.with_(what) if isinstance(part, Expression) else part for part in self.parts)
        return Expression(self.operation, tuple(parts))

    @cached_property
    def reads(self) -> frozenset[str]:
        if self.operation == "name":
            return frozenset(self.parts)
        return frozenset().union(*(part.reads for part in self.parts if isinstance(part, Expression)))


VALUE = Expression("name", ("value",))  # what the person holds


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
        raise Unreadable(f"not an integer: {short(encoded)}")
    try:
        return bounded(int(encoded))
    except (ValueError, TooLarge):
        raise Unreadable(f"not an integer: {short(encoded)}") from None


def bounded(number: int) -> int:
    if -LARGEST < number < LARGEST:
        return number
    raise TooLarge("an integer is too large")


def chance(encoded: Any) -> Fraction:
    """A whole number of 2**-64."""
    threshold = integer(encoded)
    if not 0 <= threshold <= WORD:
        raise Unreadable(f"not a chance: {short(encoded)}")
    return Fraction(threshold, WORD)


def short(encoded: Any) -> str:
    text = encoded if isinstance(encoded, str) else type(encoded).__name__
    return text if len(text) < 60 else text[:57] + "..."
