"""Balcer and Cheu's histogram: two bins change; all are right at once if beta allows for it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log2
from pathlib import Path
from typing import ClassVar, TypeAlias

from flint import arb

from headcount.audit.enumeration import one_report
from headcount.figures.axis import Axis
from headcount.figures.lines import BOUND, Line, Panel, lines
from headcount.planner.selection import Progress
from headcount.privacy import laws
from headcount.privacy.crowd import Crowd
from headcount.privacy.pair import Pair
from headcount.privacy.product import two_cells
from headcount.programme.chance import Chance
from headcount.proof.ball_laws import ball
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.questions.histogram import Histogram
from headcount_survey.study import Verdict
from headcount_survey.theorems.binary_theorem import BETAS, Setting, accuracy, allowed, grid
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, shown
from headcount_survey.theorems.tails import above, last_below

NOISES = (5, 20, 34, 100)  # missing dummies on average, where privacy is not a foregone conclusion
PEOPLE = 1_000
NEARLY_ONE = Fraction(9, 10)

Logarithm: TypeAlias = Callable[[Setting, arb], arb]


def one_bin(_: Setting, beta: arb) -> arb:
    return (2 / beta).log()


def every_person(setting: Setting, beta: arb) -> arb:
    """The union bound as if each of n people had a bin of their own."""
    return (2 * setting.people / beta).log()


def every_large_bin(setting: Setting, beta: arb) -> arb:
    """Only bins with more than K people can be wrong, and there are fewer than n / K of them."""
    return (2 * setting.people / (setting.missing * beta)).log()


def some_bin_off(people: int, gamma: arb, error: arb) -> arb:
    """The chance of an error of more than this many people in some bin, for the worst histogram.

    A bin of at most `error` people never is. A larger one is with the chance that at least as many
    dummies are missing, which is largest for the smallest such bin; so there are as many of those
    as people allow. Bins are independent.
    """
    smallest = last_below(error) + 1
    return -(people // smallest * (-above(people, gamma, smallest)).log1p()).expm1()


def simultaneous(setting: Setting, beta: arb, log: Logarithm) -> Case:
    error = setting.promised(log(setting, beta))
    return Case(f"{setting}, beta = {shown(beta)}", some_bin_off(setting.people, setting.gamma, error), beta)


def one_constant(power: int) -> Case:
    """The largest error of part (ii), whatever beta >= delta^25, asked of all bins at once."""
    setting = Setting(Fraction(1), NEARLY_ONE, 10**power)
    error = (50 + arb(5000).sqrt()) * ball(2 / NEARLY_ONE).log()
    chance = some_bin_off(setting.people, setting.gamma, error)
    return Case(f"epsilon = 1, delta = {float(NEARLY_ONE)}, n = 1e{power}, beta = delta^25", chance, setting.boundary)


def composed(missing: int, epsilon: float, *, times: int) -> Case:
    """delta of two changed bins at a multiple of epsilon, against that multiple of one's."""
    one = Pair.shifted(laws.binomial(PEOPLE, Chance.up(missing / PEOPLE)))
    at = f"n = {PEOPLE:,}, K = {missing}, epsilon = {epsilon:g}"
    return Case(at, Fraction(two_cells(one).delta(times * epsilon)), times * Fraction(one.delta(epsilon)))


def published(setting: Setting) -> Case:
    """(2 epsilon, 2 delta)"""
    one = Pair.shifted(laws.binomial(setting.people, Chance.up(float(setting.gamma))))
    return Case(str(setting), Fraction(two_cells(one).delta(2.0 * float(setting.epsilon))), 2 * setting.delta)


def messages(bins: int) -> tuple[int, Fraction, Fraction]:
    """The most that are sent, how many on average, and what 1 + dp comes to."""
    protocol = BalcerCheuHistogram(task=Histogram(bins), crowd=Crowd(100), gamma=0.25)
    law = one_report(protocol, 0)
    sent = [(sum(times for _, times in multiset), mass) for multiset, mass in law.masses.items()]
    mean = Fraction(sum(many * mass for many, mass in sent), law.total)
    return max(many for many, _ in sent), mean, 1 + bins * (1 - Fraction(float(protocol.gamma)))


class HistogramTheorem(Checked):
    name: ClassVar[str] = "histogram-theorem"
    question: ClassVar[str] = "What does the theorem on histograms promise of all bins at once?"
    source: ClassVar[str] = "the notes on the full histogram; section 3.2 of Balcer and Cheu, arXiv:1911.06879"
    statement: ClassVar[str] = (
        "With epsilon, delta and n as for binary sums: (i) the shuffled messages are (2 epsilon, 2 delta)-private. "
        "(ii) Each bin is off by at most alpha but for a chance of beta >= delta^25. (iii) All bins at once are, "
        "for beta >= n delta^25, with ln(2n/beta) in place of ln(2/beta) in alpha; ln(2n/(K beta)) is enough, where "
        "K = 50 ln(2/delta) / epsilon². (iv) Nobody sends more than d + 1 messages, of log2(d) bits each, and 1 + "
        "dp on average."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        settings = grid(quick)
        mixed = [(missing, epsilon) for missing in NOISES for epsilon in (0.25, 0.5, 1.0)]
        at_once = [(s, ball(b)) for s in settings for b in BETAS if ball(b) >= s.people * s.boundary]
        at_once += [(s, s.people * s.boundary) for s in settings if s.people * s.boundary < 1]
        below = [(s, s.boundary) for s in settings if s.boundary < 1]
        bins = range(2, 6 if quick else 9)
        sent = {d: messages(d) for d in bins}
        return {
            "privacy": Claim.over(
                "(i) delta at 2 epsilon is at most 2 delta", map(published, watch(settings[:: 3 if quick else 1]))
            ),
            "composition": Claim.over(
                "(i) for any noise: two bins lose at 2 epsilon at most twice what one does",
                (composed(*case, times=2) for case in mixed),
            ),
            "each": Claim.over(
                "(ii) each bin exceeds alpha with at most beta >= delta^25",
                (accuracy(*case) for case in allowed(settings)),
            ),
            "all": Claim.over(
                "(iii) some bin exceeds alpha, with ln(2n/beta), with at most beta >= n delta^25",
                (simultaneous(*case, every_person) for case in at_once),
            ),
            "all-large": Claim.over(
                "(iii) the same with ln(2n/(K beta))", (simultaneous(*case, every_large_bin) for case in at_once)
            ),
            "below": Claim.over(
                "(iii) the same, with ln(2n/beta), at beta = delta^25",
                (simultaneous(*case, every_person) for case in below),
            ),
            "messages": Claim.over(
                "(iv) at most d + 1 messages", (Case(f"d = {d}", m[0], d + 1) for d, m in sent.items())
            ),
            "mean": Claim.over(
                "(iv) 1 + dp messages on average", (Case(f"d = {d}", abs(m[1] - m[2]), 0) for d, m in sent.items())
            ),
            "one-bin": Claim.over(
                "(iii) holds with the alpha of a single bin",
                (simultaneous(*case, one_bin) for case in at_once),
                Form.NOTES,
            ),
            "constant": Claim.over(
                "(iii) holds at beta = delta^25 with the largest alpha of (ii), whatever n",
                (one_constant(power) for power in range(3, 25)),
                Form.NOTES,
            ),
            "bits": Claim.over(
                "(iv) at most d + 1 bits",
                (Case(f"d = {d}", m[0] * ceil(log2(d)), d + 1) for d, m in sent.items()),
                Form.NOTES,
            ),
            "for-one": Claim.over(
                "(i) two bins lose no more than one does", (composed(*case, times=1) for case in mixed), Form.TWIN
            ),
        }

    def answer(self, claims: Claims) -> str:
        single, constant = claims["one-bin"], claims["constant"]
        first = next(power for power in range(3, 40) if not one_constant(power).holds)
        return (
            "Two bins change, so that (i) doubles epsilon and delta, and does not multiply a pair "
            "by two. Every bin may be right nearly always and some bin wrong nearly always: with "
            f"the alpha of one bin, {single.worst.at}, some bin is off by more with a chance of "
            f"{shown(single.worst.left)} ({single.fails} of {single.cases} cases). Hence the n "
            "inside the logarithm, and the condition beta >= n delta^25 that keeps it within a "
            "constant of ln(1/delta). Without that condition (iii) fails with its own largest "
            f"alpha, but only from n = 1e{first} on ({constant.fails} of {constant.cases}): the "
            "bounds are that generous. A union over n bins is more than is needed, because a bin "
            "of fewer than K people is never too wrong."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        beta, labels = ball(BETAS[1]), ("alpha of one bin", "alpha with n in its logarithm", "promised: beta")
        settings = [Setting.of(Fraction(1), Fraction(1, 10**6), 2 * times) for times in _times()]
        curves = [
            Line(label, [(s.people, float(simultaneous(s, beta, log).left)) for s in settings])
            for label, log in zip(labels, (one_bin, every_person), strict=False)
        ]
        curves.append(Line(labels[2], [(s.people, float(beta)) for s in (settings[0], settings[-1])], dashes=BOUND))
        panel = Panel(curves, Axis("people", log=True), Axis("chance that some bin is off by more"))
        title = "With many bins, each of them being right is not all of them being right"
        text = "Published parameters at epsilon = 1 and delta = 1e-6; beta = 0.05 and the worst histogram"
        return lines([panel], path, title=title, subtitle=text, theme=theme)


def _times() -> list[int]:
    return sorted({round(10 ** (i / 4)) for i in range(21)})
