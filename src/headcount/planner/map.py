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
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.figures.canvas import Target, number
from headcount.figures.picture import Picture, Pictured
from headcount.figures.regions import Mark, Region, regions
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.planner.contenders import Constants, Crossing
from headcount.privacy.budget import Budget
from headcount.programme.law import Floats

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
    """One way to calibrate, and the best protocol: a row per number of ones, a column per crowd."""

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
        """The best in some crowds, and from where sample-and-threshold, if shown, is beaten."""
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
            "Faded: with this few ones, “nobody” is as good an answer."
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
