"""A protocol's declarations and formulas.

Everything else follows from these, in `predicted` and `protocol`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, Unsupported
from headcount.phrases import Phrase, setting
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import GroupPrivacy, NoGuarantee, PrivacyLoss
from headcount.privacy.model import Model
from headcount.programme.brick import Brick
from headcount.programme.chance import Chance
from headcount.programme.coins import Coins
from headcount.programme.field import VALUE, Field
from headcount.programme.law import Floats, Noise
from headcount.programme.release import Release, Unchanged
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.knob import Choices, Knob, Settings
from headcount.questions import QUESTIONS
from headcount.questions.count import Count
from headcount.questions.domains.domain import REBUILT, Shape
from headcount.questions.question import Question
from headcount.questions.strategies.strategy import Strategy

FEW_KINDS = 64  # of messages, each of which is looked at


@dataclass(frozen=True, kw_only=True)
class Declaration(ABC):
    """A protocol's declarations. Its privacy loss is of the view of everybody not trusted."""

    name: ClassVar[str]
    model: ClassVar[Model]
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT})  # that it serves
    relations: ClassVar[frozenset[Neighbours]] = frozenset({Neighbours.REPLACE})
    knob: ClassVar[Knob]
    searched: ClassVar[str] = ""  # a whole parameter of which `choices` lists a spread: calibration looks between too
    later: ClassVar[frozenset[str]] = frozenset()  # parameters that came later: JSON leaves their defaults out
    options: ClassVar[frozenset[str]] = frozenset()  # that `choices` takes besides task, crowd and budget
    pure: ClassVar[bool] = False  # whether delta = 0 can be met
    steady: ClassVar[bool] = True  # whether the error has the same law whatever the data
    independent: ClassVar[bool] = False  # whether the errors of different cells are
    provable: ClassVar[bool] = (
        True  # whether `verify` knows a proof; otherwise the claim rests on a theorem, and on tests
    )
    reference: ClassVar[str]

    room = math.inf  # the most reports that its messages can be added up for

    task: Question = field(default_factory=Count)
    crowd: Crowd
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        self.require(self.task)
        if self.neighbours not in self.relations:
            others = [setting("neighbours", str(relation)) for relation in sorted(self.relations)]
            raise Unsupported(
                Phrase(
                    "has no guarantee for {neighbours}, because the number of reports is public and a person who "
                    "leaves takes their noise along",
                    neighbours=str(self.neighbours),
                ),
                Phrase("use {}", Phrase.joined(" or ", others)),
                protocol=self.name,
            )
        if not self.neighbours.hides_size:
            self.task.of_everybody()  # which refuses to tell how many rows were left out
        elif self.task.shape in REBUILT:  # of numbers of people that add up to none that is known
            object.__setattr__(self, "task", self.task.counted_from_zero())
        if self.task.shape is Shape.K_OF and not self.linear:
            problem = f"gives cells errors that depend on what people hold, and a {self.task.name} adds cells up"
            raise Unsupported(problem, "leave its parameters out", protocol=self.name)
        if self.neighbours.hides_size and self.crowd.least < self.crowd.size:
            raise BadArgument("least", "is given, and how many people report is private", "leave it out")

    @classmethod
    def require(cls, task: Question) -> None:
        """Refuses a task that this protocol does not answer."""
        if cls.answers(task):
            return
        if task.shape is not Shape.KEY or Shape.ONE_OF not in cls.shapes:
            works = f"it answers {', '.join(cls.question_names())}"
            raise Unsupported(f"does not answer {task.name}", works, protocol=cls.name)
        raise Unsupported("needs a list of categories", protocol=cls.name)

    @classmethod
    def laborious(cls, task: Question, rounds: int) -> bool:
        """Whether its loss over the rounds takes minutes: advice leaves it out unless named."""
        return False

    @classmethod
    def answers(cls, task: Question) -> bool:
        """Whether it serves the question's shape."""
        return task.shape in cls.shapes

    @classmethod
    def question_names(cls) -> list[str]:
        """The names of the questions it answers; of those in groups if it answers no others."""
        plain = sorted(name for name, kind in QUESTIONS.items() if kind.shapes & cls.shapes)
        return plain or sorted(f"{name} by group" for name, kind in QUESTIONS.items() if kind.in_groups & cls.shapes)

    def unavoidable_delta(self, epsilon: float) -> float:
        """A lower bound on delta at this epsilon, whatever the knob is set to; 0 if none known."""
        return 0.0

    @property
    def serves(self) -> bool:
        """Whether this crowd could get any answer out of it at all."""
        return True

    def require_within(self, name: str, low: float, high: float) -> None:
        """Refuses a parameter that is not above `low` and at most `high`."""
        works = f"use a number above {low:g}" + ("" if math.isinf(high) else f" and up to {high:g}")
        value = quantity(name, getattr(self, name), works)
        if not low < value <= high:
            raise BadArgument(name, f"is {value:g}", works)

    def as_chance(self, name: str, low: float, high: float, rounded: Callable[[float], Chance]) -> None:
        """Refuses a parameter out of range, and rounds it by `Chance.up` or `Chance.down`."""
        self.require_within(name, low, high)
        object.__setattr__(self, name, rounded(getattr(self, name)))

    def whole(self, name: str, low: int, high: float = math.inf) -> None:
        """Makes an integer of a parameter that must be one, from `low` to `high`."""
        works = f"use a whole number from {low:,}" + ("" if math.isinf(high) else f" to {int(high):,}")
        value = quantity(name, getattr(self, name), works)
        if value != int(value) or not low <= value <= high:
            raise BadArgument(name, f"is {getattr(self, name)!r}", works)
        object.__setattr__(self, name, int(value))

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """Settings of the other parameters; calibration turns the knob for each and ranks them.

        The budget is for one round. A protocol that wants to know that of all rounds has the option
        `together`.
        """
        return ({},)

    @abstractmethod
    def report(self, value: Field) -> Brick:
        """The report programme: what one person sends."""

    @cached_property
    def programme(self) -> Brick:
        """The report programme as a tree, which is drawn, enumerated, priced and encoded."""
        return self.report(VALUE)

    @property
    def kinds(self) -> int:
        """How many different messages there are; one for each cell unless a leaf knows better."""
        return self.task.cells

    @property
    def message(self) -> np.dtype[Any]:
        """One record of fixed width, in the fewest bytes that hold its fields."""
        return np.dtype([(name, np.min_scalar_type(last)) for name, (_, last) in self.ranges.items()])

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        """The least and largest of each message field: by default its kind; of a row, by bytes."""
        return {"kind": (0, self.kinds - 1)}

    def messages_with(self, **fields: Iterable[int]) -> npt.NDArray[Any]:
        """Messages with these fields, and zeros in all others."""
        numbers = {name: np.array([*each]) for name, each in fields.items()}
        messages = np.zeros(len(next(iter(numbers.values()))), dtype=self.message)
        for name, each in numbers.items():
            messages[name] = each
        return messages

    def genuine(self, messages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """A mask of the valid messages; others are not counted."""
        fits = np.ones(messages.size, dtype=np.bool_)
        for name, (low, high) in self.ranges.items():
            inside = (messages[name] >= low) & (messages[name] <= high)
            fits &= inside if inside.ndim == 1 else inside.all(axis=1)
        return fits

    def telling(self) -> npt.NDArray[Any]:
        """Messages that include those that move an estimate furthest, either way, or in most cells.

        By default all kinds or, of many, some: where they are categories one is like another.
        """
        return self.messages_with(kind=range(self.kinds) if self.kinds <= FEW_KINDS else (0, 1, self.kinds - 1))

    def tally(self, batch: Batch) -> Tally:
        """The analyser's totals of a batch: by default, how often each kind of message occurs.

        Parameters
        ----------
        batch : Batch
            Everybody's messages.

        Returns
        -------
        Tally
        """
        kinds = batch.messages["kind"]
        if self.task.shape is Shape.KEY:
            return Tally.by_key(batch.reports, kinds)
        if self.kinds == 1:
            return Tally(batch.reports, np.array([kinds.size]))
        if self.kinds == 2:
            ones = int(np.count_nonzero(kinds))
            return Tally(batch.reports, np.array([kinds.size - ones, ones]))
        return Tally(batch.reports, np.bincount(kinds, minlength=self.kinds))

    @property
    def summed(self) -> bool:
        """Whether a trusted side adds up messages; otherwise it counts each kind."""
        return False

    @property
    def tallied(self) -> str:
        """The name of the tally in a certificate."""
        return "sum" if self.summed else "count"

    def released(self) -> Release:
        """The trusted side's release step."""
        return Unchanged()

    def by_analyser(self) -> Release:
        """The analyser's own release step, before anybody else sees the answer."""
        return Unchanged()

    def kept(self, reports: int, coins: Coins) -> npt.NDArray[np.bool_]:
        """Which reports a shuffler of messages keeps, drawn; all, unless it samples."""
        return np.ones(reports, dtype=np.bool_)

    def padding(self, coins: Coins) -> npt.NDArray[Any]:
        """The messages of its own that a shuffler of messages adds to a batch, drawn."""
        return np.empty(0, dtype=self.message)

    def padded_by(self, reports: int) -> tuple[int, int]:
        """The fewest and the most messages a batch grows by, but for a chance of 1e-9."""
        return 0, 0

    @abstractmethod
    def view(self, honest: int) -> PrivacyLoss:
        """The loss of one report when this many honest people take part.

        In the shuffle and local models it also holds for more people, whose messages hide a person
        no less; where a trusted side drops small counts, it holds for fewer.
        """

    def group(self, honest: int, reports: int) -> PrivacyLoss:
        """The loss of several reports of one person: group privacy unless a leaf knows better."""
        return GroupPrivacy.of(self.view(honest), reports)

    @property
    def message_laws(self) -> MessageLaws:
        """The laws of the one message that is sent: those of clones unless a leaf knows better."""
        return MessageLaws.clones(self.local_epsilon or 0.0)

    def shuffled_loss(self, honest: int) -> PrivacyLoss:
        """The loss of the one message among those of this many honest people, mixed."""
        return NoGuarantee() if self.local_epsilon is None else Amplified(self.message_laws, honest)

    @abstractmethod
    def point(self, tally: Tally) -> Floats:
        """The estimate, in people, of each cell."""

    @abstractmethod
    def noise(self, truth: int, reports: int) -> Noise:
        """The exact law of one cell's error when `truth` of `reports` people are in it.

        For a sum, of which many crowds have the same total, it is the law for the hardest crowd.
        """

    @property
    def added_noise(self) -> Noise | None:
        """Where small counts are dropped, each count's noise before; None if it has no such law."""
        return None

    def noise_in(self, family: int, truth: int, reports: int) -> Noise:
        """The same of a cell in any family of those that a person is in a cell of each."""
        return self.noise(truth, reports)

    def relative_variance(self, family: int) -> float:
        """A cell's variance in a sum, relative to one of the first family: for least squares."""
        return 1.0

    def own_variance(self, family: int) -> float:
        """The part of a cell's second moment that each person in it adds beyond anybody else.

        They add this times the square of its coefficient to the variance of a sum, less the square
        of what they count in the sum.
        """
        return 0.0

    @cached_property
    def strategy(self) -> Strategy:
        """The strategy of the question, for cells with the errors that this protocol gives them."""
        strategy = self.task.strategy
        if self.task.shape is not Shape.K_OF:
            return strategy
        return strategy.under([self.relative_variance(family) for family in range(strategy.families)])

    def rebuilt(self, cells: Floats, people: int) -> Floats:
        """The parts of the answer, in people: the cells themselves, where a person is in one."""
        return self.strategy.rebuilt(cells, people) if self.task.shape in REBUILT else cells

    @property
    def linear(self) -> bool:
        """Whether the law of a sum of cells is known: where their errors are independent of each
        other and of the data, or nearly so."""
        return self.independent and self.steady

    @property
    def approximate(self) -> bool:
        """Whether errors in such a sum are only nearly independent, its interval nearly exact."""
        return self.linear and not (self.independent and self.steady)

    @property
    def hardest_value(self) -> int:
        """The value that everybody holds in the crowd that `noise` is about, for a sum."""
        return 0

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """The parameters by the paper's closed form: for comparison, never for a claim."""
        raise Unsupported(f"no closed form is known for {cls.name}")

    @classmethod
    @abstractmethod
    def tiny(cls) -> Self:
        """An instance small enough to enumerate."""

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        """Instances small enough to enumerate, for every kind of task and relation."""
        return (cls.tiny(),)

    def size_of_error(self, truth: int, reports: int) -> float:
        """The root mean square error; a leaf may know a shorter way than the error's law."""
        return self.noise(truth, reports).rmse

    def extremes(self, reports: int) -> tuple[int, ...]:
        """Truths among which the error is largest; none where they have to be searched for."""
        return (reports // 2,) if self.steady else ()

    @property
    def local_epsilon(self) -> float | None:
        """The epsilon of one report if everyone else colludes; None if nothing is left."""
        return None
