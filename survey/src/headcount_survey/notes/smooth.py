"""Smooth laws, and why their noise is private: the definitions and lemma 2."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from headcount_survey.notes import SEPARATING
from headcount_survey.notes.laws import binomial, divergence, ratios, shifted, smoothness, two_cells
from headcount_survey.statement import Rows, Seen, Severity, corrected, holds, proved
from headcount_survey.study import Verdict

row = Rows(SEPARATING)


@row(
    "S1.2",
    "Which shifts a smooth law is tested with",
    "smooth distributions, both versions; repeated in the note on binary sums",
    r"A law $D$ on the integers is $(\epsilon, \delta, k)$-smooth if, for every shift $k'$ from $-k$ to $k$, the "
    r"ratio $E = D(Y)/D(Y+k')$ reaches $e^{\lvert k'\rvert\epsilon}$ with a chance of at most $\delta$; or, as is "
    r"meant to be the same, stays below it with a chance of more than $1-\delta$.",
    Verdict.CORRECTED,
    r"The shifts are those with $0 < \lvert k'\rvert \le k$: at $k' = 0$ the ratio is 1, which always reaches "
    r"$e^0$, so that no law at all would be smooth. And the second form needs *at least* $1-\delta$.",
    "smooth-binomial",
    basis=proved(r"at $k' = 0$ the ratio is 1 for every law; and $P[E \ge t] \le \delta$ says $P[E < t] \ge 1-\delta$"),
    severity=Severity.WORDING,
)
def shifts() -> Seen:
    at_zero = float(binomial(100, 0.5)[ratios(binomial(100, 0.5), 0) >= 1.0].sum())
    even = [Fraction(1, 10)] * 10  # on 0 .. 9; only from 9 to 10 does the ratio reach anything
    reached = sum(even[9:], Fraction(0))
    first, second, second_mended = (
        reached <= Fraction(1, 10),
        1 - reached > Fraction(9, 10),
        1 - reached >= Fraction(9, 10),
    )
    mended = smoothness(binomial(100, 0.5), 1.0, 1)
    return corrected(
        at_zero < 1.0 and first == second,
        mended < 0.01 and first == second_mended,
        f"at a shift of 0 the ratio reaches 1 with chance {at_zero:.0f}; without it Bin(100, 1/2) "
        f"is (1, {mended:.1e}, 1)-smooth. Evenly spread over ten values, a shift by 1 is within "
        "delta = 1/10 by the first form and not by the second",
    )


@row(
    "S1.3",
    "What the ratio compares",
    "smooth distributions, both versions",
    r"In words: having drawn $Y$, the chance that a second draw falls into a window about $Y$ of width $k'$ is "
    r"close to the chance of $Y$ itself.",
    Verdict.CORRECTED,
    r"The ratio compares two single masses, $D(Y)$ and $D(Y+k')$. No chance of a window is involved, and a law may "
    r"pass the one test and fail the other, with nearly every draw of $Y$.",
    basis=proved("one law that passes the one test and fails the other is enough"),
    severity=Severity.WORDING,
)
def windows() -> Seen:
    comb = np.tile([0.099, 0.001], 10)
    window = comb + np.append(comb[1:], 0.0)  # from Y to Y + 1
    close = float(comb[window <= 1.02 * comb].sum())
    large = float(comb[ratios(comb, 1) >= 98.0].sum())
    return corrected(
        close < 0.5 or large < 0.5,
        close > 0.98 and large > 0.98 and smoothness(comb, 1.0, 1) > 0.98,
        f"masses of 0.099 and 0.001 in turn on 20 values, $k' = 1$: with chance {close:.2f} the "
        f"window has at most 1.02 times the mass of $Y$, and with chance {large:.2f} the ratio is "
        "99",
    )


@row(
    "S1.11",
    "What delta promises",
    "remark on smooth distributions, both versions; note on binary sums, dependence on epsilon and delta",
    r"Differential privacy with $\delta$ says that the ratio of the chances of the same output on neighbouring data "
    r"is at most $e^\epsilon$ with probability $1-\delta$: pure privacy, except in a bad event.",
    Verdict.CORRECTED,
    r"That is a sufficient condition, and a stronger one. $(\epsilon, \delta)$-privacy bounds the *excess* $\sum (P "
    r"- e^\epsilon Q)_+$ by $\delta$; the ratio may exceed $e^\epsilon$ far more often than that.",
    basis=proved(
        r"if the ratio exceeds $e^\epsilon$ only on $B$, then $P[T] \le e^\epsilon Q[T] + P[B]$; the law below"
        " refutes the converse"
    ),
    severity=Severity.PRIVACY,
)
def excess() -> Seen:
    law = binomial(1000, 0.5)
    excess, often = shifted(law, 0.1), smoothness(law, 0.1, 1)
    return corrected(
        often <= excess * 1.01,
        excess <= often,
        f"Bin(1000, 1/2), epsilon = 0.1: delta is {excess:.2e}, and the ratio exceeds e^epsilon with chance "
        f"{often:.2e}, {often / excess:.0f} times as often",
    )


@row(
    "S1.12",
    "Lemma 2 for a single number",
    "lemma 2, first version",
    r"If $f$ is a whole number that one person changes by at most 1, and $\eta$ is drawn from an $(\epsilon, "
    r"\delta, 1)$-smooth law, then $f + \eta$ is differentially private.",
    more="smooth-noise",
    basis=proved(r"Q17 with $\Delta = 1$"),
)
def one_number() -> Seen:
    cases = [(n, g, e) for n in (20, 100, 1000) for g in (0.1, 0.3, 0.5) for e in (0.2, 0.5, 1.0)]
    worst = max(shifted(binomial(n, g), e) / smoothness(binomial(n, g), e, 1) for n, g, e in cases)
    return holds(
        worst <= 1.0, f"{len(cases)} binomial laws: the exact delta is at most {worst:.2f} times the smoothness delta"
    )


@row(
    "S1.13",
    "How much one person changes a histogram",
    "background, both versions",
    "A histogram whose records differ in one count is a 1-sensitive function, so noise from a smooth law makes it "
    "private.",
    Verdict.CORRECTED,
    "Each *bin* changes by at most 1, the histogram by 2 in all: whoever is replaced leaves one "
    r"bin and enters another. Lemma 2 then gives $(2\epsilon, 2\delta)$, as the notes' own theorem "
    "on histograms has it.",
    basis=proved("the person who is replaced leaves one bin and enters another"),
    severity=Severity.PRIVACY,
)
def sensitivity() -> Seen:
    crowds = list(itertools.product(range(3), repeat=3))
    neighbours = [(a, b) for a in crowds for b in crowds if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
    moved = [[abs(a.count(j) - b.count(j)) for j in range(3)] for a, b in neighbours]
    total, bin_by_bin = max(map(sum, moved)), max(map(max, moved))
    return corrected(
        total <= 1,
        total == 2 and bin_by_bin == 1,
        f"{len(neighbours)} pairs of neighbouring crowds of 3 people in 3 bins: a bin changes by {bin_by_bin}, all "
        f"of them together by {total}",
    )


@row(
    "S1.14",
    "Incremental functions",
    "proof of lemma 2, second version",
    r"A function is $k$-incremental if for all $X, X'$ no coordinate of $f(X) - f(X')$ exceeds $k$; binary sums are "
    r"1-incremental.",
    Verdict.CORRECTED,
    r"For all *neighbouring* $X \sim X'$, and in size: $\lvert k_j\rvert \le k$ (the proof writes $k_j \le k$, and "
    r"$j \in \lfloor m \rfloor$ for $j \in \{1, \dots, m\}$).",
    basis=proved("neighbours differ in one bit; any two crowds may differ in all $n$"),
    severity=Severity.WORDING,
)
def incremental() -> Seen:
    crowds = list(itertools.product((0, 1), repeat=4))
    far = max(abs(sum(a) - sum(b)) for a in crowds for b in crowds)
    near = max(abs(sum(a) - sum(b)) for a in crowds for b in crowds if sum(map(abs, np.subtract(a, b))) == 1)
    return corrected(
        far <= 1,
        near == 1,
        f"4 people: sums of neighbours differ by at most {near}, those of any two crowds by up to {far}",
    )


@row(
    "S1.4",
    "Lemma 2 for several numbers",
    "lemma 2 and its proof, second version",
    r"For a $k$-incremental $f$ of total sensitivity $\Delta$ and noise from an $(\epsilon, \delta, k)$-smooth law, "
    r"$f(x) + \eta$ is $(\epsilon', \delta')$-private with $\epsilon' = \epsilon\Delta$; $\delta'$ is given in "
    r"terms of itself, one $\eta$ serves all coordinates, and the proof takes the 'probability' of $M(X)/M(X')$.",
    Verdict.CORRECTED,
    r"$\epsilon' = \epsilon\Delta$ and $\delta' = \delta\Delta$, with a draw of its own for each coordinate; what "
    r"is bounded is the likelihood ratio $\prod_j D(\eta_j)/D(\eta_j + k_j)$, where coordinate $j$ moves by its own "
    r"$k_j$.",
    "smooth-noise",
    basis=proved("Q17"),
    severity=Severity.PRIVACY,
)
def several_numbers() -> Seen:
    law, epsilon = binomial(60, 0.5), 0.6
    smooth, own = smoothness(law, epsilon, 1), two_cells(law, 2.0 * epsilon)
    # One draw for both bins: the difference of the two counts is then known for certain.
    here, there = ({(i + 1, i) for i in range(61)}, {(i, i + 1) for i in range(61)})
    common = 0.0 if here & there else 1.0
    return corrected(
        common <= 2.0 * smooth,
        own <= 2.0 * smooth,
        f"two bins, Bin(60, 1/2), epsilon = {epsilon:g}: a common draw has delta = {common:.0f}; a draw each "
        f"{own:.1e} at 2 epsilon, and 2 delta = {2 * smooth:.1e}",
    )


@row(
    "S1.15",
    "The step before the union bound",
    "end of the proof of lemma 2, second version",
    r"By smoothness, coordinate $j$'s ratio reaches $e^{\epsilon'\lvert k_j\rvert/\Delta}$ with a chance of at most "
    r"$\delta'/\Delta$. (There the proof stops; the union bound over the at most $\Delta$ coordinates that move "
    r"completes it.)",
    more="smooth-noise",
    basis=proved(r"it is the definition of smoothness at $\epsilon = \epsilon'/\Delta$ and $\delta = \delta'/\Delta$"),
)
def union() -> Seen:
    flat = np.full(10, 0.1)
    one = smoothness(flat, 0.5, 1)
    both = float((flat[:, None] * flat[None, :])[np.multiply.outer(ratios(flat, 1), ratios(flat, -1)) >= math.e].sum())
    moved = divergence(np.append(flat, 0.0), np.append(0.0, flat), 0.5)
    return holds(
        moved <= one + 1e-12 and one < both <= 2.0 * one,
        f"evenly on ten values: one coordinate reaches it with chance {one:.2f}, one of two with {both:.2f}, "
        f"between delta and 2 delta: the factor is needed",
    )


@row(
    "S1.24",
    "The tail of the product",
    "after the proof of lemma 2, second version, commented out",
    r"$P[\prod_j D(\eta_j)/D(\eta_j + k_j) \ge e^{\Delta\epsilon}] \le \delta$, by the sensitivity of $f$.",
    Verdict.CORRECTED,
    r"At most $\Delta\delta$: the product can only be so large if one of the at most $\Delta$ "
    r"factors that differ from 1 reaches $e^{\epsilon\lvert k_j\rvert}$, and each of them may, "
    r"with chance $\delta$.",
    "smooth-noise",
    basis=proved("the union bound of S1.15; the law below shows that the factor cannot be left out"),
    severity=Severity.PRIVACY,
)
def product_tail() -> Seen:
    flat, epsilon = np.full(10, 0.1), 0.5
    delta = smoothness(flat, epsilon, 1)
    product = np.multiply.outer(ratios(flat, 1), ratios(flat, -1))
    reached = float((flat[:, None] * flat[None, :])[product >= math.exp(2 * epsilon)].sum())
    return corrected(
        reached <= delta,
        delta < reached <= 2 * delta,
        f"two coordinates, evenly on ten values each, moved by 1 and -1: delta is {delta:.2f}, and the product reaches "
        f"e^(2 epsilon) with chance {reached:.2f}",
    )
