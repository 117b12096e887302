"""Slips in papers on counts, sums and histograms under a shuffler."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from headcount.planner.planning import protocol
from headcount.privacy import laws as big
from headcount.privacy.pair import Pair
from headcount.privacy.zero_sum_sets import ZeroSumSets
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, certified, corrected, proved
from headcount_survey.study import Verdict

HISTOGRAMS = "Balcer and Cheu, Separating local and shuffled differential privacy via histograms (1911.06879)"
SHUFFLING = "Cheu, Smith, Ullman, Zeber and Zhilyaev, Distributed differential privacy via shuffling (1808.01394)"
COUNTING = "Ghazi, Kumar, Manurangsi and Pagh, Private counting from anonymous messages (2106.04247)"
ALMOST = "Ghazi, Kumar, Manurangsi, Pagh and Sinha, Almost central accuracy in almost a single message (2109.13158)"
FIX = Verdict.CORRECTED

row = Rows(HISTOGRAMS)


@row(
    "P3",
    "When the lower bound's delta is small enough",
    "claim 3.4",
    r"The claim assumes $\delta < (1/200h)^{1/25}$; its proof writes $>$ at that place.",
    FIX,
    r"$\le$ is what is needed and enough: $h\delta^{25} \le 1/200$.",
    basis=proved(r"solve $h\delta^{25} \le 1/200$ for $\delta$"),
    severity=Severity.WORDING,
)
def small_delta() -> Seen:
    edge = {h: (1 / (200 * h)) ** (1 / 25) for h in (1, 10, 1000)}
    above = [h * (1.01 * d) ** 25 <= 1 / 200 for h, d in edge.items()]
    upto = [h * (f * d) ** 25 <= 1 / 200 * (1 + 1e-9) for h, d in edge.items() for f in (0.5, 0.99, 1.0)]
    return corrected(
        all(above),
        all(upto),
        "h = 1, 10, 1,000: the condition holds up to delta = "
        + ", ".join(f"{d:.3f}" for d in edge.values())
        + " and fails one percent above",
    )


row.note = SHUFFLING


@row(
    "P4.1",
    "Sums of reals for any crowd",
    "corollary C.3",
    r"For $\delta$ between $8e^{-0.03n^{1/4}}$ and $1/n$ the error of a sum of reals is "
    r"$O(\frac1\epsilon\ln\frac1\delta\sqrt{\ln\frac1\beta})$.",
    FIX,
    r"There is no such $\delta$ unless $n$ exceeds $9.6\cdot10^{11}$. Exact accounting of the same protocol serves "
    r"crowds of a thousand.",
    basis=proved(r"$0.03n^{1/4} - \ln(8n)$ falls and then rises, so that it is positive from its one root above on"),
    severity=Severity.ACCURACY,
)
def empty_range() -> Seen:
    def room(n: float) -> float:
        return -math.log(n) - math.log(8) + 0.03 * math.sqrt(math.sqrt(n))

    low, high = 1e3, 1e15
    while high / low > 1.0001:
        low, high = (low, math.sqrt(low * high)) if room(math.sqrt(low * high)) > 0 else (math.sqrt(low * high), high)
    return corrected(
        room(8e9) > 0,
        9e11 < high < 1e12,
        f"the range opens at n = {high:.2e}; for all people on earth the lower end is e^{-room(8e9):.0f} times the "
        f"upper",
    )


@row(
    "P4.2",
    "The delta of each of r bits",
    "corollary C.3, chain of inequalities",
    r"$\ln(8r/\delta_0)$ is written where each bit is run at $\delta_0 = \delta/2r$.",
    FIX,
    r"$\ln(4/\delta_0) = \ln(8r/\delta)$.",
    basis=proved(r"put $\delta_0 = \delta/2r$ in"),
    severity=Severity.WORDING,
)
def each_bit() -> Seen:
    r, delta = 50, 1e-6
    each = delta / (2 * r)
    printed, ought, needed = math.log(8 * r / each), math.log(8 * r / delta), math.log(4 / each)
    return corrected(
        abs(printed - needed) < 1e-9,
        abs(ought - needed) < 1e-9,
        f"r = 50, delta = 1e-6: {needed:.2f}, as printed {printed:.2f}",
    )


row.note = COUNTING


@row(
    "P5.1",
    "Two sets of constants",
    "appendix C, against theorem 13",
    r"The histograms' appendix draws $NB(r, p)$ with $p = e^{-0.1\epsilon/\Delta}$ and $r = "
    r"50e^{\epsilon/\Delta}\ln(1/\delta)$.",
    FIX,
    r"Those are an earlier version's: private, but with some fifty times or more the messages of theorem 13's $p = "
    r"e^{-0.2\epsilon/\Delta}$ and $r = 3(1 + \ln(1/\delta))$.",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def constants() -> Seen:
    e, d = 0.5, 1e-4
    old, new = (50 * math.exp(e) * math.log(1 / d), math.exp(-0.1 * e)), (3 * (1 + math.log(1 / d)), math.exp(-0.2 * e))
    means = [r * p / (1 - p) for r, p in (old, new)]
    exact = [Pair.shifted(big.negative_binomial(r, p)).delta(e) for r, p in (old, new)]
    return corrected(
        means[0] < 2 * means[1],
        means[0] > 30 * means[1] and max(exact) <= d,
        f"(0.5, 1e-4): {means[0]:,.0f} messages in all, by theorem 13 {means[1]:,.0f}; the exact deltas are "
        f"below {max(exact[0], 1e-30):.0e} and {exact[1]:.0e}",
    )


@row(
    "P5.2",
    "Sampling the logarithmic law",
    "lemma 31",
    r"The loop does not begin with 1.",
    FIX,
    r"It must begin with $k = 1$, the likeliest value: $P[k] = -p^k/(k\ln(1-p))$ for $k \ge 1$.",
    basis=proved("the masses add up to 1 from $k = 1$ on"),
    severity=Severity.PRIVACY,
)
def logarithmic() -> Seen:
    p = 0.8
    first = -p / math.log(1 - p)
    whole = sum(-(p**k) / (k * math.log(1 - p)) for k in range(1, 400))
    return corrected(
        whole - first > 0.99,
        abs(whole - 1) < 1e-12,
        f"p = 0.8: the value 1 has chance {first:.3f}, all others together {whole - first:.3f}",
    )


@row(
    "P5.3",
    "Pairs that cancel, counted once",
    "appendix B.5",
    r"The expected number of messages has $E[D^3]$ once.",
    FIX,
    r"Twice: each draw of $D^3$ sends a $+1$ and a $-1$. (The same passage has $(1-\gamma)\epsilon_1$ for "
    r"$(1-\gamma)\epsilon$ and $D^3$ for $D^2$ in a tail.)",
    basis=proved("linearity of the expectation"),
    severity=Severity.ACCURACY,
)
def pairs() -> Seen:
    z1, z2, z3 = Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)  # chances that each of the three draws is 1
    mean = Fraction(0)
    for a, b, c in itertools.product((0, 1), repeat=3):
        chance = (z1 if a else 1 - z1) * (z2 if b else 1 - z2) * (z3 if c else 1 - z3)
        mean += chance * ((1 + a + c) + (b + c))
    return corrected(
        mean == 1 + z1 + z2 + z3,
        mean == 1 + z1 + z2 + 2 * z3,
        f"draws of 0 or 1 with means 1/10, 1/5, 1/2: {float(mean)} messages, not {float(1 + z1 + z2 + z3)}",
    )


@row(
    "P5.4",
    "Extra messages of Poisson noise",
    "section 5.1",
    r"About 0.0003 extra messages a user at $\epsilon = 1$, $\delta = 10^{-6}$, $n = 10^4$.",
    FIX,
    r"0.0034: the smallest Poisson mean for that budget is 34.07.",
    basis=INSTANCE,
    severity=Severity.ACCURACY,
)
def poisson() -> Seen:
    found = protocol("poisson-count", n=10_000, epsilon=1.0, delta=1e-6).parameters["mean"]
    return corrected(
        found / 1e4 < 0.00035, 0.0033 < found / 1e4 < 0.0035, f"lambda = {found:.2f}, {found / 1e4:.4f} a user"
    )


row.note = ALMOST


@row(
    "P9",
    "Which logarithm",
    "weights of the zero-sum atoms, proof of theorem 2",
    r"$\Gamma = \Delta(\lceil\log\Delta\rceil + 1)$, which public code reads as the natural logarithm.",
    FIX,
    r"To the base 2. With the natural one the weights no longer dominate, from $\Delta = 6$ on, and what is drawn "
    r"is less noise than the proof needs.",
    basis=certified(r"$\Delta$ from 2 to 64"),
    severity=Severity.PRIVACY,
)
def which_logarithm() -> Seen:
    def load(top: int, log: float) -> float:
        atoms, gamma = ZeroSumSets(top), top * (math.ceil(log) + 1)
        return float(
            atoms.loads(
                np.array([gamma if abs(i) == 1 else math.ceil(gamma / abs(i)) for i in atoms.names], dtype=float)
            ).max()
        )

    tops = range(2, 65)
    natural, two = ([load(top, log(top)) for top in tops] for log in (math.log, math.log2))
    broken = [top for top, found in zip(tops, natural, strict=True) if found > 1 + 1e-9]
    return corrected(
        not broken,
        max(two) <= 1 + 1e-9,
        f"Delta from 2 to 64: the load is up to {max(natural):.2f} with ln, above 1 in {len(broken)} cases from "
        f"{broken[0]} on; with log2 never more than {max(two):.2f}",
    )
