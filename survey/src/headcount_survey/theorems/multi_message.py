"""Several messages each: two randomisers that are private only together."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf, log
from pathlib import Path
from typing import ClassVar

from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.planner.selection import Progress
from headcount.programme.coins import SeededCoins
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, crowd, shown
from headcount_survey.theorems.views import Factor, Randomiser, multiset

PEOPLE = 50
SEED = 13
BOTH = Randomiser(({multiset(1, 1): 1}, {multiset(1, 1): 1}))  # x and 1 - x: one zero and one one, whatever x
ORDERED = Randomiser.single([[1, 0], [0, 1]])  # the same before it is mixed: the first message is x
LIMIT = Fraction(8, 5)


def gap(zero: tuple[int, ...], one: tuple[int, ...]) -> Randomiser:
    """Four bits by how many of them are ones; of equal number all orders are alike."""
    totals = sum(zero), sum(one)
    rows = ([w * totals[1] for w in zero], [w * totals[0] for w in one])
    return Randomiser(tuple({multiset(4 - ones, ones): w for ones, w in enumerate(row) if w} for row in rows))


GAP = gap((1, 4, 6, 4, 1), (1, 4, 0, 4, 1))  # any four bits; any but those with exactly two ones


def reachable(people: int) -> set[int]:
    """The numbers of ones that a crowd can send in which everybody holds a one."""
    found = {0}
    for _ in range(people):
        found = {total + more for total in found for more in (0, 1, 3, 4)}
    return found


def unreached(people: int) -> Case:
    """How many totals from 0 to 4n cannot come about."""
    return Case(crowd(people), len(set(range(4 * people + 1)) - reachable(people)), 0)


def telling(randomiser: Randomiser, people: int, name: str = "") -> Case:
    """The views possible for a crowd and not for its neighbour; 0 for a finite largest ratio."""
    return Case(", ".join(filter(None, (name, crowd(people)))), randomiser.telling(people), 0)


def some_gaps(many: int) -> Iterator[tuple[str, Randomiser]]:
    """Other laws with the same supports: a finite epsilon cannot depend on which is drawn."""
    coins = SeededCoins(SEED)
    for i in range(many):
        w = (1 + coins.below(30, 9)).tolist()
        yield f"random law {i + 1}", gap(tuple(w[:5]), (w[5], w[6], 0, w[7], w[8]))


class MultiMessage(Checked):
    name: ClassVar[str] = "multi-message"
    question: ClassVar[str] = "Can several messages be private once shuffled, and not at all before?"
    source: ClassVar[str] = "the notes' two counterexamples to local privacy; section 4 of Balcer and Cheu"
    statement: ClassVar[str] = (
        "Sending x and 1 - x is 0-private once shuffled, and not private at all before. Sending four bits, any of "
        "the 16 for a zero and any but those with exactly two ones for a one, is not private for any finite epsilon "
        "even if each person's bits are mixed; shuffled among n >= 2 people every total from 0 to 4n is possible "
        "for every crowd, and epsilon is finite. It is not 0: with uniform laws it is ln(8/5) from n = 4 on."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def __init__(self) -> None:
        self._factors: dict[int, Factor] = {}

    def claims(self, quick: bool, watch: Progress) -> Claims:
        people = list(range(1, PEOPLE + 1))
        self._factors = {n: GAP.factor(n) for n in watch(people)}
        several, known = people[1:], self._factors
        laws = list(some_gaps(10 if quick else 50))
        rules_out = "nothing that a crowd shows is impossible for its neighbour"
        return {
            "both": Claim.over(
                "x and 1 - x: the largest ratio is 1", (Case(crowd(n), BOTH.factor(n), 1) for n in people)
            ),
            "both-before": Claim.over(f"x and 1 - x, in this order: {rules_out}", [telling(ORDERED, 1)], Form.TWIN),
            "reached": Claim.over("R-gap: every total can come about, n >= 2", map(unreached, several)),
            "reached-alone": Claim.over("R-gap: every total can come about, n = 1", [unreached(1)], Form.TWIN),
            "finite": Claim.over(f"R-gap: {rules_out}, n >= 2", (telling(GAP, n) for n in several)),
            "finite-alone": Claim.over(f"R-gap: {rules_out}, n = 1", [telling(GAP, 1)], Form.TWIN),
            "other-laws": Claim.over(
                "the same for other laws on the same outcomes, n = 2 and 3",
                (telling(law, n, name) for name, law in laws for n in (2, 3)),
            ),
            "limit": Claim.over(
                "R-gap: the largest ratio is 8/5, n >= 4",
                (Case(crowd(n), abs(Fraction(known[n]) - LIMIT), 0) for n in people[3:]),
            ),
            "perfect": Claim.over(
                "R-gap: privacy is perfect, the ratio is 1", (Case(crowd(n), known[n], 1) for n in several), Form.NOTES
            ),
        }

    def answer(self, claims: Claims) -> str:
        first = ", ".join(f"{shown(log(f))} at n = {n}" for n, f in self._factors.items() if 1 < n < 4)
        last = max(self._factors)
        return (
            "Sending x and 1 - x shows one zero and one one for each person, whoever they are: "
            f"epsilon is 0. For R-gap it is infinite alone, {first}, and ln({LIMIT}) = "
            f"{shown(log(LIMIT))} from 4 to {last} people. The reason is short: 0, 1, 3 and 4 ones "
            "are possible for a one, two such numbers add up to anything from 0 to 8, and by "
            "induction n of them to anything from 0 to 4n, so that no total rules a crowd out. "
            "Finite is all it is: however many they are, a crowd may show no ones at all, and "
            "somebody with a one sends none with chance 1/10, somebody with a zero with 1/16."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        points = [(n, log(factor)) for n, factor in self._factors.items() if factor < inf]
        curves = [
            Line("R-gap, four bits", points, dots=True),
            Line("x and 1 − x", [(n, 0.0) for n in self._factors], dots=True),
        ]
        notes = [Note("R-gap among 2 people; alone, epsilon is infinite", 3.0, points[0][1])]
        panel = Panel(curves, Axis("people"), Axis("epsilon, with delta = 0"), notes=notes)
        title = "Two randomisers that are worthless alone are private once their messages are shuffled"
        text = "Exact epsilon of what the shuffler shows"
        return lines([panel], path, title=title, subtitle=text, theme=theme)
