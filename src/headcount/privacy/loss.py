"""Privacy loss: for each epsilon, the smallest delta. An upper bound, always in both directions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from headcount.common.root_finding import crossing
from headcount.common.short_decimals import COMPARED, rounded_down
from headcount.programme.law import Floats

ROUND_UP = 1.0 + 1e-10  # masses are good to 1e-11 and sums of them to about as much; claims are rounded up by this
LARGEST_EPSILON = 700.0
AHEAD = 1e-3  # in epsilon: a claim that still falls is seen to fall this far on
CLOSE = 1e-10
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
NODES = 16  # smaller epsilons that a group's claim is compared with, to a unit of epsilon

Kind = Literal["exact", "rounded", "bound"]
BEYOND = 2.0**-44  # above an epsilon, so that outcomes that lose just that much do not count because of rounding
WITHIN: dict[Kind, float] = {"exact": 1e-5, "rounded": 1e-2, "bound": math.inf}  # of the smallest delta, relatively
KINDS: dict[Kind, str] = {
    "exact": "the smallest delta for the worst neighbours, computed from the chances that are drawn and rounded up by "
    "less than 0.001%",
    "rounded": "the smallest delta for the worst neighbours, computed from the chances that are drawn and rounded up "
    "by at most 1%",
    "bound": "an upper bound that a theorem proves; the smallest delta may be less by any factor",
}


class ClaimedDelta(NamedTuple):
    """A delta, and the part of it that pays for rounded tables and cut tails."""

    delta: float
    slack: float


class PrivacyLoss(ABC):
    """A privacy profile: the hockey-stick divergence of adjacent crowds as a function of epsilon.

    For the worst adjacent pair, in either order. Base class of all accounting. `kind` says how it
    is known: `exact` (computed from the law that is drawn, rounded up by less than 0.001%),
    `rounded` (up, by at most 1%) or `bound` (an upper bound by a theorem).

    Examples
    --------
    >>> loss = hc.protocol("zsum", n=10_000, epsilon=1, delta=1e-6).loss
    >>> loss.delta(1) <= 1e-6
    True
    >>> loss.kind
    'exact'
    """

    kind: Kind
    known_to: ClassVar[int] = COMPARED  # digits of `epsilon_at_least`

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "__repr__" not in vars(cls):
            cls.__repr__ = PrivacyLoss.__repr__  # type: ignore[method-assign]  # else a dataclass prints whole laws
        stated = (vars(each) for each in cls.__mro__ if each is not PrivacyLoss)
        complete = cls.orders is not PrivacyLoss.orders
        if complete and not any("kind" in each or "kind" in each.get("__annotations__", ()) for each in stated):
            raise TypeError(f"{cls.__name__} must state its kind: {', '.join(KINDS)}")

    @abstractmethod
    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The hockey-stick divergence at each epsilon, in either order of the worst adjacent pair.

        Parameters
        ----------
        epsilon : ndarray
            From 0 on.

        Returns
        -------
        tuple of ndarray
            Forward and backward.
        """

    def slack(self, epsilon: float) -> float:
        """A bound on what rounded tables and cut tails add to either order at this epsilon."""
        return 0.0

    def at(self, epsilon: float) -> ClaimedDelta:
        """The larger of both orders plus the slack at this epsilon, rounded up."""
        forward, backward = self.orders(np.array([epsilon], dtype=np.float64))
        slack = self.slack(epsilon)
        return ClaimedDelta(max(forward.item(), backward.item()) * ROUND_UP + slack, slack)

    def claim(self, epsilon: float) -> ClaimedDelta:
        """The smallest delta for this epsilon and its slack; it never rises with epsilon."""
        return self.at(epsilon)

    @property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """What is composed where this is one loss of several: itself, or what takes less time and
        is no less."""
        return (self,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: delta <= {self.delta(1.0):.4g} at epsilon=1, {self.kind}"

    def delta(self, epsilon: float) -> float:
        """The smallest delta for which (epsilon, delta)-DP is claimed, rounded up.

        Parameters
        ----------
        epsilon : float
            At least 0.

        Returns
        -------
        float
            From 0 to 1; it never rises with epsilon.

        Examples
        --------
        >>> f"{hc.protocol('randomised-response', n=100, keep=0.75).loss.delta(0):.4f}"
        '0.5000'
        """
        return min(1.0, self.claim(epsilon).delta)

    @property
    def attained(self) -> PrivacyLoss | None:
        """A lower bound: the loss of certain neighbouring crowds, rounded down; None if unknown.

        Examples
        --------
        >>> loss = hc.protocol("shuffled-basic-rappor", hc.Histogram(100), n=10_000, epsilon=1, delta=1e-6).loss
        >>> f"epsilon is at least {loss.attained.epsilon(1e-6):.3f} and at most {loss.epsilon(1e-6):.3f}"
        'epsilon is at least 0.954 and at most 1.000'
        """
        return None if self.kind == "bound" else RoundedDown(self, 1.0 + WITHIN[self.kind])

    def epsilon_at_least(self, delta: float) -> float | None:
        """The epsilon that certain crowds lose at this delta; None where none is known.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float or None
            To six digits, or three where the worst crowd is searched for, rounded down.
        """
        found = math.inf if self.attained is None else self.attained.epsilon(delta)
        return rounded_down(found, self.known_to) if math.isfinite(found) else None

    def delta_slack(self, epsilon: float) -> float:
        """The part of delta that pays for rounded tables and cut tails.

        Parameters
        ----------
        epsilon : float
            At least 0.

        Returns
        -------
        float
        """
        return min(1.0, self.claim(epsilon).slack)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon for which (epsilon, delta)-DP is claimed, rounded up.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            Infinite if there is none.

        Examples
        --------
        >>> f"{hc.protocol('randomised-response', n=100, keep=0.75).loss.epsilon(0):.4f}"
        '1.0986'
        """
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2.0
            if high > LARGEST_EPSILON:
                return math.inf
        low = high / 2.0 if high > 1.0 else 0.0

        def excess(epsilon: float) -> float:
            """The logarithm of the excess, nearly affine; only its sign if delta is 0."""
            here = self.delta(epsilon)
            return math.log(max(here, 1e-300) / delta) if delta else math.copysign(1.0, here - 1e-300)

        return crossing(excess, (low, excess(low)), (high, excess(high)), tight=1e-10 if delta else 0.0)


@dataclass(frozen=True, eq=False)
class RoundedDown(PrivacyLoss):
    """A loss less what it was rounded up by: slack, a factor on the rest, powers of e too small."""

    loss: PrivacyLoss
    times: float
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        claims = [self.loss.claim(each) for each in (epsilon + BEYOND).tolist()]  # no more than at epsilon itself
        least = np.array([max(0.0, delta - 2.0 * slack) for delta, slack in claims]) / (self.times * ROUND_UP)
        return least, least


@dataclass(frozen=True, eq=False)
class Bounded(PrivacyLoss):
    """A bound, and what certain crowds are known to lose, worked out on demand."""

    most: PrivacyLoss
    least: Callable[[], PrivacyLoss]
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        return self.most.orders(epsilon)

    def slack(self, epsilon: float) -> float:
        return self.most.slack(epsilon)

    def claim(self, epsilon: float) -> ClaimedDelta:
        return self.most.claim(epsilon)

    def epsilon(self, delta: float) -> float:
        return self.most.epsilon(delta)

    @property
    def attained(self) -> PrivacyLoss | None:
        least = self.least()
        return least if least.kind == "bound" else least.attained


class GrowingSlack(PrivacyLoss):
    r"""A loss whose slack is affine in $e^\epsilon$ up to some epsilon.

    What is drawn lies within a distance $\eta$ of the ideal laws P and Q in total variation, which
    adds $\eta + e^\epsilon \eta$ to $\sum (P - e^\epsilon Q)_+$. That sum falls and is convex in
    $x = e^\epsilon$, as is the larger of both orders, and the slack is affine in x: together they
    are convex, so that they fall up to some epsilon and rise from there on. A promise at a smaller
    epsilon is one at a larger: from there on it is that epsilon's.
    """

    @property
    def grows_up_to(self) -> float:
        """The epsilon from which on there is no such slack."""
        return LARGEST_EPSILON

    def claim(self, epsilon: float) -> ClaimedDelta:
        here = self.at(epsilon)
        if here.slack <= (ROUND_UP - 1.0) * here.delta:
            return here
        ahead = self.at(epsilon + AHEAD)
        if here.slack < ahead.slack and ahead.delta <= here.delta:
            return here
        turning, least = self._turning
        return min(here, least) if turning < epsilon else here

    @cached_property
    def _turning(self) -> tuple[float, ClaimedDelta]:
        """The epsilon at which the claim is least, and that claim: by golden section."""
        low, high = 0.0, self.grows_up_to
        left, right = high - GOLDEN * high, GOLDEN * high
        there = {epsilon: self.at(epsilon) for epsilon in (low, left, right)}
        while high - low > CLOSE * max(high, AHEAD):
            if there[left].delta <= there[right].delta:
                high, right, left = right, left, right - GOLDEN * (right - low)
                there[left] = self.at(left)
            else:
                low, left, right = left, right, left + GOLDEN * (high - left)
                there[right] = self.at(right)
        return min(there.items(), key=lambda found: found[1].delta)


class NoGuarantee(PrivacyLoss):
    """Delta 1 at every epsilon: everything is told, or nothing is known."""

    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        return np.ones_like(epsilon), np.ones_like(epsilon)


@dataclass(frozen=True, eq=False)
class GroupPrivacy(PrivacyLoss):
    """Group privacy for k reports of one person.

    Each of k replacements multiplies chances by e^(epsilon/k) and adds a delta, which the later
    ones multiply again. A smaller epsilon may claim a smaller delta: `NODES` to a unit are tried.
    """

    one: PrivacyLoss
    reports: int
    kind = "bound"

    @classmethod
    def of(cls, one: PrivacyLoss, reports: int) -> PrivacyLoss:
        return one if reports == 1 else cls(one, reports)

    @property
    def attained(self) -> PrivacyLoss | None:
        return self.one.attained  # of crowds in which one of the reports differs

    def _grown(self, epsilon: Floats) -> Floats:
        return np.asarray(np.exp(np.multiply.outer(epsilon / self.reports, np.arange(self.reports))).sum(axis=-1))

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worse = np.maximum(*self.one.orders(epsilon / self.reports)) * self._grown(epsilon)
        return worse, worse

    def slack(self, epsilon: float) -> float:
        return self.one.slack(epsilon / self.reports) * float(self._grown(np.array(epsilon)))

    def claim(self, epsilon: float) -> ClaimedDelta:
        below = math.ceil(NODES * epsilon)
        units = ((self._least(unit), below - unit * NODES) for unit in range(math.ceil(epsilon)))
        return min([self.at(epsilon), *(least[min(tried, NODES) - 1] for least, tried in units if tried)])

    def _least(self, unit: int) -> list[ClaimedDelta]:
        """The least claim at every node from this unit of epsilon on: worked out once."""
        if (known := self._units.get(unit)) is None:
            nodes = unit + np.arange(NODES) / NODES
            slack = np.array([self.one.slack(each) for each in (nodes / self.reports).tolist()]) * self._grown(nodes)
            claims = (self.orders(nodes)[0] * ROUND_UP + slack).tolist()
            known = list(accumulate(map(ClaimedDelta, claims, slack.tolist()), min))
            known = self._units.setdefault(unit, known)
        return known

    @cached_property
    def _units(self) -> dict[int, list[ClaimedDelta]]:
        return {}


@dataclass(frozen=True, eq=False)
class TotalVariationSlack(GrowingSlack):
    """A loss of ideal laws, where the drawn laws are within `distance` in total variation."""

    ideal: PrivacyLoss
    distance: float
    kind: Kind

    @cached_property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """Those of the ideal view: each is drawn as far from it as all of them, which is more than
        enough."""
        apart = self.ideal.parts
        if apart == (self.ideal,):
            return (self,)
        drawn = {part: TotalVariationSlack(part, self.distance, self.kind) for part in apart}
        return tuple(drawn[part] for part in apart)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        return self.ideal.orders(epsilon)

    def slack(self, epsilon: float) -> float:
        return self.ideal.slack(epsilon) + (1.0 + float(np.exp(epsilon))) * self.distance

    def claim(self, epsilon: float) -> ClaimedDelta:
        if type(self) is TotalVariationSlack and not self.distance:  # the ideal law itself is drawn: no slack grows
            return self.ideal.claim(epsilon)
        return super().claim(epsilon)
