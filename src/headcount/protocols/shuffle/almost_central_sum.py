r"""Almost central sums [GKMPS21]: send the number itself, among numbers that cancel.

Randomiser: round the value to one of $\Delta$ `levels`; send it unless it is 0,
            $\mathrm{NB}(1/n, q)$ ones and as many minus ones by another draw,
            $q = e^{-\epsilon^*/\Delta}$ with $\epsilon^*$ the `inner` epsilon; and of each atom
            $s$, a few numbers that add up to 0, $\mathrm{NB}(r/n, e^{-1/(c t_s)})$ copies of all
            its elements.
Analyser:   the sum of all messages, over $\Delta$.
View:       how often each number occurs; bounded by Theorem 8 and Lemma 9 of the paper, with the
            losses of all atoms composed instead of added. Nothing is proved, and delta 1 claimed,
            for fewer people than planned.
Error:      unbiased, two-sided geometric: variance $2q/(1-q)^2/\Delta^2$, and at most $n/4\Delta^2$
            of rounding.

The floods have one `shape` $r$ and one `scale` $c$; the weights $t_s$ follow from the levels (see
`privacy.floods`). `overhead` says how far the standard error may lie above the central one; a
smaller one costs more messages.

[GKMPS21] Ghazi, Kumar, Manurangsi, Pagh and Sinha, Differentially Private Aggregation in the
Shuffle Model: Almost Central Accuracy in Almost a Single Message, ICML 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.common.short_decimals import compared, decayed
from headcount.errors import BadArgument, Infeasible
from headcount.privacy import Bounded, Budget, Crowd, Model, NoGuarantee, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy import exact_tables as tables
from headcount.privacy.almost_central import AlmostCentral, flooding_noise, unavoidable_delta
from headcount.privacy.discrete_laplace import IdealLaplaceShift
from headcount.privacy.zero_sum_sets import ZeroSumSets
from headcount.programme import All, Batch, Brick, Copies, Each, Emit, Field, Table, Tally
from headcount.programme.law import Floats, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings, Shape
from headcount.protocols.shared.stochastic_rounding import halfway, levelled, rounding, size_of_rounded, steps_of
from headcount.questions import Question, Sum

WHICH = Field.named("which")
LONGEST = 11_500  # as many levels as tables that are not too long to draw from allow, times log(1/delta)/epsilon
MOST = 1 << 11
PLUS, MINUS = Emit(1), Emit(-1)


@dataclass(frozen=True, kw_only=True)
class AlmostCentralSum(Protocol):
    """Nearly the central error, with hardly any extra messages in a very large crowd."""

    name: ClassVar[str] = "almost-central-sum"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    provable: ClassVar[bool] = False
    options: ClassVar[frozenset[str]] = frozenset({"overhead"})
    knob: ClassVar[Knob] = Knob.logarithmic(
        "scale", 1e-2, 9e6, lambda budget, given: 2.0 / max(budget.epsilon - given["inner"], 1e-9)
    )
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021, arXiv:2109.13158"

    inner: float
    levels: int
    shape: float
    scale: float

    def __post_init__(self) -> None:
        self.require_within("inner", 0.0, 50.0)
        self.whole("levels", 1, MOST)
        self.require_within("shape", 1.0 - 1e-15, 1e4)
        self.require_within("scale", 0.0, 1e7)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget, overhead: float = 0.13) -> Choices:
        """A third of the extra variance for rounding, the rest for flooding.

        Beyond a million people there are not levels enough for that.
        """
        if not 0.0 < overhead < 10.0:
            raise BadArgument("overhead", f"is {overhead!r}", "use a number above 0, for example 0.14")
        extra = (1.0 + overhead) ** 2 - 1.0
        needed = math.ceil(budget.epsilon * math.sqrt(3.0 * crowd.size / (8.0 * extra)))
        most = min(max(1, math.floor(LONGEST * budget.epsilon / math.log(1.0 / budget.delta))), MOST)
        exact = steps_of(task) <= min(2 * needed, most)
        levels = steps_of(task) if exact else min(needed, most)
        inner = budget.epsilon / math.sqrt(1.0 + extra * (1.0 if exact else 2.0 / 3.0))
        yield {"inner": inner, "levels": levels, "shape": 1.0 + 1.1 * math.log(1.0 / budget.delta)}

    @property
    def kinds(self) -> int:
        return self.levels + max(1, (self.levels + 1) // 2)

    @property
    def message(self) -> np.dtype[Any]:
        return np.dtype([("number", np.min_scalar_type(-self.levels - 1))])

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        return {"number": (-max(1, (self.levels + 1) // 2), self.levels)}

    @property
    def serves(self) -> bool:
        """Whether its noise can be drawn from tables."""
        try:
            for decay in (self.cancel, *self._decays):
                tables.negative_binomial_cells(self.shape / self.crowd.honest, decay)
        except Infeasible:
            return False
        return True

    @property
    def cancel(self) -> float:
        """q, rounded toward more noise."""
        return decayed(self.inner / self.levels)

    @cached_property
    def _decays(self) -> tuple[float, ...]:
        """The decay of every group of atoms, and last of the flood on {-1, 1}."""
        flood = flooding_noise(self.levels)
        return tuple(decayed(1.0 / (self.scale * compared(weight))) for weight in (*flood.weights.tolist(), flood.hat))

    def report(self, value: Field) -> Brick:
        def share(shape: float, decay: float) -> Table:
            return tables.negative_binomial(Fraction(shape) / self.crowd.honest, Fraction(decay))

        own = [Copies(share(1.0, self.cancel), one) for one in (PLUS, MINUS)]
        *floods_of, hat = (share(self.shape, decay) for decay in self._decays)
        groups = zip(flooding_noise(self.levels).groups, floods_of, strict=True)
        flood = [_of_each(names, amount) for names, amount in groups]

        def send(level: Field) -> Brick:
            return Copies((level + (self.levels - 1)) // self.levels, Emit(level))  # 0 is not sent at all

        return All(levelled(value, self.task, self.levels, send), *own, Copies(hat, All(PLUS, MINUS)), *flood)

    def telling(self) -> npt.NDArray[Any]:
        return self.messages_with(number=self.ranges["number"])

    def tally(self, batch: Batch) -> Tally:
        return Tally(batch.reports, np.array([batch.messages["number"].sum(dtype=np.int64)]))

    def view(self, honest: int) -> PrivacyLoss:
        if honest < self.crowd.honest:
            return NoGuarantee()
        distance = self._distance(honest)
        bound = AlmostCentral(self.levels, self.cancel, self.shape, self._decays, distance)
        told = IdealLaplaceShift(Fraction(-math.log(self.cancel)), self.levels)  # by the sum alone
        return Bounded(bound, partial(TotalVariationSlack, told, distance, "exact"))

    def _distance(self, honest: int) -> float:
        """The total variation between the noise that is drawn from tables and its law."""
        noises = 3 + sum(map(len, flooding_noise(self.levels).groups))
        return honest * (noises * tables.distance(tables.MOST_CELLS))

    def unavoidable_delta(self, epsilon: float) -> float:
        return unavoidable_delta(self.levels, self.cancel, self._distance(self.crowd.honest), epsilon)

    def point(self, tally: Tally) -> Floats:
        return tally.totals / self.levels

    @property
    def hardest_value(self) -> int:
        return halfway(self.task, self.levels)

    def noise(self, truth: int, reports: int) -> Noise:
        one_sided = laws.negative_binomial(reports / self.crowd.honest, self.cancel)
        rounded, centre = rounding(self.task, self.levels, reports)
        return Noise.of(one_sided + -one_sided + rounded, centre=centre, scale=1.0 / self.levels)

    def size_of_error(self, truth: int, reports: int) -> float:
        variance = 2.0 * reports / self.crowd.honest * self.cancel / (1.0 - self.cancel) ** 2
        return size_of_rounded(self.task, self.levels, variance, reports)

    @property
    def messages_per_person(self) -> float:
        flood = flooding_noise(self.levels)
        own, *means = (p / (1.0 - p) for p in (self.cancel, *self._decays))
        numbers = float(np.append(flood.messages, 2.0) @ np.array(means))
        return 1.0 + (2.0 * own + self.shape * numbers) / self.crowd.honest

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((0, 2), steps=2), crowd=Crowd(3), inner=3.5, levels=2, shape=1.5, scale=0.1)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Sum((0, 1), steps=2), crowd=Crowd(3), inner=2.0, levels=1, shape=2.0, scale=0.5)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Theorem 1 with zeta = 0.13, and the scale at which as many messages are sent."""
        levels = math.ceil(budget.epsilon / 2.0 * math.sqrt(crowd.honest / 0.13))
        atoms, flood = ZeroSumSets(levels), flooding_noise(levels)
        shape = 3.0 * (1.0 + math.log(2.0 * len(atoms.names) / budget.delta))
        numbers = float(atoms.published() @ np.array([len(elements) for elements in atoms.elements]))
        scale = 10.0 / (0.065 * budget.epsilon / 2.0) * numbers / float(flood.messages @ flood.weights)
        return {"inner": 0.935 * budget.epsilon, "levels": levels, "shape": shape, "scale": scale}


def _of_each(names: range, amount: Table) -> Brick:
    """Copies of every atom's elements: i, -ceil(i/2) and -floor(i/2), or -1 and 1."""
    if names[0] == -1:
        return Copies(amount, All(MINUS, PLUS))
    name = WHICH * names.step + names[0]
    return Each("which", len(names), Copies(amount, All(Emit(name), Emit((0 - name) // 2), Emit(0 - name // 2))))
