"""The survey of mean estimation: randomised response, and many messages."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from headcount.programme.coins import SeededCoins
from headcount_survey.notes import SURVEY
from headcount_survey.notes.laws import binomial
from headcount_survey.notes.survey import response, rmse
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SURVEY)
UPPER = "local privacy, upper bound"


def answers(n: int, gamma: float, ones: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The law of the number of reported ones, given the number of ones."""
    return np.convolve(binomial(ones, 0.5 + gamma), binomial(n - ones, 0.5 - gamma))


def beyond(n: int, gamma: float, ones: int, t: float) -> float:
    """The chance that the estimated sum is off by t or more."""
    off = (np.arange(n + 1.0) - (0.5 - gamma) * n) / (2 * gamma) - ones
    return float(answers(n, gamma, ones)[np.abs(off) >= t - 1e-9].sum())


@row(
    "S4.9",
    "Privacy of randomised response",
    "local privacy",
    r"Tell the truth with chance $1/2 + \gamma$: privacy is trivially achieved.",
    Verdict.CORRECTED,
    r"It is, with $\epsilon = \ln\frac{1+2\gamma}{1-2\gamma}$, that is $\gamma = \frac12\tanh\frac\epsilon2$; a "
    r"$\gamma$ chosen without this promises nothing in particular.",
    "warner",
    basis=proved("the ratio of the chances of either answer"),
    severity=Severity.PRIVACY,
)
def privacy() -> Seen:
    found = {g: math.log((0.5 + g) / (0.5 - g)) for g in (0.1, 0.25, 0.45, 0.499)}
    back = max(abs(0.5 * math.tanh(e / 2) - g) for g, e in found.items())
    return corrected(
        max(found.values()) <= 1.0,
        back < 1e-12,
        "epsilon is " + ", ".join(f"{e:.2f}" for e in found.values()) + " at gamma = " + ", ".join(map(str, found)),
    )


@row(
    "S4.15",
    "The estimator is unbiased",
    UPPER,
    r"With $k$ ones received, $\hat f = \frac{k - (1/2-\gamma)N}{2\gamma}$ estimates the sum of the inputs without "
    r"bias.",
    more="warner",
    basis=proved("linearity of the expectation"),
)
def unbiased() -> Seen:
    gamma, exact = Fraction(1, 5), 0
    crowds = [(n, ones) for n in range(1, 7) for ones in range(n + 1)]
    for n, ones in crowds:
        mean = Fraction(0)
        for bits in product((0, 1), repeat=n):  # 1 where the truth is told
            says = sum(bits[i] if i < ones else 1 - bits[i] for i in range(n))
            chance = math.prod(
                (Fraction(1, 2) + gamma if bit else Fraction(1, 2) - gamma for bit in bits), start=Fraction(1)
            )
            mean += chance * (says - (Fraction(1, 2) - gamma) * n) / (2 * gamma)
        exact += mean == ones
    return holds(
        exact == len(crowds), f"{exact} of {len(crowds)} crowds of up to 6 people, in exact fractions, gamma = 1/5"
    )


@row(
    "S4.6",
    "The derivation of it",
    "local privacy, proof",
    r"$E[\hat f] = \frac1{2\gamma}(E[k] - N/2 - N\gamma) = k$, with $k$ for what is received and for the truth.",
    Verdict.CORRECTED,
    r"$\frac1{2\gamma}(E[k] - N/2 + N\gamma)$, with $E[k] = (\frac12+\gamma)s + (\frac12-\gamma)(N-s)$, which is $s "
    r"= \sum x_i$, the true sum.",
    basis=proved("linearity of the expectation"),
    severity=Severity.PROOF,
)
def derivation() -> Seen:
    n, gamma, s = 100, 0.2, 30
    mean = (0.5 + gamma) * s + (0.5 - gamma) * (n - s)
    noted, ought = ((mean - 0.5 * n + sign * gamma * n) / (2 * gamma) for sign in (-1, 1))
    return corrected(
        abs(noted - s) < 1e-9,
        abs(ought - s) < 1e-9,
        f"N = 100, gamma = 0.2, 30 ones: as noted {noted:g}, with the sign put right {ought:g}",
    )


@row(
    "S4.7",
    "The tail bound",
    UPPER,
    r"By Hoeffding, $P[\lvert\hat f - E\hat f\rvert \ge t] \le 2e^{-2nt^2}$.",
    Verdict.CORRECTED,
    r"$2\exp(-8\gamma^2t^2/N)$ for the sum, $2\exp(-8\gamma^2Nt^2)$ for the mean: $\hat f$ is the sum of bits "
    r"divided by $2\gamma$, and the scale of a mean does not fit a sum.",
    "warner",
    basis=proved(r"Hoeffding's bound for $N$ bits at the distance $2\gamma t$"),
    severity=Severity.ACCURACY,
)
def hoeffding() -> Seen:
    n, gamma, t = 1000, 0.1, 100.0
    exact, noted = beyond(n, gamma, 300, t), 2 * math.exp(-2 * n * t * t)
    grid = [(m, g, s) for m in (50, 400) for g in (0.05, 0.2, 0.4) for s in (0.5, 1.0, 2.0, 3.0)]
    worst = max(beyond(m, g, m // 3, s * math.sqrt(m) / g) / (2 * math.exp(-8 * s * s)) for m, g, s in grid)
    return corrected(
        exact <= noted,
        worst <= 1.0 and exact <= 2 * math.exp(-8 * gamma**2 * t * t / n),
        f"N = 1,000, gamma = 0.1: off by 100 or more with chance {exact:.3f}, as noted at most {noted:.0f}; "
        f"corrected {2 * math.exp(-0.8):.2f}, and {len(grid)} more cases hold",
    )


@row(
    "S4.8",
    "Solving for the error",
    UPPER,
    r"So with probability $1-\delta$ the error is at most $\sqrt{\frac1{2n}\ln\frac1\delta}$, since $\hat f$ is a "
    r"sum of Bernoulli variables: $O(1/\sqrt N)$.",
    Verdict.CORRECTED,
    r"$\frac1{2\gamma}\sqrt{\frac N2\ln\frac2\delta}$ for the sum, $O(\sqrt N/\epsilon)$; the two tails give "
    r"$\ln(2/\delta)$. And $\hat f$ is an *affine function* of a sum of Bernoulli variables.",
    "warner",
    basis=proved(r"set S4.7's bound to $\delta$ and solve for $t$"),
    severity=Severity.ACCURACY,
)
def solved() -> Seen:
    cases = [(n, g, b) for n in (100, 1000) for g in (0.05, 0.2) for b in (0.3, 0.05, 0.001)]
    noted = [beyond(n, g, n // 4, n * math.sqrt(math.log(1 / b) / (2 * n))) / b for n, g, b in cases]
    ought = [beyond(n, g, n // 4, math.sqrt(n / 2 * math.log(2 / b)) / (2 * g)) / b for n, g, b in cases]
    return corrected(
        max(noted) <= 1.0,
        max(ought) <= 1.0,
        f"{len(cases)} cases, read as a mean: the bound fails up to {max(noted):.0f} times as often as delta "
        f"allows; corrected at most {max(ought):.2f} times",
    )


@row(
    "S4.16",
    "By the variance",
    UPPER,
    "The estimator being unbiased, its variance is its mean squared error, which gives another derivation: of a "
    "typical error, not of a confidence interval.",
    more="warner",
    basis=proved("without bias the two are the same thing"),
)
def variance() -> Seen:
    off = []
    for n, e in ((50, 0.5), (200, 1.0), (200, 2.0)):
        gamma = 0.5 * math.tanh(e / 2)
        for ones in (0, n // 3, n):
            error = (np.arange(n + 1.0) - (0.5 - gamma) * n) / (2 * gamma) - ones
            square = float((answers(n, gamma, ones) * error**2).sum())
            off.append(abs(square / response(n, e) ** 2 - 1))
    return holds(
        max(off) < 1e-9,
        f"{len(off)} crowds: the squared error is n e^eps/(e^eps - 1)^2 to {max(off):.0e}, whatever they hold",
    )


@row(
    "S4.17",
    "Nothing local does better",
    "local privacy, lower bound",
    r"The algorithm of 1965 is the best one can do: $O(1/\sqrt N)$ is the least error that privacy allows.",
    Verdict.CORRECTED,
    r"The least is $\Omega(1/(\epsilon\sqrt N))$ for the mean. As a *randomiser* of one bit it is best exactly: any "
    r"other $\epsilon$-private one is a function of its answer and further coins. The unbiased *estimator* is not: "
    r"to clip it to $[0, N]$ never hurts and often helps.",
    "lower-bounds",
    basis=proved(
        r"Kairouz et al. (1407.1338): any $\epsilon$-private law of a bit is made from the flipped one; the "
        "order is in Beimel et al. (1103.2626), the constant in `lower-bounds`"
    ),
    severity=Severity.ACCURACY,
)
def best() -> Seen:
    # Any two laws a, b with ratios within e^epsilon arise from the bit: mix u where x = 1 is said,
    # and v otherwise.
    e, keep = 1.0, math.e / (1 + math.e)
    draws, worst = SeededCoins(11).uniform(4000).reshape(500, 8), 0.0
    for line in draws:
        b = line[:4] / line[:4].sum()
        a = b * np.exp(e * (2 * line[4:] - 1))
        while abs(a.sum() - 1) > 1e-13:  # within the ratios, and a law
            a = np.clip(a / a.sum(), b * math.exp(-e), b * math.exp(e))
        u, v = ((keep * p - (1 - keep) * q) / (2 * keep - 1) for p, q in ((a, b), (b, a)))
        worst = min(worst, float(u.min()), float(v.min()))
    n, gamma = 100, 0.5 * math.tanh(0.5)
    estimate = (np.arange(n + 1.0) - (0.5 - gamma) * n) / (2 * gamma)
    law = answers(n, gamma, 5)
    plain, clipped = (math.sqrt(float((law * (est - 5) ** 2).sum())) for est in (estimate, np.clip(estimate, 0, n)))
    # Least squares over all analysers when any number of ones is as likely: no analyser is
    # uniformly better than this.
    laws = np.array([answers(1000, gamma, k) for k in range(0, 1001, 4)])
    counts = np.arange(0.0, 1001.0, 4.0)[:, None]
    total = np.maximum(laws.sum(axis=0), 1e-300)
    guess = (laws * counts).sum(axis=0) / total
    bayes = math.sqrt(float((laws * (counts - guess) ** 2).sum() / counts.size))
    return corrected(
        abs(plain - clipped) < 1e-9,
        worst > -1e-9 and clipped < plain and bayes > 0.95 * response(1000, 1.0),
        f"500 random 1-private laws on 4 outputs all factor through the bit; 1,000 people: no analyser errs less "
        f"than {bayes:.1f} on average over all counts, the estimator {response(1000, 1.0):.1f}; 5 ones among 100: "
        f"{plain:.1f}, clipped {clipped:.1f}",
    )


@row(
    "S4.11",
    "More messages, more accuracy",
    "shuffle privacy, Balle et al. 2020",
    "In the shuffle model several messages from everybody can bring the accuracy close to that of the central "
    "model, in particular for sums of reals.",
    more="messages",
    basis=INSTANCE,
)
def messages() -> Seen:
    found = {name: rmse(name, 1000) for name in ("blanket-sum", "recursive-sum", "split-and-mix", "laplace")}
    one, three, many, central = found.values()
    return holds(
        one > three > many and many < 1.01 * central + 0.01,
        f"1,000 reals, (1, 1e-6): one message {one:.1f}, three {three:.1f}, split and mix {many:.2f}; central "
        f"{central:.2f}",
    )
