"""Which algorithm to use: sample and threshold."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise, product

import numpy as np

from headcount.planner.planning import protocol
from headcount.privacy import laws
from headcount.privacy.budget import Budget
from headcount.privacy.laws import binomial_above
from headcount.privacy.sampled_counts import SampledCount
from headcount.programme.law import Floats
from headcount_survey.notes import BINARY
from headcount_survey.notes.laws import binomial, divergence
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.studies.sampling_rate import best_for
from headcount_survey.studies.sampling_rate import exactly as rate_of
from headcount_survey.study import Verdict

row = Rows(BINARY)
PLACE, EVENTS = "sample and threshold", "dependence on epsilon and delta, sample-threshold"
MANY = 1_000_000


def threshold(delta: float) -> float:
    """The draft's."""
    return 3.0 + math.log(1.0 / delta)


def exactly(rate: float, tau: int, epsilon: float) -> float:
    """The exact delta of one count, for the worst number of holders."""
    return SampledCount(rate, tau, MANY).delta(epsilon)


def error(rate: float, tau: int, ones: int) -> float:
    """The root mean squared error, a count below the threshold being printed as 0."""
    return protocol("sample-threshold", n=MANY, rate=rate, threshold=tau).rmse(ones)


def largest_rate(tau: int) -> float:
    """At (1, 1e-6), for any number of people."""
    return rate_of(1.0, 1e-6, tau)


def left_out(tau: int) -> tuple[float, Floats]:
    """How many are not sampled of a crowd whose sample is the threshold on average, at the largest
    rate; and the " "law."""
    p = largest_rate(tau)
    return tau * (1 - p) / p, binomial(round(tau / p), 1 - p)


def poisson(mean: float, size: int) -> Floats:
    """P[Poisson = 0 .. size - 1]."""
    law, masses = laws.poisson(mean), np.zeros(size)
    inside = law.masses[: max(0, size - law.start)]
    masses[law.start : law.start + inside.size] = inside
    return masses


@cache
def cover() -> float:
    """The smallest mean of Poisson noise at (1, 1e-6)."""
    return float(protocol("poisson-count", n=MANY, epsilon=1.0, delta=1e-6).parameters["mean"])


def from_noise(tau: int) -> float:
    """How far the law of those who are left out is from that of the noise, in total variation."""
    law = left_out(tau)[1]
    return divergence(law, poisson(cover(), law.size), 0.0)


@row(
    "S6.20",
    "Analysed where the analyser stands",
    "the problem",
    "Although users add noise, sample and threshold by themselves or through a shuffler, it is enough to analyse "
    "what the analyser sees.",
    basis=proved(
        r"the sample of $k$ holders is $\mathrm{Bin}(k, p)$ whoever draws it, and the answer is made of it "
        "alone"
    ),
)
def where() -> Seen:
    p, off = 0.3, 0.0
    for x in product((0, 1), repeat=5):
        law = np.zeros(6)
        for z in product((0, 1), repeat=5):
            seen = sum(a * b for a, b in zip(x, z, strict=True))
            law[seen if seen >= 2 else 0] += p ** sum(z) * (1 - p) ** (5 - sum(z))
        ought = np.zeros(6)
        ought[: sum(x) + 1] = binomial(sum(x), p)
        ought[0], ought[1] = ought[0] + ought[1], 0.0
        off = max(off, float(np.abs(law - ought).max()))
    return holds(
        off < 1e-12,
        f"32 crowds of 5, sampled at 0.3, threshold 2: person by person the law is that of a thresholded Bin(k, "
        f"0.3), to {off:.0e}",
    )


@row(
    "S6.5",
    "The condition on the sample",
    PLACE,
    r"To ensure privacy, $\tau \ge 3 + \ln(1/\delta)$ and $m \le \epsilon n/\tau$, with the coin's $p = m/n$.",
    Verdict.CORRECTED,
    r"The draft's proof bounds the ratio by $\frac1{1-\tau m/n}$, so it needs $m \le (1-e^{-\epsilon})n/\tau$; at "
    r"$m = \epsilon n/\tau$ it proves $\frac1{1-\epsilon} > e^\epsilon$ only, and nothing at $\epsilon = 1$. "
    r"Computed exactly, either is safe.",
    "sampling-rate",
    basis=proved(
        r"$\frac{1}{1-x} \le e^\epsilon$ says $x \le 1-e^{-\epsilon}$; that either rate is safe is an instance"
    ),
    severity=Severity.PROOF,
)
def condition() -> Seen:
    proved = {e: 1 / (1 - e) <= math.exp(e) for e in (0.1, 0.5, 0.9)}
    mended = all(abs(1 / (1 + math.expm1(-e)) - math.exp(e)) < 1e-12 for e in (0.1, 0.5, 0.9, 1.0))
    tau = math.ceil(threshold(1e-6))
    exact = exactly(1.0 / tau, tau, 1.0)
    return corrected(
        all(proved.values()),
        mended and exact <= 1e-6,
        f"epsilon = 0.5: the proof gives {1 / 0.5:.2f} where e^0.5 = {math.exp(0.5):.2f}; exactly, p = 1/{tau} has "
        f"delta {exact:.0e} at (1, 1e-6)",
    )


@row(
    "S6.12",
    "More samples: less privacy, more accuracy",
    PLACE,
    r"A larger sample $m$ costs privacy and gains accuracy.",
    more="sampling-rate",
    basis=proved(
        "a smaller sample can be drawn from what a larger one shows; above the threshold the variance is $k(1-p)/p$"
    ),
)
def bigger() -> Seen:
    rates = (0.05, 0.1, 0.2, 0.3, 0.5)
    deltas, errors = [exactly(p, 17, 1.0) for p in rates], [error(p, 17, 2000) for p in rates]
    rising = all(a < b for a, b in pairwise(deltas))
    falling = all(a > b for a, b in pairwise(errors))
    return holds(
        rising and falling,
        f"threshold 17, p from 0.05 to 0.5: delta from {deltas[0]:.0e} to {deltas[-1]:.0e}, the error of 2,000 from "
        f"{errors[0]:.0f} to {errors[-1]:.0f}",
    )


@row(
    "S6.13",
    "The most accurate choice",
    PLACE,
    r"Given $(\epsilon, \delta)$, the best for accuracy is $m = \epsilon n/\tau$ with the smallest $\tau = 3 + "
    r"\ln(1/\delta)$.",
    Verdict.CORRECTED,
    r"The smallest threshold is the best only at the draft's rates $\epsilon/\tau$, which fall as "
    "it rises. Exactly, many times as many people may be sampled, and the rate *grows* with the "
    "threshold: for counts above them *larger* thresholds are more accurate, at the price that "
    "everything below is lost. The best lies a little below the count, which would have to be "
    "known beforehand.",
    "sampling-as-noise",
    basis=proved(
        r"what passes $\tau+1$ can be made from what passes $\tau$, so that the largest rate grows "
        r"with $\tau$; and the variance of what passes, $k(1-p)/p$, falls as the rate grows"
    ),
    severity=Severity.ACCURACY,
)
def most_accurate() -> Seen:
    tau = math.ceil(threshold(1e-6))
    exact, noted, best = largest_rate(tau), 1.0 / tau, best_for(2000, 10_000, Budget(1.0, 1e-6))
    errors = [error(noted, tau, 2000), error(exact, tau, 2000), best.rmse(2000)]
    rates = [largest_rate(t) for t in (tau, 30, 100, 300, 1000, best.threshold)]
    return corrected(
        errors[0] <= min(errors),
        errors[0] > errors[1] > errors[2] and all(a < b for a, b in pairwise(rates)),
        f"(1, 1e-6), 2,000 of 10,000 people hold a one: threshold {tau} errs by {errors[0]:.0f} at p = {noted:.3f} as "
        f"noted and by {errors[1]:.0f} at {exact:.3f}; threshold {best.threshold:,} by {errors[2]:.2f} at "
        f"{float(best.rate):.3f}",
    )


@row(
    "S6.14",
    "Extreme privacy, tiny samples",
    PLACE + ", figure of p against the budget",
    r"A very small $\epsilon$ leaves a sample of less than one person in a hundred.",
    more="sampling-rate",
    basis=proved(r"solve $\epsilon/\tau < 1/100$"),
)
def tiny() -> Seen:
    from_here = {d: threshold(d) / 100 for d in (0.05, 1e-3, 1e-6)}
    return holds(
        all(e > 0.05 for e in from_here.values()),
        "p = epsilon/tau is below 1% for epsilon under "
        + ", ".join(f"{e:.3f} (delta {d:g})" for d, e in from_here.items()),
    )


@row(
    "S6.6",
    "Never more than 8%",
    PLACE + ", figure of p against the budget",
    r"Whatever the budget, the sample stays within 8% of the people.",
    Verdict.CORRECTED,
    r"By the rule $p = \epsilon/(3 + \ln(1/\delta))$ is 16.7% at $(1, 0.05)$; the 8% belongs to $\epsilon = 0.5$. "
    r"Always it is below $\epsilon/3$. Exactly, 30% may be sampled at $(1, 10^{-6})$ already.",
    "sampling-rate",
    basis=proved(r"$\ln(1/\delta) > 0$, so that $p < \epsilon/3$; the exact rate is an instance"),
    severity=Severity.ACCURACY,
)
def eight() -> Seen:
    grid = [(e, d) for e in (0.1, 0.5, 1.0) for d in (0.05, 1e-3, 1e-6)]
    rule = {budget: budget[0] / threshold(budget[1]) for budget in grid}
    exact = largest_rate(17)
    return corrected(
        max(rule.values()) <= 0.08,
        all(p < e / 3 for (e, _), p in rule.items()) and abs(exact - 0.30) < 0.01,
        f"{rule[1.0, 0.05]:.1%} at (1, 0.05), {rule[0.5, 0.05]:.1%} at (0.5, 0.05), {rule[1.0, 1e-6]:.1%} at (1, "
        f"1e-6), where {exact:.1%} is private at tau = 17",
    )


@row(
    "S6.16",
    "The rate does not depend on the crowd",
    PLACE,
    r"$p = m/n = \epsilon/\tau$ does not depend on $n$.",
    basis=proved(r"neither $\epsilon/\tau$ nor the law of a sample of $k$ holders has $n$ in it"),
)
def rate() -> Seen:
    rates = {n: 1.0 * n / 17 / n for n in (100, 10_000, 10**9)}
    exact = [SampledCount(0.3, 17, n).delta(1.0) for n in (200, 10_000, 10**6)]
    return holds(
        max(rates.values()) - min(rates.values()) < 1e-15 and max(exact) - min(exact) < 1e-15,
        f"nor does the exact delta: {exact[0]:.2e} at p = 0.3, tau = 17 for 200 people or a million",
    )


@row(
    "S6.24",
    "Too sparse for the threshold",
    PLACE,
    r"Data with $k \le \tau$ ones are beyond the reach of the algorithm.",
    more="too-sparse",
    basis=proved(r"$P[\mathrm{Bin}(k, p) \ge \tau] \le p^\tau$ for $k \le \tau$"),
)
def no_hope() -> Seen:
    tau, rates = 17, (1 / 17, 0.302)
    passed = [float(binomial_above(tau - 1, tau, p)) for p in rates]
    half = [next(k for k in range(tau, 5000) if float(binomial_above(tau - 1, k, p)) >= 0.5) for p in rates]
    return holds(
        max(passed) < 1e-8,
        f"17 holders pass a threshold of 17 with chance {passed[0]:.0e} at the draft's rate, {passed[1]:.0e} at the "
        f"largest; for an even chance it takes {half[0]} and {half[1]}",
    )


@row(
    "S6.10",
    "However few people there are",
    PLACE,
    r"Small crowds are no obstacle to good estimates if only enough of the people hold a one.",
    Verdict.CORRECTED,
    r"True of *privacy*: $p$ and $\tau$ do not know $n$. The relative error is $\sqrt{(1-p)/(pk)}$, and $k \le n$ "
    r"must exceed $\tau/p$ to be seen at all, which makes a smallest crowd after all.",
    "too-sparse",
    basis=proved("the sample's variance is $kp(1-p)$, and $p^2$ divides it"),
    severity=Severity.ACCURACY,
)
def however_few() -> Seen:
    tau = 17
    p = -math.expm1(-1.0) / tau  # the draft's
    seen = next(k for k in range(tau, 5000) if float(binomial_above(tau - 1, k, p)) >= 0.5)
    relative = {k: math.sqrt((1 - p) / (p * k)) for k in (1000, 100_000)}
    return corrected(
        float(binomial_above(tau - 1, 100, p)) > 0.5,
        seen > 400 and relative[1000] > 0.1 > relative[100_000],
        f"(1, 1e-6) by the draft: fewer than {seen} people are mostly printed as 0 even if all hold a one; 1,000 "
        f"ones are off by {relative[1000]:.0%}, 100,000 by {relative[100_000]:.1%}",
    )
