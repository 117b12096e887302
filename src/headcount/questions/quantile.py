"""Quantiles: the value below which a given part of the people lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from headcount.errors import BadArgument
from headcount.questions.argument import Argument, Told
from headcount.questions.distribution import Distribution


@dataclass(frozen=True, repr=False)
class Quantile(Distribution):
    """Below which value does a part of the people lie? The median, unless told otherwise.

    Parameters
    ----------
    bounds, bins, clip, radices, public, missing, dates, whole
        As for `Distribution`.
    best_for : str
        "quantiles", unless given.
    at : float
        The part of the people, above 0 and below 1: 0.5 is the median.

    Raises
    ------
    errors.BadArgument
        As `Distribution` does, or if the part is not between 0 and 1.

    Examples
    --------
    >>> answer = hc.ask([3.0] * 900 + [7.0] * 100, hc.Quantile((0, 10), 16, at=0.5), epsilon=1, model="central")
    >>> 2 < answer.median.value < 4
    True
    """

    best_for: Literal["ranges", "quantiles", "bins"] = "quantiles"
    at: float = 0.5
    name: ClassVar[str] = "quantile"
    asks: ClassVar[str] = "Below which value a part of the people lie"
    of_a_value: ClassVar[bool] = True
    meaning: ClassVar[str] = "The value below which a part of the people lie: the median is the 0.5 quantile."
    arguments: ClassVar[tuple[Argument, ...]] = (
        *(each for each in Distribution.arguments if each.name != "best_for"),
        Argument("at", Told.NUMBER, "The part of the people that lie below it; 0.5, the median, unless given."),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.at < 1.0:
            works = "use a number above 0 and below 1; the least and the largest value cannot be told privately"
            raise BadArgument("at", f"is {self.at!r}", works)

    @classmethod
    def posed(cls, *, at: float | None = None, **told: Any) -> Self:
        return cls(at=0.5 if at is None else at, **told)

    @property
    def shown_quantiles(self) -> tuple[float, ...]:
        return (self.at,)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "at": self.at}
