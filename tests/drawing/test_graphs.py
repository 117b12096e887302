"""The charts of the studies: the same bytes each time, one colour for one thing, and nothing cut off without a word."""

from __future__ import annotations

import math

import pytest

from headcount.core.model import Model
from headcount.drawing.colours import THEMES
from headcount.drawing.graphs import Axis, Graph, Line, Note, _colours, graphs
from headcount.drawing.ranks import Cell, Rank, ranks

LINES = [
    Line("zsum", [(1.0, 2.0), (10.0, 3.0)]),
    Line("by the paper", [(1.0, 20.0), (10.0, math.inf)]),
    Line("", [(3.0, 5.0)], dots=True, hue="by the paper"),
    Line("named at its start", [(2.0, 9.0), (5.0, 1.0)], first=True),
]
PANEL = Graph(LINES, Axis("ones", log=True), Axis("error", log=True), "a panel", [Note("floor", x=4.0)])
PLAIN = Graph(LINES[:1], Axis("share", shares=True), Axis("error"), notes=[Note("half", y=2.5)])
RANKS = [
    Rank("laplace", Model.CENTRAL, [Cell(1.4, 1.5), Cell(1.4)]),
    Rank("zsum", Model.SHUFFLE, [Cell(None, note="needs more"), Cell(5.8, note="about")], dim=True),
]


def as_graphs(path, theme="light"):
    return graphs([PANEL, PLAIN], path, title="Title", subtitle="of what", theme=theme)


def as_ranks(path, theme="light"):
    return ranks(RANKS, ["I", "II"], path, title="Title", xlabel="people", theme=theme)


@pytest.mark.parametrize("draw", [as_graphs, as_ranks])
def test_the_same_chart_has_the_same_bytes_and_themes_differ(draw, tmp_path):
    first, second = (draw(tmp_path / f"{i}.svg").read_bytes() for i in range(2))
    assert first == second
    assert draw(tmp_path / "dark.svg", "dark").read_bytes() != first
    assert draw(tmp_path / "chart.png").stat().st_size > 10_000


def test_one_thing_has_one_colour_in_all_panels_and_protocols_have_their_own():
    theme = THEMES["light"]
    other = Graph([Line("another", [(1.0, 1.0)]), *LINES[:2]], Axis("ones"), Axis("error"))
    colours = _colours([PANEL, other], theme)
    assert colours["zsum"] == theme.of("zsum")
    assert len({colours[name] for name in ("by the paper", "another", "named at its start")}) == 3
