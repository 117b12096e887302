"""The base class of questions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument, Unsupported
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.argument import Argument
from headcount.questions.domains.domain import REBUILT, Codes, Domain, Label, Shape
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.strategies.identity import Identity
from headcount.questions.strategies.own_cells import Own
from headcount.questions.strategies.strategy import Strategy


class Question(ABC):
    """What is asked of people: a map from noisy counts of their codes, the cells, to answers.

    A protocol estimates the cells in people: a person counts 0 or 1, or, as an amount, something
    between. An answer is `low` for everybody and `width` for every whole person, divided by the
    number of people if it is `per_person`.
    """

    name: ClassVar[str]
    shapes: ClassVar[frozenset[Shape]]  # that its domains may have
    in_groups: ClassVar[frozenset[Shape]] = frozenset()  # the same if it is asked in groups
    asks: ClassVar[str]  # the question itself, to be followed by a comma
    meaning: ClassVar[str] = ""  # for a glossary, where `asks` does not say enough
    unit_words: ClassVar[str] = ""  # what an answer is counted in
    percent: ClassVar[bool] = False  # whether its errors are percentage points
    guess: ClassVar[str] = "to guess half of the people"  # what is as good as an answer that is mostly noise
    instead: ClassVar[str] = "count"  # what can be asked without dividing by the number of people
    of_a_value: ClassVar[bool] = False  # whether the answer is a value that people hold, which no number of them tells
    answered: ClassVar[str] = "values"  # the form of its answer: one for each part, a "distribution" or a "table"

    reads: tuple[str, ...] = ()  # the columns that it names itself, one for each part of its domain
    per_person = False  # whether the answer is divided by the number of people
    low = 0.0
    width = 1.0
    clipped_to: tuple[float, float] | None = None  # the range that values outside of it are brought into

    arguments: ClassVar[tuple[Argument, ...]] = ()  # of `posed`
    steps = 1  # how many of its own steps there are from the smallest amount that a person may hold to the largest
    paired = False  # whether an answer is made of two cells: what people hold, and what they lack of the largest amount
    implied_by: ClassVar[str] = ""  # the one of them that asks this question where none is named

    @classmethod
    def posed(cls, **arguments: Any) -> Question:
        """The question from what somebody says who asks it."""
        return cls(**arguments)

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What people hold."""

    def declared(self, options: ReadingOptions) -> Question:
        """The question as declared: its groups, and what missing values and spellings mean."""
        if options.spelled:
            raise BadArgument("spelled", f"is for counts, and this is a {self.name}", "leave it out")
        if options.missing is not None:
            raise BadArgument("missing", f"cannot be said of a {self.name}", "leave it out")
        options.require_column(self.name)
        return self

    def read_as(self, where: object, groups: int) -> Domain:
        """The domain as declared: which value counts as a one, and how many columns are groups."""
        if where is not None:
            raise BadArgument("where", f"is for counts, and this is a {self.name}", "leave it out")
        columns = len(self.domain.parts) - 1
        if columns != groups:
            problem = f"does not fit a {self.name}" if groups else f"is missing for a {self.name}"
            raise BadArgument("by", problem, f"name {columns} columns of groups" if columns else "leave it out")
        return self.domain

    @property
    def shape(self) -> Shape:
        """What a protocol has to serve to answer this."""
        return self.domain.shape

    @property
    def values(self) -> int:
        """How many codes there are."""
        return self.domain.size

    @property
    def cells(self) -> int:
        """How many numbers a protocol estimates."""
        return self.strategy.size if self.shape in (Shape.ONE_OF, *REBUILT) else 1

    @property
    def strategy(self) -> Strategy:
        """Which cells a code touches, and how answers are rebuilt from them."""
        return Identity(0 if self.shape is Shape.KEY else self.values)

    def variants(self) -> Iterable[Question]:
        """The same with each strategy that is worth a try, those that touch fewer cells first."""
        return (self,)

    def spread(self, strategy: Strategy) -> float:
        """The typical standard error of an answer, for unit variance in first-family cells."""
        return 1.0

    def average(self, strategy: Strategy) -> float:
        """The same on average, where `spread` is that of the answer that errs most."""
        return self.spread(strategy)

    def own(self, strategy: Strategy, variances: Sequence[float]) -> Own:
        """The variance that a person in cells of their own adds to this answer, by moments."""
        raise NotImplementedError

    @property
    def in_order(self) -> bool:
        """Whether its labels have an order, as bins and weeks do."""
        return False

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        """The labels of the answers; where labels are not listed, the ones that were found."""
        raise Unsupported(f"a {self.name} has no categories")

    @property
    def other(self) -> bool:
        """Whether the last answer is of people with none of the labels."""
        return False

    def unit(self, reports: int) -> float:
        """One whole person's part in an answer, in its unit."""
        return self.width / (max(1, reports) if self.per_person else 1)

    def answers(self, people: Floats, reports: int, *, private: bool = False) -> Floats:
        """From cells to answers; where the number of people is private, everybody counts from 0."""
        everybody = max(1, reports) if self.per_person else 1
        origin = 0.0 if private else self.low
        return origin * reports / everybody + self.width / everybody * people + 0.0  # no negative zero

    def spans(self, cells: Callable[[float], Floats], confidence: float, reports: int, *, private: bool) -> Floats:
        """A row [low, high] for each answer, from such rows for the cells at any confidence."""
        ends = cells(confidence)
        return np.stack([self.answers(side, reports, private=private) for side in ends.T], axis=1)

    def truth(self, codes: Codes) -> Floats:
        """The true cells of people with these codes, for simulation and tests."""
        return np.bincount(codes, minlength=self.values).astype(np.float64)

    def planned(self, *, private: bool) -> Question:
        """The same as it is planned for, where the number of people is private or public."""
        return self.counted_from_zero() if private else self.of_everybody()

    def over_rounds(self, rounds: int) -> Question:
        """The question asked instead where the number of rounds of a person is bounded."""
        works = "leave it out; where one party holds the data, a series over its table does it"
        raise BadArgument("contributes", f"is for counts, and this is a {self.name}", works)

    def of_everybody(self) -> Question:
        """The same where the number of people is public, which no row may be left out of."""
        if self.domain.drops:
            works = Phrase(
                "use {neighbours}, or count them: as no, as other, as a category or as a number",
                neighbours="add-remove",
            )
            raise BadArgument(
                "missing", "is 'drop', and the number of people is public: it would tell how many lack it", works
            )
        return self

    @property
    def finding(self) -> Question | None:
        """The question that finds the groups in which this one is asked, if nobody listed them."""
        return None

    def among(self, labels: Sequence[Any]) -> Question:
        """The same in groups that were found."""
        return self

    def shares(self, held: Ints) -> Ints:
        """The steps in each of the two cells of a group, from how many people hold each code."""
        raise NotImplementedError

    def counted_from_zero(self) -> Question:
        """The same where the number of people is private, which an answer per person would show."""
        if self.per_person:
            raise Unsupported(f"{self.called} shows how many people there are", f"ask for the {self.instead} instead")
        return self

    @property
    def scales_cells(self) -> bool:
        """Whether each answer is one scaled cell with that cell's error law, without `spans`."""
        return type(self).spans is Question.spans

    @property
    def called(self) -> str:
        """The answer with its article."""
        return f"a {self.name}"

    @property
    def each(self) -> str:
        """The answer, or one of several, as the subject of a sentence."""
        return "each count" if self.shape.several else f"the {self.name} {self.about}".rstrip()

    @property
    def ignores_zeros(self) -> bool:
        """Whether top-up reports, with the code 0, leave the answer as it is."""
        return False

    @property
    def about(self) -> str:
        """Words for the values that the answer is about, where they are not the data themselves."""
        return "" if self.clipped_to is None else of_clipped(self.clipped_to)

    def __repr__(self) -> str:
        """The arguments that differ from their defaults."""
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        given: dict[str, Any] = {each.name: getattr(self, each.name) for each in own}
        said = (f"{each.name}={given[each.name]!r}" for each in own if given[each.name] != each.default)
        return f"{type(self).__name__}({', '.join(said)})"

    def to_json(self) -> dict[str, Any]:
        """The domain's fields among the question's own; `from_json` reads them."""
        return {"name": self.name, **self.domain.to_json()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Question:
        """The question that wrote these fields, its name left out."""
        return cls(**fields)


def of_clipped(bounds: Sequence[float] | None) -> str:
    """The words for values that were clipped to these bounds, if they were."""
    return "" if bounds is None else f"of values clipped to [{bounds[0]:.15g}, {bounds[1]:.15g}]"
