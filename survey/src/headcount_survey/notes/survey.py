"""The survey of mean estimation: its table, and the central model."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np

from headcount.planner.planning import protocol
from headcount.privacy.share_distance import published_shares
from headcount.programme.law import Floats
from headcount.questions.sum_and_mean import Sum
from headcount_survey.notes import SURVEY
from headcount_survey.notes.laws import binomial, divergence
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, corrected, holds, proved, refuted
from headcount_survey.study import Verdict

row = Rows(SURVEY)
REALS = frozenset({"blanket-sum", "recursive-sum", "split-and-mix", "laplace"})
CENTRAL, TABLE = "central privacy, for integers", "table of bounds"


@cache
def rmse(name: str, n: int, delta: float = 1e-6) -> float:
    """The error of a count or sum in a crowd, calibrated exactly to epsilon = 1, in people."""
    task = Sum((0, 1)) if name in REALS else None
    return protocol(name, task, n=n, epsilon=1.0, delta=delta).rmse()


def response(n: int, epsilon: float) -> float:
    """The standard deviation of a count by randomised response."""
    return math.sqrt(n * math.exp(epsilon)) / math.expm1(epsilon)


@row(
    "S4.14",
    "The problem and the three models",
    "problem statement",
    "People hold bounded reals, bounded integers or bits, whose sum or mean is wanted; privacy is central, local, "
    "or between the two, shuffled; each has a definition of its own.",
    basis=INSTANCE,
)
def models() -> Seen:
    flip, people = 0.25, 3
    one = divergence(np.array([1 - flip, flip]), np.array([flip, 1 - flip]), 0.5)
    keep = [np.convolve(binomial(k, 1 - flip), binomial(people - k, flip)) for k in range(people + 1)]
    mixed = max(divergence(a, b, 0.5) for a, b in itertools.pairwise(keep))
    return holds(
        0.0 < mixed < one < 1.0,
        "three people answer, lying with chance 1/4, epsilon = 0.5: seen one by one delta is "
        f"{one:.3f}, shuffled {mixed:.3f}, and their true sum in clear 1: the same definition of a "
        "different view",
    )


@row(
    "S4.1",
    "Two scales in one table",
    TABLE,
    r"Upper bounds: $O(1/\epsilon)$ in the central model, $O(1/\sqrt n)$ in the local one.",
    Verdict.CORRECTED,
    r"The first is the error of a *sum*, the second that of a *mean*. For sums $O(1/\epsilon)$ and $\Theta(\sqrt "
    r"n/\epsilon)$; for means both divided by $n$.",
    "survey-table",
    basis=proved("a sum's error is $n$ times its mean's"),
    severity=Severity.ACCURACY,
)
def scales() -> Seen:
    crowds = (100, 10_000, 1_000_000)
    central, local = rmse("geometric", 100, 0.0), [response(n, 1.0) for n in crowds]
    as_means = [value / n * math.sqrt(n) for value, n in zip(local, crowds, strict=True)]
    return corrected(
        local[-1] < central,
        max(as_means) - min(as_means) < 1e-9 and local[-1] > 100 * central,
        f"epsilon = 1, sums: central {central:.2f} for any n, local {local[0]:.1f}, {local[1]:.0f}, {local[2]:.0f} "
        f"for 100, 10^4, 10^6 people; the local mean is off by {as_means[0]:.2f}/sqrt n",
    )


@row(
    "S4.12",
    "The central row",
    TABLE,
    r"Central: error $O(1/\epsilon)$ with one message each.",
    basis=proved(r"the variance is $\frac{1}{2\sinh^2(\epsilon/2)} \le \frac{2}{\epsilon^2}$"),
)
def central_row() -> Seen:
    found = [math.sqrt(2 * math.exp(-e)) / -math.expm1(-e) * e for e in (0.01, 0.1, 0.5, 1.0)]
    return holds(
        max(found) <= math.sqrt(2),
        f"two-sided geometric noise: sd times epsilon is {min(found):.3f} to {max(found):.3f} for epsilon up to 1, "
        f"whatever n is",
    )


@row(
    "S4.13",
    "The local row",
    TABLE,
    r"Local: error $O(1/\sqrt n)$ with one message each.",
    Verdict.CORRECTED,
    r"$\Theta(1/(\epsilon\sqrt n))$ for the mean when $\epsilon \le 1$: the constant hides the $\epsilon$ that the "
    r"other rows show.",
    basis=proved(r"the standard deviation is $\frac{1}{2\sinh(\epsilon/2)\sqrt n}$, and S4.17 from below"),
    severity=Severity.ACCURACY,
)
def local_row() -> Seen:
    flat = [response(10_000, e) / 100.0 for e in (0.01, 0.1, 1.0)]
    scaled = [value * e for value, e in zip(flat, (0.01, 0.1, 1.0), strict=True)]
    return corrected(
        max(flat) < 2.0,
        0.9 < min(scaled) <= max(scaled) < 1.01,
        f"sd of the mean times sqrt n: {flat[0]:.0f}, {flat[1]:.1f}, {flat[2]:.2f} for epsilon 0.01, 0.1, 1; times "
        f"epsilon as well {min(scaled):.2f} to {max(scaled):.2f}",
    )


@row(
    "S4.2",
    "The privacy blanket's row",
    TABLE,
    r"Privacy blanket: error $O(1/\epsilon)$ with $O(\log(n/\delta))$ messages.",
    Verdict.CORRECTED,
    r"Those are the bounds of the same authors' *multi-message* protocols. The blanket is a single-message protocol "
    r"whose squared error is $\Theta(n^{1/3})$: error $n^{1/6}$.",
    "survey-table",
    basis=proved("both sides in section 4 of the blanket's paper (1903.02837)"),
    severity=Severity.ACCURACY,
)
def blanket_row() -> Seen:
    crowds = (1_000, 64_000)
    blanket, mixed = ([rmse(name, n) for n in crowds] for name in ("blanket-sum", "split-and-mix"))
    shares = [published_shares(n, 1 << 32, 2.0**-40) for n in crowds]
    growth = math.log(blanket[1] / blanket[0]) / math.log(64)
    return corrected(
        growth < 0.01,
        0.13 < growth < 0.20 and abs(mixed[0] - mixed[1]) < 0.02,
        f"(1, 1e-6), 1,000 and 64,000 people: blanket {blanket[0]:.1f} and {blanket[1]:.1f}, like n^{growth:.2f}; "
        f"split and mix {mixed[0]:.2f} and {mixed[1]:.2f} with {shares[0]} and {shares[1]} messages",
    )


@row(
    "S4.3",
    "The vanishing row",
    TABLE,
    r"Binary sums, Ghazi et al.: error $O(1/\epsilon)$ with $O(\log^2(1/\delta)/n)$ messages.",
    Verdict.CORRECTED,
    r"$1 + O(\ln^2(1/\delta)/(\gamma\epsilon^2 n))$ messages of one bit on average: it is what comes on top of one "
    r"that vanishes. The error is that of the central mechanism at $(1-\gamma)\epsilon$; the later paper needs $1 + "
    r"O(\ln(1/\delta)/(\gamma\epsilon n))$. The figures here are achieved; that fewer messages would not do is not "
    r"claimed.",
    "messages",
    basis=proved("in the papers (2106.04247, 2109.13158); the figures are instances, each accounted for exactly"),
    severity=Severity.ACCURACY,
)
def vanishing_row() -> Seen:
    crowds = (1_000, 10_000, 100_000)
    found = [protocol("correlated-count", n=n, epsilon=1.0, delta=1e-6, overhead=0.2) for n in crowds]
    sent = [one.messages_per_person for one in found]
    extra, (fewest, shape) = [(m - 1.0) * n for m, n in zip(sent, crowds, strict=True)], fewest_extra(0.2)
    return corrected(
        sent[-1] < 1.0,
        max(extra) < 1.01 * min(extra) and sent[-1] < 1.01 and fewest < min(extra),
        f"(1, 1e-6), error 1.2 times central: {sent[0]:.3f}, {sent[1]:.4f}, {sent[2]:.5f} messages each for 10^3, "
        f"10^4, 10^5 people, {min(extra):.0f} in all beyond one each with a flood of shape "
        f"{found[0].parameters['shape']:.0f}, and {fewest:.0f} with the best, {shape}",
    )


@cache
def fewest_extra(overhead: float) -> tuple[float, int]:
    """The fewest messages beyond one each, over shapes of a negative binomial flood; the shape."""
    n, budget = 10_000, dict[str, Any](epsilon=1.0, delta=1e-6)
    inner = protocol("correlated-count", n=n, overhead=overhead, **budget).parameters["inner"]
    tried = {
        shape: n * (protocol("correlated-count", n=n, inner=inner, shape=shape, **budget).messages_per_person - 1.0)
        for shape in range(10, 25, 2)
    }
    best = min(tried, key=lambda shape: tried[shape])
    return tried[best], best


@row(
    "S4.10",
    "The lower bound among the upper bounds",
    TABLE,
    r"Binary sums, Ghazi et al.: $\Omega(\sqrt{\log(1/\delta)})$ with one message, in the column of upper bounds.",
    Verdict.CORRECTED,
    r"A *lower* bound: with one message each, the expected *squared* error is $\Omega(\ln n)$ for $\delta = "
    r"n^{-\Omega(1)}$ and constant $\epsilon$; so the error is $\Omega(\sqrt{\ln(1/\delta)})$ in that range of "
    r"$\delta$ only.",
    basis=proved("in the paper (2106.04247), without a constant"),
    severity=Severity.ACCURACY,
)
def lower_row() -> Seen:
    deltas = (1e-3, 1e-6, 1e-12)
    squares = [protocol("cheu-count", n=20_000, epsilon=1.0, delta=d).rmse() ** 2 for d in deltas]
    scaled = [value / math.log(1 / d) for value, d in zip(squares, deltas, strict=True)]
    return corrected(
        max(squares) < 2.0 * min(squares),
        max(scaled) < 2.0 * min(scaled) and min(scaled) > 0.5,
        f"shuffled randomised response, 20,000 people, epsilon 1, calibrated exactly: squared error "
        f"{', '.join(f'{v:.1f}' for v in squares)} for delta 1e-3, 1e-6, 1e-12: it cannot be bounded without delta, "
        f"and is {min(scaled):.1f} to {max(scaled):.1f} times ln(1/delta)",
    )


@row(
    "S4.5",
    "Laplace noise on integers",
    CENTRAL,
    "For whole numbers the continuous Laplace law is no option.",
    Verdict.FALSE,
    r"It can: $f + \mathrm{Lap}(1/\epsilon)$ is $\epsilon$-private whatever the values are. The discrete law is "
    r"preferred because answers stay whole, because it has less variance, and because doubles leak.",
    basis=proved(r"a change of $f$ by 1 changes the density by a factor of at most $e^\epsilon$"),
    severity=Severity.WORDING,
)
def laplace() -> Seen:
    def below(t: Floats, centre: float) -> Floats:
        """The Laplace law of scale 1/epsilon, epsilon = 1."""
        off: Floats = 0.5 * np.exp(-np.abs(t - centre))
        return np.where(t < centre, off, 1 - off)

    edges = np.linspace(-12, 13, 2501)
    cells = [np.diff(below(edges, float(count))) for count in (0, 1)]
    worst = float(np.abs(np.log(cells[0] / cells[1])).max())
    discrete = 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2
    return refuted(
        worst > 1.0 + 1e-6,
        worst <= 1.0 + 1e-6 and discrete < 2.0,
        f"counts 0 and 1, epsilon = 1: over 2,500 cells the log ratio is at most {worst:.6f}; variance 2, discrete "
        f"{discrete:.2f}",
    )


def best(n: int, epsilon: float, loss: Floats) -> float:
    """The least expected loss of any epsilon-private count of 0 .. n, all equally likely."""
    from scipy.optimize import linprog

    size, factor = n + 1, math.exp(epsilon)
    keep: list[Floats] = []
    for i, j in itertools.product(range(n), range(size)):
        for a, b in ((i, i + 1), (i + 1, i)):
            line = np.zeros((size, size))
            line[a, j], line[b, j] = 1.0, -factor
            keep.append(line.ravel())
    rows = np.kron(np.eye(size), np.ones(size))
    found = linprog(loss.ravel() / size, A_ub=np.array(keep), b_ub=np.zeros(len(keep)), A_eq=rows, b_eq=np.ones(size))
    return float(found.fun or math.nan)


def geometric(n: int, epsilon: float, loss: Floats) -> float:
    """The expected loss of the truncated geometric mechanism, every output read in the best way."""
    a = math.exp(-epsilon)
    i, j = np.arange(n + 1.0)[:, None], np.arange(n + 1.0)[None, :]
    law = a ** np.abs(i - j) * np.where((j == 0) | (j == n), 1 / (1 + a), (1 - a) / (1 + a))
    return float(
        np.array([[(law[:, j] * loss[:, r]).sum() for r in range(n + 1)] for j in range(n + 1)]).min(axis=1).sum()
        / (n + 1)
    )


@row(
    "S4.4",
    "The best central mechanism",
    CENTRAL,
    "Two-sided geometric noise was shown to be optimal, so its error is a lower bound for central differential "
    "privacy: we cannot do better.",
    Verdict.CORRECTED,
    r"For *one count*, under *pure* privacy, for every prior and every loss that grows with the distance. With "
    r"$\delta > 0$ one can do better, and for sums with sensitivity above 1 and large $\epsilon$ the staircase does.",
    basis=proved(r"Ghosh et al. (0811.2841) for pure privacy; for $\delta > 0$ by the mechanism below"),
    severity=Severity.ACCURACY,
)
def optimal() -> Seen:
    off = np.abs(np.arange(6.0)[:, None] - np.arange(6.0)[None, :])
    losses = [off, off**2, (off > 0).astype(float)]
    gap = max(abs(best(5, e, loss) - geometric(5, e, loss)) for e in (0.3, 1.0) for loss in losses)
    a, delta = math.exp(-1.0), 0.01  # with chance delta the truth itself, otherwise as before: (1, delta)-private
    law = (1 - a) / (1 + a) * a ** np.abs(np.arange(-60.0, 61.0)) * (1 - delta)
    law[60] += delta
    cheaper = divergence(np.append(law, 0.0), np.append(0.0, law), 1.0)
    return corrected(
        cheaper > delta + 1e-9,
        gap < 1e-7 and cheaper <= delta + 1e-9,
        f"counts up to 5, three losses, two epsilons: equal to the linear programme's optimum within {gap:.0e}; "
        f"telling the truth with chance 0.01 has delta {cheaper:.4f} and less error in every sense",
    )
