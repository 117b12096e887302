r"""Privacy loss of a stability histogram [KKMN09]: noise on bins that are held, and a threshold.

A bin of c >= 1 people reports c + Z if that reaches the threshold T, else 0; an empty one is never
touched. One bin with a person more is one of two pairs, as far as the worst goes:

- nobody against one: only the latter is ever reported, with chance
  $\tau = P[Z \ge T-1] = a^{T-1}/(1+a)$, where $a = e^{-rate}$;
- c >= 1 against c + 1: what is seen is computed from c + Z against c + 1 + Z, whose likelihood
  ratio is $e^{rate}$ up to c, with mass $h = 1/(1+a)$, and $e^{-rate}$ beyond; nothing is lost by
  the threshold once T <= c + 1.

A person who comes or goes changes one bin, or several if they have more reports than one. M of
those may be alone in their bins and the others join filled ones. Of the latter all in the same bin
are the worst (see `discrete_laplace`); the former show nothing with chance $e^{-g}$, g the sum of
$-\ln P[Z < T - m]$ over bins of m reports. That is convex in m, so that either one bin has them all
or as many as there are have one each. With D the divergence of the filled bin at a log factor it is
$1 - e^{-g} + e^{-g} D(\epsilon + g)$, or in the other order $D(\epsilon - g)$, at worst.

To replace one report changes two bins, independently, of which one gains and one loses:

- filled, filled: $h^2 (1 - e^{\epsilon - 2 rate})_+$;
- empty, empty: $\tau$ (who reports one of them cannot have reported the other, and silence says
  nothing);
- empty, filled: $\tau + h (1 - \tau - e^{\epsilon - rate})_+$, or in the other order
  $h (1 - (1-\tau) e^{\epsilon - rate})_+ + a h (1 - (1-\tau) e^{\epsilon + rate})_+$.

The filled bins need T - 1 people each and one more; of a smaller crowd the claim is a bound.

[KKMN09] Korolova, Kenthapadi, Mishra and Ntoulas, Releasing Search Queries and Clicks Privately,
WWW 2009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from headcount.errors import BadArgument
from headcount.privacy.crowd import LARGEST
from headcount.privacy.discrete_laplace import laplace_divergence
from headcount.privacy.loss import GrowingSlack, Kind
from headcount.privacy.two_sided_noise import discrete_laplace, discrete_laplace_distance
from headcount.programme.law import Floats
from headcount.programme.table import Ints

UNKNOWN = 1 << 62  # bins, where anything may be held


@dataclass(frozen=True, eq=False)
class StabilityAddRemove(GrowingSlack):
    """Adjacency add-remove: a person with these `reports` among `bins`, in any crowd."""

    kind = "exact"

    rate: Fraction
    threshold: int
    reports: int = 1
    bins: int = UNKNOWN

    def __post_init__(self) -> None:
        _require(self.threshold)
        object.__setattr__(self, "rate", Fraction(self.rate))

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(self.reports * self.rate), 0.0)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """A person more comes first."""
        both = [self._worst(float(e)) for e in epsilon]
        return np.array([more for more, _ in both]), np.array([fewer for _, fewer in both])

    def _worst(self, epsilon: float) -> tuple[float, float]:
        """Computed once per epsilon: a claim about several reports asks for the same ones again."""
        if epsilon not in self._known:
            self._known[epsilon] = self._worst_split(epsilon)
        return self._known[epsilon]

    @cached_property
    def _known(self) -> dict[float, tuple[float, float]]:
        return {}

    def _worst_split(self, epsilon: float) -> tuple[float, float]:
        silence, filled = self._spreads
        pure = Fraction(epsilon) >= self.reports * self.rate
        joined = np.where((silence == 0.0) & pure, 0, filled)  # exactly nothing, not nearly
        rate = float(self.rate)
        shown, kept = -np.expm1(-silence), np.exp(-silence)
        return (
            float((shown + kept * laplace_divergence(rate, joined, epsilon + silence)).max()),
            float(laplace_divergence(rate, joined, epsilon - silence).max()),
        )

    @cached_property
    def _spreads(self) -> tuple[Floats, Ints]:
        """All candidate splits: minus the log-chance of silence of those alone, and the others."""
        alone = np.arange(self.reports + 1)
        spare = self.bins - (alone < self.reports)  # a bin for the others
        alone, spare = alone[(alone == 0) | (spare > 0)], spare[(alone == 0) | (spare > 0)]
        apart = np.clip(np.minimum(alone, spare), 1, None)  # bins, all but one of which have one report
        hidden = _hidden(self.rate, self.threshold, self.reports)
        spread = np.maximum(hidden[alone], (apart - 1) * hidden[1] + hidden[alone - apart + 1])
        return np.where(alone > 0, spread, 0.0), self.reports - alone

    def slack(self, epsilon: float) -> float:
        """Zero where only a person alone in their bin tells anything, whose chance is the one that
        is drawn."""
        silent = self._worst(epsilon)[1] == 0.0
        if Fraction(epsilon) >= self.reports * self.rate and silent:
            return 0.0
        return min(self.reports, self.bins) * (1.0 + math.exp(epsilon)) * discrete_laplace_distance(self.rate)


@dataclass(frozen=True, eq=False)
class StabilityReplace(GrowingSlack):
    """One person leaves a bin for another, in a crowd of `people`."""

    rate: Fraction
    threshold: int
    people: int = LARGEST
    kind: Kind = field(init=False, default="exact")

    def __post_init__(self) -> None:
        _require(self.threshold)
        object.__setattr__(self, "rate", Fraction(self.rate))
        object.__setattr__(self, "kind", "exact" if self.people > 2 * (self.threshold - 1) else "bound")

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(2 * self.rate), 0.0)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The roles of the two bins may be exchanged, so either order is as bad."""
        revealed, high = reveals(self.rate, self.threshold), 1.0 / (1.0 + math.exp(-float(self.rate)))
        filled = high**2 * _fallen(epsilon, 2 * self.rate)
        one_filled = high * np.maximum(_fallen(epsilon, self.rate) - revealed, 0.0)
        worst = np.max([filled, revealed + one_filled, self._other_order(epsilon, revealed)], axis=0)
        return worst, worst

    def _other_order(self, epsilon: Floats, revealed: float) -> Floats:
        """An empty bin and a filled one, for the crowd that cannot report the former."""
        rate = float(self.rate)
        low = 1.0 / (1.0 + math.exp(min(rate, 700.0)))
        return (1.0 - low) * _silent(epsilon - rate, revealed) + low * _silent(epsilon + rate, revealed)

    def slack(self, epsilon: float) -> float:
        """Zero where only a person alone in their bin tells anything, whose chance is the one that
        is drawn."""
        silent = not self._other_order(np.array([epsilon]), reveals(self.rate, self.threshold) * (1.0 + 1e-9)).any()
        if Fraction(epsilon) >= 2 * self.rate and silent:
            return 0.0
        return 2.0 * (1.0 + math.exp(epsilon)) * discrete_laplace_distance(self.rate)


def _require(threshold: int) -> None:
    if threshold < 1:
        raise BadArgument("threshold", f"is {threshold}", "use 1 or more, or empty bins would be told apart")


def _hidden(rate: Fraction, threshold: int, reports: int) -> Floats:
    """-ln P[Z < threshold - m] of the drawn noise, for every number m of reports in a bin."""
    m, law, r = np.arange(reports + 1), discrete_laplace(rate).law, float(rate)
    above = np.append(0.0, np.cumsum(law.masses[::-1])) + law.dropped
    shown = above[np.clip(law.masses.size + law.start - threshold + m, 0, law.masses.size)]
    certain = np.maximum(m - threshold + 1, 0) * r + math.log1p(math.exp(-r))
    return np.where(m < threshold, -np.log1p(-np.minimum(shown, 0.5)), certain)


def reveals(rate: Fraction, threshold: int) -> float:
    """P[Z >= threshold - 1] of the noise that is drawn: one person's bin is reported."""
    law = discrete_laplace(rate).law
    return float(law.masses[max(0, threshold - 1 - law.start) :].sum()) + law.dropped


def _fallen(epsilon: Floats, pure: Fraction) -> Floats:
    """(1 - e**(epsilon - pure))_+, exactly 0 from `pure` on."""
    below = np.array([Fraction(float(e)) < pure for e in epsilon])
    return np.where(below, -np.expm1(np.minimum(epsilon - float(pure), 0.0)), 0.0)


def _silent(log_factor: Floats, revealed: float) -> Floats:
    """(1 - e**log_factor (1 - tau))_+, without cancellation: what silence tells."""
    x = np.minimum(log_factor, 50.0)
    return np.maximum(-np.expm1(x) + revealed * np.exp(x), 0.0)
