"""How much privacy does shuffling add to a local report: by closed forms, bounds, and exactly?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument
from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.privacy.amplified import Amplified, CrowdLoss, MessageLaws
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance
from headcount_survey.study import Finding, Study

DELTA = 1e-6
LOCAL = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0)
DOTTED = (1.5, 2.5)  # over the bound that it attains
CROWDS = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
FEW = (3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 300)
MANY, SMALL, EVERY = (1_000, 10**9), (2, 300), (2, 10**9)
KINDS = (2, 3, 5, 10, 20, 50, 100)
CALLED = {
    "none": "without a shuffler",
    "erlingsson": "Erlingsson et al. 2019",
    "blanket": "Balle et al. 2019, closed form",
    "clones_formula": "Feldman et al. 2021, closed form",
    "clones": "clones, computed",
    "stronger": "stronger clones, which are wrong",
    "cover": "blanket, computed",
    "exact": "exact",
}
LOOKS: dict[str, tuple[str, tuple[float, ...]]] = {
    "none": ("soft", RULE),
    "erlingsson": ("hashing", BOUND),
    "blanket": ("sampling", BOUND),
    "clones_formula": ("central noise", BOUND),
    "clones": ("central noise", ()),
    "stronger": ("cancelling", ()),
    "cover": ("sampling", ()),
    "exact": ("ink", ()),
}


@dataclass(frozen=True)
class Amplification(Study):
    name: ClassVar[str] = "amplification"
    question: ClassVar[str] = "How much privacy does a shuffler add to reports that are already private on their own?"
    source: ClassVar[str] = (
        "amplification by shuffling: Erlingsson et al. 2019, Balle et al. 2019, Feldman et al. 2021 and 2023"
    )

    people: int = 10_000
    answers: int = 10
    local: float = 2.0
    delta: float = DELTA

    def __post_init__(self) -> None:
        if self.people < 2 or self.answers < 3 or self.local <= 0.0 or not 0.0 < self.delta < 1.0:
            works = "use for example people=10000, answers=10 (3 at least), local=2 and delta=1e-6"
            raise BadArgument("parameters", "are out of their ranges", works)

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        two, ten, local = 2, self.answers, (0.3,) if quick else LOCAL
        crowds, kinds, few = (CROWDS[:3:2], KINDS[1:2], FEW[3:4]) if quick else (CROWDS, KINDS, FEW)
        grid = {(k, e, self.people) for k in (two, ten) for e in (*local, self.local)}
        grid |= {(two, self.local, n) for n in crowds} | {(k, self.local, self.people) for k in kinds}
        grid |= {(ten, self.local, n) for n in (*few, *crowds)}
        rows = [
            {"answers": k, "local_epsilon": e, "people": n, **shuffled(k, e, n, self.delta)}
            for k, e, n in watch(sorted(grid))
        ]
        return Finding(self._answer(rows), rows, _sheet(rows), partial(self._draw, rows))

    def _answer(self, rows: Sequence[dict[str, Any]]) -> str:
        at = {(row["answers"], row["local_epsilon"], row["people"]): row for row in rows}
        two, ten = at[2, self.local, self.people], at[self.answers, self.local, self.people]
        binary, several = [row for row in rows if row["answers"] == 2], [row for row in rows if row["answers"] > 2]
        loose = max(min(row["clones_formula"] or math.inf, row["blanket"]) / row["exact"] for row in binary)
        clones = [row["clones"] / row["exact"] for row in rows]
        gap = [row["cover"] / row["exact"] for row in several]
        wrong = max(several, key=lambda row: row["exact"] / row["stronger"])
        few, many = (f(n for k, e, n in at if (k, e) == (2, self.local)) for f in (min, max))
        falls = at[2, self.local, few]["exact"] / at[2, self.local, many]["exact"]
        closed = "" if two["clones_formula"] is None else f", their closed form {two['clones_formula']:.3f}"
        return (
            f"Much, and the closed forms hide most of it. {self.people:,} flipped bits of local epsilon "
            f"{self.local:g} have epsilon {two['exact']:.3f} once shuffled (delta {self.delta:g}); clones, computed, "
            f"say {two['clones']:.3f}{closed} and the blanket's {two['blanket']:.3f}. Over the grid the best closed "
            f"form is up to {number(loose)} times too large and the computed clones {min(clones):.2f} to "
            f"{max(clones):.2f} times. With {self.answers} answers instead of two the same local epsilon leaves "
            f"{ten['exact']:.3f}, attained by a crowd of which everybody else holds the same, and the computed blanket "
            f"is {min(gap):.4f} to {max(gap):.4f} times what such crowds attain. Stronger clones for several answers "
            f"claim less than is true: {wrong['stronger']:.3f} where {wrong['people']:,} people with "
            f"{wrong['answers']} answers attain {wrong['exact']:.3f}. From {few:,} to {many:,} people epsilon falls "
            f"{number(falls)} times; in proportion to 1/√n it would fall {number(math.sqrt(many / few))} times."
        )

    def _draw(self, rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
        def drawn(key: str, fixed: dict[str, float], every: Sequence[str], sizes: tuple[int, int] = MANY) -> list[Line]:
            within = (row for row in rows if sizes[0] <= row["people"] <= sizes[1])
            chosen = [row for row in within if all(row[k] == v for k, v in fixed.items())]
            chosen.sort(key=lambda row: row[key])
            found = []
            for name in every:
                points = [(float(row[key]), row[name]) for row in chosen if row[name] is not None]
                label = "attained by a crowd" if name == "exact" and fixed.get("answers") != 2 else CALLED[name]
                hue, dashes = LOOKS[name]
                found.append(Line(label, points, hue, DOTTED if label != CALLED[name] else dashes))
            return [line for line in found if line.points]

        every, after = list(CALLED), "epsilon, shuffled"
        proved = [name for name in every if name != "stronger"]
        local, people = Axis("local epsilon", log=True, low=0.1, high=5.0), Axis("people", log=True)
        one, several = f"{self.people:,} people", f"{self.answers} answers"
        panels = [
            Panel(
                drawn("local_epsilon", {"answers": 2, "people": self.people}, proved, EVERY),
                local,
                Axis(after, log=True, high=8.0),
                f"One bit, {one}",
            ),
            Panel(
                drawn("local_epsilon", {"answers": self.answers, "people": self.people}, proved, EVERY),
                local,
                Axis(after, log=True, high=8.0),
                f"{several}, {one}",
            ),
            Panel(
                drawn("people", {"answers": 2, "local_epsilon": self.local}, proved[2:]),
                people,
                Axis(after, log=True),
                f"One bit, local epsilon {self.local:g}",
            ),
            Panel(
                drawn("people", {"answers": self.answers, "local_epsilon": self.local}, proved[2:]),
                people,
                Axis(after, log=True),
                f"{several}, local epsilon {self.local:g}",
            ),
            Panel(
                drawn("answers", {"people": self.people, "local_epsilon": self.local}, proved[2:], EVERY),
                Axis("answers", log=True),
                Axis(after, log=True),
                f"Several answers, local epsilon {self.local:g}",
            ),
            Panel(
                drawn("people", {"answers": self.answers, "local_epsilon": self.local}, every[-3:], SMALL),
                people,
                Axis(after),
                f"Stronger clones: {several}, few people",
            ),
        ]
        return lines(
            panels,
            path,
            title="Shuffling adds far more privacy than the closed forms say",
            subtitle=f"Randomised response, shuffled, at δ = {self.delta:g}: bounds, beside what is exact or attained",
            theme=theme,
        )


def shuffled(answers: int, local: float, people: int, delta: float = DELTA) -> dict[str, float | None]:
    """Epsilon of the shuffled reports by each method; None where a method has no claim."""
    lie = answers / (math.exp(local) + answers - 1.0)
    cover = Amplified(MessageLaws.response(lie, answers), people)
    exact: PrivacyLoss = CrowdLoss(cover.laws, people)
    if answers == 2:
        cover, exact = stronger_clones(local, people, 2), ShuffledBits(Chance(lie / 2.0), people - 1)
    return {
        "none": local,
        "erlingsson": erlingsson(local, people, delta),
        "blanket": blanket(local, people, delta),
        "clones_formula": clones_formula(local, people, delta),
        "clones": Amplified(MessageLaws.clones(local), people).epsilon(delta),
        "stronger": None if answers == 2 else stronger_clones(local, people, answers).epsilon(delta),
        "cover": cover.epsilon(delta),
        "exact": exact.epsilon(delta),
    }


def stronger_clones(local: float, people: int, answers: int) -> Amplified:
    """Others send a clone of two with chance p; so does the victim, one e^local times likelier.

    Of one flipped bit that is all that is sent. With more answers p is the chance of any lie, and
    the rest of the victim's messages are taken for others' [FMT23, lemma 3.5 with p below
    1/(e^local + 1), since corrected].
    """
    lie, odds = 1.0 / (math.exp(local) + answers - 1.0), math.exp(local)
    rest = max(0.0, 1.0 - (odds + 1.0) * lie)
    victim = np.array([[odds * lie, lie, rest], [lie, odds * lie, rest]])
    return Amplified(MessageLaws(victim, np.array([lie, lie, 1.0 - 2.0 * lie]), symmetric=True), people)


def erlingsson(local: float, people: int, delta: float = DELTA) -> float | None:
    """Stated for at least 1,000 people and local epsilons up to 1/2."""
    if local > 0.5 or people < 1_000:
        return None
    return min(local, 12.0 * local * math.sqrt(math.log(1.0 / delta) / people))


def blanket(local: float, people: int, delta: float = DELTA) -> float:
    """The theorem for any local randomiser, solved for epsilon; shuffling never harms."""
    spread = (math.exp(local) - math.exp(-local)) ** 2

    def bound(epsilon: float) -> float:
        ratio = math.tanh(epsilon / 2.0) ** 2 / spread
        rate = (1.0 - math.exp(-2.0)) * people * min(math.exp(-local), ratio)
        return math.exp(-rate) * (math.exp(epsilon) + 1.0) ** 2 * spread / (4.0 * people * math.expm1(epsilon))

    return _solved(bound, local, delta)


def clones_formula(local: float, people: int, delta: float = DELTA) -> float | None:
    """Stated for local epsilons up to ln(n / 16 ln(2/delta))."""
    if people <= 16.0 * math.log(2.0 / delta) * math.exp(local):
        return None
    more = math.exp(local)
    inner = 8.0 * math.sqrt(more * math.log(4.0 / delta) / people) + 8.0 * more / people
    return min(local, math.log1p(math.tanh(local / 2.0) * inner))


def _solved(bound: Callable[[float], float], local: float, delta: float) -> float:
    """The smallest epsilon up to the local one at which the bound is no more than delta."""
    if bound(local) > delta:
        return local
    low, high = 1e-6, local
    while high - low > 1e-5 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if bound(middle) > delta else (low, middle)
    return high


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    cells = [
        (
            str(row["answers"]),
            f"{row['local_epsilon']:g}",
            f"{row['people']:,}",
            *("" if row[name] is None else f"{row[name]:.3g}" for name in list(CALLED)[1:]),
        )
        for row in rows
    ]
    names = [*list(CALLED.values())[1:-1], "exact, or attained by a crowd"]
    return TextTable(("answers", "local epsilon", "people", *names), tuple(cells), frozenset(range(10)))
