"""The events E1 and E2, and whether the two algorithms are the same."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from headcount_survey.notes import BINARY
from headcount_survey.notes.binomial import GRID, interval
from headcount_survey.notes.laws import binomial, divergence
from headcount_survey.notes.sampling import EVENTS, cover, exactly, from_noise, left_out, poisson, threshold
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved, refuted
from headcount_survey.study import Verdict

row = Rows(BINARY)


@row(
    "S6.27",
    "The smaller event",
    "dependence on epsilon and delta, shuffle",
    r"$\tilde E_1$, the sum within $(1 \pm \alpha/2)np$, lies inside $E_1$, the sum within $[(1-\alpha)np + 1, "
    r"(1+\alpha)np - 1]$; so $E_1$ is at least as likely. (If $\alpha np \ge 2$.)",
    more="good-events",
    basis=proved("S1.5 with $k = 1$"),
)
def smaller() -> Seen:
    cases = [(n, g, a) for n, g, a in GRID if a * n * g >= 2]
    gaps = []
    for n, g, a in cases:
        y, (low, high) = np.arange(n + 1), interval(n, g, a, 1)
        inner = (y >= (1 - a / 2) * n * g) & (y <= (1 + a / 2) * n * g)
        outer = (y >= low - 1e-9) & (y <= high + 1e-9)
        gaps.append(bool((inner <= outer).all()))
    return holds(all(gaps), f"{sum(gaps)} of {len(gaps)} binomial laws")


@row(
    "S6.22",
    "The expected sample",
    EVENTS,
    r"If $k$ people hold a one and each is sampled with chance $p_2$, the sample has $kp_2 = km/n$ ones on average.",
    basis=proved("linearity of the expectation"),
)
def expected() -> Seen:
    off = max(abs(float((binomial(k, p) * np.arange(k + 1)).sum()) - k * p) for k in (1, 10, 300) for p in (0.01, 0.3))
    return holds(off < 1e-9, f"6 laws, to {off:.0e}")


@row(
    "S6.7",
    "Lemma 1",
    EVENTS,
    r"The number of samples of an item exceeds $\tau$ times its expectation with a chance of at most $\delta$, "
    r"where $\tau = 3 + \ln(1/\delta)$.",
    Verdict.CORRECTED,
    r"$P[X \ge \tau\max(1, E X)] \le \delta$: for expectations below 1 a single sample already exceeds $\tau E X$. "
    r"(The draft's proof has the two cases.)",
    basis=proved(
        r"Chernoff's $e^{-\mu}(e\mu/a)^a$ at $a = \tau\max(1, \mu)$ is largest at $\mu = 1$, where it is at "
        r"most $\delta$ as $\tau\ln\tau - 2\tau + 4 > 0$"
    ),
    severity=Severity.PROOF,
)
def lemma() -> Seen:
    tau = threshold(1e-6)
    once = float(binomial(1, 0.01)[1])
    cases = list(product((1, 10, 100, 2000), (0.001, 0.01, 0.1, 0.5), (0.5, 0.05, 1e-3, 1e-6)))
    worst = max(float(binomial(k, p)[math.ceil(threshold(d) * max(1.0, k * p)) :].sum()) / d for k, p, d in cases)
    return corrected(
        once <= 1e-6,
        worst <= 1.0,
        f"one holder, p = 0.01, tau = {tau:.1f}: one sample exceeds {tau * 0.01:.2f} with chance {once:.2g}, not "
        f"1e-6; the two cases together hold in all {len(cases)}, at most at {worst:.2f} of delta",
    )


@row(
    "S6.8",
    "From one event to the other",
    EVENTS,
    r"$\sum z_ix_i = n - \sum\overline{z_ix_i} = n - (2n - \sum x_i - \sum z_i)$; hence $E_2$ is $\sum z_i \le "
    r"\tau\frac kn np_1 + (n-k)$, a one-sided version of $E_1$.",
    Verdict.FALSE,
    r"The complement of a product is $1 - zx = (1-z) + (1-x) - (1-z)(1-x)$, so $\sum z_ix_i = \sum x_i + \sum z_i - "
    r"n + \sum(1-x_i)(1-z_i)$. The last sum was lost, and with it all that follows; $E_2$ is about the coins of the "
    r"$k$ people who hold a one. (Also, $p_1$ stands where $p_2$ is meant.)",
    "flipping-or-sampling",
    basis=proved("expand $(1-z)(1-x)$"),
    severity=Severity.PROOF,
)
def complement() -> Seen:
    cases = [(x, z) for x in product((0, 1), repeat=3) for z in product((0, 1), repeat=3)]
    inner = [sum(a * b for a, b in zip(x, z, strict=True)) for x, z in cases]
    noted = [3 - (6 - sum(x) - sum(z)) for x, z in cases]
    ought = [sum(x) + sum(z) - 3 + sum((1 - a) * (1 - b) for a, b in zip(x, z, strict=True)) for x, z in cases]
    wrong = sum(a != b for a, b in zip(inner, noted, strict=True))
    return refuted(
        wrong == 0,
        inner == ought,
        f"3 people: wrong in {wrong} of {len(cases)} cases, {wrong / len(cases):.0%}; nobody holds a one and nobody "
        f"is sampled: 0, not -3",
    )


@row(
    "S6.21",
    "One side or two",
    EVENTS + ", intuition",
    "That one event is one-sided and the other two-sided is no great matter: it changes the constant in a logarithm.",
    Verdict.FALSE,
    r"For sampling the loss $\ln\frac{(k+1)(1-p)}{k+1-v}$ *grows* with the sampled count $v$, so only the upper "
    r"tail can hurt; the other way round it is at most $\ln\frac1{1-p}$, always. And no lower event of probability "
    r"$1-\delta$ exists for small counts, as $P[X = 0] = (1-p)^k$.",
    "good-events",
    basis=proved("Q9"),
    severity=Severity.PROOF,
)
def sides() -> Seen:
    p, k = 0.3, 20
    loss = ratios_of_one_more(k, p)
    least, none = float(np.log(loss).min()), (1 - p) ** k
    return refuted(
        bool((np.diff(loss) < 0).any()) or none <= 1e-6,
        bool((np.diff(loss) > 0).all()) and least >= math.log(1 - p) - 1e-12 and none > 1e-6,
        f"20 holders or 21, p = 0.3: the ratio rises from {loss[0]:.2f} to {loss[-1]:.1f} with the sample; below, "
        f"it costs at most ln 1/(1-p) = {-least:.3f}. An empty sample has chance {none:.1e}, above delta = 1e-6",
    )


def ratios_of_one_more(k: int, p: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """P[Bin(k + 1, p) = v] / P[Bin(k, p) = v] for v = 0 .. k."""
    return np.asarray(binomial(k + 1, p)[:-1] / binomial(k, p))


@row(
    "S6.9",
    "Both algorithms are equivalent",
    "dependence on epsilon and delta",
    "The two algorithms have been shown to be equivalent.",
    Verdict.CORRECTED,
    "Nothing above shows it, and at no fixed threshold are they: nobody's ones are a noisy 0 in "
    "the one and 0 for certain in the other, whose noise grows with the count and which is private "
    r"only with its threshold. But they are *asymptotically, above the threshold*: as $\tau$ grows "
    "and of $k$ holders the fewest are left out that the budget allows, their number tends, for "
    r"$k/\tau \to 1$, to the very Poisson law to which the additive noise tends as $n$ grows. "
    "Below the threshold they differ at any size.",
    "sampling-as-noise",
    basis=proved("Q7"),
    severity=Severity.PRIVACY,
)
def both() -> Seen:
    added, p = binomial(400, 0.1), 0.302
    nobody = 1.0 - float(added.max())
    bare = divergence(np.array([1.0, 0.0]), np.array([1 - p, p]), 1.0)
    kept = exactly(p, 17, 1.0)
    thresholds = (17, 300, 4_920)
    missing, apart = [left_out(tau)[0] for tau in thresholds], [from_noise(tau) for tau in thresholds]
    noise = math.sqrt(cover())
    added_apart = divergence(binomial(10_000, cover() / 10_000), poisson(cover(), 10_001), 0.0)
    return corrected(
        nobody == 0.0 or apart[0] < 0.01,
        nobody > 0.9
        and bare > 0.3
        and kept < 1.1e-6
        and abs(missing[2] - cover()) < 0.02
        and apart[0] > apart[1] > apart[2]
        and apart[2] < 0.01 > added_apart,
        f"nobody holds a one: the noisy count varies, the sample is 0 for certain; sampling at {p} "
        f"has delta {bare:.3f} without the threshold of 17 and {kept:.1e} with it. At (1, 1e-6) "
        f"thresholds 17, 300 and 4,920 leave out {missing[0]:.1f}, {missing[1]:.2f} and "
        f"{missing[2]:.2f} people where Poisson noise has mean {cover():.2f} (error {noise:.2f}), "
        f"at a total variation of {apart[0]:.2f}, {apart[1]:.3f} and {apart[2]:.4f} from it; "
        f"binomial noise among 10,000 people {added_apart:.4f}",
    )
