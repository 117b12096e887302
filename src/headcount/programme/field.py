"""Integers that depend on what a person holds, written as small expressions.

A `Field` is evaluated on numpy arrays for a crowd, on plain integers when a law is enumerated, and
by other languages from its JSON: the same few operations on integers everywhere. Names stand for
the value a person holds ("value") and for whatever the programme has drawn for them on the way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Values: TypeAlias = npt.NDArray[Any]
Names: TypeAlias = Mapping[str, Any]

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "^": operator.xor,
    "&": operator.and_,
}


@dataclass(frozen=True)
class Field:
    """A name, a constant, or an operation on fields; `parity` is that of the binary digits."""

    operation: str
    parts: tuple[Any, ...]
    reads: frozenset[str] = field(init=False, repr=False, compare=False)  # the names it looks at

    def __post_init__(self) -> None:
        fields = (part.reads for part in self.parts if isinstance(part, Field))
        reads = frozenset(self.parts) if self.operation == "name" else frozenset().union(*fields)
        object.__setattr__(self, "reads", reads)

    @classmethod
    def of(cls, number: Field | int) -> Field:
        return number if isinstance(number, Field) else cls("constant", (int(number),))

    @classmethod
    def named(cls, name: str) -> Field:
        return cls("name", (name,))

    def at(self, names: Names) -> Any:
        """The value: an array where the names stand for arrays, otherwise an integer."""
        if self.operation == "constant":
            return self.parts[0]
        if self.operation == "name":
            return names[self.parts[0]]
        arguments = [_wide(part.at(names)) for part in self.parts]
        if self.operation == "parity":
            return _parity(arguments[0])
        return _OPERATIONS[self.operation](*arguments)

    def column(self, names: Names, size: int) -> Values:
        """The values for this many people, constants included."""
        value = self.at(names)
        return value if isinstance(value, np.ndarray) else np.broadcast_to(np.int64(value), size)

    @property
    def parity(self) -> Field:
        return Field("parity", (self,))

    def __add__(self, other: Field | int) -> Field:
        return Field("+", (self, Field.of(other)))

    def __sub__(self, other: Field | int) -> Field:
        return Field("-", (self, Field.of(other)))

    def __rsub__(self, other: int) -> Field:
        return Field("-", (Field.of(other), self))

    def __mul__(self, other: Field | int) -> Field:
        return Field("*", (self, Field.of(other)))

    def __floordiv__(self, other: int) -> Field:
        return Field("//", (self, Field.of(other)))

    def __mod__(self, other: int) -> Field:
        return Field("%", (self, Field.of(other)))

    def __xor__(self, other: Field | int) -> Field:
        return Field("^", (self, Field.of(other)))

    def __and__(self, other: Field | int) -> Field:
        return Field("&", (self, Field.of(other)))

    def encode(self) -> Any:
        """A number (a string beyond 2**53), {"name": …}, or a list for an operation."""
        if self.operation == "constant":
            return number(self.parts[0])
        if self.operation == "name":
            return {"name": self.parts[0]}
        return [self.operation, *(part.encode() for part in self.parts)]


VALUE = Field.named("value")


def number(integer: int) -> int | str:
    """An integer that every JSON reader understands."""
    return integer if abs(integer) <= 1 << 53 else str(integer)


def _wide(value: Any) -> Any:
    """Arrays of small integers would wrap around."""
    return value.astype(np.int64, copy=False) if isinstance(value, np.ndarray) else value


def _parity(value: Any) -> Any:
    return np.bitwise_count(value).astype(np.int64) & 1 if isinstance(value, np.ndarray) else value.bit_count() & 1


@dataclass(frozen=True, eq=False)
class People:
    """Some people at one point of a programme: how many, and the named integers each of them holds.

    An auditor, and nobody else, also has it written down whose messages theirs are: `owners`
    numbers them.
    """

    size: int
    held: Mapping[str, Values]
    owners: Values | None = None

    def chosen(self, who: npt.NDArray[np.bool_], reads: frozenset[str]) -> People:
        """The marked people, with the names that are still to be read."""
        held = {name: self.held[name][who] for name in reads}
        size = next((values.size for values in held.values()), None)
        owners = None if self.owners is None else self.owners[who]
        return People(int(np.count_nonzero(who)) if size is None else size, held, owners)

    def within(self, piece: slice) -> People:
        """A contiguous slice of the people, with all that they hold."""
        held = {name: values[piece] for name, values in self.held.items()}
        owners = None if self.owners is None else self.owners[piece]
        return People(len(range(*piece.indices(self.size))), held, owners)

    def repeated(self, times: Values, reads: frozenset[str]) -> People:
        """Each person, repeated by the number given for them."""
        held = {name: np.repeat(self.held[name], times) for name in reads}
        owners = None if self.owners is None else np.repeat(self.owners, times)
        return People(int(times.sum(dtype=np.int64)), held, owners)

    def knowing(self, name: str, values: Values) -> People:
        return People(self.size, {**self.held, name: values}, self.owners)
