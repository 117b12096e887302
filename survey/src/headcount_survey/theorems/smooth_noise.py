"""Noise from a smooth law hides a change of the answer, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import ClassVar

from flint import arb

from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Panel, lines
from headcount.planner.selection import Progress
from headcount.programme.coins import Coins, SeededCoins
from headcount.proof.ball_laws import ball
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, shown
from headcount_survey.theorems.tails import above, last_below, shifted, upto

SEED = 11
STEPS = tuple(Fraction(a, b) for a, b in ((1, 2), (2, 3), (4, 5), (1, 1), (5, 4), (3, 2), (2, 1)))
FACTORS = (Fraction(5, 4), Fraction(3, 2), Fraction(21, 10))  # e**epsilon
NEAR_E = Fraction(19, 7)
TRIALS = 4_000


@dataclass(frozen=True)
class Law:
    """Weights of the integers from 0 on."""

    weights: tuple[int, ...]

    @classmethod
    def random(cls, coins: Coins, size: int) -> Law:
        """Each mass is a random multiple of the one before."""
        masses = [Fraction(1)]
        for step in coins.below(len(STEPS), size - 1).tolist():
            masses.append(masses[-1] * STEPS[step])
        whole = prod(mass.denominator for mass in masses)
        return cls(tuple(int(mass * whole) for mass in masses))

    @classmethod
    def uniform(cls, size: int) -> Law:
        return cls((1,) * size)

    @classmethod
    def peaked(cls, reach: int) -> Law:
        """Twice as likely with every step towards the middle."""
        return cls(tuple(1 << (reach - abs(y)) for y in range(-reach, reach + 1)))

    @property
    def total(self) -> int:
        return sum(self.weights)

    def at(self, y: int) -> int:
        return self.weights[y] if 0 <= y < len(self.weights) else 0

    def smoothness(self, factor: Fraction, k: int) -> Fraction:
        """The smallest delta of smoothness at e**epsilon = factor, for steps up to k."""
        p, q = factor.numerator, factor.denominator
        return max(
            Fraction(
                sum(w for y, w in enumerate(self.weights) if q ** abs(s) * w >= p ** abs(s) * self.at(y + s)),
                self.total,
            )
            for s in range(-k, k + 1)
            if s
        )

    def divergence(self, change: Sequence[int], factor: Fraction) -> Fraction:
        """The divergence of independent noise in each coordinate from that about the new answer."""
        p, q = factor.numerator, factor.denominator
        excess = 0
        for outcome in product(range(len(self.weights)), repeat=len(change)):
            here = prod(self.weights[y] for y in outcome)
            there = prod(self.at(y - by) for y, by in zip(outcome, change, strict=True))
            excess += max(0, q * here - p * there)
        return Fraction(excess, q * self.total ** len(change))

    def divergence_of_one_draw(self, change: Sequence[int], factor: Fraction) -> Fraction:
        """The same with one draw for all coordinates: unless all change alike, differences tell."""
        return self.divergence(change[:1], factor) if len(set(change)) == 1 else Fraction(1)


@dataclass(frozen=True)
class Change:
    """A law, e**epsilon, and by how much each coordinate of the answer changes."""

    law: Law
    factor: Fraction
    by: tuple[int, ...]

    def __str__(self) -> str:
        return f"{len(self.law.weights)} outcomes, e^epsilon = {self.factor}, change {', '.join(map(str, self.by))}"

    @property
    def size(self) -> int:
        """Delta, the sum of all changes."""
        return sum(map(abs, self.by))

    @property
    def delta(self) -> Fraction:
        """The law's delta, for steps up to one."""
        return self.law.smoothness(self.factor, 1)

    @property
    def exact(self) -> Fraction:
        return self.law.divergence(self.by, self.factor**self.size)


def changes(laws: int, coins: Coins) -> list[Change]:
    """Random laws, and changes by at most one in each of one to three coordinates."""
    found = []
    for _ in range(laws):
        law = Law.random(coins, 3 + int(coins.below(5, 1)[0]))
        for factor in FACTORS:
            by = tuple(int(step) - 1 for step in coins.below(3, 1 + int(coins.below(3, 1)[0])))
            if any(by) and law.smoothness(factor, 1) < 1:
                found.append(Change(law, factor, by))
    return found


def lemma(change: Change) -> Case:
    """(epsilon Delta, delta Delta)"""
    return Case(str(change), change.exact, change.delta * change.size)


def without_the_size(change: Change) -> Case:
    """(epsilon Delta, delta)"""
    return Case(str(change), change.exact, change.delta)


def without_more_epsilon(change: Change) -> Case:
    """(epsilon, delta Delta)"""
    return Case(str(change), change.law.divergence(change.by, change.factor), change.delta * change.size)


def one_draw(change: Change) -> Case:
    left = change.law.divergence_of_one_draw(change.by, change.factor**change.size)
    return Case(str(change), left, change.delta * change.size)


def binomials(means: Sequence[int]) -> Iterator[tuple[str, arb, arb, arb]]:
    """Exact delta of a count with binomial noise, a large ratio's chance, and Chernoff's bound."""
    alpha = (NEAR_E - 1) / (NEAR_E + 1)
    for mean in means:
        chance, factor = arb(mean) / TRIALS, ball(NEAR_E)
        odds = chance / (1 - chance)
        low, high = last_below((TRIALS + 1) * odds / (factor + odds)), last_below((TRIALS + 1) / (factor * odds + 1))
        large = upto(TRIALS, chance, low).max(above(TRIALS, chance, TRIALS - high))
        exponent = -ball(alpha**2) * mean
        chernoff = (exponent / 8).exp() + (exponent / ball(8 + 2 * alpha)).exp()
        yield f"mean {mean}", shifted(TRIALS, chance, factor), large, chernoff


class SmoothNoise(Checked):
    name: ClassVar[str] = "smooth-noise"
    question: ClassVar[str] = "Does noise from a smooth law make any answer of small sensitivity private?"
    source: ClassVar[str] = "lemma 2 of the notes; lemma 4.11 of Ghazi et al., arXiv:1908.11358"
    statement: ClassVar[str] = (
        "Let neighbours change each coordinate of an answer by at most k and all of them together by at most Delta. "
        "Independent noise in each coordinate, from a law that is (epsilon, delta, k)-smooth, makes it (epsilon "
        "Delta, delta Delta)-private."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        some = changes(40 if quick else 400, SeededCoins(SEED))
        even = [Change(Law.uniform(size), Fraction(3, 2), (1,) * many) for size in (5, 10, 20) for many in (2, 3)]
        peaked = [Change(Law.peaked(reach), Fraction(21, 10), (2,)) for reach in range(2, 9)]
        steep = [Change(Law.peaked(reach), Fraction(21, 10), (1, -1)) for reach in range(2, 9)]
        binomial = list(binomials(range(20, 301, 40)))
        tight = (Case(str(c), c.delta * c.size * (1 - Fraction(c.size, 2 * len(c.law.weights))), c.exact) for c in even)
        return {
            "lemma": Claim.over(
                "delta at epsilon Delta is at most delta Delta", map(lemma, watch([*some, *even, *steep]))
            ),
            "tight": Claim.over("for an even law of N outcomes it is at least (1 - Delta / 2N) of that", tight),
            "stronger": Claim.over(
                "delta is at most the chance of a large ratio", (Case(at, d, p) for at, d, p, _ in binomial)
            ),
            "chernoff": Claim.over(
                "which is at most Chernoff's bound", (Case(at, p, bound) for at, _, p, bound in binomial)
            ),
            "one-draw": Claim.over("one draw may serve all coordinates", map(one_draw, [*some, *steep]), Form.NOTES),
            "converse": Claim.over(
                "the chance of a large ratio is at most delta", (Case(at, p, d) for at, d, p, _ in binomial), Form.NOTES
            ),
            "no-size": Claim.over(
                "delta at epsilon Delta is at most delta", map(without_the_size, [*some, *even]), Form.TWIN
            ),
            "no-epsilon": Claim.over(
                "delta at epsilon is at most delta Delta", map(without_more_epsilon, [*some, *steep]), Form.TWIN
            ),
            "two-at-once": Claim.over(
                "a law smooth for steps of one will do for a coordinate that changes by two",
                map(lemma, peaked),
                Form.TWIN,
            ),
        }

    def answer(self, claims: Claims) -> str:
        twin, converse = claims["two-at-once"].worst, claims["converse"].worst
        even = Change(Law.uniform(20), Fraction(3, 2), (1, 1))
        return (
            f"The bound delta Delta is nearly attained: an even law ({even}) comes to {shown(even.exact)} where "
            f"{shown(lemma(even).right)} is allowed. Each coordinate needs a draw of its own, and the law must be "
            f"smooth for the largest single change: otherwise delta can be {shown(twin.left)} where "
            f"{shown(twin.right)} is claimed ({twin.at}). What smoothness promises, a ratio below e^epsilon but for "
            f"a chance of delta, is more than privacy asks: for binomial noise of {converse.at} that chance is "
            f"{shown(converse.left)}, and {shown(converse.right)} is enough."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        means = range(10, 401, 10)
        found = list(zip(means, binomials(means), strict=True))
        labels = ("exact delta", "chance of a large ratio", "Chernoff's bound on it")
        curves = [
            Line(label, [(mean, float(sides[i])) for mean, sides in found]) for i, label in enumerate(labels, start=1)
        ]
        panel = Panel(curves, Axis("mean of the noise, in people"), Axis("delta", log=True))
        title = "The proof loses most of its strength in Chernoff's bound, not on the way through smoothness"
        text = "A count with binomial noise of 4,000 coins, at e^epsilon = 19/7"
        return lines([panel], path, title=title, subtitle=text, theme=theme)
