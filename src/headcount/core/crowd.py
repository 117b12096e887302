"""The people who are expected, and how many of them may be relied upon."""

from __future__ import annotations

from dataclasses import dataclass

from headcount.core.errors import BadArgument
from headcount.core.quantity import quantity

LARGEST = 10**12  # people
MOST_EACH = 1_000  # reports of one person
EVERYBODY = -(1 << 62)  # stands for the crowd's size; a whole number nobody would pass
AS_MANY = EVERYBODY  # stands for as many corrupt people as among the least


@dataclass(frozen=True)
class Crowd:
    """`size` people are expected, a release needs `least` reports, and `corrupt` of those may lie or collude.

    Of all `size` it may be `most_corrupt`, as many as of the least unless told. Noise that people bring themselves is
    shared out among the `honest`; more of them only adds noise. Where reports are of rows, a person may be behind
    `each` of so many: then the promise is for all of them together.
    """

    size: int
    least: int = EVERYBODY
    corrupt: int = 0
    each: int = 1
    most_corrupt: int = AS_MANY

    def __post_init__(self) -> None:
        arguments = {"n": "size", "least": "least", "corrupt": "corrupt", "max_contributions": "each"}
        for argument, name in {**arguments, "most_corrupt": "most_corrupt"}.items():
            number = quantity(argument, getattr(self, name), "use a whole number of people")
            if number != int(number):
                raise BadArgument(argument, f"is {number:g}", "use a whole number of people")
            object.__setattr__(self, name, int(number))
        if self.least == EVERYBODY:
            object.__setattr__(self, "least", self.size)
        if self.most_corrupt == AS_MANY:
            object.__setattr__(self, "most_corrupt", self.corrupt)
        if not 1 <= self.size <= LARGEST:
            raise BadArgument("n", f"is {self.size:g}", f"use a number from 1 to {LARGEST:,}")
        if not 1 <= self.least <= self.size:
            raise BadArgument("least", f"is {self.least}", f"use a number from 1 to the crowd's {self.size:,}")
        if not 0 <= self.corrupt < self.least:
            raise BadArgument("corrupt", f"is {self.corrupt}", f"use a number from 0 to {self.least - 1:,}")
        if not self.corrupt <= self.most_corrupt <= self.size - self.honest:
            works = f"use a number from {self.corrupt:,} to {self.size - self.honest:,}"
            raise BadArgument("most_corrupt", f"is {self.most_corrupt}", works)
        if not 1 <= self.each <= MOST_EACH:
            raise BadArgument("max_contributions", f"is {self.each}", f"use a number from 1 to {MOST_EACH:,}")

    @property
    def honest(self) -> int:
        """With the least: with more people there are no fewer."""
        return self.least - self.corrupt

    def to_json(self) -> dict[str, int]:
        several = {"each": self.each} if self.each > 1 else {}
        more = {"most_corrupt": self.most_corrupt} if self.most_corrupt > self.corrupt else {}
        return {"size": self.size, "least": self.least, "corrupt": self.corrupt, **several, **more}
