"""How does the error grow with the number of rounds, and which protocol is best for how many?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.errors import BadArgument
from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.advise import advise
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.correlated import inner_for
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE, named
from headcount.questions.arrivals import FINE, Arrivals
from headcount.questions.count import Count
from headcount_survey.study import Finding, Study

ROUNDS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 26, 30, 40, 52, 104, 208, 365)
PERIODS = (4, 8, 13, 26, 52, 104, 208, 365)
LONGEST = 64  # rounds, among which a crossing is looked for
OVERHEAD = 0.01  # of correlated noise over the central one
TIMES = 4  # the other epsilon is so much larger
ALONE, BLOCKS, WEIGHTED = "periods alone", "blocks of periods", "weighted sums"
EVERYBODY, PANELS = "everybody in every round", "a panel for each round"
RELATIONS = {"add-remove": "may have come or not", "replace": "may have come in another period"}


@dataclass(frozen=True)
class Rounds(Study):
    name: ClassVar[str] = "rounds"
    question: ClassVar[str] = "How wrong is a weekly number if the budget is for a whole year?"
    source: ClassVar[str] = "exact composition of the rounds, in the worse of both directions"

    people: int = 10_000
    epsilon: float = 1.0
    delta: float = 1e-6

    def __post_init__(self) -> None:
        if self.people < 1_000 or not 0.0 < self.epsilon <= 8.0 or not 0.0 < self.delta < 1.0:
            works = "use for example people=10000 (1000 at least), epsilon=1 (8 at most) and delta=1e-6"
            raise BadArgument("parameters", "are out of their ranges", works)

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons = (self.epsilon,) if quick else (self.epsilon, TIMES * self.epsilon)
        grid = [(epsilon, rounds) for epsilon in epsilons for rounds in (ROUNDS[3:8:4] if quick else ROUNDS)]
        periods = [(each, many) for each in RELATIONS for many in (PERIODS[:2] if quick else PERIODS)]
        asked: list[tuple[Any, int]] = [*grid, *periods]
        rows = [row for first, many in watch(asked) for row in self._rows(first, many)]
        overtaken = {epsilon: self.overtaken(epsilon) for epsilon in epsilons}
        return Finding(self._answer(rows, overtaken), rows, _sheet(rows), partial(self._draw, rows, overtaken))

    def _rows(self, first: Any, many: int) -> Iterator[dict[str, Any]]:
        if first in RELATIONS:
            yield from self.cumulative(first, many)
        else:
            yield from self.each_round(first, many)

    def each_round(self, epsilon: float, rounds: int) -> Iterator[dict[str, Any]]:
        """The error of one round, by each protocol that can serve."""
        names = [kind.name for kind in CATALOGUE if kind.answers(Count()) and kind.model is not Model.LOCAL]
        wishes = {"n": self.people, "epsilon": epsilon, "delta": self.delta, "rounds": rounds}
        for option in advise("count", protocols=names, **wishes).feasible:  # type: ignore[arg-type]
            yield _row("count", option.name, str(option.kind.model), epsilon, rounds, option.rmse)
        response = named("randomised-response")
        everybody = calibrate(response, Count(), Crowd(self.people), Budget(epsilon, self.delta, rounds=rounds))
        yield _row("count", EVERYBODY, "local", epsilon, rounds, everybody.rmse())
        panels = advise("count", protocols=response.name, **wishes).feasible[0]  # type: ignore[arg-type]
        yield _row("count", PANELS, "local", epsilon, rounds, panels.rmse)

    def cumulative(self, neighbours: str, periods: int) -> Iterator[dict[str, Any]]:
        """The error of all people so far, where it is largest, of people who come once."""
        once = {ALONE: Arrivals(periods, (1,)), BLOCKS: Arrivals(periods), WEIGHTED: Arrivals(periods, fine=FINE)}
        for strategy, question in once.items():
            name = "discrete-gaussian" if strategy == WEIGHTED else "geometric"
            found = advise(
                question,
                n=self.people,
                epsilon=self.epsilon,
                delta=self.delta,
                neighbours=neighbours,
                protocols=name,
                models="central",
            ).feasible[0]
            yield _row("people so far", strategy, neighbours, self.epsilon, periods, found.rmse)

    def overtaken(self, epsilon: float) -> int:
        """The fewest rounds at which `poisson-count` beats correlated geometric noise."""
        low, high = 1, LONGEST
        while high - low > 1:
            middle = (low + high) // 2
            correlated, poisson = self.pair(epsilon, middle)
            low, high = (low, middle) if poisson < correlated else (middle, high)
        return high

    def pair(self, epsilon: float, rounds: int) -> tuple[float, float]:
        """The errors of geometric correlated noise and of Poisson dummies."""
        budget, crowd = Budget(epsilon, self.delta, rounds=rounds), Crowd(self.people)
        geometric: dict[str, Any] = {"own": 1, "inner": inner_for(budget.pure_part.epsilon, OVERHEAD)}
        correlated = calibrate(named("correlated-count"), Count(), crowd, budget, **geometric)
        return correlated.rmse(), calibrate(named("poisson-count"), Count(), crowd, budget).rmse()

    def _answer(self, rows: Sequence[dict[str, Any]], overtaken: dict[float, int]) -> str:
        many = max(row["rounds"] for row in rows if row["question"] == "count")
        last = {
            row["name"]: row["error"] for row in rows if (row["epsilon"], row["rounds"]) == (self.epsilon, many)
            if row["question"] == "count"
        }  # fmt: skip
        central, shuffled = (_least(rows, model, self.epsilon, many) for model in ("central", "shuffle"))
        periods = max(row["rounds"] for row in rows if row["question"] != "count")
        worst = {row["name"]: row["error"] for row in rows if (row["model"], row["rounds"]) == ("add-remove", periods)}
        crossed = " and ".join(f"at {rounds} rounds (epsilon {epsilon:g})" for epsilon, rounds in overtaken.items())
        return (
            f"With {many} rounds at epsilon {self.epsilon:g} in all, a round errs by {number(central[1])} "
            f"({central[0]}, central), {number(shuffled[1])} ({shuffled[0]}, shuffled), and where nobody is trusted by "
            f"{number(last[PANELS])} if each person is asked once, in a panel drawn by lot, and by "
            f"{number(last[EVERYBODY])} if everybody is asked every time. Geometric noise is best for few rounds and "
            f"Poisson or Gaussian noise for many: poisson-count overtakes geometric correlated noise {crossed}; around "
            f"there, correlated noise with lighter tails is best. Of people who come once "
            f"in {periods} periods, the sum so far errs by {number(worst[ALONE])} at worst if periods are added up, by "
            f"{number(worst[BLOCKS])} with blocks of periods, and by {number(worst[WEIGHTED])} with weighted sums."
        )

    def _draw(self, rows: Sequence[dict[str, Any]], overtaken: dict[float, int], path: Path, theme: str) -> Path:
        across = Axis("rounds", log=True)
        counts = [row for row in rows if row["question"] == "count"]

        def of(epsilon: float, *, local: bool) -> list[Line]:
            chosen = [row for row in counts if row["epsilon"] == epsilon and (row["model"] == "local") == local]
            return [
                Line(name, points, "local" if local else name, BOUND if name == EVERYBODY else None)
                for name, points in _points(chosen).items()
                if len(points) > 1
            ]

        panels = [
            Panel(
                of(epsilon, local=False),
                across,
                Axis("error of a round", log=True, high=1_000.0),
                f"Trusting an analyser or a shuffler, epsilon {epsilon:g}",
                [Note("Poisson overtakes geometric", x=float(rounds), at=0.72)],
            )
            for epsilon, rounds in overtaken.items()
        ]
        local = [
            Line(
                f"{line.label}, ε = {epsilon:g}",
                line.points,
                line.hue if epsilon == self.epsilon else "soft",
                line.dashes,
            )
            for epsilon in overtaken
            for line in of(epsilon, local=True)
        ]
        panels.append(Panel(local, across, Axis("error of a round", log=True), "Trusting nobody"))
        sums = [row for row in rows if row["question"] != "count"]
        hues = {ALONE: "dummies", BLOCKS: "central noise", WEIGHTED: "cancelling"}
        so_far = [
            Line(name if relation == "add-remove" else f"{name}, moved", points, hues[name], dashes)
            for relation, dashes in (("add-remove", ()), ("replace", BOUND))
            for name, points in _points([row for row in sums if row["model"] == relation]).items()
        ]
        panels.append(
            Panel(
                so_far,
                Axis("periods", log=True),
                Axis("error of the people so far, at worst", log=True),
                f"People who come once, epsilon {self.epsilon:g}; dashed: they may have come in another period",
            )
        )
        return lines(
            panels,
            path,
            title="The more often the same people are asked, the more noise every answer needs",
            subtitle=f"{self.people:,} people, δ = {self.delta:g} for all rounds together; root mean square errors",
            theme=theme,
        )


def _row(question: str, name: str, model: str, epsilon: float, rounds: int, error: float) -> dict[str, Any]:
    return {"question": question, "name": name, "model": model, "epsilon": epsilon, "rounds": rounds, "error": error}


def _points(rows: Sequence[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        found.setdefault(row["name"], []).append((float(row["rounds"]), row["error"]))
    return found


def _least(rows: Sequence[dict[str, Any]], model: str, epsilon: float, rounds: int) -> tuple[str, float]:
    where = ("count", model, epsilon, rounds)
    there = [row for row in rows if (row["question"], row["model"], row["epsilon"], row["rounds"]) == where]
    best = min(there, key=lambda row: row["error"])
    return best["name"], best["error"]


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    """A row for each protocol or strategy, a column for each number of rounds."""
    many = sorted({row["rounds"] for row in rows})
    found: dict[tuple[str, ...], dict[int, float]] = {}
    for row in rows:
        key = (row["question"], row["name"], RELATIONS.get(row["model"], row["model"]), f"{row['epsilon']:g}")
        found.setdefault(key, {})[row["rounds"]] = row["error"]
    cells = [(*key, *(f"{each[at]:.4g}" if at in each else "" for at in many)) for key, each in found.items()]
    heads = ("question", "how", "whom to trust, or what is hidden", "epsilon", *(f"{at}" for at in many))
    return TextTable(heads, tuple(cells), frozenset(range(3, len(heads))))
