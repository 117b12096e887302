"""Balcer and Cheu's binary sum: private, accurate, right about nobody, cheap; all its constants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp
from pathlib import Path
from typing import ClassVar

import numpy as np
from flint import arb

from headcount.audit.enumeration import one_report
from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.planner.selection import Progress
from headcount.privacy.crowd import Crowd
from headcount.programme.tally import Tally
from headcount.proof.ball_laws import ball, most
from headcount.protocols.shuffle.zsum import Zsum
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, shown
from headcount_survey.theorems.tails import above, last_below, mass, shifted

EPSILONS = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1))
DELTAS = (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**6), Fraction(1, 10**10))
BETAS = (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000), Fraction(1, 10**6))
TINY = arb(2) ** -200
CROWDS = (2, 10, 1000)  # times K


def noise(epsilon: Fraction, delta: Fraction) -> arb:
    """K = 50 ln(2 / delta) / epsilon², the mean number of dummies that are missing."""
    return 50 * ball(2 / delta).log() / ball(epsilon**2)


@dataclass(frozen=True)
class Setting:
    """The protocol with the theorem's gamma = K / n."""

    epsilon: Fraction
    delta: Fraction
    people: int

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction, times: Fraction | int) -> Setting:
        """This many times K people, rounded up."""
        return cls(epsilon, delta, ceil(most(noise(epsilon, delta) * ball(times))))

    def __str__(self) -> str:
        return f"epsilon = {float(self.epsilon):g}, delta = {float(self.delta):g}, n = {self.people:,}"

    @property
    def missing(self) -> arb:
        return noise(self.epsilon, self.delta)

    @property
    def gamma(self) -> arb:
        return self.missing / self.people

    @property
    def boundary(self) -> arb:
        """The smallest beta that the theorem allows."""
        return ball(self.delta) ** 25

    def exact_delta(self) -> arb:
        return shifted(self.people, self.gamma, ball(self.epsilon).exp())

    def off_by_more(self, error: arb) -> arb:
        """The chance of a larger error in the worst crowd; below K, a lower bound on that chance.

        Y dummies are missing. With k ones the answer is 0 if Y >= k, which is off by k, and off by
        |Y - K| otherwise. Up to k = error neither is too much. Beyond, it fails if Y >= k, or Y > K
        + error, and the first k is the worst.
        """
        return above(self.people, self.gamma, last_below(error) + 1)

    def promised(self, log: arb) -> arb:
        """alpha n for ln(2 / beta): 50 ln(2/delta) / epsilon² + sqrt(200 ln(2/delta) ln(2/beta)) /
        epsilon."""
        return self.missing + 2 * (self.missing * log).sqrt()


def grid(quick: bool) -> list[Setting]:
    deltas = DELTAS[1::2] if quick else DELTAS
    return [Setting.of(e, d, times) for e in EPSILONS[2 if quick else 0 :] for d in deltas for times in CROWDS]


def privacy(setting: Setting) -> Case:
    return Case(str(setting), setting.exact_delta(), setting.delta)


def accuracy(setting: Setting, beta: arb, *, bias: bool = True) -> Case:
    """The chance of an error above alpha, against beta; without bias alpha is its second term."""
    log = (2 / beta).log()
    error = setting.promised(log) if bias else setting.promised(log) - setting.missing
    return Case(f"{setting}, beta = {shown(beta)}", setting.off_by_more(error), beta)


def allowed(settings: list[Setting]) -> Iterator[tuple[Setting, arb]]:
    """Every beta that the condition allows, its boundary included."""
    for setting in settings:
        for beta in [*(ball(b) for b in BETAS), setting.boundary]:
            if beta >= setting.boundary and beta < 1:
                yield setting, beta


def one_constant(setting: Setting, beta: arb) -> Case:
    """alpha n against (50 + sqrt(5000) epsilon) ln(2/delta) / epsilon²."""
    constant = 50 + arb(5000).sqrt() * ball(setting.epsilon)
    bound = constant * ball(2 / setting.delta).log() / ball(setting.epsilon**2)
    return Case(f"{setting}, beta = {shown(beta)}", setting.promised((2 / beta).log()), bound)


def beyond(setting: Setting, times: Fraction) -> Case:
    """Below the boundary by ln(2/beta) = times K: the chance of exceeding alpha, against beta."""
    log = ball(times) * setting.missing
    beta = 2 * (-log).exp()
    return Case(f"{setting}, beta = {shown(beta)}", setting.off_by_more(setting.promised(log)), beta)


def breaking_point() -> str:
    """The first ln(2/beta), in steps of K/10, at which some large crowd exceeds alpha too often."""
    setting = Setting.of(Fraction(1, 4), Fraction(1, 10), CROWDS[-1])
    return str(next(tenth / 10 for tenth in range(23, 100) if not beyond(setting, Fraction(tenth, 10)).holds))


def by_definition(setting: Setting, error: arb) -> arb:
    """The chance of a larger error, by outcome, for the worst number of ones."""
    n, missing = setting.people, setting.missing
    masses = [mass(n, setting.gamma, y) for y in range(n + 1)]
    off = [abs(missing - y) > error for y in range(n + 1)]
    worst = arb(0)
    for k in range(n + 1):
        bad = (m for y, m in enumerate(masses) if (k > error if y >= k else off[y]))
        worst = worst.max(sum(bad, arb(0)))
    return worst


def nonzero_answers(n: int, *, thresholded: bool) -> Case:
    """How many of the totals that nobody's ones can lead to are answered with anything but 0."""
    protocol = Zsum(crowd=Crowd(n), gamma=0.25, thresholded=thresholded)
    points = [protocol.point(Tally(n, np.array([total]))).item() for total in range(n + 1)]
    return Case(f"n = {n}", sum(point != 0.0 for point in points), 0)


def messages(value: int) -> tuple[int, Fraction, Fraction]:
    """The most that are sent, how many on average, and the chance of a dummy."""
    protocol = Zsum(crowd=Crowd(100), gamma=0.25)
    law = one_report(protocol, value)
    sent = {sum(times for _, times in multiset): mass for multiset, mass in law.masses.items()}
    mean = Fraction(sum(many * mass for many, mass in sent.items()), law.total)
    return max(sent), mean, 1 - Fraction(float(protocol.gamma))


class BinaryTheorem(Checked):
    name: ClassVar[str] = "binary-theorem"
    question: ClassVar[str] = "What does the theorem on binary sums promise, with every constant written out?"
    source: ClassVar[str] = "the notes on the binary histogram; section 3.1 of Balcer and Cheu, arXiv:1911.06879"
    statement: ClassVar[str] = (
        "Let epsilon and delta be in (0, 1] and n >= 100 ln(2/delta) / epsilon². (i) The shuffled messages are "
        "(epsilon, delta)-private if one person's value is replaced. (ii) For beta >= delta^25 the error of the "
        "mean is with a chance of at least 1 - beta at most alpha = 50 ln(2/delta) / (epsilon² n) + sqrt(200 "
        "ln(2/delta) ln(2/beta)) / (epsilon n), which is at most (50 + sqrt(5000) epsilon) ln(2/delta) / (epsilon² "
        "n). (iii) If nobody holds a one the answer is 0, always. (iv) Nobody sends more than two messages, and x + "
        "p on average."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        settings = grid(quick)
        few = [Setting.of(e, d, Fraction(1001, 1000)) for e in EPSILONS for d in DELTAS[2:]]
        small = [Setting(Fraction(1), Fraction(1), 70), Setting(Fraction(1), Fraction(1, 2), 150)]
        sums = [(s, s.promised(arb(log))) for s in small for log in (1, 4)]
        sent = [messages(value) for value in (0, 1)]
        large = [s for s in settings if s.people > 100 * s.missing]
        least = [(s, Setting(s.epsilon, s.delta, 5 * s.people)) for s in settings if s.people < 3 * s.missing]
        variances = [[s.missing * (1 - s.gamma) for s in pair] for pair in least]
        return {
            "privacy": Claim.over("(i) exact delta is at most delta", map(privacy, watch(settings))),
            "accuracy": Claim.over(
                "(ii) the error exceeds alpha with at most beta >= delta^25",
                (accuracy(*case) for case in allowed(settings)),
            ),
            "constant": Claim.over(
                "(ii) alpha is at most its form with one constant", (one_constant(*case) for case in allowed(settings))
            ),
            "definition": Claim.over(
                "(ii) summed outcome by outcome, the worst crowd is the one said to be",
                (Case(f"{s}, error {shown(e)}", by_definition(s, e), s.off_by_more(e) + TINY) for s, e in sums),
            ),
            "beyond": Claim.over(
                "(ii) holds below delta^25 as well, down to ln(2/beta) = 2.25 K",
                (beyond(s, times) for s in settings for times in (Fraction(1), Fraction(9, 4))),
            ),
            "nobody": Claim.over(
                "(iii) nothing but 0 is answered if nobody holds a one",
                (nonzero_answers(n, thresholded=True) for n in range(1, 41)),
            ),
            "messages": Claim.over(
                "(iv) at most two messages", (Case(f"x = {x}", m[0], 2) for x, m in enumerate(sent))
            ),
            "mean": Claim.over(
                "(iv) x + p messages on average",
                (Case(f"x = {x}", abs(mean - x - dummy), 0) for x, (_, mean, dummy) in enumerate(sent)),
            ),
            "any-beta": Claim.over(
                "(ii) holds for any beta, as ln(2/beta) = 4.5 K", (beyond(s, Fraction(9, 2)) for s in large), Form.TWIN
            ),
            "no-bias": Claim.over(
                "(ii) holds without the first term of alpha",
                (accuracy(s, ball(b), bias=False) for s in settings for b in BETAS),
                Form.TWIN,
            ),
            "any-crowd": Claim.over("(i) holds for any n above K", map(privacy, few), Form.TWIN),
            "no-threshold": Claim.over(
                "(iii) holds without the threshold",
                (nonzero_answers(n, thresholded=False) for n in range(1, 41)),
                Form.TWIN,
            ),
            "most-noise": Claim.over(
                "the noise is largest at the smallest n, where p = 1/2",
                (Case(str(s), more, at) for (s, _), (at, more) in zip(least, variances, strict=True)),
                Form.NOTES,
            ),
        }

    def answer(self, claims: Claims) -> str:
        private, right, twin = claims["privacy"].worst, claims["accuracy"].worst, claims["no-bias"].worst
        return (
            "Part (i) holds with much to spare: where it is tightest, the exact delta is "
            f"{shown(private.left)} and {shown(private.right)} is promised ({private.at}). The "
            "missing constant of part (ii) is the one stated above; the exact chance of a larger "
            f"error is at most {shown(right.strain)} of beta, and its first term cannot be left "
            "out: counts below K = 50 ln(2/delta) / epsilon² are answered with 0 more often than "
            f"not, so that without it the chance is {shown(twin.left)} for beta = "
            f"{shown(twin.right)}. The condition on beta is cautious: Bernstein's inequality gives "
            f"the same alpha down to ln(2/beta) = 2.25 K, and it breaks only at {breaking_point()} "
            "K."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        setting = Setting(Fraction(1), Fraction(1, 10**6), 100_000)
        k = float(setting.missing)
        errors = [k * (1.0 + 0.01 * i) for i in range(1, 36)]
        exact = [(x, float(setting.off_by_more(arb(x)))) for x in errors]
        promise = [(x, min(1.0, 2.0 * exp(-((x - k) ** 2) / (4.0 * k)))) for x in errors]
        curves = [Line("promised: beta", promise), Line("exactly", exact)]
        notes = [Note(f"smaller errors are not promised:\ncounts below {k:,.0f} mostly read 0", errors[1], 1e-15)]
        panel = Panel(curves, Axis("error, in people"), Axis("chance of a larger one", log=True), notes=notes)
        title = "The accuracy that is promised holds with room to spare"
        text = "Zsum as published for 100,000 people, epsilon = 1 and delta = 1e-6; the worst count"
        return lines([panel], path, title=title, subtitle=text, theme=theme)
