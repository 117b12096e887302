"""From smoothness to the constants fifty and a hundred: the tangent, the five, and the crowd."""

from __future__ import annotations

import math

import numpy as np

from headcount_survey.notes import SEPARATING
from headcount_survey.notes.binomial import tails
from headcount_survey.notes.laws import binomial, smoothness
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SEPARATING)
EPSILONS = np.arange(1, 1001) / 1000.0
BUDGETS = [(e, d) for e in (0.1, 0.3, 0.5, 0.8, 1.0) for d in (0.5, 0.05, 1e-3, 1e-6)]
PLACE = "proof of the theorem on binary sums, both versions"


def noise(epsilon: float, delta: float) -> float:
    """How many dummies are missing on average: n gamma."""
    return 50.0 * math.log(2.0 / delta) / epsilon**2


@row(
    "S1.19",
    "One exponential for two",
    PLACE,
    r"For $\alpha < 1$, $e^{-\alpha^2\gamma n/8} + e^{-\alpha^2\gamma n/(8+2\alpha)} < 2e^{-\alpha^2\gamma n/10}$.",
    basis=proved(r"$8 < 10$, and $8 + 2\alpha < 10$ for $\alpha < 1$"),
)
def one_exponential() -> Seen:
    cases = [(mean, a) for mean in (1.0, 10.0, 100.0, 1000.0) for a in np.arange(1, 100) / 100.0]
    worst = max(tails(mean, a) / (2.0 * math.exp(-a * a * mean / 10.0)) for mean, a in cases)
    return holds(worst < 1.0, f"{len(cases)} cases: the left side is at most {worst:.6f} of the right")


@row(
    "S1.20",
    "Alpha and epsilon",
    PLACE + "; note on binary sums",
    r"$\epsilon = \ln\frac{1+\alpha}{1-\alpha}$ is the same as $\alpha = \frac{e^\epsilon-1}{e^\epsilon+1}$.",
    basis=proved("solve the one for the other"),
)
def tangent() -> Seen:
    alpha = np.expm1(EPSILONS) / (np.exp(EPSILONS) + 1.0)
    gap = float(np.abs(np.log((1 + alpha) / (1 - alpha)) - EPSILONS).max())
    return holds(gap < 1e-12, f"alpha = tanh(epsilon/2); there and back over 1,000 epsilons, off by {gap:.0e}")


@row(
    "S1.8",
    "Alpha and epsilon over the root of five",
    PLACE + "; note on binary sums",
    r"From the plots of $\alpha - \epsilon/\sqrt5$ and $\alpha - \epsilon/\sqrt4$: $\epsilon/\sqrt5 \ge \alpha$ for "
    r"all $\epsilon$ in $[0, 1]$.",
    Verdict.CORRECTED,
    r"The other way round: $\alpha = \tanh(\epsilon/2) \ge \epsilon/\sqrt5$ on $[0, 1]$, as a lower bound must be; "
    r"and $\alpha \le \epsilon/2$.",
    "why-five",
    basis=proved(
        r"$\tanh(x)/x$ falls, so that $\alpha/\epsilon \ge \tanh(1/2) = 0.462 > 1/\sqrt5 = 0.447$ on $(0, 1]$;"
        r" and $\tanh x \le x$"
    ),
    severity=Severity.PROOF,
)
def lower_bound() -> Seen:
    alpha = np.tanh(EPSILONS / 2.0)
    above, below = alpha - EPSILONS / math.sqrt(5.0), EPSILONS / 2.0 - alpha
    return corrected(
        bool((above <= 0.0).all()),
        bool((above > 0.0).all() and (below >= 0.0).all()),
        f"alpha - epsilon/sqrt 5 is positive at all 1,000 epsilons and {above[-1]:.4f} at 1, where alpha = "
        f"{alpha[-1]:.4f}",
    )


@row(
    "S1.10",
    "Why five",
    PLACE,
    r"They chose the smallest whole number such that $\alpha > 0$ for all $\epsilon$ in $[0, 1]$.",
    Verdict.CORRECTED,
    r"The smallest whole $c$ with $\alpha \ge \epsilon/\sqrt c$ on $[0, 1]$. As $\tanh(\epsilon/2)/\epsilon$ falls, "
    r"$\epsilon = 1$ decides: $c \ge 1/\tanh^2(1/2) = 4.683$. ($\alpha$ itself is positive whatever $c$ is.)",
    "why-five",
    basis=proved(r"as $\alpha/\epsilon$ falls (S1.8), $\alpha \ge \epsilon/\sqrt c$ on $(0, 1]$ just if it holds at 1"),
    severity=Severity.WORDING,
)
def why_five() -> Seen:
    alpha = np.tanh(EPSILONS / 2.0)
    works = {c: bool((alpha >= EPSILONS / math.sqrt(c)).all()) for c in range(1, 9)}
    smallest = min(c for c, so in works.items() if so)
    positive = min(c for c in works if (alpha > 0.0).all())
    share = float((alpha >= EPSILONS / 2.0).mean())
    return corrected(
        positive == 5,
        smallest == 5 and share == 0.0,
        f"1/tanh(1/2)^2 = {1 / math.tanh(0.5) ** 2:.3f}, so {smallest}; with 4 it fails at every epsilon, and alpha "
        f"> 0 would allow {positive}",
    )


@row(
    "S1.9",
    "A larger alpha",
    "note on binary sums, shuffle",
    r"A constant larger than $\alpha$ only widens the good region, so the bounds hold for it too; that is why any "
    r"$\alpha$ in $[\epsilon/\sqrt5, 1)$ makes the binomial law $(\epsilon, \delta, 1)$-smooth.",
    Verdict.CORRECTED,
    r"A larger $\alpha$ promises a larger $\epsilon = \ln\frac{1+\alpha}{1-\alpha}$. It is *fixed* at "
    r"$\tanh(\epsilon/2)$; $\alpha \ge \epsilon/\sqrt5$ serves only to bound $2e^{-\alpha^2\gamma n/10}$ by "
    r"$2e^{-\epsilon^2\gamma n/50}$.",
    basis=proved(
        r"$\ln\frac{1+\alpha}{1-\alpha}$ grows with $\alpha$, and the law below breaks what a larger one would"
        " promise"
    ),
    severity=Severity.PRIVACY,
)
def larger_alpha() -> Seen:
    exact = smoothness(binomial(200, 0.5), 0.5, 1)
    larger, fixed = tails(100.0, 0.99), tails(100.0, math.tanh(0.25))
    return corrected(
        exact <= larger,
        exact <= fixed,
        f"Bin(200, 1/2), epsilon = 0.5: the ratio is too large with chance {exact:.1e}; alpha = 0.99 would allow "
        f"{larger:.1e}, tanh(1/4) does {fixed:.2f}",
    )


@row(
    "S1.21",
    "How much noise",
    PLACE + "; note on binary sums",
    r"$2e^{-\alpha^2\gamma n/10} \le 2e^{-\epsilon^2\gamma n/50}$, and setting that to $\delta$ gives $\gamma = "
    r"\frac{50}{\epsilon^2 n}\ln\frac2\delta$.",
    basis=proved(r"$\alpha^2 \ge \epsilon^2/5$ by S1.8; solve for $\gamma$"),
)
def how_much() -> Seen:
    sides = [(2 * math.exp(-(math.tanh(e / 2) ** 2) * noise(e, d) / 10), d) for e, d in BUDGETS]
    solved = max(abs(2 * math.exp(-(e**2) * noise(e, d) / 50) / d - 1) for e, d in BUDGETS)
    return holds(
        solved < 1e-9 and all(left <= d for left, d in sides),
        f"{len(BUDGETS)} budgets: the right side is delta to {solved:.0e}, the left at most "
        f"{max(left / d for left, d in sides):.2f} of it",
    )


@row(
    "S1.22",
    "Smooth for shifts by one",
    PLACE,
    r"For $k = 1$ one needs $n\alpha\gamma \ge 2$, and indeed $n\alpha\gamma \ge "
    r"\frac{10\sqrt5}{\epsilon}\ln\frac2\delta \ge 10\sqrt5\ln2 \ge 2$.",
    basis=proved(r"$\alpha \ge \epsilon/\sqrt5$, $\epsilon \le 1$ and $\delta \le 1$"),
)
def by_one() -> Seen:
    least = min(noise(e, d) * math.tanh(e / 2) for e in EPSILONS for d in (1.0, 0.5, 1e-6))
    floor = 10 * math.sqrt(5) * math.log(2)
    return holds(least >= floor >= 2.0, f"n alpha gamma is at least {least:.2f}, above 10 sqrt 5 ln 2 = {floor:.2f}")


@row(
    "S1.23",
    "How many people make it smooth",
    PLACE,
    r"If $n \ge \frac{100}{\epsilon^2}\ln\frac2\delta$, then $\mathrm{Bin}(n, \gamma)$ is $(\epsilon, \delta, "
    r"1)$-smooth. (The hundred is what keeps $\gamma \le 1/2$.)",
    more="smooth-binomial",
    basis=proved(r"S1.1, S1.21 and S1.22; that many people is just what makes $\gamma \le 1/2$"),
)
def how_many() -> Seen:
    crowds = [(e, d, math.ceil(2 * noise(e, d)) * more) for e, d in BUDGETS if e >= 0.3 for more in (1, 3)]
    share = max(smoothness(binomial(n, noise(e, d) / n), e, 1) / d for e, d, n in crowds)
    largest = max(noise(e, d) / n for e, d, n in crowds)
    return holds(
        share <= 1.0 and largest <= 0.5,
        f"{len(crowds)} crowds: the exact delta is at most {share:.1e} of the one asked for, and gamma at most "
        f"{largest:.2f}",
    )
