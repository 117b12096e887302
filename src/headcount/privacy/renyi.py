r"""Rényi filters: budgets that hold for adaptively chosen questions.

For one order $\alpha>1$ that is fixed before the first answer, let every question have a divergence
of at most $\rho$ in that order, apart from a chance $d$ of losing everything. Stopped before
$\sum\rho$ exceeds

$$R(\alpha) = \epsilon + \frac{\ln\delta + \ln\alpha - (\alpha-1)\ln(1-1/\alpha)}{\alpha-1}$$

all of them together are $(\epsilon, \delta + \sum d)$-DP, however chosen. (With $\rho_s$ left,
$C\gamma^{1-\alpha}e^{(\alpha-1)\rho_s}$ bounds what can still be reached at $\gamma=e^\epsilon$,
where $C=\frac1\alpha(1-\frac1\alpha)^{\alpha-1}$ makes it at least $(1-\gamma)_+$, where one may
always stop; a question multiplies its mean by at most $e^{(\alpha-1)\rho}$, which is what is then
left less.)

From the curves $h$ and $h'$ of divergences in either order of the neighbours, cut at $\tau$, with
$d=\max(h(e^\tau),h'(e^\tau))$: $e^{(\alpha-1)\rho}=1-d+\alpha(\alpha-1)\int_0^\tau
e^{(\alpha-1)t}(h(e^t)-d)_++e^{-\alpha t}(h'(e^t)-d)_+\,dt$, and the price is that of the worse
order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from headcount.privacy.loss import ROUND_UP, PrivacyLoss
from headcount.programme.law import Floats

DOTS = 160  # of a loss's curve up to its first cut, and from there to its last; between them it lies below the chord
NODES, WEIGHTS = (np.asarray(part) for part in np.polynomial.legendre.leggauss(6))  # good to 1e-11 where cells are
WIDEST = 2.0  # at most so wide, in units of 1 / order; what is wider is priced at infinity
SUMMED = 1.0 + 1e-9  # a bound on rounding errors of exponentials, the quadrature and its sum


def renyi_budget(alpha: Floats, epsilon: float, delta: float) -> Floats:
    """The sum that the divergences of this order may reach, rounded down."""
    parts = math.log(delta) + np.log(alpha) - (alpha - 1.0) * np.log1p(-1.0 / alpha)
    size = abs(math.log(delta)) + np.log(alpha) + 2.0
    return np.asarray(epsilon + (parts - 1e-13 * size) / (alpha - 1.0) - 1e-15 * epsilon)


def response_divergence(alpha: float, epsilon: float) -> float:
    """The Rényi divergence of randomised response, the worst that is pure at this epsilon."""
    power, odds = alpha - 1.0, math.exp(-epsilon)
    return (power * epsilon + math.log1p(math.expm1(-2.0 * power * epsilon) * odds / (1.0 + odds))) / power


@dataclass(frozen=True, eq=False)
class PrivacyProfile:
    """Upper bounds of a loss's divergence in either order, on dots from 0 on."""

    epsilon: Floats
    orders: Floats  # a row for each; never rising
    cuts: tuple[int, ...]  # which dots a price may cut at

    @classmethod
    def of(cls, loss: PrivacyLoss, tops: Iterable[float], levels: Iterable[float]) -> PrivacyProfile:
        """The profile, to be cut at these epsilons, if finite, and where it reaches each level."""
        ends = sorted({top for top in tops if top < math.inf})
        spans = [(0.0, ends[0]), (ends[0], ends[-1])] if ends else []
        dots = np.unique(np.concatenate([[0.0], ends, *(np.linspace(*span, DOTS + 1) for span in spans)]))
        slack = np.array([loss.slack(float(epsilon)) for epsilon in dots])
        orders = np.minimum(np.array(loss.orders(dots)) * ROUND_UP + slack, 1.0)
        orders = np.minimum.accumulate(orders, axis=1)
        below = (int(np.count_nonzero(orders.max(axis=0) > level)) for level in levels)
        cuts = {*np.searchsorted(dots, ends).tolist(), *(cut for cut in below if cut < dots.size)}
        return cls(dots, orders, tuple(sorted(cuts)))

    def prices(self, alpha: Floats) -> list[tuple[Floats, float]]:
        """For each cut the Rényi divergences of these orders, rounded up, and the mass cut off."""
        width = np.diff(self.epsilon)[:, None]
        within = (NODES + 1.0) / 2.0 * width  # from the start of each cell
        chord = np.expm1(within) / np.expm1(width)
        heights = self.orders[:, :-1, None] + chord * np.diff(self.orders)[:, :, None]
        at, weight = self.epsilon[:-1, None] + within, WEIGHTS / 2.0 * width
        with np.errstate(over="ignore"):
            up, down = (np.exp(np.multiply.outer(power, at.ravel())) for power in (alpha - 1.0, -alpha))
        return [self._price(alpha, cut, up, down, weight, heights) for cut in self.cuts]

    def _price(
        self, alpha: Floats, cut: int, up: Floats, down: Floats, weight: Floats, heights: Floats
    ) -> tuple[Floats, float]:
        lost, nodes = float(self.orders[:, cut].max()), cut * NODES.size
        one, other = ((weight * np.maximum(order - lost, 0.0))[:cut].ravel() for order in heights)
        up, down = up[:, :nodes], down[:, :nodes]
        with np.errstate(over="ignore", invalid="ignore"):
            worse = np.maximum(up @ one + down @ other, up @ other + down @ one)
            rho = np.maximum(np.log1p(alpha * (alpha - 1.0) * worse * SUMMED - lost), 0.0) * SUMMED / (alpha - 1.0)
        widest = float(np.diff(self.epsilon[: cut + 1]).max(initial=0.0))
        return np.where((alpha * widest <= WIDEST) & np.isfinite(rho), rho + 1e-16, math.inf), lost
