"""Randomised response: unbiased, private, and as far off as the right Hoeffding bound says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, exp, floor, log
from pathlib import Path
from typing import ClassVar, TypeAlias

from flint import arb

from headcount.figures.axis import Axis
from headcount.figures.lines import BOUND, Line, Panel, lines
from headcount.planner.selection import Progress
from headcount.proof.ball_laws import ball
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, shown
from headcount_survey.theorems.few_people import Flipping
from headcount_survey.theorems.tails import above, last_below, upto
from headcount_survey.theorems.views import Randomiser

GAMMAS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
FEW = (1, 2, 3)
PEOPLE = (10, 100, 1_000, 10_000)
CHANCES = (*(Fraction(i, 20) for i in range(1, 20)), Fraction(1, 1000), Fraction(1, 10**6))

Bound: TypeAlias = Callable[[int, Fraction, Fraction], arb]


def tail(n: int, gamma: Fraction, error: Fraction | arb) -> arb:
    """The chance of that error if nobody holds a one: the sum is off by 2 gamma error."""
    mean = n * (Fraction(1, 2) - gamma)
    if isinstance(error, arb):
        away = 2 * ball(gamma) * error
        low, high = last_below(ball(mean) - away), n - last_below(ball(n - mean) - away)
    else:
        low, high = floor(mean - 2 * gamma * error), ceil(mean + 2 * gamma * error)
    chance = ball(mean / n)
    return arb(1) if low >= high else upto(n, chance, low) + above(n, chance, high)


def hoeffding(n: int, gamma: Fraction, error: Fraction) -> arb:
    return 2 * (-ball(8 * gamma**2 * error**2 / n)).exp()


def as_written(n: int, _: Fraction, error: Fraction) -> arb:
    return 2 * (-ball(2 * n * error**2)).exp()


def as_written_for_means(n: int, _: Fraction, error: Fraction) -> arb:
    """The same, had the error been divided by the number of people."""
    return 2 * (-ball(2 * error**2 / n)).exp()


def tails(people: tuple[int, ...], bound: Bound) -> Iterator[Case]:
    """Errors of half to four standard deviations, rounded to a quarter of a person."""
    for n in people:
        for gamma in GAMMAS:
            deviation = (n * (Fraction(1, 4) - gamma**2)) ** 0.5 / (2.0 * float(gamma))
            for halves in range(1, 9):
                error = Fraction(round(2.0 * halves * deviation), 4)
                at = f"N = {n:,}, gamma = {float(gamma):g}, error {float(error):,g}"
                yield Case(at, tail(n, gamma, error), bound(n, gamma, error))


def solved(people: tuple[int, ...], two: int, *, scaled: bool = True) -> Iterator[Case]:
    """The chance of exceeding the error solved for with ln(two / delta), against delta."""
    for n in people:
        for gamma in GAMMAS:
            for delta in CHANCES:
                log = ball(two / delta).log()
                error = (n * log / 2).sqrt() / (2 * ball(gamma)) if scaled else (log / (2 * n)).sqrt()
                at = f"N = {n:,}, gamma = {float(gamma):g}, delta = {float(delta):g}"
                yield Case(at, tail(n, gamma, error), delta)


def expectation(n: int, ones: int, gamma: Fraction, *, sign: int) -> Fraction:
    """(E[sum z] - N / 2 + sign gamma N) / 2 gamma, from the exact law of the sum."""
    law = Flipping(n, Fraction(1, 2) - gamma).law(ones)
    mean = sum((v * mass for v, mass in enumerate(law)), Fraction(0))
    return (mean - Fraction(n, 2) + sign * gamma * n) / (2 * gamma)


def biases(most: int, sign: int) -> Iterator[Case]:
    for n in range(1, most + 1):
        for ones in range(n + 1):
            for gamma in GAMMAS:
                at = f"N = {n}, {ones} ones, gamma = {float(gamma):g}"
                yield Case(at, abs(expectation(n, ones, gamma, sign=sign) - ones), 0)


def variance(gamma: Fraction) -> Fraction:
    """The variance of one person's part in the estimate."""
    return (Fraction(1, 4) - gamma**2) / (4 * gamma**2)


def ratio(gamma: Fraction) -> Fraction:
    """The largest ratio of what one person sends for two values."""
    keep, flip = Fraction(1, 2) + gamma, Fraction(1, 2) - gamma
    parts = [int(chance * keep.denominator * flip.denominator) for chance in (keep, flip)]
    return Fraction(Randomiser.single([parts, parts[::-1]]).factor(1))


class Warner(Checked):
    name: ClassVar[str] = "warner"
    question: ClassVar[str] = "How private is randomised response, and how far off?"
    source: ClassVar[str] = "the notes' survey of mean estimation: upper bound for randomised response"
    statement: ClassVar[str] = (
        "Let each of N people keep their bit with chance 1/2 + gamma. The report is epsilon-private with epsilon = "
        "ln((1 + 2 gamma) / (1 - 2 gamma)). The estimate (sum(z) - (1/2 - gamma) N) / (2 gamma) is unbiased for the "
        "number of ones, with variance N (1/4 - gamma²) / (4 gamma²) = N e^epsilon / (e^epsilon - 1)², and off by t "
        "or more with a chance of at most 2 exp(-8 gamma² t² / N): with chance 1 - delta by less than sqrt(N "
        "ln(2/delta) / 2) / (2 gamma)."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        people = PEOPLE[:3] if quick else PEOPLE
        most = 6 if quick else 10
        laws = [(n, k, g) for n in range(1, most + 1) for k in range(n + 1) for g in GAMMAS]
        small = [Fraction(i, 20) for i in range(1, 41)]
        return {
            "unbiased": Claim.over("the expectation is the number of ones", biases(most, +1)),
            "epsilon": Claim.over(
                "e^epsilon is (1 + 2 gamma) / (1 - 2 gamma)",
                (Case(f"gamma = {g}", abs(ratio(g) - (1 + 2 * g) / (1 - 2 * g)), 0) for g in GAMMAS),
            ),
            "linear": Claim.over(
                "with gamma = epsilon / (4 + 2 epsilon) it is 1 + epsilon, at most e^epsilon",
                (Case(f"epsilon = {float(e):g}", ratio(e / (4 + 2 * e)), ball(e).exp()) for e in small),
            ),
            "variance": Claim.over(
                "the variance is N (1/4 - gamma²) / (4 gamma²)",
                (
                    Case(
                        f"N = {n}, {k} ones, gamma = {float(g):g}",
                        abs(Flipping(n, Fraction(1, 2) - g).variance(k) - n * variance(g)),
                        0,
                    )
                    for n, k, g in laws
                ),
            ),
            "same-variance": Claim.over(
                "which is N e^epsilon / (e^epsilon - 1)²",
                (Case(f"gamma = {g}", abs(variance(g) - ratio(g) / (ratio(g) - 1) ** 2), 0) for g in GAMMAS),
            ),
            "hoeffding": Claim.over(
                "an error of t or more has a chance of at most 2 exp(-8 gamma² t² / N)",
                watch(list(tails(people, hoeffding))),
            ),
            "solved": Claim.over(
                "sqrt(N ln(2/delta) / 2) / (2 gamma) is exceeded with at most delta", solved(people, 2)
            ),
            "biased": Claim.over("the expectation with -gamma N for +gamma N", biases(most, -1), Form.NOTES),
            "hoeffding-written": Claim.over("the same with 2 exp(-2 N t²)", tails(people, as_written), Form.NOTES),
            "hoeffding-means": Claim.over(
                "the same with 2 exp(-2 N t²), t being an error of the mean",
                tails(people, as_written_for_means),
                Form.NOTES,
            ),
            "solved-few": Claim.over("the same among very few", solved(FEW, 2)),
            "solved-one": Claim.over(
                "sqrt(N ln(1/delta) / 2) / (2 gamma) is exceeded with at most delta, among very few",
                solved(FEW, 1),
                Form.NOTES,
            ),
            "solved-written": Claim.over(
                "sqrt(ln(1/delta) / (2 N)) is exceeded with at most delta", solved(people, 1, scaled=False), Form.NOTES
            ),
        }

    def answer(self, claims: Claims) -> str:
        n, gamma, error = 1_000, Fraction(1, 10), Fraction(100)
        one = claims["solved-one"].worst
        return (
            f"At N = {n:,} and gamma = {float(gamma):g} the estimate is off by {error} people or "
            f"more with a chance of {shown(tail(n, gamma, error))}; the right bound says "
            f"{shown(hoeffding(n, gamma, error))}, and the one written down "
            f"{shown(as_written_for_means(n, gamma, error))} if its t is an error of the mean and "
            "nothing at all if it is not: dividing by 2 gamma stretches the error, and the bound "
            "forgot it. The 2 in ln(2/delta) is needed too, though it shows only among a handful "
            f"of people: at {one.at} the error that should be rarer comes with a chance of "
            f"{shown(one.left)}. Epsilon is ln((1 + 2 gamma) / (1 - 2 gamma)), "
            f"{shown(log(ratio(gamma)))} here."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        n, gamma = 1_000, Fraction(1, 10)
        errors = range(0, 401, 10)
        curves = [
            Line("exactly", [(t, float(tail(n, gamma, Fraction(t)))) for t in errors]),
            Line("2 exp(−8 γ² t² / N)", [(t, min(1.0, float(hoeffding(n, gamma, Fraction(t))))) for t in errors]),
            Line(
                "as written, for means", [(t, min(1.0, 2 * exp(-2 * t * t / n))) for t in range(0, 101, 2)], "", BOUND
            ),
        ]
        panel = Panel(curves, Axis("error t, in people"), Axis("chance of at least that error", log=True))
        title = "The bound as written promises an accuracy that randomised response does not have"
        text = "1,000 people who keep their bit with chance 0.6 (γ = 0.1), none of whom holds a one"
        return lines([panel], path, title=title, subtitle=text, theme=theme)
