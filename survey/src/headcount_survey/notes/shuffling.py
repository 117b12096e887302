"""Randomised response under a shuffler, after Cheu, Smith, Ullman, Zeber and Zhilyaev."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from headcount.planner.planning import protocol
from headcount.protocols import named
from headcount_survey.notes import SHUFFLING
from headcount_survey.notes.laws import binomial, divergence
from headcount_survey.notes.sampling import cover, left_out
from headcount_survey.notes.survey import rmse
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, certified, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SHUFFLING)


def says_one(x: int, n: int, lam: Fraction) -> Fraction:
    """The chance of a one: a fair coin with chance lambda/n, the truth otherwise."""
    p = lam / n
    return (1 - p) * x + p / 2


def total(n: int, lam: float, ones: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The law of the number of ones received."""
    lie = lam / (2 * n)
    return np.convolve(binomial(ones, 1 - lie), binomial(n - ones, lie))


@row(
    "S5.3",
    "The problem",
    "binary sums; the same in the note on binary sums",
    r"Everybody holds 0 or 1, and $f(X) = \sum x_i$ is to be estimated.",
    basis=proved("one bit changes the sum by one"),
)
def problem() -> Seen:
    crowds = list(product((0, 1), repeat=4))
    gaps = {abs(sum(a) - sum(b)) for a in crowds for b in crowds if sum(x != y for x, y in zip(a, b, strict=True)) == 1}
    return holds(
        gaps == {1},
        "4 people: to replace one person's value changes the sum by exactly 1, to add or remove one by at most 1",
    )


@row(
    "S5.1",
    "The randomiser",
    "binary sums, local randomiser",
    r"For a whole $\lambda$ from 1 to $n-1$: with chance $\lambda/n$ send a fair coin, otherwise $x$. Nothing is "
    r"said about $\epsilon$ and $\delta$.",
    Verdict.CORRECTED,
    r"Any *real* $\lambda$ in $(0, n)$. The shuffled bits are $(\epsilon, \delta)$-private for $\lambda = "
    r"64\ln(4/\delta)/\epsilon^2$ if that is at most $n/3$; exactly, far less is needed, and it is hardly ever a "
    r"whole number.",
    "more-people",
    basis=certified("6,000 people with 0 to 59 ones at $(1, 10^{-6})$; the rule is proved in 1808.01394"),
    severity=Severity.PRIVACY,
)
def randomiser() -> Seen:
    n, rule = 6000, 64 * math.log(4e6)
    lam = protocol("cheu-count", n=n, epsilon=1.0, delta=1e-6).parameters["lam"]
    exact, paper = (
        max(divergence(a, b, 1.0) for a, b in pairwise([total(n, v, k) for k in range(60)])) for v in (lam, rule)
    )
    return corrected(
        lam == round(lam),
        exact <= 1.02e-6 and paper <= 1e-6,
        f"6,000 people, (1, 1e-6): lambda = {rule:.1f} by the paper's rule, {lam:.2f} calibrated, for which delta is "
        f"{exact:.2e} (paper's: {paper:.0e})",
    )


@row(
    "S5.4",
    "What is sent",
    "binary sums, derivation",
    r"$P[y_i = 1] = (1-p)\,P[x_i = 1] + p/2$ with $p = \lambda/n$.",
    basis=proved("a fair coin with chance $p$, the truth otherwise"),
)
def sent() -> Seen:
    leaf, chances = protocol("cheu-count", n=8, lam=3.0), []
    for x in (0, 1):
        law = leaf.programme.law({"value": x})
        chances.append(sum(mass for sent, mass in law.masses.items() if dict(sent).get((1,))) / law.total)
    ought = [float(says_one(x, 8, Fraction(3))) for x in (0, 1)]
    off = max(abs(a - b) for a, b in zip(chances, ought, strict=True))
    return holds(
        off < 1e-12,
        f"n = 8, lambda = 3: a zero says one with chance {ought[0]}, a one with {ought[1]}; the programme that is "
        f"drawn agrees to {off:.0e}",
    )


@row(
    "S5.5",
    "Unbiased",
    "binary sums, analyser",
    r"$\frac{n}{n-\lambda}\left(\sum y_i - \frac\lambda2\right)$ is an unbiased estimator of $\sum x_i$.",
    more="warner",
    basis=proved("sum S5.4 over all people and solve"),
)
def unbiased() -> Seen:
    cases = [(n, ones, Fraction(n * j, 7)) for n in range(1, 9) for ones in range(n + 1) for j in (1, 3, 6)]
    exact = 0
    for n, ones, lam in cases:
        mean = ones * says_one(1, n, lam) + (n - ones) * says_one(0, n, lam)
        exact += n / (n - lam) * (mean - lam / 2) == ones
    return holds(exact == len(cases), f"{exact} of {len(cases)} crowds and lambdas, in exact fractions")


@row(
    "S5.6",
    "What kind of estimator",
    "binary sums, equation (1)",
    r"$\frac1n\sum x_i = \frac{\frac1n\sum y_i - p/2}{1-p}$, where $\frac1n\sum y_i$ is the maximum likelihood "
    r"estimate of $P[y_i = 1]$; and so $\sum x_i$ equals the analyser's output.",
    Verdict.CORRECTED,
    r"The two sides agree in *expectation* only: it is the estimator of moments. The most likely *count* may be "
    r"another whole number, even after rounding and clipping.",
    basis=proved("S5.5 for the expectation; the case below for the likelihood"),
    severity=Severity.WORDING,
)
def kind() -> Seen:
    n, lam = 10, 4.0
    likelihood = np.array([total(n, lam, ones) for ones in range(n + 1)])
    most_likely = likelihood.argmax(axis=0)
    moments = np.clip((np.arange(n + 1) - lam / 2) * n / (n - lam), 0, n)
    differ = [y for y in range(n + 1) if abs(most_likely[y] - moments[y]) > 0.5 + 1e-9]
    return corrected(
        not differ and len(set(moments.round(9))) == n + 1,
        bool(differ),
        f"n = 10, lambda = 4: on receiving {differ[0]} ones the estimate is {moments[differ[0]]:.2f}, while "
        f"{most_likely[differ[0]]} is the most likely count",
    )


@row(
    "S5.7",
    "A variant of randomised response",
    "binary sums",
    "The algorithm is a modified version of randomised response.",
    basis=proved("a fair coin with chance $p$ is a lie with chance $p/2$"),
)
def variant() -> Seen:
    n, lam = 8, Fraction(3)
    keep = says_one(1, n, lam)
    symmetric = says_one(0, n, lam) == 1 - keep
    return holds(
        symmetric and keep == 1 - lam / (2 * n),
        f"n = 8, lambda = 3: the truth with chance {keep}, a lie otherwise; locally epsilon is ln "
        f"{keep / (1 - keep)} = {math.log(keep / (1 - keep)):.2f}",
    )


@row(
    "S5.2",
    "Equivalent to sample and threshold",
    "binary sums, introduction",
    "This protocol and sample-and-threshold are expected to turn out equivalent.",
    Verdict.CORRECTED,
    "As they stand they are not. Whoever does not tell the truth sends a *fair coin* here and "
    r"*nothing* there: on all zeros one is $\mathrm{Bin}(n, \lambda/2n)$, the other constantly 0; "
    r"and without its threshold sampling has $\delta = p$. But they have the same limit: here the "
    r"count *plus* Poisson noise of mean $\lambda/2$, as $n$ grows and $k/n \to 0$; there the "
    r"count *less* Poisson noise of the least mean that the budget allows, as $\tau$ grows and "
    r"$k/\tau \to 1$, and only above the threshold.",
    "sampling-as-noise",
    basis=proved("Q7"),
    severity=Severity.PRIVACY,
)
def equivalent() -> Seen:
    n, lam, p = 1000, 66.0, 0.3
    zeros = float(total(n, lam, 0)[1:].sum())
    spread = [
        math.sqrt(lam / 2 * (1 - lam / (2 * n))) * n / (n - lam),
        math.sqrt(100 * (1 - p) / p),
        math.sqrt(900 * (1 - p) / p),
    ]
    bare = divergence(np.array([1.0, 0.0]), np.array([1 - p, p]), 1.0)
    halves = [protocol("cheu-count", n=m, epsilon=1.0, delta=1e-6).parameters["lam"] / 2 for m in (10_000, 10**6)]
    missing = left_out(4_920)[0]
    return corrected(
        zeros == 0.0,
        zeros > 0.99
        and abs(bare - p) < 1e-12
        and spread[2] > 2 * spread[1]
        and max(abs(halves[1] - cover()), abs(missing - cover())) < 0.001 * cover(),
        f"1,000 zeros: {zeros:.3f} to receive any ones here, 0 there. Errors: {spread[0]:.1f} "
        f"whatever is held; {spread[1]:.0f} and {spread[2]:.0f} for 100 and 900 ones sampled at "
        f"0.3, whose delta without a threshold is {bare:.1f}. In the limit, at (1, 1e-6): lambda/2 "
        f"= {halves[0]:.2f} for 10^4 people and {halves[1]:.2f} for 10^6, threshold 4,920 leaves "
        f"out {missing:.2f}, and Poisson noise has mean {cover():.2f}",
    )


@row(
    "S5.8",
    "The reference",
    "binary sums; references, commented out",
    "The work re-derived is reference [1], almost central accuracy in almost a single message.",
    Verdict.CORRECTED,
    "It is Cheu et al. 2019 (arXiv:1808.01394), after which the note is named: exactly one message from everybody. "
    "The paper referred to sends a random number of them.",
    basis=INSTANCE,
    severity=Severity.WORDING,
)
def reference() -> Seen:
    one, several = (protocol(name, n=1000, epsilon=1.0, delta=1e-6) for name in ("cheu-count", "correlated-count"))
    sends = [list(found.programme.sends({"value": 1}, 2)) for found in (one, several)]
    cited = "1808.01394" in named("cheu-count").reference
    return corrected(
        sends[0] == sends[1],
        cited and sends[0][1] == 1.0 and sends[1][1] < 1.0,
        f"1,000 people, (1, 1e-6): a one sends exactly one message with chance {sends[0][1]:.0f} here, and with "
        f"{sends[1][1]:.2f} there, at an error {several.rmse() / rmse('geometric', 100, 0.0) - 1:.1%} above the "
        f"central one",
    )
