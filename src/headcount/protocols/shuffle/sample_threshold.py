r"""Sample and threshold [BC22]: a random few send what they hold, and the shuffler drops small counts.

Randomiser: with chance `rate` send $x$ ones, otherwise nothing.
Analyser:   the shuffler lets the count $m$ pass only from the `threshold` on; $\hat c = m/\mathrm{rate}$, or 0.
View:       $m \sim \mathrm{Bin}(k, \mathrm{rate})$ where it passes, for $k$ ones against $k+1$, at the worst $k$.
Error:      counts that pass are nearly unbiased with variance $k(1-\mathrm{rate})/\mathrm{rate}$; small ones read 0.

The only noise is who was sampled, so that an absent item is never reported and the error grows with the count. The
shuffler must be trusted with the counts. Corrupt people may push a count towards the threshold: it is lowered for them.

[BC22] Bharadwaj and Cormode, Sample-and-threshold Differential Privacy: Histograms and Applications, AISTATS 2022.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from headcount.core.brick import Brick, Copies, Emit, Field, Maybe
from headcount.core.budget import Budget, Neighbours
from headcount.core.chance import Chance
from headcount.core.coins import Coins
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, TooManyReports
from headcount.core.law import Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.protocol import Knob, Model, Protocol
from headcount.core.release import Threshold
from headcount.core.table import Ints
from headcount.core.tally import Tally
from headcount.core.task import Task
from headcount.privacy import laws
from headcount.privacy.sampled import SampledCount


@dataclass(frozen=True, kw_only=True)
class SampleThreshold(Protocol):
    """Ask a random few, and report only what many of them hold."""

    name: ClassVar[str] = "sample-threshold"
    model: ClassVar[Model] = Model.THRESHOLD
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    knob: ClassVar[Knob] = Knob(
        "rate", lambda u, _: math.exp(-u), 1e-6, 30.0,
        lambda budget, _: -math.log(-0.5 * math.expm1(-budget.epsilon)),
    )  # fmt: skip
    reference: ClassVar[str] = "Bharadwaj and Cormode 2022, arXiv:2112.05693"

    rate: float
    threshold: int

    def __post_init__(self) -> None:
        self.bounded("rate", 2.0**-64, 1.0)
        self.bounded("threshold", 0, math.inf)
        if self.threshold != int(self.threshold):
            raise BadArgument("threshold", f"is {self.threshold!r}", "use a whole number")
        object.__setattr__(self, "threshold", int(self.threshold))
        object.__setattr__(self, "rate", Chance.down(self.rate))
        super().__post_init__()

    @classmethod
    def choices(cls, task: Task, crowd: Crowd, budget: Budget) -> Iterable[Mapping[str, Any]]:
        """A higher threshold lets more people be sampled and hides more small counts."""
        log = math.log(1.0 / budget.delta)
        thresholds = {crowd.corrupt + max(2, round(0.3 * 1.6**step * log)) for step in range(10)}
        return ({"threshold": threshold} for threshold in sorted(thresholds) if threshold <= crowd.size)

    def report(self, value: Field) -> Brick:
        return Maybe(Chance(self.rate), Copies(value, Emit(0)))

    def released(self) -> Threshold:
        return Threshold(self.threshold)

    def view(self, honest: int) -> PrivacyLoss:
        return SampledCount(self.rate, max(0, self.threshold - self.crowd.corrupt), honest)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """More people do not hide anybody here: the worst crowd may be the largest."""
        return self.view(self.crowd.size - self.crowd.corrupt)

    def release(self, tally: Tally, coins: Coins | None = None) -> Tally:
        if tally.reports > self.crowd.size:
            raise TooManyReports(f"{self.name} was planned for at most {self.crowd.size:,} people; plan for more")
        return super().release(tally, coins)

    def point(self, tally: Tally) -> float:
        return int(tally.totals[0]) / self.rate

    def noise(self, truth: int, reports: int) -> Noise:
        sampled = laws.binomial(truth, self.rate)
        return Noise(self.released().passed(sampled.values) / self.rate - truth, sampled.masses, sampled.dropped)

    def size_of_error(self, truth: int, reports: int) -> float:
        """From the first two moments of what passes the threshold, which are binomial tails."""
        k, p = truth, float(self.rate)
        if k < 2:
            return super().size_of_error(truth, reports)
        if k * p > 8 * self.threshold + 400:  # it passes but for a chance below 1e-60
            return math.sqrt(k * (1.0 - p) / p)
        first, second = (float(laws.binomial_above(min(self.threshold - 1, k) - i, k - i, p)) for i in (1, 2))
        square = (k * (k - 1) * p * second + k * first) / p
        return math.sqrt(max(0.0, square - 2.0 * k * k * first + k * k))

    def interval(self, tally: Tally, confidence: float) -> tuple[float, float]:
        """Every count that could well have led to this tally, tail by tail."""
        sampled, tail = int(tally.totals[0]), (1.0 - confidence) / 2.0
        top = sampled if sampled else self.threshold - 1
        high = laws.largest_trials(self.rate, top, tail)
        low = laws.smallest_trials(self.rate, sampled, tail) if sampled else 0
        # Where one person more or less must not show, the number of reports is no business of the interval's.
        return float(low), float(high if self.neighbours is Neighbours.ADD_REMOVE else min(high, tally.reports))

    @property
    def steady(self) -> bool:
        return False

    @property
    def serves(self) -> bool:
        """Not if even a unanimous crowd would mostly be suppressed."""
        return self.threshold <= self.rate * self.crowd.size

    def sample(self, truth: int, reports: int, coins: Coins, runs: int) -> Ints:
        return self.released().passed(laws.binomial(truth, self.rate).sample(coins, runs))[:, None]

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), rate=0.4, threshold=3)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        """The first draft's rule."""
        threshold = math.ceil(3.0 + math.log(1.0 / budget.delta))
        return {"rate": -math.expm1(-budget.epsilon) / threshold, "threshold": threshold}
