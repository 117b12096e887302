"""Correlated noise: a few dummies of either sign that err, and a flood of pairs that cancel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from headcount.common.root_finding import crossing
from headcount.common.short_decimals import decayed
from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd, Model, Pair, laws
from headcount.privacy.correlated import inner_for, likely_pairs, likely_spread, noise_that_errs
from headcount.privacy.exact_tables import affordable_epsilon
from headcount.privacy.many_cells import one_of_each
from headcount.programme.law import Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings
from headcount.protocols.shared.cells import touched
from headcount.questions import Question

EVENLY = 100.0  # times as many shapes as pairs: the flood is nearly Poisson
PAIRS = 30.0  # of an even flood that a person should not be asked for, about
MOST_SHAPES = 1e9
CHEAP = 0.01  # of delta: what rounded tables may cost, where there is a choice
OWN = (1, 2, 3, 4, 5, 10)  # shapes of the noise that errs: one at first, more for many changed totals
SEVERAL, MANY = 8, 30  # totals that a person changes in all rounds, between which more than one may err less
CUT = 0.99  # of delta, that the noise which errs may use up over many rounds


def changed(task: Question) -> int:
    """How many totals a person changes."""
    return 2 * touched(task) if task.shape.several else 1


@dataclass(frozen=True, kw_only=True)
class CorrelatedNoise(Protocol):
    """Differences of NB(own, e**-inner) err, geometric for one; the flood, NB(shape, decay), hides.

    Over many rounds, or in many cells, own noise with lighter tails errs less.

    A small shape hides with the fewest pairs on average, of which a few people send very many. A
    large one with a small decay is nearly Poisson: more pairs, but nobody sends many. That is what
    a collection needs, where everybody sends as many messages as the one who sends most.
    """

    model: ClassVar[Model] = Model.SHUFFLE
    options: ClassVar[frozenset[str]] = frozenset({"overhead", "even", "together"})
    knob: ClassVar[Knob] = Knob.logistic(
        "decay",
        lambda budget, given: _likely_pairs(budget, given),
        low=-14.0,
        high=17.0,
    )
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021, arXiv:2109.13158"
    patience: ClassVar[float]  # how much error is worth a message

    inner: float
    shape: float
    decay: float
    own: int = 1

    def __post_init__(self) -> None:
        self.whole("own", 1, 1_000)
        self.require_within("inner", 0.0, 50.0)
        self.require_within("shape", 0.0, MOST_SHAPES)
        self.require_within("decay", 0.0, 1.0 - 1e-9)
        super().__post_init__()

    @classmethod
    def choices(
        cls,
        task: Question,
        crowd: Crowd,
        budget: Budget,
        overhead: float | None = None,
        even: bool = False,
        together: Budget | None = None,
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
        times = parts * (together.rounds if together else 1)
        if not SEVERAL <= times <= MANY:
            yield {"inner": inner, "shape": evenly if even else max(2.0, 0.8 * log)}
            return
        central = {own: _inner_of(own, together or budget, touched(task), task.shape.several) for own in OWN}
        own = min(OWN, key=lambda own: own / math.sinh(central[own] / 2.0) ** 2)
        inner = inner_for(central[own], overhead)
        pairs = 10.0 * own / math.sinh(inner / 2.0) ** 2
        yield {"own": own, "inner": inner, "shape": EVENLY * pairs if even else 8.0}

    @property
    def cancel(self) -> float:
        """q, rounded toward more noise."""
        return decayed(self.inner)

    def noise(self, truth: int, reports: int) -> Noise:
        own = laws.negative_binomial(self.own * reports / self.crowd.honest, self.cancel)
        return Noise.of(own + -own, centre=0.0)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(2.0 * self.own * reports / self.crowd.honest * self.cancel) / (1.0 - self.cancel)

    @property
    def parameters(self) -> dict[str, float]:
        """One's own noise is geometric unless it says so."""
        return {name: value for name, value in super().parameters.items() if (name, value) != ("own", 1)}

    @property
    def messages_per_person(self) -> float:
        own, flood = (c / (1.0 - c) for c in (self.cancel, self.decay))
        return touched(self.task) + 2.0 * self.task.cells * (self.own * own + self.shape * flood) / self.crowd.honest

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Lemma 9 of GKMPS21 with the law of GKMP20 and a tenth of epsilon for the flood."""
        return {
            "inner": 0.9 * budget.epsilon,
            "shape": 3.0 * (1.0 + math.log(1.0 / budget.delta)),
            "decay": math.exp(-0.02 * budget.epsilon),
        }


def _likely_pairs(budget: Budget, given: Any) -> float:
    """A first guess of the flood's pairs, divided by its shape."""
    if given.get("own", 1) == 1:
        return likely_pairs(budget, changed(given["task"]) * given["inner"], given["shape"])
    spread = 30.0 * given["own"] / math.sinh(given["inner"] / 2.0) ** 2  # sixty times the variance that errs
    wide = 2.0 * spread / (1.0 + math.sqrt(1.0 + 4.0 * spread / given["shape"]))
    return float(wide / given["shape"])


@lru_cache(maxsize=256)
def _inner_of(own: int, budget: Budget, families: int, several: bool) -> float:
    """The largest `inner` with which the noise that errs, all by itself, fits nearly the budget."""

    def excess(u: float) -> float:
        pair = Pair.shifted(noise_that_errs(math.exp(-math.exp(-u)), own))
        delta = budget.together(one_of_each(pair, families) if several else pair).delta(budget.epsilon)
        return math.log(max(delta, 1e-300) / (CUT * budget.delta))

    spread = math.sqrt(budget.rounds * (2 * families if several else 1) * math.log(1.0 / budget.delta)) / budget.epsilon
    u = math.log(2.0 * spread / math.sqrt(2.0 * own))
    low = high = (u, excess(u))
    while low[1] <= 0.0:
        high, low = low, (low[0] - 0.2, excess(low[0] - 0.2))
    while high[1] > 0.0:
        low, high = high, (high[0] + 0.2, excess(high[0] + 0.2))
    return math.exp(-crossing(excess, low, high, tight=1e-3))
