"""Several questions to one crowd: their privacy loss distributions, convolved.

Each loss is taken as its curve of divergences; the distribution that connects the dots
dominates it [DGKKM22]. A person's answers may change from 0 to 1 in one question and from 1 to 0 in
another, so that the forward order of one is met by the backward order of another, which can be
worse than all forward and all backward. Therefore the curve is the larger of both orders at every
epsilon from 0 on, and its mirror image below: one symmetric pair, which dominates the question in
either direction.

The dots lie on grids that are powers of two, so that each is part of every finer one. More
questions, or a less noisy one, can then only make the grid coarser, which can only cost more: no
bound falls because another question was asked.

[DGKKM22] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the Dots, PETS 2022.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np

from headcount.common.calls import checked
from headcount.common.root_finding import crossing
from headcount.errors import BadArgument
from headcount.privacy.loss import LARGEST_EPSILON, ROUND_UP, PrivacyLoss
from headcount.privacy.loss_distribution import LossDistribution
from headcount.programme.law import Floats

POINTS = 200  # of a loss's curve on either side of zero, at least
FINER = 64  # the grid that all curves share is at most this many times finer than the coarsest of their own
SMALLEST_TOP, STRIDE, TINY = 1e-6, math.log(8.0), 1e-300  # of the search for the curve's end
AT_ONCE = 8  # places of that search that are asked at once: rows of a large view are then gone through once
TIGHT_TOP, TIGHT_FLOOR = 5e-4, 0.05  # of that search: where the curve ends above the floor, and where it falls below
FLOOR = 1e-14  # the curve is followed down to here; what is left is charged in full
ROUNDING = 2.0**-46  # of delta, for each question: what transforms and differences of doubles may lose of its mass


@dataclass(frozen=True, eq=False)
class Composed(PrivacyLoss):
    """An upper bound on the loss of all questions together."""

    times: Counter[PrivacyLoss]
    points: int
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        delta = np.array([self._delta(e) for e in epsilon.tolist()])
        return delta, delta

    def slack(self, epsilon: float) -> float:
        return 0.0 if self._is_pure(epsilon) else self.times.total() * ROUNDING

    def _delta(self, epsilon: float) -> float:
        return 0.0 if self._is_pure(epsilon) else self.distribution.delta(epsilon)

    def _is_pure(self, epsilon: float) -> bool:
        """Whether delta is 0: the sum of pure epsilons is no more than this.

        Then one of them is no more than their mean: divergences there that are not 0 say no, and
        are found sooner than those far out, of which a claim takes many.
        """
        mean = epsilon / self.times.total() * (1.0 + 1e-9)
        if all(_height(loss, mean) > 0.0 for loss in self.times):
            return False
        return not any(loss.delta(epsilon) for loss in self.times) and epsilon >= self._pure

    @cached_property
    def distribution(self) -> LossDistribution:
        """That of the whole loss."""
        tops = {loss: _top(loss) for loss in self.times}
        own = {loss: 2.0 ** math.floor(math.log2(top / self.points)) for loss, top in tops.items()}
        grid = max(min(own.values()), max(own.values()) / FINER)

        def place(loss: PrivacyLoss) -> tuple[float, float, int]:
            return tops[loss], _height(loss, 0.0), self.times[loss]

        return reduce(
            LossDistribution.together,
            (
                _symmetric(loss, grid, max(own[loss], grid), tops[loss]).repeated(self.times[loss])
                for loss in sorted(self.times, key=place)  # whatever the order in which they were asked
            ),
        )

    @cached_property
    def _pure(self) -> Fraction | float:
        """The sum of the epsilons from which on deltas are 0; infinite if a question has none."""
        own = {loss: loss.epsilon(0.0) for loss in self.times}
        return sum(self.times[loss] * Fraction(least) if least < math.inf else math.inf for loss, least in own.items())


@checked
def compose(losses: Iterable[PrivacyLoss], points: int = POINTS) -> PrivacyLoss:
    """The privacy loss of several mechanisms on one crowd, by convolving their PLDs.

    The mechanisms are fixed beforehand; where they are chosen because of answers, use `hc.Ledger`.

    Parameters
    ----------
    losses : iterable of PrivacyLoss
        One for each mechanism.
    points : int
        Points of each privacy profile on either side of 0, at least.

    Returns
    -------
    PrivacyLoss
        An upper bound.

    Raises
    ------
    errors.BadArgument
        If there are none.

    Examples
    --------
    >>> one = hc.protocol("zsum", n=1_000, epsilon=0.5, delta=1e-7).loss
    >>> hc.compose([one] * 4).epsilon(1e-6) < 4 * 0.5
    True
    """
    given = [*losses]
    if not all(isinstance(loss, PrivacyLoss) for loss in given):
        raise BadArgument("losses", "has what is no privacy loss", "give for example [plan.loss, plan.loss]")
    if not given:
        raise BadArgument("losses", "is empty", "give at least one loss")
    if len(given) == 1:
        return given[0]
    times = Counter(part for loss in given for part in loss.parts)
    for loss in times:
        if _height(loss, LARGEST_EPSILON) > 1.0 - 1e-9:
            return loss  # it gives everything away; so do all of them together
    return Composed(times, points)


def _top(loss: PrivacyLoss) -> float:
    """The epsilon from which on the profile is flat, its slack left out."""
    never = 1.001 * _height(loss, LARGEST_EPSILON)
    flat, tight = (never, TIGHT_TOP) if never > FLOOR else (FLOOR, TIGHT_FLOOR)

    def excess(place: float) -> float:
        return math.log(max(_height(loss, math.exp(place)), TINY) / flat)

    places = math.log(SMALLEST_TOP) + STRIDE * np.arange(AT_ONCE)
    heights = np.maximum(np.max(loss.orders(np.exp(places)), axis=0), TINY)
    found = list(zip(places.tolist(), np.log(heights / flat).tolist(), strict=True))
    while found[-1][1] > 0.0:
        further = found[-1][0] + STRIDE
        found.append((further, excess(further)))
    first = next(at for at, (_, above) in enumerate(found) if above <= 0.0)
    if first == 0:
        return SMALLEST_TOP
    return math.exp(crossing(excess, found[first - 1], found[first], tight=tight, close=2.0 * TIGHT_TOP))


def _height(loss: PrivacyLoss, epsilon: float) -> float:
    return float(np.max(loss.orders(np.array([epsilon]))))


def _symmetric(loss: PrivacyLoss, grid: float, step: float, top: float) -> LossDistribution:
    """The one that dominates the loss in both orders, with dots at every `step`, on the `grid`."""
    apart = int(step / grid)
    epsilon = np.arange(int(np.ceil(top / step)) + 1) * apart * grid
    slack = np.array([loss.slack(float(e)) for e in epsilon])
    worse = np.minimum(np.maximum(*loss.orders(epsilon)) * ROUND_UP + slack, 1.0)
    # D(P||Q) at -epsilon is 1 - e^-epsilon + e^-epsilon D(Q||P) at epsilon.
    below = (1.0 - np.exp(-epsilon) + np.exp(-epsilon) * worse)[:0:-1]
    return LossDistribution.through(grid, apart, np.minimum.accumulate(np.concatenate([below, worse])))
