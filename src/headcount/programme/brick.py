"""The report programme: what one person sends, written once.

A programme is a small tree of bricks. The same tree is drawn for a whole crowd at a time (`draw`),
enumerated into the exact law of one report (`law`), weighed (`mean`, `sends`), and written down for
other languages (`encode`), so that the claim, the sampler and every client speak of the same thing.
Words are consumed in the order of the tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Coins
from headcount.programme.draw import Draw, encoded
from headcount.programme.field import Field, Names, People, Values, number
from headcount.programme.law import Floats
from headcount.programme.message_counts import (
    convolution_power,
    convolved,
    convolved_all,
    mixture,
    point_mass,
    truncated,
)
from headcount.programme.report_law import NOTHING_SENT, ReportLaw
from headcount.programme.table import Table


@dataclass(frozen=True, eq=False)
class Outbox:
    """Collects the messages of a crowd, in no particular order."""

    message: np.dtype[Any]
    _sent: list[npt.NDArray[Any]] = field(default_factory=list)
    _owners: list[Values] = field(default_factory=list)

    def send(self, columns: list[Values], people: People) -> None:
        """A message of each of these people."""
        records = np.empty(people.size, dtype=self.message)
        for name, column in zip(self.message.names or (), columns, strict=True):
            records[name] = column
        self._sent.append(records)
        if people.owners is not None:
            self._owners.append(people.owners)

    def messages(self) -> npt.NDArray[Any]:
        return np.concatenate(self._sent) if self._sent else np.empty(0, dtype=self.message)

    def owners(self) -> Values:
        """The owner of each message, where that was asked for."""
        return np.concatenate(self._owners) if self._owners else np.empty(0, dtype=np.int64)


class Brick(ABC):
    """One step of a report programme."""

    reads: frozenset[str]  # the names it looks at
    sized_by: frozenset[str] = frozenset()  # those of them that change how many messages there are

    @abstractmethod
    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        """Run the programme once for each person."""

    @abstractmethod
    def law(self, names: Names) -> ReportLaw:
        """The exact law of the messages of a person who holds these integers."""

    @abstractmethod
    def mean(self, names: Names) -> float:
        """The mean number of messages."""

    def sends(self, names: Names, most: int) -> Floats:
        """The chance of each number of messages, from none to `most`, which stands for all above.

        Most bricks always send the same number.
        """
        return point_mass(min(most, round(self.mean(names))))

    @abstractmethod
    def encode(self) -> dict[str, Any]:
        """The programme as JSON; integers beyond 2**53 are strings."""


class Emit(Brick):
    """Send one message with these fields."""

    def __init__(self, *fields: Field | int) -> None:
        self.fields = tuple(Field.of(field) for field in fields)
        self.reads = frozenset().union(*(field.reads for field in self.fields))

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        outbox.send([field.column(people.held, people.size) for field in self.fields], people)

    def law(self, names: Names) -> ReportLaw:
        return ReportLaw.surely(tuple(field.at(names) for field in self.fields))

    def mean(self, names: Names) -> float:
        return 1.0

    def encode(self) -> dict[str, Any]:
        return {"emit": [field.encode() for field in self.fields]}


class All(Brick):
    """Run every part; with no parts, send nothing."""

    def __init__(self, *parts: Brick) -> None:
        self.parts = parts
        self.reads = frozenset().union(*(part.reads for part in parts))
        self.sized_by = frozenset().union(*(part.sized_by for part in parts))
        self._always: dict[int, Floats] = {}

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        for part in self.parts:
            part.draw(people, coins, outbox)

    def law(self, names: Names) -> ReportLaw:
        return reduce(ReportLaw.__mul__, (part.law(names) for part in self.parts), NOTHING_SENT)

    def mean(self, names: Names) -> float:
        return math.fsum(part.mean(names) for part in self.parts)

    def sends(self, names: Names, most: int) -> Floats:
        if most not in self._always:  # what the parts send that are the same size for everybody
            same = (part.sends(names, most) for part in self.parts if not part.sized_by)
            self._always[most] = convolved_all(same, most)
        own = (part.sends(names, most) for part in self.parts if part.sized_by)
        return convolved(self._always[most], convolved_all(own, most), most)

    def encode(self) -> dict[str, Any]:
        return {"all": [part.encode() for part in self.parts]}


NOTHING = All()


class Maybe(Brick):
    """One brick with this chance, otherwise another. One word."""

    def __init__(self, chance: Chance, then: Brick, otherwise: Brick = NOTHING) -> None:
        self.chance, self.then, self.otherwise = chance, then, otherwise
        self.reads = then.reads | otherwise.reads
        self.sized_by = then.sized_by | otherwise.sized_by

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        yes = coins.bernoulli(self.chance, people.size)
        self.then.draw(people.chosen(yes, self.then.reads), coins, outbox)
        self.otherwise.draw(people.chosen(~yes, self.otherwise.reads), coins, outbox)

    def law(self, names: Names) -> ReportLaw:
        yes = self.chance.threshold
        return ReportLaw.mixed([(yes, self.then.law(names)), (WORD - yes, self.otherwise.law(names))])

    def mean(self, names: Names) -> float:
        return self.chance * self.then.mean(names) + (1 - self.chance) * self.otherwise.mean(names)

    def sends(self, names: Names, most: int) -> Floats:
        yes = float(self.chance)
        return mixture([(yes, self.then.sends(names, most)), (1.0 - yes, self.otherwise.sends(names, most))])

    def encode(self) -> dict[str, Any]:
        return {"maybe": str(self.chance.threshold), "then": self.then.encode(), "else": self.otherwise.encode()}


class Copies(Brick):
    """Run the brick a number of times: a field, or a draw from a table (a word, rarely two)."""

    def __init__(self, amount: Field | Table, brick: Brick) -> None:
        if isinstance(amount, Table) and (amount.start or (amount.spill and not amount.fine)):
            raise ValueError("a number of copies starts at 0 and is never drawn again")
        self.amount, self.brick = amount, brick
        counted = amount.reads if isinstance(amount, Field) else frozenset()
        self.reads = brick.reads | counted
        self.sized_by = brick.sized_by | counted

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        amount, size = self.amount, people.size
        times = coins.draw(amount, size) if isinstance(amount, Table) else amount.column(people.held, size)
        self.brick.draw(people.repeated(times, self.brick.reads), coins, outbox)

    def law(self, names: Names) -> ReportLaw:
        once = self.brick.law(names)
        if isinstance(self.amount, Field):
            return reduce(ReportLaw.__mul__, repeat(once, self.amount.at(names)), NOTHING_SENT)
        masses = self.amount.masses
        powers = accumulate(repeat(once, len(masses) - 1), ReportLaw.__mul__, initial=NOTHING_SENT)
        return ReportLaw.mixed(zip(masses, powers, strict=True))

    def mean(self, names: Names) -> float:
        if isinstance(self.amount, Field):
            return float(self.amount.at(names)) * self.brick.mean(names)
        return self.amount.mean * self.brick.mean(names)

    def sends(self, names: Names, most: int) -> Floats:
        once = self.brick.sends(names, most)
        if isinstance(self.amount, Field):
            return convolution_power(once, self.amount.at(names), most)
        masses = np.array([mass / WORD**2 for mass in self.amount.masses])
        if np.count_nonzero(once) == 1:
            spread = np.zeros((masses.size - 1) * (once.size - 1) + 1)
            spread[:: max(1, once.size - 1)] = masses if once.size > 1 else masses.sum()
            return truncated(spread, most)
        total: Floats = np.zeros(1)
        for mass in masses[::-1]:  # as a polynomial is evaluated
            total = convolved(total, once, most)
            total[0] += mass
        return total

    def encode(self) -> dict[str, Any]:
        amount = self.amount.encode() if isinstance(self.amount, Field) else encoded(self.amount)
        return {"copies": amount, "brick": self.brick.encode()}


class Let(Brick):
    """Draw an integer, give it a name, and run the brick, which may use it in several places."""

    def __init__(self, name: str, draw: Draw, brick: Brick) -> None:
        self.name, self.source, self.brick = name, draw, brick
        self.reads = (brick.reads - {name}) | draw.reads
        self.sized_by = (brick.sized_by - {name}) | (draw.reads if name in brick.sized_by else frozenset())

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        self.brick.draw(people.knowing(self.name, self.source.draw(people, coins)), coins, outbox)

    def law(self, names: Names) -> ReportLaw:
        outcomes = self.source.law(names)
        return ReportLaw.mixed((weight, self.brick.law({**names, self.name: drawn})) for drawn, weight in outcomes)

    def mean(self, names: Names) -> float:
        if self.name not in self.brick.sized_by:
            return self.brick.mean({**names, self.name: 0})
        outcomes = self.source.law(names)
        total = sum(weight for _, weight in outcomes)
        return math.fsum(weight / total * self.brick.mean({**names, self.name: drawn}) for drawn, weight in outcomes)

    def sends(self, names: Names, most: int) -> Floats:
        if self.name not in self.brick.sized_by:
            return self.brick.sends({**names, self.name: 0}, most)
        outcomes = self.source.law(names)
        total = sum(weight for _, weight in outcomes)
        return mixture(
            (weight / total, self.brick.sends({**names, self.name: drawn}, most)) for drawn, weight in outcomes
        )

    def encode(self) -> dict[str, Any]:
        return {"let": self.name, "be": self.source.encode(), "in": self.brick.encode()}


class Each(Brick):
    """Run the brick for every integer below `times`, by name."""

    def __init__(self, name: str, times: int, brick: Brick) -> None:
        self.name, self.times, self.brick = name, times, brick
        self.reads = brick.reads - {name}
        self.sized_by = brick.sized_by - {name}

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        for i in range(self.times):
            turn = np.broadcast_to(np.int64(i), people.size)
            self.brick.draw(people.knowing(self.name, turn), coins, outbox)

    def law(self, names: Names) -> ReportLaw:
        every = (self.brick.law({**names, self.name: i}) for i in range(self.times))
        return reduce(ReportLaw.__mul__, every, NOTHING_SENT)

    def mean(self, names: Names) -> float:
        if self.name not in self.brick.sized_by:
            return self.times * self.brick.mean({**names, self.name: 0})
        return math.fsum(self.brick.mean({**names, self.name: i}) for i in range(self.times))

    def sends(self, names: Names, most: int) -> Floats:
        if self.name not in self.brick.sized_by:
            return convolution_power(self.brick.sends({**names, self.name: 0}, most), self.times, most)
        return convolved_all((self.brick.sends({**names, self.name: i}, most) for i in range(self.times)), most)

    def encode(self) -> dict[str, Any]:
        return {"each": self.name, "below": number(self.times), "do": self.brick.encode()}
