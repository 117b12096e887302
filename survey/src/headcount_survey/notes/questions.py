"""Answers to the notes' questions about histograms, the local model and the proofs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from headcount.planner.planning import protocol
from headcount.questions.histogram import Histogram
from headcount_survey.notes import SEPARATING
from headcount_survey.notes.binomial import GRID, mended, worst_ratio
from headcount_survey.notes.counts import BUDGETS, accuracy
from headcount_survey.notes.five import EPSILONS, noise
from headcount_survey.notes.histograms import BINS, quantile
from headcount_survey.notes.laws import binomial, shifted, smoothness
from headcount_survey.notes.survey import response, rmse
from headcount_survey.statement import Questions, Reply
from headcount_survey.studies.lower_bounds import least_local_histogram

asked = Questions()
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


@asked(
    "Q1",
    "Are histograms easier",
    f"{SEPARATING}, beginning",
    "Do histograms differ much from the mean of a discrete population, and are they easier because values fall into "
    "buckets?",
    "separation",
)
def histograms() -> Reply:
    one = protocol("poisson-count", n=10_000, **BUDGET).rmse()
    bins = protocol("poisson-histogram", Histogram(100), n=10_000, **BUDGET).rmse()
    reals = rmse("blanket-sum", 1000)
    return Reply(
        "No, they are different problems with the binary sum in common. A histogram is $d$ binary "
        "sums of which each person touches one. To hide a move between two bins takes a little "
        "more noise than to hide one bit: with Poisson noise at (1, 10⁻⁶) the error of a bin is "
        f"{bins:.2f} and that of a single count {one:.2f}, for any number of bins. What $d$ costs "
        f"is the largest error over all bins, about $\\sqrt{{\\ln d}}$ times that; in the local "
        "model the factor $\\sqrt n$ comes on top. The mean of a population of *numbers* has one "
        "output but many inputs, and there one message each is not enough: the blanket errs by "
        f"{reals:.1f} already among 1,000 people, and ever more among more. So with one message it "
        "is the mean that is harder.",
        f"error of a bin {bins:.2f}, of a count {one:.2f}, of a sum of reals with one message {reals:.2f}",
        one < bins < 1.2 * one and reals > bins,
    )


@asked(
    "Q2",
    "How accurate are local models",
    f"{SEPARATING}, introduction",
    "How accurate are the known local protocols? (Left to be verified.)",
    "lower-bounds",
)
def local() -> Reply:
    n, e = 10_000, 1.0
    bit, item = response(n, e), math.sqrt(n * 4 * math.exp(e)) / math.expm1(e)
    q = 1 / (math.exp(e) + 1)
    leaf = protocol("optimised-unary", Histogram(100), n=n, flip=q).error(0).std_error
    law, off = binomial(n, q), np.abs(np.arange(n + 1.0) - n * q) / (0.5 - q)
    largest = [quantile(off, law, bins) for bins in BINS[:3]]
    return Reply(
        f"The sum of $n$ bits by randomised response has standard deviation $\\sqrt{{n e^\\epsilon}}/(e^\\epsilon - "
        f"1)$: {bit:.0f} for 10,000 people and $\\epsilon = 1$, whatever they hold, and no local randomiser of one "
        f"bit carries more (S4.17). An item of a histogram costs $\\sqrt{{4ne^\\epsilon}}/(e^\\epsilon - 1)$ with "
        f"the best unary codes or hashes, here {item:.0f}. The largest error over $d$ items grows like "
        f"$\\sqrt{{n\\ln d}}/\\epsilon$: 95% of the time it stays within {largest[0]:.0f}, {largest[1]:.0f} and "
        f"{largest[2]:.0f} for 10, 1,000 and 100,000 items. Bassily and Smith show that this is the right order, and "
        f"{least_local_histogram(n, 1000, e):.0f} is proved to be the least for 1,000 items (S2.7). "
        f"Divided by $n$ they are errors of fractions.",
        f"10,000 people, epsilon 1: count {bit:.1f}, item {item:.1f}",
        abs(leaf - item) < 1e-6 * item and largest[0] < largest[1] < largest[2],
    )


@asked(
    "Q3",
    "Does the paper of 2021 end the equivalence",
    f"{SEPARATING}, introduction",
    "A paper of September 2021 comes close to central accuracy with close to one message. What does that do to the "
    "equivalence of local and single-message pure shuffle privacy?",
    "single-message",
)
def equivalence() -> Reply:
    found = protocol("correlated-count", n=10_000, **BUDGET)
    one = protocol("cheu-count", n=10_000, **BUDGET).rmse()
    none, single = found.programme.sends({"value": 1}, 2)[:2]
    return Reply(
        f"Not at all. The equivalence assumes $\\delta = 0$ and exactly one message from everybody. The paper's "
        f"protocol has $\\delta > 0$, and the number of messages is random: for 10,000 people at (1, 10⁻⁶), with an "
        f"error {found.rmse() / rmse('geometric', 100, 0.0) - 1:.1%} above the central one, a one "
        f"sends {found.messages_per_person:.2f} on average and exactly one with chance {single:.3f}. Either "
        f"relaxation is enough. With $\\delta > 0$, one message each from plain shuffled randomised response errs "
        f"by {one:.1f} among those people where the local model errs by {response(10_000, 1.0):.0f}; and with several "
        "messages even $\\delta = 0$ allows what no local protocol can do, as $(x, 1-x)$ shows in the extreme "
        "(S3.8).",
        f"10,000 people, (1, 1e-6): exactly one message with chance {single:.3f}; one-message error {one:.1f} against "
        f"{response(10_000, 1.0):.0f}",
        none == 0.0 and single < 1.0 and 10 * one < response(10_000, 1.0),
    )


@asked(
    "Q4",
    "Why the square root of five",
    f"{SEPARATING}, proof of the theorem on binary sums",
    "Why is it the square root of five?",
    "why-five",
)
def why_five() -> Reply:
    least = 1 / math.tanh(0.5) ** 2
    falling = np.tanh(EPSILONS / 2) / EPSILONS
    exact = protocol("zsum", n=100_000, **BUDGET).parameters["gamma"] * 100_000
    return Reply(
        f"$\\alpha$ is not free: it must be $\\tanh(\\epsilon/2)$ for $\\ln\\frac{{1+\\alpha}}{{1-\\alpha}}$ to be "
        f"$\\epsilon$. For a formula in $\\epsilon$ one wants $\\alpha^2 \\ge \\epsilon^2/c$ on $[0, 1]$. The "
        f"quotient $\\tanh(\\epsilon/2)/\\epsilon$ falls from 1/2 to {falling[-1]:.4f}, so the worst is $\\epsilon "
        f"= 1$ and $c \\ge {least:.3f}$: the next whole number is 5, and $10 \\cdot 5 = 50$. With {least:.3f} "
        f"itself the constant would be {10 * least:.1f}, and 40 for small $\\epsilon$. All of this is small beside "
        f"what the tail bounds give away: at (1, 10⁻⁶) the rule adds noise of variance {noise(1.0, 1e-6):.0f}, and "
        f"{exact:.1f} is enough.",
        f"1/tanh(1/2)^2 = {least:.3f}; variance {noise(1.0, 1e-6):.0f} by the rule, {exact:.1f} exactly",
        bool((np.diff(falling) < 0).all()) and 4 < least < 5 and 33 < exact < 36,
    )


@asked(
    "Q5",
    "The accuracy that was to be derived",
    f"{SEPARATING}, the accuracy of the protocol (part II)",
    "How accurate is the protocol? (The paper's own derivation has slips, and the notes leave theirs empty.)",
    "binary-theorem",
)
def accurate() -> Reply:
    constants = [accuracy(e, d, d**25) * e**2 / math.log(2 / d) for e, d in BUDGETS]
    top = 50 + math.sqrt(5000)
    return Reply(
        f"Write $K = n(1-p) = \\frac{{50}}{{\\epsilon^2}}\\ln\\frac2\\delta$ and $V = np(1-p)$. Bernstein's "
        f"inequality with $t = 2\\sqrt{{V\\ln(2/\\beta)}}$ bounds $\\lvert\\sum z_i - np\\rvert$ by $t$ with "
        f"probability $1-\\beta$, if $\\ln(2/\\beta) \\le V$; as $p \\ge 1/2$, $V \\ge K/2 \\ge 25\\ln(2/\\delta)$, "
        f"so any $\\beta \\ge \\delta^{{25}}$ will do. If the analyser prints an estimate, its error is "
        f"$\\lvert\\sum z_i - np\\rvert/n$. If it prints 0, the number of messages was at most $n$, hence $\\sum "
        f"x_i \\le n - \\sum z_i \\le K + t$. In both cases the error of the fraction is at most $\\frac{{K + t}}n "
        f"\\le \\frac{{50}}{{\\epsilon^2n}}\\ln\\frac2\\delta + \\frac1{{\\epsilon "
        f"n}}\\sqrt{{200\\ln\\frac2\\delta\\ln\\frac2\\beta}}$. At $\\beta = \\delta^{{25}}$ this is at most $50 + "
        f"\\sqrt{{5000}} = {top:.2f}$ times $\\ln(2/\\delta)/(\\epsilon^2n)$. The first term is the price of the "
        "threshold alone; without it only the second is left.",
        f"constant {max(constants):.1f} at most over {len(constants)} budgets, {top:.2f} in general",
        max(constants) <= top,
    )


@asked(
    "Q6",
    "Where the ratio inequality comes from",
    f"{SEPARATING}, proof of lemma 3",
    "How does one get from the products to a power of $(1+\\alpha)/(1-\\alpha)$? (In the first version the proof is "
    "missing altogether.)",
    "smooth-binomial",
)
def ratio() -> Reply:
    cases = [(n, g, a) for n, g, a in GRID if a * g * n >= 2.0]
    closest = max(worst_ratio(n, g, a, 1) / mended(a, g) for n, g, a in cases)
    back = max(worst_ratio(n, g, a, -1) / ((1 + a * g / (1 - g)) / (1 - a)) for n, g, a in cases)
    return Reply(
        "Write the ratio as a product. Upwards, $\\frac{D(y)}{D(y+k')} = "
        "\\prod_{i=1}^{k'}\\frac{1-\\gamma}\\gamma\\cdot\\frac{y+i}{n-y-i+1}$. On $G$ every $y + i \\le "
        "(1+\\alpha)\\gamma n$, so $n-y-i+1 > n(1-\\gamma-\\alpha\\gamma)$, and each factor is below "
        "$\\frac{1+\\alpha}{1-\\alpha\\gamma/(1-\\gamma)}$; since $\\gamma \\le 1/2$ that is at most "
        "$\\frac{1+\\alpha}{1-\\alpha}$. Downwards the factors are "
        "$\\frac\\gamma{1-\\gamma}\\cdot\\frac{n-y+i}{y-i+1}$, with $n-y+i \\le n(1-\\gamma+\\alpha\\gamma)$ and "
        "$y-i+1 \\ge (1-\\alpha)\\gamma n$: at most "
        f"$\\frac{{1+\\alpha\\gamma/(1-\\gamma)}}{{1-\\alpha}}$, again at most $\\frac{{1+\\alpha}}{{1-\\alpha}}$. "
        f"It could not be derived because the printed step in between, $(1+\\alpha)^{{k'}}$, is false (S1.7). Over "
        f"{len(cases)} laws the factors come within {closest:.3f} of the bound upwards and {back:.3f} downwards.",
        f"at most {closest:.3f} and {back:.3f} of the two bounds",
        closest <= 1 + 1e-12 and back <= 1 + 1e-12,
    )


@asked(
    "Q17",
    "The proof of lemma 2",
    f"{SEPARATING}, lemma 2, first version; unfinished in the second",
    "Why is noise from a smooth law private? (The proof is missing, then unfinished.)",
    "smooth-noise",
)
def lemma() -> Reply:
    law = binomial(400, 0.5)
    exact, smooth = shifted(law, 0.3), smoothness(law, 0.3, 1)
    return Reply(
        "Let the outputs on neighbouring data be $f(X) + \\eta$ and $f(X') + \\eta$, with a draw of its own for "
        "each coordinate, and let coordinate $j$ move by $k_j$, $\\sum\\lvert k_j\\rvert \\le \\Delta$. The "
        "likelihood ratio at the output is $\\prod_j D(\\eta_j)/D(\\eta_j + k_j)$, in which at most $\\Delta$ "
        "factors differ from 1. By smoothness each of those reaches $e^{\\epsilon\\lvert k_j\\rvert}$ with a chance "
        "of at most $\\delta$; by the union bound all stay below, except with chance $\\Delta\\delta$, and then the "
        "product is below $e^{\\epsilon\\Delta}$. For any event $T$, split it by whether that happened: "
        f"$P[T] \\le e^{{\\epsilon\\Delta}}P'[T] + \\Delta\\delta$. For $\\mathrm{{Bin}}(400, 1/2)$ and $\\epsilon "
        f"= 0.3$ the smoothness $\\delta$ is {smooth:.1e}, and what is lost exactly {exact:.1e}.",
        f"exact delta {exact:.1e}, by the lemma {smooth:.1e}",
        exact <= smooth,
    )
