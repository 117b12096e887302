"""The figures of the guides, each by the call that its page shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import headcount as hc
from headcount_survey.figures.trust import models_of_trust

THEMES = {"light": "", "dark": "-dark"}
BUDGET = {"epsilon": 1, "delta": 1e-6}


def draw(name: str, folder: Path) -> None:
    """Computed once, drawn light and dark."""
    plot = FIGURES[name]()
    for theme, ending in THEMES.items():
        plot(folder / f"{name}{ending}.svg", theme=theme)


def _advice() -> Any:
    return hc.advise(hc.Count(), n=10_000, models=["shuffle", "local"], **BUDGET).plot


def _frontier() -> Any:
    return hc.frontier(hc.Count(), n=10_000, **BUDGET).plot


def _map() -> Any:
    return hc.map(**BUDGET).plot


FIGURES: dict[str, Callable[[], Any]] = {
    "advice": _advice,
    "frontier": _frontier,
    "map": _map,
    "trust": lambda: models_of_trust,
}
