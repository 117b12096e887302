"""Which algorithm to use: additive noise."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from headcount.planner.planning import protocol
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from headcount_survey.notes import BINARY
from headcount_survey.notes.counts import errors
from headcount_survey.notes.five import noise
from headcount_survey.notes.laws import binomial, shifted, smoothness
from headcount_survey.notes.survey import rmse
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, certified, corrected, holds, proved, refuted
from headcount_survey.study import Verdict

row = Rows(BINARY)
PLACE = "additive binomial noise (no thresholding)"


def needed(epsilon: float, delta: float) -> int | None:
    """The fewest people with whom zsum meets the budget and beats a guess."""
    return smallest_crowd(named("zsum"), Count(), Crowd(1), Budget(epsilon, delta))


@row(
    "S6.11",
    "How many users additive noise needs",
    PLACE,
    r"Given $(\epsilon, \delta)$, this regime needs at least $\frac{100}{\epsilon^2}\ln\frac2\delta$ users: a "
    r"deterministic formula for $n$.",
    Verdict.CORRECTED,
    "That many are *sufficient* for the published proof. The noise itself, summed exactly, hides a person among far "
    "fewer. (Further down the note says so: the analysis needs them, not the algorithm.)",
    "smallest-crowd",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def users() -> Seen:
    budgets = ((0.5, 0.05), (1.0, 0.05), (1.0, 1e-6))
    rule, exact = [math.ceil(2 * noise(e, d)) for e, d in budgets], [needed(e, d) or 0 for e, d in budgets]
    return corrected(
        all(n >= r for n, r in zip(exact, rule, strict=True)),
        all(0 < 10 * n < r for n, r in zip(exact, rule, strict=True)),
        "; ".join(
            f"({e:g}, {d:g}): {r:,} by the rule, {n} exactly" for (e, d), r, n in zip(budgets, rule, exact, strict=True)
        ),
    )


@row(
    "S6.1",
    "Where the noise is largest",
    PLACE,
    r"At the smallest $n$, where $p = 1/2$, the most noise is added, as the variance of a binomial is largest there.",
    Verdict.FALSE,
    r"$p$ is tied to $n$: with $K = \frac{50}{\epsilon^2}\ln\frac2\delta$ the variance is $K(1-K/n)$, which is "
    r"*smallest*, $K/2$, at $n = 2K$ and rises to $K$. (For a fixed $n$ the remark on binomials is right.)",
    "error-and-ones",
    basis=proved("$K(1-K/n)$ rises with $n$"),
    severity=Severity.ACCURACY,
)
def largest() -> Seen:
    k = noise(1.0, 1e-6)
    spread = [k * (1 - k / n) for n in (2 * k, 4 * k, 100 * k)]
    return refuted(
        spread[0] >= max(spread),
        spread[0] == min(spread),
        f"(1, 1e-6): variance {spread[0]:.0f} at n = 2K = {2 * k:,.0f}, {spread[1]:.0f} at 4K, {spread[2]:.0f} at 100K",
    )


@row(
    "S6.2",
    "A thousand users",
    PLACE + ", figure of users against the budget",
    r"At $\epsilon = 0.5$, which is generous, and $\delta = 0.05$, privacy takes a thousand users or more.",
    Verdict.CORRECTED,
    r"The rule asks for 1,476. Exactly, 17 have the budget met and an answer better than a guess. And $\delta = "
    r"0.05$ is not a level of confidence but what may leak.",
    "smallest-crowd",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def thousand() -> Seen:
    rule, exact = math.ceil(2 * noise(0.5, 0.05)), needed(0.5, 0.05) or 0
    return corrected(exact >= 1000, (rule, exact) == (1476, 17), f"(0.5, 0.05): {rule:,} by the rule, {exact} exactly")


@row(
    "S6.3",
    "The noise is close to its mean",
    PLACE,
    r"As $n$ is large, $\mathrm{Bin}(n, p)$ is close to $np$, and the error of the fraction is small, within "
    r"$1/\sqrt n$.",
    basis=proved(r"the share's standard deviation is $\sqrt{\gamma(1-\gamma)/n} \le \frac{1}{2\sqrt n}$"),
)
def close() -> Seen:
    k = noise(1.0, 1e-6)
    crowds = [2 * k, 10 * k, 1000 * k]
    scaled = [math.sqrt(k * (1 - k / n)) / n * math.sqrt(n) for n in crowds]
    people = [math.sqrt(k * (1 - k / n)) for n in crowds]
    return holds(
        max(scaled) <= 0.5 + 1e-12,
        f"the standard deviation is {scaled[0]:.2f}, {scaled[1]:.2f}, {scaled[2]:.3f} times 1/sqrt n at n = 2K, "
        f"10K, 1000K: true and ever looser. In people it *grows*, from {people[0]:.0f} to {people[2]:.0f} at (1, "
        f"1e-6)",
    )


@row(
    "S6.23",
    "The number of ones does not matter",
    PLACE + ", figure of error against the fraction of ones",
    r"The error is $\lvert np - Z\rvert$ with $Z \sim \mathrm{Bin}(n, p)$; the number of ones does not occur in it, "
    r"and no correlation shows.",
    more="error-and-ones",
    basis=proved("the estimate less the truth is $Z - np$ or its negative, in which no $x$ occurs"),
)
def no_matter() -> Seen:
    plain = protocol("zsum", n=2000, gamma=0.2)
    found = [plain.error(ones).rmse for ones in (0, 1, 100, 1000, 2000)]
    return holds(
        max(found) - min(found) < 1e-9,
        f"n = 2,000, gamma = 0.2, without the threshold: {found[0]:.2f} for 0, 1, 100, 1,000 and 2,000 ones alike",
    )


@row(
    "S6.4",
    "Where additive noise is effective",
    PLACE,
    "So the effective application is a large crowd in which ones are sparse.",
    Verdict.CORRECTED,
    r"A large crowd, and many more ones than $\sqrt K$: the error does not grow with the count, but it does not "
    r"shrink with it either. With the published analyser, which thresholds, counts below about $K$ are printed as 0.",
    "error-and-ones",
    basis=proved(r"the error is $\sqrt{K(1-K/n)}$ whatever the count (S6.23); for the threshold, Q11"),
    severity=Severity.ACCURACY,
)
def effective() -> Seen:
    n, k = 100_000, noise(1.0, 1e-6)
    law = binomial(n, k / n)
    off = {ones: math.sqrt(float((law * (k - np.arange(n + 1.0)) ** 2).sum())) / ones for ones in (10, 10_000)}
    silent = float(law[errors(n, k, 500) == -500.0].sum())
    return corrected(
        off[10] < 1.0 and silent < 0.5,
        off[10_000] < 0.01 and off[10] > 1.0 and silent > 0.99,
        f"100,000 people, (1, 1e-6), K = {k:.0f}: 10 ones are off by {off[10]:.1f} times themselves, 10,000 by "
        f"{off[10_000]:.2%}; with the threshold 500 are printed as 0 with chance {silent:.4f}",
    )


@row(
    "S6.25",
    "Additive noise has no trouble with few ones",
    "sample and threshold",
    r"For very sparse data, $k \le \tau$, additive noise mechanisms have no issue, provided $n$ is big enough.",
    Verdict.CORRECTED,
    r"The size of $n$ does not help: the noise has standard deviation $\sqrt K$ in people, 27 by the paper and 5.8 "
    r"calibrated, where $k \le \tau = 17$. They report *something* unbiased, whose relative error is large.",
    basis=proved(r"the error $\sqrt{K(1-K/n)}$ does not fall as $n$ grows (S6.1)"),
    severity=Severity.ACCURACY,
)
def few_ones() -> Seen:
    exact = [rmse("zsum", n) for n in (10_000, 1_000_000)]
    paper = math.sqrt(noise(1.0, 1e-6))
    return corrected(
        exact[1] < 0.5 * exact[0],
        abs(exact[1] - exact[0]) < 0.1 and exact[1] / 17 > 0.3,
        f"(1, 1e-6): {paper:.0f} people by the paper's constants, calibrated {exact[0]:.2f} among 10^4 and "
        f"{exact[1]:.2f} among 10^6, at a count of at most 17",
    )


@row(
    "S6.15",
    "Delta shrinks as the crowd grows",
    "dependence on epsilon and delta",
    r"Both regimes promise privacy except in bad events, whose likelihood $\delta$ shrinks very quickly as $n$ "
    r"grows.",
    Verdict.CORRECTED,
    r"Not with the parameters as prescribed: $\gamma$ is lowered as $n$ grows so that $\delta$ stays what it is, "
    r"and sample-and-threshold's $p$ and $\tau$ do not know $n$. Only additive noise with a *fixed* $\gamma$ gains "
    r"from more people.",
    "more-people",
    basis=certified(r"200 to 1,600 people at $\epsilon = 1$, $n\gamma = 30$ or $\gamma = 0.15$"),
    severity=Severity.PRIVACY,
)
def shrinks() -> Seen:
    crowds = (200, 400, 800, 1600)
    tied, fixed = (
        [shifted(binomial(n, g), 1.0) for n, g in zip(crowds, chances, strict=True)]
        for chances in ([30 / n for n in crowds], [0.15] * 4)
    )
    sampled = [protocol("sample-threshold", n=n, rate=0.3, threshold=17).loss.delta(1.0) for n in crowds]
    return corrected(
        tied[-1] < tied[0] / 10,
        tied[-1] / tied[0] > 0.3 and fixed[-1] < fixed[0] * 1e-6 and sampled[-1] >= sampled[0],
        f"epsilon = 1, 200 to 1,600 people: {tied[0]:.1e} to {tied[-1]:.1e} with n gamma = 30, {fixed[0]:.1e} to "
        f"{fixed[-1]:.0e} with gamma = 0.15; sampling {sampled[0]:.1e} to {sampled[-1]:.1e}",
    )


@row(
    "S6.26",
    "The Chernoff bound",
    "dependence on epsilon and delta",
    r"$P[\sum X_i \ge (1+\delta)\mu] \le \left(\frac{e^\delta}{(1+\delta)^{1+\delta}}\right)^\mu \le "
    r"e^{-\delta^2\mu/(2+\delta)}$ for $\delta \ge 0$.",
    basis=proved(r"Markov's inequality for $e^{sX}$; and $\ln(1+\delta) \ge \frac{2\delta}{2+\delta}$"),
)
def chernoff() -> Seen:
    cases = list(product((20, 200), (0.05, 0.3, 0.5), (0.1, 0.5, 1.0, 3.0)))
    first, second = [], []
    for n, p, d in cases:
        mu = n * p
        middle = math.exp(mu * (d - (1 + d) * math.log1p(d)))
        first.append(float(binomial(n, p)[math.ceil((1 + d) * mu - 1e-9) :].sum()) / middle)
        second.append(middle / math.exp(-d * d * mu / (2 + d)))
    return holds(
        max(first) <= 1 and max(second) <= 1,
        f"{len(cases)} cases: the tail is at most {max(first):.2f} of the middle, the middle at most "
        f"{max(second):.3f} of the right",
    )


@row(
    "S6.28",
    "Sensitivity Delta",
    "dependence on epsilon and delta, shuffle",
    r"In general, if the function has sensitivity $\Delta$, smooth noise gives $(\epsilon\Delta, \delta\Delta)$; "
    r"here $\Delta = 1$. (The law must be smooth for shifts up to $\Delta$.)",
    more="smooth-noise",
    basis=proved("Q17"),
)
def sensitivity() -> Seen:
    worst = 0.0
    for (n, g), e, by in product(((200, 0.5), (500, 0.3)), (0.2, 0.4), (1, 2, 3)):
        law = binomial(n, g)
        here, there = np.append(law, np.zeros(by)), np.append(np.zeros(by), law)
        exact = float(np.maximum(here - math.exp(by * e) * there, 0.0).sum())
        worst = max(worst, exact / (by * smoothness(law, e, by)))
    return holds(
        worst <= 1.0,
        f"12 cases, shifts by 1 to 3: the exact delta at Delta epsilon is at most {worst:.2f} of Delta delta",
    )


@row(
    "S6.19",
    "Binary sums tell all about integer sums",
    "the problem",
    "Whoever understands binary sums has what it takes to analyse sums of integers.",
    Verdict.CORRECTED,
    "In one respect: with one message each, the error of a sum of whole numbers of a *fixed range* "
    r"$0, \dots, D$ does not grow with the crowd, as that of bits does not. What bits do not show "
    r"is the range: shuffled response errs by up to $\sqrt{\mu D(D+1)(2D+1)/6}$ in a large crowd, "
    r"with $\mu = 42.66$ at $(1, 10^{-6})$, so that in parts of the range it grows like $\sqrt D$ "
    "where the central error does not grow. Reals have no fixed range of steps: there it is "
    "$n^{1/6}$, and no single-message protocol avoids that.",
    "survey-table",
    basis=proved(
        r"with a chance of a lie $c/n$ two levels have Poisson covers of mean $c/(D+1)$ as $n$ grows, so that the "
        r"least $c$ tends to $\mu(D+1)$, with $\mu$ the least mean for two cells; and $c$ liars add a variance of "
        r"$c(D(D+2)/12 + D^2/4)$ at most, which is the square above, whatever $n$. For reals, theorem 4.2 of 1903.02837"
    ),
    severity=Severity.ACCURACY,
)
def integers() -> Seen:
    crowds, ranges = (2_000, 128_000), (2, 4, 8)
    found = {
        top: [
            top * protocol("blanket-sum", Sum((0, top), steps=top), n=n, epsilon=1.0, delta=1e-6, levels=top).rmse()
            for n in crowds
        ]
        for top in ranges
    }
    mean = protocol("poisson-histogram", Histogram(10), n=10**6, epsilon=1.0, delta=1e-6).parameters["mean"]
    limits = [math.sqrt(mean * top * (top + 1) * (2 * top + 1) / 6) for top in ranges]
    reals = [rmse("blanket-sum", n) for n in crowds]
    parts = [found[top][1] / top for top in ranges]
    return corrected(
        max(parts) < 1.1 * min(parts),
        all(
            found[top][0] <= found[top][1] <= limit < 1.01 * found[top][1]
            for top, limit in zip(ranges, limits, strict=True)
        )
        and reals[1] > 1.8 * reals[0],
        "(1, 1e-6), one message, from 2,000 to 128,000 people: "
        + "; ".join(f"D = {top}: {few:.1f} to {many:.1f}" for top, (few, many) in found.items())
        + f", with limits {', '.join(f'{limit:.1f}' for limit in limits)} by mu = {mean:.2f}; reals in [0, 1]: "
        f"{reals[0]:.1f} to {reals[1]:.1f}",
    )
