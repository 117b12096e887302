"""The people who are expected, and how many of them may be relied upon."""

from __future__ import annotations

from dataclasses import dataclass

from headcount.core.errors import BadArgument
from headcount.core.quantity import quantity

LARGEST = 10**12  # people
MOST_EACH = 1_000  # reports of one person
EVERYBODY = -(1 << 62)  # stands for the crowd's size; a whole number nobody would pass


@dataclass(frozen=True)
class Crowd:
    """`size` people are expected, a release needs `least` reports, and `corrupt` of those may lie or collude.

    Noise that people bring themselves is shared out among the `honest`; more of them only adds noise. Where reports are
    of rows, a person may be behind `each` of so many: then the promise is for all of them together.
    """

    size: int
    least: int = EVERYBODY
    corrupt: int = 0
    each: int = 1

    def __post_init__(self) -> None:
        arguments = {"n": "size", "least": "least", "corrupt": "corrupt", "max_contributions": "each"}
        for argument, name in arguments.items():
            number = quantity(argument, getattr(self, name), "use a whole number of people")
            if number != int(number):
                raise BadArgument(argument, f"is {number:g}", "use a whole number of people")
            object.__setattr__(self, name, int(number))
        if self.least == EVERYBODY:
            object.__setattr__(self, "least", self.size)
        if not 1 <= self.size <= LARGEST:
            raise BadArgument("n", f"is {self.size:g}", f"use a number from 1 to {LARGEST:,}")
        if not 1 <= self.least <= self.size:
            raise BadArgument("least", f"is {self.least}", f"use a number from 1 to the crowd's {self.size:,}")
        if not 0 <= self.corrupt < self.least:
            raise BadArgument("corrupt", f"is {self.corrupt}", f"use a number from 0 to {self.least - 1:,}")
        if not 1 <= self.each <= MOST_EACH:
            raise BadArgument("max_contributions", f"is {self.each}", f"use a number from 1 to {MOST_EACH:,}")

    @property
    def honest(self) -> int:
        return self.least - self.corrupt

    def to_json(self) -> dict[str, int]:
        several = {"each": self.each} if self.each > 1 else {}
        return {"size": self.size, "least": self.least, "corrupt": self.corrupt, **several}
