"""Correlated noise: a few dummies of either sign that err, and a flood of pairs that cancel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from headcount.common.short_decimals import decayed
from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd, Model, laws
from headcount.privacy.correlated import inner_for, likely_pairs, likely_spread
from headcount.privacy.exact_tables import affordable_epsilon
from headcount.programme.law import Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings
from headcount.protocols.shared.cells import touched
from headcount.questions import Question

EVENLY = 100.0  # times as many shapes as pairs: the flood is nearly Poisson
PAIRS = 30.0  # of an even flood that a person should not be asked for, about
MOST_SHAPES = 1e9
CHEAP = 0.01  # of delta: what rounded tables may cost, where there is a choice


def changed(task: Question) -> int:
    """How many totals a person changes."""
    return 2 * touched(task) if task.shape.several else 1


@dataclass(frozen=True, kw_only=True)
class CorrelatedNoise(Protocol):
    """Two-sided geometric error at `inner`; the flood, NB(shape, decay), only hides.

    A small shape hides with the fewest pairs on average, of which a few people send very many. A
    large one with a small decay is nearly Poisson: more pairs, but nobody sends many. That is what
    a collection needs, where everybody sends as many messages as the one who sends most.
    """

    model: ClassVar[Model] = Model.SHUFFLE
    options: ClassVar[frozenset[str]] = frozenset({"overhead", "even"})
    knob: ClassVar[Knob] = Knob.logistic(
        "decay",
        lambda budget, given: likely_pairs(budget, changed(given["task"]) * given["inner"], given["shape"]),
        low=-14.0,
        high=17.0,
    )
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021, arXiv:2109.13158"
    patience: ClassVar[float]  # how much error is worth a message

    inner: float
    shape: float
    decay: float

    def __post_init__(self) -> None:
        self.bounded("inner", 0.0, 50.0)
        self.bounded("shape", 0.0, MOST_SHAPES)
        self.bounded("decay", 0.0, 1.0 - 1e-9)
        super().__post_init__()

    @classmethod
    def choices(
        cls, task: Question, crowd: Crowd, budget: Budget, overhead: float | None = None, even: bool = False
    ) -> Choices:
        """Half a percent above the central error; more where that would take too many messages.

        Too many on average or, if the flood is to be `even`, for the person who sends most.
        """
        log, parts = math.log(1.0 / budget.delta), changed(task)
        people = crowd.honest / task.cells
        whole = min(budget.epsilon, affordable_epsilon(3 * crowd.honest, CHEAP * budget.delta)) / parts
        if overhead is None and even:
            left = math.sqrt(log / (PAIRS * people))
            overhead = max(0.005, left / (2.0 * parts * math.tanh(whole / 2.0)))
        elif overhead is None:
            overhead = max(0.005, math.sqrt(cls.patience * log**2 / (people * budget.epsilon)))
        elif not 0.0 < overhead < 1e3:
            raise BadArgument("overhead", f"is {overhead!r}", "use a number above 0, for example 0.005")
        inner = inner_for(whole, overhead)
        evenly = min(EVENLY * likely_spread(budget, parts * inner), MOST_SHAPES)
        yield {"inner": inner, "shape": evenly if even else max(2.0, 0.8 * log)}

    @property
    def cancel(self) -> float:
        """q, rounded toward more noise."""
        return decayed(self.inner)

    def noise(self, truth: int, reports: int) -> Noise:
        own = laws.negative_binomial(reports / self.crowd.honest, self.cancel)
        return Noise.of(own + -own, centre=0.0)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(2.0 * reports / self.crowd.honest * self.cancel) / (1.0 - self.cancel)

    @property
    def messages_per_person(self) -> float:
        own, flood = (c / (1.0 - c) for c in (self.cancel, self.decay))
        return touched(self.task) + 2.0 * self.task.cells * (own + self.shape * flood) / self.crowd.honest

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Lemma 9 of GKMPS21 with the law of GKMP20 and a tenth of epsilon for the flood."""
        return {
            "inner": 0.9 * budget.epsilon,
            "shape": 3.0 * (1.0 + math.log(1.0 / budget.delta)),
            "decay": math.exp(-0.02 * budget.epsilon),
        }
