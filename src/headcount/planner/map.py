"""The map: which protocol counts best among n people of whom k hold a one.

Two regimes are told apart in the literature: additive noise for many people and few ones,
sample-and-threshold for few people and many ones. Where one ends and the other begins depends on
the constants that the noise is made with. The map is drawn with the papers' constants and with
exactly calibrated ones, from the exact law of every error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.errors import Infeasible
from headcount.figures.canvas import Target, number
from headcount.figures.picture import Picture, Pictured
from headcount.figures.regions import Mark, Region, regions
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.phrases import Phrase
from headcount.planner.contenders import Constants, Contender, Crossing, bisected, contenders, crossings, winners
from headcount.planner.selection import Names, Progress, integer_log_grid, matching_protocols
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import LARGEST, Crowd
from headcount.privacy.model import Model
from headcount.programme.law import Floats
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count

ADDITIVE, SAMPLED = "zsum", "sample-threshold"
BOTH = (ADDITIVE, SAMPLED)
WORDS = {ADDITIVE: "additive noise\n(zsum)", SAMPLED: "sample and\nthreshold"}
USELESS = 0.999  # relative error from which on "nobody holds a one" is as good an answer
ROWS = 12  # of the table that people read
SITUATIONS = (
    Mark("few people, many ones", 1_000, 600),
    Mark("in between", 8_000, 2_500),
    Mark("many people, few ones", 400_000, 150),
)


@dataclass(frozen=True, eq=False)
class MapPanel:
    """One way to calibrate, and the best protocol: a row for each number of ones, a column for each
    crowd."""

    title: str
    constants: Constants
    protocols: tuple[str, ...]
    winners: npt.NDArray[Any]  # names; empty where nobody can
    rmse: Floats  # infinite where nobody can, not a number where it is impossible
    crossings: tuple[Crossing, ...]
    begins: int | None  # the smallest crowd for which additive noise can be had, if that is within the map

    def useful(self, ones: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Where the answer is worth more than saying that nobody holds a one."""
        return np.asarray(self.rmse < USELESS * np.array(ones)[:, None])

    def shares(self, ones: Sequence[int]) -> dict[str, float]:
        """Which part of the useful map each protocol wins, largest first."""
        won = self.winners[self.useful(ones)]
        names, times = np.unique(won, return_counts=True)
        return {str(names[i]): float(times[i]) / won.size for i in np.argsort(-times, kind="stable")}

    def to_json(self) -> dict[str, Any]:
        rows = zip(self.winners.tolist(), self.rmse.tolist(), strict=True)
        cells = [[(name or None, error if name else None) for name, error in zip(*row, strict=True)] for row in rows]
        return {
            "title": self.title,
            "constants": self.constants,
            "protocols": list(self.protocols),
            "winners": [[name for name, _ in row] for row in cells],
            "rmse": [[error for _, error in row] for row in cells],
            "crossings": [{"n": c.n, "ones": c.ones, "above": c.above} for c in self.crossings],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Map(Tabular, Pictured):
    """Which protocol counts best for every number of people and of ones, as `hc.map` returns it.

    Parameters
    ----------
    budget : Budget
        The same everywhere.
    n, ones : tuple of int
        The places on the axes.
    panels : tuple of Panel
        One for each way to calibrate: by the papers' constants, and exactly.

    Examples
    --------
    >>> print(hc.map(epsilon=1, delta=1e-6, points=4, protocols=["zsum"]).finding)
    Calibrated exactly, zsum counts best wherever there is anything to see
    """

    budget: Budget
    n: tuple[int, ...]
    ones: tuple[int, ...]
    panels: tuple[MapPanel, ...]

    @cached_property
    def finding(self) -> str:
        """The result in a sentence."""
        exact = [panel for panel in self.panels if panel.constants == "exact"]
        best, other = (next(iter(panel.shares(self.ones).items()), ("", 0.0)) for panel in (exact[0], exact[-1]))
        if not other[0]:
            return "Calibrated exactly, no answer here is worth more than “nobody”"
        if len(exact) == 1 or best[0] not in BOTH:
            return f"Calibrated exactly, {other[0]} counts best {_where(other[1])}"
        loser = BOTH[best[0] == ADDITIVE]
        beaten = "beats both" if other[0] not in BOTH else "remains the best of all"
        return f"Calibrated exactly, {best[0]} beats {loser} {_where(best[1])}; {other[0]} {beaten}"

    def sheet(self) -> TextTable:
        """Who counts best in some of the crowds; if it takes part, from where on
        sample-and-threshold is beaten."""
        step = -(-len(self.n) // ROWS)
        chosen = sorted({*self.n[::step], self.n[-1]})
        rows = tuple((f"{n:,}", *(self._crossing(panel, n) for panel in self.panels)) for n in chosen)
        return TextTable(
            ("people", *(panel.title for panel in self.panels)),
            rows,
            frozenset(range(1 + len(self.panels))),
            f"{self._heading} at {self.budget}, {self.budget.neighbours.words}",
        )

    @property
    def _heading(self) -> str:
        sampled = any(SAMPLED in panel.protocols for panel in self.panels)
        return f"From how many ones on {SAMPLED} is beaten," if sampled else "Who has the smallest error"

    def _crossing(self, panel: MapPanel, n: int) -> str:
        found = [f"{number(c.ones)} ({c.above} above)" for c in panel.crossings if c.n == n]
        if found:
            return ", ".join(found)
        names = [name for name in np.unique(panel.winners[:, self.n.index(n)]).tolist() if name]
        return f"{names[0]} throughout" if len(names) == 1 else " or ".join(names) or "nobody"

    def summary(self) -> str:
        """Who wins how much of each panel, a line each."""
        return "\n".join(f"{panel.title}: {_listed(panel.shares(self.ones))}" for panel in self.panels)

    def __str__(self) -> str:
        return f"{self.finding}\n\n{self.summary()}\n\n{self.sheet().text()}"

    def __repr__(self) -> str:
        return f"Map: {self.finding}, {self.budget}, {len(self.n)} by {len(self.ones)} points"

    def _repr_html_(self) -> str:
        return f"<div><p>{escape(self.finding)}.</p>{self.sheet().html()}</div>"

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount map --format json` prints it."""
        panels = [panel.to_json() for panel in self.panels]
        return {"budget": self.budget.to_json(), "n": list(self.n), "ones": list(self.ones), "panels": panels}

    def records(self) -> list[dict[str, Any]]:
        """A row for each panel and possible point, for a spreadsheet."""
        return [
            {"panel": panel.title, "n": n, "ones": ones, "winner": str(panel.winners[j, i]), "rmse": panel.rmse[j, i]}
            for panel in self.panels
            for i, n in enumerate(self.n)
            for j, ones in enumerate(self.ones)
            if ones <= n
        ]

    def plot(self, ax: Any = None, *, title: str = "", theme: str = "light", marks: Sequence[Mark] = ()) -> Picture:
        """Panels side by side.

        Parameters
        ----------
        ax, title, theme
            As for the figure of an answer.
        marks : sequence
            Crowds to point out.

        Returns
        -------
        Picture
        """
        return Picture.drawn(lambda target, theme: self.draw(target, theme, title, marks), ax, theme)

    def draw(self, target: Target, theme: str, title: str, marks: Sequence[Mark] = ()) -> Target:
        subtitle = (
            f"Who has the smallest predicted error at {self.budget}, {self.budget.neighbours.words}. "
            "Faded: so few ones that “nobody” is as good an answer."
        )
        drawn = [
            Region(
                title=panel.title,
                owners=panel.winners,
                clear=panel.useful(self.ones),
                words=WORDS,
                nobody="nobody's theorem\napplies" if panel.constants == "papers" else "nobody can\nmeet the budget",
                line=[(c.n, c.ones) for c in panel.crossings],
                begins=_needs(panel),
            )
            for panel in self.panels
        ]
        return regions(
            drawn, self.n, self.ones, target, title=title or self.finding, subtitle=subtitle, marks=marks, theme=theme
        )


def map(
    *,
    epsilon: float,
    delta: float = 0.0,
    n: tuple[float, float] = (100, 1_000_000),
    ones: tuple[float, float] = (1, 100_000),
    points: int = 40,
    models: Names = None,
    protocols: Names = None,
    neighbours: str = "replace",
    watch: Progress = iter,
) -> Map:
    """Which protocol counts best for every number of people and of ones.

    Left alone, the map compares additive noise (zsum) with sample-and-threshold, by the papers'
    constants and exactly, and then all protocols that need a shuffler.

    Parameters
    ----------
    epsilon, delta : float
        The budget.
    n, ones : tuple of float
        The ends of the axes.
    points : int
        Places on each axis.
    models, protocols : str or list, optional
        Compare these, exactly and, where there are any, by the papers' constants.
    neighbours : str
        The adjacency: "replace" or "add-remove".
    watch : callable
        Wraps what is iterated over, to show progress.

    Returns
    -------
    Map

    Raises
    ------
    errors.Infeasible
        If no protocol can serve anywhere on the map.

    Examples
    --------
    >>> hc.map(epsilon=1, delta=1e-6, points=4, protocols=["zsum"]).n
    (100, 2154, 46416, 1000000)
    """
    budget = Budget(epsilon, delta, Neighbours(neighbours))
    people, truths = integer_log_grid("n", n, points, LARGEST), integer_log_grid("ones", ones, points, LARGEST)
    named = models is not None or protocols is not None
    shuffled = matching_protocols(Count(), models or (Model.SHUFFLE, Model.THRESHOLD), protocols)
    pair = shuffled if named else [kind for kind in shuffled if kind.name in BOTH]
    wanted: list[tuple[str, Constants, list[type[Protocol]]]] = [
        ("With the papers' constants", "papers", pair),
        ("Calibrated exactly", "exact", pair),
    ]
    if not named:
        wanted.append((f"All {len(shuffled)} that need a shuffler, exactly", "exact", shuffled))
    field: dict[tuple[Constants, str, int], list[Contender]] = {}
    for size in watch(people):
        for _, constants, kinds in wanted:
            for kind in kinds:
                if (constants, kind.name, size) not in field:
                    field[constants, kind.name, size] = contenders(kind, Crowd(size), budget, constants)
    served = {constants for (constants, _, _), team in field.items() if team}
    if "exact" not in served:
        raise _nobody(budget)
    panels = []
    for title, constants, kinds in (each for each in wanted if each[1] in served):
        teams = {size: [entry for kind in kinds for entry in field[constants, kind.name, size]] for size in people}
        begins = _begins(ADDITIVE, kinds, people, budget, constants)
        panels.append(_panel(title, constants, kinds, teams, truths, begins))
    return Map(budget, tuple(people), tuple(truths), tuple(panels))


def _panel(
    title: str,
    constants: Constants,
    kinds: list[type[Protocol]],
    teams: dict[int, list[Contender]],
    ones: list[int],
    begins: int | None,
) -> MapPanel:
    names = np.full((len(ones), len(teams)), "", dtype=object)
    errors = np.full((len(ones), len(teams)), np.nan)
    crossed: list[Crossing] = []
    for column, (size, team) in enumerate(teams.items()):
        possible = [truth for truth in ones if truth <= size]
        best, rmse = winners(team, possible)
        names[: len(possible), column] = [entry.name if entry else "" for entry in best]
        errors[: len(possible), column] = rmse
        sampled = [entry for entry in team if entry.name == SAMPLED]
        others = [entry for entry in team if entry.name != SAMPLED]
        crossed += crossings(sampled, others, size, possible)
    return MapPanel(title, constants, tuple(kind.name for kind in kinds), names, errors, tuple(crossed), begins)


def _begins(
    name: str, kinds: list[type[Protocol]], people: list[int], budget: Budget, constants: Constants
) -> int | None:
    """The smallest crowd that this protocol can serve, bisected between two crowds of the map."""
    for kind in kinds:
        if kind.name != name:
            continue

        def can(size: int, kind: type[Protocol] = kind) -> float:
            return 1.0 if contenders(kind, Crowd(size), budget, constants) else -1.0

        for fewer, more in pairwise(people):
            if can(fewer) < 0.0 < can(more):
                return bisected(can, (fewer, -1.0), (more, 1.0))[1][0]
    return None


def _nobody(budget: Budget) -> Infeasible:
    if budget.delta == 0.0:
        works = Phrase("use {delta}, or the models central and local", delta=1e-6)
        return Infeasible("none of these can give delta = 0", works)
    return Infeasible("none of these can meet this budget in any of these crowds", "use more people or a larger budget")


def _needs(panel: MapPanel) -> tuple[int, str] | None:
    if panel.begins is None:
        return None
    who = f"{ADDITIVE}'s theorem" if panel.constants == "papers" else ADDITIVE
    return panel.begins, f"{who}\nneeds {panel.begins:,} people"


def _where(share: float) -> str:
    if share == 1.0:
        return "wherever there is anything to see"
    return "nearly everywhere" if share > 0.97 else f"on {share:.0%} of the map"


def _listed(shares: dict[str, float]) -> str:
    if not shares:
        return "nobody has an answer of use"
    won = ", ".join(f"{name} {share:.0%}" if share > 0.01 else f"{name} < 1%" for name, share in shares.items())
    return f"{won} of where an answer is of use"
