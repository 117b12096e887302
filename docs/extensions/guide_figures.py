"""The figures of the guides, each by the call that its page shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import headcount as hc
from headcount_survey.figures.trust import models_of_trust

THEMES = {"light": "", "dark": "-dark"}
Draw: TypeAlias = Callable[[Path, str], object]
BUDGET = {"epsilon": 1, "delta": 1e-6}


def draw(name: str, folder: Path) -> None:
    """Computed once, drawn light and dark."""
    plot = FIGURES[name]()
    for theme, ending in THEMES.items():
        plot(folder / f"{name}{ending}.svg", theme)


def _of(found: Any) -> Draw:
    return lambda path, theme: found.plot(theme=theme).save(path)


FIGURES: dict[str, Callable[[], Draw]] = {
    "advice": lambda: _of(hc.advise(hc.Count(), n=10_000, models=["shuffle", "local"], **BUDGET)),
    "frontier": lambda: _of(hc.frontier(hc.Count(), n=10_000, **BUDGET)),
    "map": lambda: _of(hc.map(**BUDGET)),
    "trust": lambda: lambda path, theme: models_of_trust(path, theme=theme),
}
