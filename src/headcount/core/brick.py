"""The report programme: what one person sends, written once.

A programme is a small tree of bricks. The same tree is drawn for a whole crowd at a time (`draw`), enumerated into
the exact law of one report (`law`), weighed (`mean`), and written down for other languages (`encode`), so that
the claim, the sampler and every client speak of the same thing. Words are consumed in the order of the tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from headcount.core.chance import Chance
from headcount.core.coins import Coins
from headcount.core.table import Table

Values: TypeAlias = npt.NDArray[Any]
Message: TypeAlias = tuple[int, ...]
Multiset: TypeAlias = tuple[tuple[Message, int], ...]


@dataclass(frozen=True)
class Field:
    """`scale * value + offset`: an integer that may depend on what the person holds."""

    scale: int
    offset: int

    @classmethod
    def of(cls, number: Field | int) -> Field:
        return number if isinstance(number, Field) else cls(0, number)

    def at(self, values: Values) -> Values:
        if not self.scale:
            return np.broadcast_to(np.int64(self.offset), values.shape)
        return values if (self.scale, self.offset) == (1, 0) else self.offset + self.scale * values.astype(np.int64)

    def __rsub__(self, number: int) -> Field:
        return Field(-self.scale, number - self.offset)

    def encode(self) -> list[int | str]:
        return [_number(self.scale), _number(self.offset)]


VALUE = Field(1, 0)


def _number(number: int) -> int | str:
    return number if abs(number) <= 1 << 53 else str(number)


@dataclass(frozen=True)
class ExactLaw:
    """The law of a multiset of messages: integer masses in units of 2**-bits."""

    masses: dict[Multiset, int]
    bits: int

    def at_bits(self, bits: int) -> dict[Multiset, int]:
        return {multiset: mass << (bits - self.bits) for multiset, mass in self.masses.items()}

    def __mul__(self, other: ExactLaw) -> ExactLaw:
        """The two sent together, independently."""
        together: Counter[Multiset] = Counter()
        for mine, mass in self.masses.items():
            for theirs, other_mass in other.masses.items():
                together[_merged(mine, theirs)] += mass * other_mass
        return ExactLaw(dict(together), self.bits + other.bits)

    @staticmethod
    def mixed(parts: list[tuple[int, ExactLaw]], bits: int) -> ExactLaw:
        """One of the laws, each with a weight in units of 2**-bits."""
        inner = max(law.bits for _, law in parts)
        mixture: Counter[Multiset] = Counter()
        for weight, law in parts:
            if weight:
                for multiset, mass in law.at_bits(inner).items():
                    mixture[multiset] += weight * mass
        return ExactLaw(dict(mixture), bits + inner)


def _merged(first: Multiset, second: Multiset) -> Multiset:
    counts = Counter(dict(first))
    counts.update(dict(second))
    return tuple(sorted(counts.items()))


NOTHING_SENT = ExactLaw({(): 1}, 0)


class Outbox:
    """Collects the messages of a crowd, in no particular order."""

    def __init__(self, message: np.dtype[Any]) -> None:
        self.message = message
        self._sent: list[npt.NDArray[Any]] = []

    def send(self, columns: list[Values], size: int) -> None:
        records = np.empty(size, dtype=self.message)
        for name, column in zip(self.message.names or (), columns, strict=True):
            records[name] = column
        self._sent.append(records)

    def messages(self) -> npt.NDArray[Any]:
        return np.concatenate(self._sent) if self._sent else np.empty(0, dtype=self.message)


class Brick(ABC):
    """One step of a report programme."""

    reads: bool  # whether it looks at the person's value

    @abstractmethod
    def draw(self, values: Values, coins: Coins, outbox: Outbox) -> None:
        """Run the programme once for each person."""

    @abstractmethod
    def law(self, value: int) -> ExactLaw:
        """What a person with this value sends, exactly."""

    @abstractmethod
    def mean(self, value: int) -> float:
        """How many messages that is on average."""

    @abstractmethod
    def encode(self) -> dict[str, Any]:
        """The programme as JSON; integers beyond 2**53 are strings."""

    def _among(self, values: Values, chosen: npt.NDArray[np.bool_]) -> Values:
        """The chosen people; only their number where their values do not matter."""
        if self.reads:
            return values[chosen]
        return np.broadcast_to(values.dtype.type(0), int(np.count_nonzero(chosen)))


class Emit(Brick):
    """Send one message with these fields."""

    def __init__(self, *fields: Field | int) -> None:
        self.fields = tuple(Field.of(field) for field in fields)
        self.reads = any(field.scale for field in self.fields)

    def draw(self, values: Values, coins: Coins, outbox: Outbox) -> None:
        outbox.send([field.at(values) for field in self.fields], values.size)

    def law(self, value: int) -> ExactLaw:
        message = tuple(field.scale * value + field.offset for field in self.fields)
        return ExactLaw({((message, 1),): 1}, 0)

    def mean(self, value: int) -> float:
        return 1.0

    def encode(self) -> dict[str, Any]:
        return {"emit": [field.encode() for field in self.fields]}


class All(Brick):
    """Run every part; with no parts, send nothing."""

    def __init__(self, *parts: Brick) -> None:
        self.parts = parts
        self.reads = any(part.reads for part in parts)

    def draw(self, values: Values, coins: Coins, outbox: Outbox) -> None:
        for part in self.parts:
            part.draw(values, coins, outbox)

    def law(self, value: int) -> ExactLaw:
        return reduce(ExactLaw.__mul__, (part.law(value) for part in self.parts), NOTHING_SENT)

    def mean(self, value: int) -> float:
        return math.fsum(part.mean(value) for part in self.parts)

    def encode(self) -> dict[str, Any]:
        return {"all": [part.encode() for part in self.parts]}


NOTHING = All()


class Maybe(Brick):
    """With this chance the one, otherwise the other. One word."""

    def __init__(self, chance: Chance, then: Brick, otherwise: Brick = NOTHING) -> None:
        self.chance, self.then, self.otherwise = chance, then, otherwise
        self.reads = then.reads or otherwise.reads

    def draw(self, values: Values, coins: Coins, outbox: Outbox) -> None:
        yes = coins.bernoulli(self.chance, values.size)
        self.then.draw(self.then._among(values, yes), coins, outbox)
        self.otherwise.draw(self.otherwise._among(values, ~yes), coins, outbox)

    def law(self, value: int) -> ExactLaw:
        yes = self.chance.threshold
        return ExactLaw.mixed([(yes, self.then.law(value)), ((1 << 64) - yes, self.otherwise.law(value))], 64)

    def mean(self, value: int) -> float:
        return self.chance * self.then.mean(value) + (1 - self.chance) * self.otherwise.mean(value)

    def encode(self) -> dict[str, Any]:
        return {"maybe": str(self.chance.threshold), "then": self.then.encode(), "else": self.otherwise.encode()}


class Copies(Brick):
    """Run the brick a number of times: a field of the value, or a draw from a table (a word, rarely two)."""

    def __init__(self, amount: Field | Table, brick: Brick) -> None:
        if isinstance(amount, Table) and (amount.start or amount.total != 1 << 128):
            raise ValueError("a number of copies starts at 0 and is never drawn again")
        self.amount, self.brick = amount, brick
        self.reads = brick.reads or isinstance(amount, Field)

    def draw(self, values: Values, coins: Coins, outbox: Outbox) -> None:
        amount = self.amount
        times = coins.draw(amount, values.size) if isinstance(amount, Table) else amount.at(values)
        if self.brick.reads:
            repeated = np.repeat(values, times)
        else:
            repeated = np.broadcast_to(values.dtype.type(0), int(times.sum(dtype=np.int64)))
        self.brick.draw(repeated, coins, outbox)

    def law(self, value: int) -> ExactLaw:
        once = self.brick.law(value)
        if isinstance(self.amount, Field):
            return reduce(ExactLaw.__mul__, [once] * (self.amount.scale * value + self.amount.offset), NOTHING_SENT)
        masses = self.amount.masses
        powers = accumulate([once] * (len(masses) - 1), ExactLaw.__mul__, initial=NOTHING_SENT)
        return ExactLaw.mixed(list(zip(masses, powers, strict=True)), 128)

    def mean(self, value: int) -> float:
        if isinstance(self.amount, Field):
            return (self.amount.scale * value + self.amount.offset) * self.brick.mean(value)
        return math.fsum(k * (mass / 2**128) for k, mass in enumerate(self.amount.masses)) * self.brick.mean(value)

    def encode(self) -> dict[str, Any]:
        if isinstance(self.amount, Field):
            amount: Any = self.amount.encode()
        else:
            table = self.amount
            amount = {"coarse": [*map(str, table.coarse)], "fine": [*map(str, table.fine)]}
        return {"copies": amount, "brick": self.brick.encode()}


def drawn(programme: Brick, values: Values, coins: Coins, message: np.dtype[Any]) -> npt.NDArray[Any]:
    """The messages of a crowd that holds these values."""
    outbox = Outbox(message)
    programme.draw(values, coins, outbox)
    return outbox.messages()
