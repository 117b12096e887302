"""Errors in papers on amplification, local oracles and sampling, each with a check."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.sampled_counts import SampledCount, SampledHistogram
from headcount.programme.law import Floats
from headcount_survey.notes.laws import binomial, divergence
from headcount_survey.statement import INSTANCE, Rows, Seen, Severity, corrected, proved, refuted
from headcount_survey.studies.amplification import stronger_clones
from headcount_survey.study import Verdict

CLONES = "Feldman, McMillan and Talwar, Stronger privacy amplification by shuffling (2208.04591)"
SAMPLE = "Bharadwaj and Cormode, Sample-and-threshold differential privacy, first draft (2112.05693)"
ORACLES = "Cormode, Maddock and Maple, Frequency estimation under local differential privacy (2103.16640)"
FIX = Verdict.CORRECTED

row = Rows(CLONES)


@row(
    "P6",
    "Clones for every randomiser",
    "theorems 3.1 and 3.2, lemma 3.5; corrected by the authors since",
    r"For every $\epsilon_0$-private randomiser each of the others sends a clone with chance $2/(e^{\epsilon_0}+1)$.",
    FIX,
    r"Proved where the victim's own report consists of clones only, as for one flipped bit. Where a third part is "
    r"left, as with three values, the simulation cannot know when to draw it; there use $e^{-\epsilon_0}$ or a "
    r"blanket. No counterexample is known, but there is one with fewer clones (P6.1).",
    "amplification",
    basis=proved("for one flipped bit the victim's law is a mixture of the two clones; for others nothing is claimed"),
    severity=Severity.PRIVACY,
)
def clones() -> Seen:
    ratio = math.exp(1.5)
    left = {
        values: (values - 2) / (ratio + values - 1) for values in (2, 3, 10)
    }  # of the victim's law, in neither clone
    lie = 1 / (ratio + 1)
    shares = []
    for n, e in itertools.product((3, 6, 12, 40), (0.2, 0.6)):
        views = [np.convolve(binomial(k, 1 - lie), binomial(n - k, lie)) for k in range(n + 1)]
        claimed = Amplified(MessageLaws.response(2 * lie, 2), n).delta(e)
        shares.append(max(divergence(a, b, e) for a, b in itertools.pairwise(views)) / claimed)
    return corrected(
        max(left.values()) == 0,
        left[2] == 0 and max(shares) <= 1.0,
        f"local epsilon 1.5: with 3 values {left[3]:.2f} of the victim's report is no clone, with 2 none; there the "
        f"bound holds in {len(shares)} cases, the exact delta at most {max(shares):.2f} of it",
    )


@row(
    "P6.1",
    "Fewer clones for more answers",
    "lemma 3.5 with p below 1/(e^eps0 + 1); corrected by the authors since",
    r"With randomised response on $k$ values each of the others sends a clone with chance $2/(e^{\epsilon_0}+k-1)$, "
    r"and the victim's other messages look like theirs.",
    Verdict.FALSE,
    r"They do not: among others who rarely send them, they are seen to be the victim's. The blanket, lies with chance "
    r"$k/(e^{\epsilon_0}+k-1)$, is a bound, and large crowds attain it.",
    "amplification",
    basis=INSTANCE,
    severity=Severity.PRIVACY,
)
def fewer_clones() -> Seen:
    answers, local, people, epsilon = 4, 1.0, 4, 0.5
    lie = 1.0 / (math.exp(local) + answers - 1.0)
    sent = np.full((answers, answers), lie) + np.eye(answers) * (math.exp(local) - 1.0) * lie
    held = itertools.combinations_with_replacement(range(answers), people - 1)
    views = ([seen_of(sent[[victim, *others]]) for victim in (0, 1)] for others in held)
    truth = max(divergence(first, second, epsilon) for first, second in views)
    claimed = stronger_clones(local, people, answers).delta(epsilon)
    bound = Amplified(MessageLaws.response(answers * lie, answers), people).delta(epsilon)
    return refuted(
        truth <= claimed,
        truth <= bound,
        f"{people} people with {answers} answers, local epsilon {local:g}: delta at {epsilon:g} is {truth:.5f}, where "
        f"{claimed:.5f} is claimed; the blanket says {bound:.5f}",
    )


def seen_of(rows: Floats) -> Floats:
    """The law of how often each message is sent, one row a person."""
    law = np.ones((1,) * rows.shape[1])
    for chances in rows:
        grown = np.zeros([size + 1 for size in law.shape])
        for message, chance in enumerate(chances):
            here = tuple(slice(axis == message, size + (axis == message)) for axis, size in enumerate(law.shape))
            grown[here] += chance * law
        law = grown
    return law.ravel()


row.note = SAMPLE


@row(
    "P7.1",
    "The ratio of one holder more",
    "lemma 2",
    r"The ratio of the chances of $v$ samples among $k+1$ and among $k$ holders lacks a factor.",
    FIX,
    r"$\frac{(k+1)(1-p)}{k+1-v}$ when everybody is sampled with chance $p$; the draft's bound leaves out $1-p$, "
    r"which only makes it larger.",
    basis=proved("divide the two binomial masses"),
    severity=Severity.PROOF,
)
def one_more() -> Seen:
    p, k = Fraction(3, 10), 12
    law = [[math.comb(m, v) * p**v * (1 - p) ** (m - v) for v in range(k + 1)] for m in (k, k + 1)]
    exact = [b / a for a, b in zip(*law, strict=True)]
    ought, draft = ([factor * Fraction(k + 1, k + 1 - v) for v in range(k + 1)] for factor in (1 - p, Fraction(1)))
    return corrected(
        exact == draft,
        exact == ought and all(d > e for d, e in zip(draft, exact, strict=True)),
        f"13 holders or 12, p = 0.3: equal in all 13 outcomes, in fractions; without the factor {1 / 0.7:.2f} times "
        f"too large",
    )


@row(
    "P7.2",
    "The other direction",
    "lemma 2 and theorem 1",
    r"Only the loss from one crowd to its neighbour is bounded, not the way back.",
    FIX,
    r"The way back is bounded by $\frac1{1-p}$ for every outcome, a suppressed count included; so $p \le "
    r"1-e^{-\epsilon}$ makes that $\delta$ zero.",
    basis=proved(
        r"the ratio back is $\frac{k+1-v}{(k+1)(1-p)} \le \frac{1}{1-p}$, and so for the sum over all that is "
        "suppressed"
    ),
    severity=Severity.PROOF,
)
def way_back() -> Seen:
    edge = -math.expm1(-1.0)
    back = {p: float(SampledCount(p, 3, 200).orders(np.array([1.0]))[1][0]) for p in (0.3, edge, 0.75)}
    return corrected(
        back[0.75] == 0.0,
        back[0.3] == 0.0 and back[edge] < 1e-12 < back[0.75],
        f"threshold 3, epsilon 1: 0 up to p = {edge:.3f}, {back[0.75]:.3f} at p = 0.75",
    )


@row(
    "P7.3",
    "Neighbours by replacement",
    "definition of neighbours, against theorem 1",
    r"Neighbours replace one item by another, but the proof is for a single count that changes.",
    FIX,
    r"A replaced item changes two counts. At the same $\epsilon$ the exact $\delta$ may be larger, by more than "
    r"half at high sampling rates; $\epsilon + \ln\frac1{1-p}$ keeps the $\delta$ of one count.",
    basis=proved(
        "every outcome of the count that gains is at least $1-p$ times as likely as before; the factors are instances"
    ),
    severity=Severity.PRIVACY,
)
def replaced() -> Seen:
    rate, more, kept = 0.95 * -math.expm1(-1.0), {}, []
    for tau, people in ((4, 60), (12, 60), (30, 400)):
        one, two = SampledCount(rate, tau, people).delta(1.0), SampledHistogram(rate, tau, people)
        more[tau] = two.delta(1.0) / one
        kept.append(two.delta(1.0 - math.log1p(-rate)) / one)
    return corrected(
        max(more.values()) <= 1.0 + 1e-6,
        max(kept) <= 1.003 and max(more.values()) < 1.7,
        f"p = 0.95 (1 - 1/e), epsilon 1: for thresholds 4, 12, 30 the delta of two counts is "
        f"{', '.join(f'{v:.2f}' for v in more.values())} times that of one; with the larger epsilon at most "
        f"{max(kept):.3f}",
    )


@row(
    "P7.4",
    "Who is left out of a fixed sample",
    "proof of lemma 2",
    r"Of $n$ people with $k$ holders, a sample of $m$ with $v$ holders leaves $n-k-m-v$ of the others.",
    FIX,
    r"$n-k-m+v$. And the chance of one subset is not that of a count: it lacks the binomial coefficients that make "
    r"the sum 1.",
    basis=proved("$m-v$ of the $n-k$ others are sampled"),
    severity=Severity.WORDING,
)
def left_out() -> Seen:
    n, k, m = 7, 3, 4
    seen = {(sum(i < k for i in s), n - k - sum(i >= k for i in s)) for s in itertools.combinations(range(n), m)}
    subsets = sum(1 / math.comb(n, m) for _ in range(k + 1))
    return corrected(
        all(left == n - k - m - v for v, left in seen),
        all(left == n - k - m + v for v, left in seen) and subsets < 1,
        f"7 people, 3 holders, samples of 4: v and those left out are {sorted(seen)}",
    )


row.note = ORACLES


@row(
    "P8",
    "When a frequency oracle is private",
    "the framework of pure protocols",
    r"A protocol that supports the true value with chance $p^*$ and any other with $q^*$ is $\epsilon$-private if "
    r"and only if $p^*/q^* \le e^\epsilon$.",
    FIX,
    r"For generalised response and local hashing. For unary codes the condition is $\frac{p(1-q)}{(1-p)q} \le "
    r"e^\epsilon$, as two bits change.",
    basis=proved("two bits of a unary code change"),
    severity=Severity.PRIVACY,
)
def oracles() -> Seen:
    p, q, e = 0.5, 1 / (2 * math.e), 1.0
    rows = [
        {
            word: math.prod((a if bit else 1 - a) for bit, a in zip(word, chances, strict=True))
            for word in itertools.product((0, 1), repeat=2)
        }
        for chances in ((p, q), (q, p))
    ]
    worst = max(rows[0][word] / rows[1][word] for word in rows[0])
    flip = 1 / (math.e + 1)
    optimised = p * (1 - flip) / ((1 - p) * flip)
    return corrected(
        worst <= math.e,
        abs(worst - p * (1 - q) / ((1 - p) * q)) < 1e-9 and abs(optimised - math.exp(e)) < 1e-9,
        f"two values, p = 1/2, q = 1/(2e), so that p/q = e: a row of bits has the ratio {worst:.2f}; at q = 1/(e+1) "
        f"it is e",
    )
