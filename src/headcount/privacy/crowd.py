"""The people who are expected, and how many of them may be relied upon."""

from __future__ import annotations

from dataclasses import dataclass, field

from headcount.common.calls import checked_class
from headcount.common.quantity import quantity
from headcount.errors import BadArgument

LARGEST = 10**12  # people
MOST_EACH = 1_000  # reports of one person
EVERYBODY = -(1 << 62)  # stands for the crowd's size; a whole number nobody would pass
AS_MANY = EVERYBODY  # stands for as many corrupt people as among the least


@checked_class
@dataclass(frozen=True)
class Crowd:
    """The people a protocol is calibrated for, and how many of them can be relied upon.

    Noise that people add themselves is shared out among the honest ones, `least - corrupt`; more
    only add to it.

    Parameters
    ----------
    size : int
        People who are expected, up to 10**12.
    least : int
        Reports without which nothing is released; all of them unless given.
    corrupt : int
        Of the least, how many may lie, drop their noise or collude.
    each : int
        Reports of one person. The guarantee is for all of them together (group privacy).
    most_corrupt : int
        Corrupt people among all `size`; as many as among the least unless given.

    Attributes
    ----------
    honest : int
        Honest people among the least reports; with more reports there are no fewer.

    Raises
    ------
    errors.BadArgument
        If a number is out of range.

    Examples
    --------
    >>> crowd = hc.Crowd(10_000, least=9_000, corrupt=100)
    >>> crowd
    Crowd(10000, least=9000, corrupt=100)
    >>> crowd.honest
    8900
    """

    size: int
    least: int = EVERYBODY
    corrupt: int = 0
    each: int = 1
    most_corrupt: int = AS_MANY
    honest: int = field(init=False, repr=False, compare=False)

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
        object.__setattr__(self, "honest", self.least - self.corrupt)
        if not self.corrupt <= self.most_corrupt <= self.size - self.honest:
            works = f"use a number from {self.corrupt:,} to {self.size - self.honest:,}"
            raise BadArgument("most_corrupt", f"is {self.most_corrupt}", works)
        if not 1 <= self.each <= MOST_EACH:
            raise BadArgument("max_contributions", f"is {self.each}", f"use a number from 1 to {MOST_EACH:,}")

    def __repr__(self) -> str:
        usual = {"least": self.size, "corrupt": 0, "each": 1, "most_corrupt": self.corrupt}
        given = (f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value)
        return f"Crowd({', '.join([str(self.size), *given])})"

    def to_json(self) -> dict[str, int]:
        """Its JSON form, as in a plan, without defaults."""
        several = {"each": self.each} if self.each > 1 else {}
        more = {"most_corrupt": self.most_corrupt} if self.most_corrupt > self.corrupt else {}
        return {"size": self.size, "least": self.least, "corrupt": self.corrupt, **several, **more}
