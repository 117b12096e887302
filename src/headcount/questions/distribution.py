"""Distributions of numbers, days or durations: ranges, the distribution function and quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.argument import Argument, Told
from headcount.questions.domains.domain import Codes, Label, Shape
from headcount.questions.domains.intervals import Intervals
from headcount.questions.domains.missing import told
from headcount.questions.domains.whole_numbers import WholeNumbers
from headcount.questions.question import Question
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.strategies import own_cells
from headcount.questions.strategies.own_cells import Own
from headcount.questions.strategies.strategy import Strategy
from headcount.questions.strategies.tree import Tree, radices_over

BINS = 1_024
AIMS = ("ranges", "quantiles", "bins")
SHOWN = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, repr=False)
class Distribution(Question):
    """How are numbers, days or durations distributed: how many in any range, and which quantiles?

    They lie between `bounds`, which are divided into `bins` equal ones. All ranges, the
    distribution function and the quantiles are answered at once, from noisy counts of the nodes of
    a tree over the bins. Its `radices` are chosen with the protocol, as they are best for most
    ranges, for quantiles or for single bins.

    Parameters
    ----------
    bounds : tuple
        The smallest and the largest possible value, stated without looking at the data: two
        numbers, two days or moments ("2026-01-01", or a `datetime`), or two durations ("1:30:00",
        or a `timedelta`). A day that is the upper bound is within it.
    bins : int or str, optional
        How many equal bins there are between the bounds, or, of moments and durations, how long
        each is: "week", "day", "hour", "minute" or "second". Unless given, one for each day between
        two days, and 1,024 otherwise.
    clip : bool
        Whether values outside are brought to the nearer bound, instead of refused.
    best_for : str
        "ranges" (unless given), "quantiles" or "bins".
    radices : tuple of int, optional
        How many children the nodes of each level of the tree have; chosen unless given.
    public : bool
        Whether the number of people is public; it is, unless neighbours="add-remove".
    missing : float or str, optional
        The number that a missing value counts as; or "drop", where the number of people is private,
        to leave its row out. It is refused unless given.
    dates : str, optional
        How text writes days, as "%d.%m.%Y"; by ISO 8601 (2026-11-16) unless given.
    whole : bool
        Whether the values are whole numbers: there is a bin for each of them, the upper bound among
        them, and values between two are refused.

    Raises
    ------
    errors.BadArgument
        If the bounds are not two values of one kind, the smaller first, or the others do not fit
        them.

    Examples
    --------
    >>> answer = hc.ask([3.0] * 900 + [7.0] * 100, hc.Distribution((0, 10), 16), epsilon=1, model="central")
    >>> 850 < answer.below(5).value < 950
    True
    """

    bounds: Any
    bins: Any = None
    clip: bool = False
    best_for: Literal["ranges", "quantiles", "bins"] = "ranges"
    radices: tuple[int, ...] | None = None
    public: bool = True
    missing: float | str | None = None
    dates: str | None = None
    whole: bool = False
    name: ClassVar[str] = "distribution"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.K_OF})
    asks: ClassVar[str] = "How many people lie in each range"
    meaning: ClassVar[str] = (
        "How many people lie in any range of values, and where the quantiles are, all from one release."
    )
    unit_words: ClassVar[str] = "people"
    guess: ClassVar[str] = "to guess half of the people for every range"
    answered: ClassVar[str] = "distribution"
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument(
            "bounds",
            Told.LIMITS,
            "The smallest and the largest possible value: two numbers, two days (2026-01-01 2026-12-31) or two "
            "durations (0:00 2:30:00).",
            needed=True,
        ),
        Argument(
            "bins",
            Told.EDGES,
            "How many equal bins there are, or for days and durations how long each is: week, day, hour, minute or "
            f"second; {BINS:,} unless given, and of days one for each.",
        ),
        Argument("whole", Told.FLAG, "Whether the values are whole numbers: then there is a bin for each of them."),
        Argument("clip", Told.FLAG, "Bring values outside the bounds to the nearer one instead of refusing them."),
        Argument("dates", Told.TEXT, "How text writes days, as %d.%m.%Y; by ISO 8601 (2026-11-16) unless given."),
        Argument("best_for", Told.TEXT, f"What the tree is chosen for: {', '.join(AIMS)}; ranges unless given."),
    )

    def __post_init__(self) -> None:
        laid = self._whole_numbers() if self.whole else self._intervals()
        object.__setattr__(self, "bounds", laid.bounds)
        object.__setattr__(self, "bins", laid.count)
        if self.best_for not in AIMS:
            raise BadArgument("best_for", f"is {self.best_for!r}", f"use one of {', '.join(AIMS)}")
        if self.radices is not None:
            object.__setattr__(self, "radices", _checked(self.radices, self.bins))

    @classmethod
    def posed(cls, *, best_for: str | None = None, **told: Any) -> Self:
        return cls(**told) if best_for is None else cls(**told, best_for=cast(Any, best_for))

    def _intervals(self) -> Intervals:
        return Intervals.of(self.bounds, self.bins, BINS, clip=self.clip, dates=self.dates)

    def _whole_numbers(self) -> WholeNumbers:
        found = WholeNumbers.between(self.bounds, clip=self.clip, missing=self.missing)
        for argument, given, fitting in (("bins", self.bins, found.count), ("dates", self.dates, None)):
            if given not in (None, fitting):
                works = Phrase("leave it out, or use {whole}", whole=False)
                raise BadArgument(argument, "is given, and each whole number has a bin", works)
        return found

    @cached_property
    def domain(self) -> Intervals:
        if self.whole:
            return self._whole_numbers()
        return Intervals(self.bounds, self.bins, self.clip, self.missing, self.dates)

    def declared(self, options: ReadingOptions) -> Question:
        if options.by:
            works = "ask for a table of that column and this one, with ranges of its values"
            raise BadArgument("by", f"does not fit a {self.name}", works)
        if options.missing is None:
            return super().declared(options)
        (own,) = told(options.missing, self.domain.takes, names=[options.column])
        return replace(self, missing=own).declared(replace(options, missing=None))

    @property
    def shape(self) -> Shape:
        return Shape.K_OF

    @cached_property
    def strategy(self) -> Tree:
        return Tree(self.bins, self.radices or (self.bins,), self.public)

    @property
    def shown_quantiles(self) -> tuple[float, ...]:
        """Those that are printed."""
        return SHOWN

    def variants(self) -> Iterable[Question]:
        """For each number of levels the best radices if all cells have the same variance."""
        if self.radices is not None:
            yield self
            return
        for levels in range(1, max(2, self.bins.bit_length())):
            radices = min(radices_over(self.bins, levels), key=self._error, default=None)
            if radices is not None:
                yield replace(self, radices=radices)

    def _error(self, radices: tuple[int, ...]) -> float:
        return self._variance(Tree(self.bins, radices, self.public))

    def _variance(self, tree: Tree) -> float:
        """That of the answers that it is to be best for."""
        return {"ranges": tree.mean_range, "quantiles": tree.mean_prefix}.get(self.best_for) or tree.leaf

    def spread(self, strategy: Strategy) -> float:
        return math.sqrt(self._variance(cast(Tree, strategy)))

    def own(self, strategy: Strategy, variances: Sequence[float]) -> Own:
        known = {"ranges": own_cells.in_ranges, "quantiles": own_cells.in_prefixes}
        return known.get(self.best_for, own_cells.in_codes)(cast(Tree, strategy), variances)

    def truth(self, codes: Codes) -> Floats:
        return self.strategy.counts(np.bincount(codes, minlength=self.bins)).astype(np.float64)

    def counted_from_zero(self) -> Self:
        return replace(self, public=False)

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        return list(self.domain.labels)

    @property
    def each(self) -> str:
        return {"ranges": "a typical range", "quantiles": "the people below a value"}.get(self.best_for, "each bin")

    @property
    def clipped_to(self) -> tuple[float, float] | None:  # type: ignore[override]
        return self.bounds if self.clip else None

    @property
    def about(self) -> str:
        return self.domain.about

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        own = {name: value for name, value in fields.items() if name != "steps"}
        return cls(**own, whole="steps" in fields)

    def to_json(self) -> dict[str, Any]:
        radices = None if self.radices is None else list(self.radices)
        return {**super().to_json(), "best_for": self.best_for, "radices": radices, "public": self.public}


def _checked(radices: Sequence[int], bins: int) -> tuple[int, ...]:
    works = f"use whole numbers whose product is {bins:,} or a little more"
    found = tuple(int(radix) for radix in radices)
    if not found or found != tuple(radices) or min(found) < 1 or not bins <= math.prod(found) <= 2 * bins:
        raise BadArgument("radices", f"is {radices!r}", works)
    return found
