"""Sample-and-threshold: a likelihood ratio, a tail, and the constants of draft, paper and truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, product
from math import exp
from pathlib import Path
from typing import ClassVar, TypeAlias

from flint import arb

from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Panel, lines
from headcount.planner.selection import Progress
from headcount.privacy.sampled_counts import SampledCount
from headcount.proof.ball_laws import ball, most
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, shown
from headcount_survey.theorems.sampled_counts import excess, mass, one_fewer, one_more, same_length, shown_counts
from headcount_survey.theorems.tails import above, last_below

FACTORS = (Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(5, 2))  # e**epsilon, with epsilon below 1
ALPHAS = tuple(Fraction(a, 20) for a in (1, 2, 4, 6, 8, 10))
THRESHOLDS = (3, 6, 10, 20, 40)
DELTAS = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6), Fraction(1, 10**9))
TINY = Fraction(1, 2**200)
EPSILON, DELTA, PEOPLE = 1.0, 1e-6, 10_000

Rule: TypeAlias = Callable[[Fraction], arb]


def ratios(rates: tuple[Fraction, ...], most_held: int, *, drop: bool) -> Iterator[Case]:
    """P[v of k + 1] / P[v of k] against (k + 1)(1 - rate)/(k + 1 - v), or without 1 - rate."""
    for rate in rates:
        for k in range(most_held):
            for v in range(k + 1):
                exact = mass(k + 1, rate, v) / mass(k, rate, v)
                formula = Fraction(k + 1, k + 1 - v) * (1 if drop else 1 - rate)
                yield Case(f"rate = {rate}, k = {k}, v = {v}", abs(exact - formula), 0)


def clean(alpha: Fraction) -> arb:
    """ln(1 / alpha) - (1 - alpha)"""
    return ball(1 / alpha).log() - ball(1 - alpha)


def final(alpha: Fraction) -> arb:
    """ln(1 / alpha) - 1 / (1 + alpha), as in the final paper"""
    return ball(1 / alpha).log() - ball(1 / (1 + alpha))


def simplest(alpha: Fraction) -> arb:
    """ln(1 / alpha) alone"""
    return ball(1 / alpha).log()


def grid(thresholds: tuple[int, ...]) -> list[tuple[Fraction, int, Fraction]]:
    return [(alpha, t, factor) for alpha in ALPHAS for t in thresholds for factor in FACTORS]


def constant(alpha: Fraction, threshold: int, factor: Fraction, *, rule: Rule) -> Case:
    """Exact delta at rate alpha (1 - e^-epsilon) against exp(-C threshold)."""
    bound = rule(alpha)
    left = one_more(alpha * (1 - 1 / factor), threshold, factor)
    return Case(f"alpha = {alpha}, threshold = {threshold}, e^epsilon = {factor}", left, (-bound * threshold).exp())


def divergence(alpha: Fraction, threshold: int, factor: Fraction) -> Case:
    """The same against exp(-threshold KL / q)."""
    rate = alpha * (1 - 1 / factor)
    q = 1 - (1 - rate) / factor
    gap = ball(q) * ball(q / rate).log() + ball(1 - q) * ball((1 - q) / (1 - rate)).log()
    at = f"alpha = {alpha}, threshold = {threshold}, e^epsilon = {factor}"
    return Case(at, one_more(rate, threshold, factor), (-gap * threshold / ball(q)).exp())


def lemma_one(*, at_least_one: bool) -> Iterator[Case]:
    """P[X > tau E X], or P[X >= tau max(1, E X)], against delta, tau = 3 + ln(1/delta)."""
    for delta in DELTAS:
        tau = 3 + ball(1 / delta).log()
        for k in (1, 2, 5, 20, 100, 1000):
            for rate in (Fraction(1, 100), Fraction(1, 20), Fraction(1, 5)):
                mean = ball(k * rate)
                first = last_below(tau * (mean.max(arb(1)) if at_least_one else mean)) + 1
                at = f"k = {k}, rate = {float(rate):g}, delta = {float(delta):g}"
                yield Case(at, above(k, ball(rate), first), delta)


def draft(factor: Fraction, delta: Fraction, *, linear: bool) -> tuple[str, Fraction, int]:
    """The draft's rate (1 - e^-epsilon) / threshold, or a remark's epsilon / threshold."""
    threshold = -last_below(-(3 + ball(1 / delta).log()))
    share = most(ball(factor).log()) if linear else 1 - 1 / factor
    rate = Fraction(round(share / threshold * 10**9), 10**9) if linear else share / threshold
    return f"e^epsilon = {factor}, delta = {float(delta):g}", rate, threshold


def drafts(*, linear: bool) -> Iterator[tuple[Case, Case]]:
    """The proof's bound 1 / (1 - threshold rate) against e^epsilon, and exact delta to delta."""
    for factor in FACTORS:
        for delta in DELTAS:
            at, rate, threshold = draft(factor, delta, linear=linear)
            exact = one_more(rate, threshold, factor)
            yield Case(at, 1 / (1 - threshold * rate), factor), Case(at, exact, delta)


def moves(rate: Fraction, threshold: int, factor: Fraction, *, wider: bool) -> Iterator[Case]:
    """From a bucket of k + 1 to one of j: both, at epsilon (+ ln(1 / (1 - p))), against one."""
    held = range(2 * threshold + 3)
    laws = [shown_counts(k, rate, threshold) for k in (*held, held[-1] + 1)]
    alone = [excess(laws[k + 1], laws[k], factor) for k in held]
    for k, j in product(held, repeat=2):
        (left, then_left), (gained, then_gained) = (
            same_length(laws[k + 1], laws[k]),
            same_length(laws[j], laws[j + 1]),
        )
        before, after = ([a * b for a, b in product(*pair)] for pair in ((left, gained), (then_left, then_gained)))
        both = excess(before, after, factor / (1 - rate) if wider else factor)
        at = f"rate = {rate}, threshold = {threshold}, e^epsilon = {factor}, {k + 1} and {j} people"
        yield Case(at, both, alone[k] if wider else max(alone))


def least_threshold(alpha: float) -> int:
    """The smallest threshold that meets the budget exactly."""
    rate = alpha * (1.0 - exp(-EPSILON))
    return next(t for t in range(1, 1000) if SampledCount(rate, t, PEOPLE).delta(EPSILON) <= DELTA)


class SamplingTheorem(Checked):
    name: ClassVar[str] = "sampling-theorem"
    question: ClassVar[str] = "Which constants does sample-and-threshold need?"
    source: ClassVar[str] = "the notes on sample-and-threshold; the draft and the final paper of Bharadwaj and Cormode"
    statement: ClassVar[str] = (
        "If each of k or k + 1 holders is sampled with chance p, the likelihood ratio of v samples is (k + 1)(1 - "
        "p) / (k + 1 - v). With p = alpha (1 - e^-epsilon) and counts below tau suppressed, one person more or less "
        "costs (epsilon, delta) with delta at most exp(-C tau), C = ln(1/alpha) - (1 - alpha), and one fewer "
        "nothing at all. A sample exceeds tau = 3 + ln(1/delta) times its mean, or tau if the mean is below 1, with "
        "a chance of at most delta."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        points = grid(THRESHOLDS[:3] if quick else THRESHOLDS)
        rates = (Fraction(1, 100), Fraction(1, 5), Fraction(7, 10))
        proper, linear = list(drafts(linear=False)), list(drafts(linear=True))
        small = [(a * (1 - 1 / f), t, f) for a in (*ALPHAS[::2], Fraction(1)) for t in (2, 5) for f in FACTORS]
        large = [(Fraction(9, 10), t, f) for t in (2, 5) for f in FACTORS]
        shares, few = (Fraction(3, 10), Fraction(9, 10)), (3,) if quick else (2, 3, 4)
        moved = [(a * (1 - 1 / f), t, f) for a in shares for t in few for f in FACTORS[1::2]]
        bare = [(rate, factor) for rate in rates for factor in FACTORS]
        return {
            "ratio": Claim.over("the ratio is (k + 1)(1 - p) / (k + 1 - v)", ratios(rates, 12, drop=False)),
            "clean": Claim.over(
                "delta is at most exp(-C tau), C = ln(1/alpha) - (1 - alpha)",
                (constant(*p, rule=clean) for p in watch(points)),
            ),
            "kl": Claim.over(
                "and at most exp(-tau KL(q, p) / q), q = 1 - (1 - p) e^-epsilon", (divergence(*p) for p in points)
            ),
            "final": Claim.over(
                "and at most exp(-C tau), C = ln(1/alpha) - 1 / (1 + alpha), the final paper's",
                (constant(*p, rule=final) for p in points),
            ),
            "final-weaker": Claim.over(
                "which is a weaker bound", (Case(f"alpha = {a}", final(a), clean(a)) for a in ALPHAS)
            ),
            "fewer": Claim.over(
                "one fewer costs nothing while p <= 1 - e^-epsilon",
                (Case(f"rate = {p}, threshold = {t}, e^epsilon = {f}", one_fewer(p, t, f), 0) for p, t, f in small),
            ),
            "lemma": Claim.over(
                "a sample is at least tau max(1, mean) with at most delta", lemma_one(at_least_one=True)
            ),
            "draft": Claim.over(
                "the draft's proof: 1 / (1 - tau p) is at most e^epsilon", (proof for proof, _ in proper)
            ),
            "draft-safe": Claim.over(
                "the draft's rate and threshold meet delta", (exact for _, exact in [*proper, *linear])
            ),
            "move": Claim.over(
                "somebody who moves loses as much at epsilon + ln(1 / (1 - p))",
                chain.from_iterable(moves(*m, wider=True) for m in moved),
            ),
            "bare": Claim.over(
                "without a threshold delta is p",
                (Case(f"rate = {p}, e^epsilon = {f}", abs(most(one_more(p, 1, f)) - p), TINY) for p, f in bare),
            ),
            "ratio-written": Claim.over("the ratio is (k + 1) / (k + 1 - v)", ratios(rates, 12, drop=True), Form.NOTES),
            "lemma-written": Claim.over(
                "a sample exceeds tau times its mean with at most delta", lemma_one(at_least_one=False), Form.NOTES
            ),
            "draft-linear": Claim.over(
                "the same proof with p = epsilon / tau", (proof for proof, _ in linear), Form.NOTES
            ),
            "simplest": Claim.over(
                "delta is at most exp(-C tau), C = ln(1/alpha)",
                (constant(Fraction(1, 2), t, f, rule=simplest) for t in (40, 80) for f in FACTORS),
                Form.TWIN,
            ),
            "fewer-large": Claim.over(
                "one fewer costs nothing whatever p",
                (Case(f"rate = {p}, threshold = {t}, e^epsilon = {f}", one_fewer(p, t, f), 0) for p, t, f in large),
                Form.TWIN,
            ),
            "move-same": Claim.over(
                "somebody who moves loses no more delta at the same epsilon",
                chain.from_iterable(moves(*m, wider=False) for m in moved),
                Form.TWIN,
            ),
        }

    def answer(self, claims: Claims) -> str:
        first, clean_ = claims["lemma-written"].worst, claims["clean"].worst
        exact = least_threshold(0.3)
        tau = -last_below(-(3 + ball(Fraction(10**6)).log()))
        rate = (1.0 - exp(-EPSILON)) / tau
        return (
            f"Every published constant is safe and none is near: at {clean_.at}, where it is "
            f"nearest, exact delta is {shown(clean_.left)} and the bound {shown(clean_.right)}. "
            f"For epsilon = {EPSILON:g}, delta = {DELTA:g} and alpha = 0.3 the final paper asks "
            f"for a threshold of {_first(final, 0.3)}, the clean bound for {_first(clean, 0.3)}, "
            f"and {exact} will do; the draft's own rate of {shown(rate)} with {tau} has a delta of "
            f"{SampledCount(rate, tau, PEOPLE).delta(EPSILON):.1g}. The draft's lemma fails for "
            f"samples of less than one person on average ({first.at}: {shown(first.left)}), and "
            "its proof asks for 1 - e^-epsilon where the notes copied epsilon, though both rates "
            "are safe."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        shares = [0.05 + 0.025 * i for i in range(19)]
        curves = [
            Line("final paper", [(a, _first(final, a)) for a in shares]),
            Line("clean bound", [(a, _first(clean, a)) for a in shares]),
            Line("exactly", [(a, least_threshold(a)) for a in shares]),
        ]
        sampled, enough = "alpha, the share of 1 − 1/e that is sampled", "smallest threshold that is enough"
        panel = Panel(curves, Axis(sampled), Axis(enough, log=True))
        title = "Far smaller counts may be reported than either bound allows"
        text = f"Sample-and-threshold at epsilon = {EPSILON:g} and delta = {DELTA:g}"
        return lines([panel], path, title=title, subtitle=text, theme=theme)


def _first(rule: Rule, alpha: float) -> int:
    """The smallest threshold for which exp(-C threshold) is at most the budget's delta."""
    return -last_below(-(ball(Fraction(10**6)).log() / rule(Fraction(alpha))))
