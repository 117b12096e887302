r"""Sample and threshold [BC22]: a random few send their value; small counts are dropped.

Randomiser: with chance `rate` send what you hold (for a count, a one if you hold one), otherwise
            nothing.
Analyser:   the shuffler lets a count $m$ pass only from the `threshold` on;
            $\hat c = m/\mathrm{rate}$, or 0.
View:       each $m \sim \mathrm{Bin}(k, \mathrm{rate})$ that passes, with $k$ holders against $k+1$
            at the worst $k$; a person replaced in a histogram changes two of them. More people are
            no safer: the worst is the most.
Error:      counts that pass are nearly unbiased with variance $k(1-\mathrm{rate})/\mathrm{rate}$;
            small ones read 0.

The only noise is who was sampled, so that an absent item is never reported and the error grows with
the count. The shuffler must be trusted with the counts. Corrupt people may push a count towards the
threshold: it is lowered for them.

[BC22] Bharadwaj and Cormode, Sample-and-threshold Differential Privacy: Histograms and
Applications, AISTATS 2022.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.common.root_finding import crossing
from headcount.privacy import Budget, Crowd, GroupPrivacy, Model, Neighbours, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy.crowd import LARGEST
from headcount.privacy.sampled_counts import SampledCount, SampledHistogram
from headcount.programme import Brick, Chance, Coins, Copies, Emit, Field, Maybe, Tally, Threshold
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Reach, Settings, Shape
from headcount.questions import Histogram, Question


def _for_one_count(budget: Budget, given: Settings) -> float:
    """The setting for a single count: a histogram's two counts ask for hardly less."""
    crowd = given["crowd"]
    people = LARGEST if budget.neighbours.hides_size else crowd.size

    def excess(u: float) -> float:
        one = SampledCount(math.exp(-u), max(0, given["threshold"] - crowd.most_corrupt), people)
        return math.log(max(GroupPrivacy.of(one, crowd.each).delta(budget.epsilon), 1e-300) / budget.delta)

    low, high = (1e-6, excess(1e-6)), (30.0, excess(30.0))
    if low[1] <= 0.0 or high[1] > 0.0:
        return low[0] if low[1] <= 0.0 else high[0]
    return crossing(excess, low, high, tight=1e-3)


@dataclass(frozen=True, kw_only=True)
class SampleThreshold(Protocol):
    """Ask a random few, and report only what many of them hold."""

    name: ClassVar[str] = "sample-threshold"
    model: ClassVar[Model] = Model.THRESHOLD
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT, Shape.ONE_OF, Shape.KEY})
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    independent: ClassVar[bool] = True
    steady: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob(
        "rate", lambda u, _: math.exp(-u), 1e-6, 30.0, lambda budget, given: _for_one_count(budget, given)
    )
    searched: ClassVar[str] = "threshold"
    reference: ClassVar[str] = "Bharadwaj and Cormode 2022, arXiv:2112.05693"

    rate: float
    threshold: int

    def __post_init__(self) -> None:
        self.as_chance("rate", 2.0**-64, 1.0, Chance.down)
        self.whole("threshold", 1)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """A higher threshold lets more people be sampled and hides more small counts."""
        log = math.log(1.0 / budget.delta)
        steps = range(1, 62, 2) if task.shape.several else (*range(16), *range(17, 62, 2))
        spread = {crowd.most_corrupt + max(2, round(0.3 * 1.6**step * log)) for step in steps} | {crowd.size}
        return ({"threshold": threshold} for threshold in sorted(spread) if threshold <= crowd.size)

    @classmethod
    def laborious(cls, task: Question, rounds: int) -> bool:
        return task.shape is Shape.ONE_OF

    def report(self, value: Field) -> Brick:
        what = Emit(value) if self.task.shape.several else Copies(value, Emit(0))
        return Maybe(Chance(self.rate), what)

    def released(self) -> Threshold:
        return Threshold(self.threshold)

    def view(self, honest: int) -> PrivacyLoss:
        two = self.task.shape.several and self.neighbours is Neighbours.REPLACE
        helped = max(0, self.threshold - self.crowd.most_corrupt)
        if not two:
            return SampledCount(self.rate, helped, honest)
        loss = SampledHistogram(self.rate, helped, honest)
        # As if the corrupt helped both buckets; each of them can help one only.
        return TotalVariationSlack(loss, 0.0, "bound") if self.crowd.most_corrupt else loss

    def point(self, tally: Tally) -> Floats:
        return tally.totals / self.rate

    def reach(self, messages: int = 1) -> Reach:
        """A report that is sampled; one that lifts a count over the threshold shows all of it."""
        return Reach(1.0 / self.rate, 0.0, apart=self.task.shape.several / self.rate, lifted=self.threshold / self.rate)

    def noise(self, truth: int, reports: int) -> Noise:
        sampled = laws.binomial(truth, self.rate)
        return Noise(self.released().passed(sampled.values) / self.rate - truth, sampled.masses, sampled.dropped)

    def size_of_error(self, truth: int, reports: int) -> float:
        """The root mean square error, from the first two moments of what passes the threshold."""
        k, p = truth, float(self.rate)
        if k < 2:
            return super().size_of_error(truth, reports)
        if k * p > 8 * self.threshold + 400:  # it passes but for a chance below 1e-60
            return math.sqrt(k * (1.0 - p) / p)
        first, second = (float(laws.binomial_above(min(self.threshold - 1, k) - i, k - i, p)) for i in (1, 2))
        square = (k * (k - 1) * p * second + k * first) / p
        return math.sqrt(max(0.0, square - 2.0 * k * k * first + k * k))

    def intervals(self, tally: Tally, confidence: float) -> Floats:
        """Every count that could well have led to this total, tail by tail."""
        different, place = np.unique(tally.totals, return_inverse=True)
        return np.array([self._interval(total, tally.reports, confidence) for total in different.tolist()])[place]

    def _interval(self, sampled: int, reports: int, confidence: float) -> tuple[float, float]:
        tail = (1.0 - confidence) / 2.0
        high = laws.largest_trials(self.rate, sampled or self.threshold - 1, tail)
        low = laws.smallest_trials(self.rate, sampled, tail) if sampled else 0
        # Where one person more or less must not show, the number of reports is no business of the
        # interval's.
        return float(low), float(high if self.neighbours.hides_size else min(high, reports))

    @property
    def provable(self) -> bool:  # type: ignore[override]
        """Two counts at once are beyond the proofs."""
        return not (self.task.shape.several and self.neighbours is Neighbours.REPLACE)

    @property
    def serves(self) -> bool:
        """Whether a unanimous crowd would mostly pass the threshold."""
        return self.threshold <= self.rate * self.crowd.size

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        truths = held.tolist() if self.task.shape.several else [int(held[1])]
        columns = [laws.binomial(truth, self.rate).sample(coins, runs) for truth in truths]
        return self.released().passed(np.stack(columns, axis=1))

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), rate=0.4, threshold=3)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(3), crowd=Crowd(4), rate=0.4, threshold=3)
        yield cls(task=Histogram(3), crowd=Crowd(4), rate=0.4, threshold=3, neighbours=Neighbours.ADD_REMOVE)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """The first draft's rule."""
        threshold = math.ceil(3.0 + math.log(1.0 / budget.delta))
        return {"rate": -math.expm1(-budget.epsilon) / threshold, "threshold": threshold}
