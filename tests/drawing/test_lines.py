"""Lines and bounds: files as promised, in either theme, with what cannot be drawn left out."""

from __future__ import annotations

import math

import pytest

from headcount.drawing.colours import THEMES
from headcount.drawing.lines import Line, Panel, lines

LAW = Line("law", [(0, 0.1), (1, 0.6), (2, 0.3)], dots=True)
BOUND = Line("bound", [(0, 0.7), (2, 0.7)], dashed=True)


@pytest.mark.parametrize("theme", THEMES)
def test_every_line_is_called_by_its_name(tmp_path, theme):
    panel = Panel([LAW, BOUND], "count", "chance", "here", band=(0.5, 1.5, "good"), notes=[(0, 0.5, "note")])
    path = lines([panel, panel], tmp_path / "lines.svg", title="A law below its bound", theme=theme)
    text = path.read_text()
    assert THEMES[theme].paper in text
    assert text == lines([panel, panel], tmp_path / "again.svg", title="A law below its bound", theme=theme).read_text()


def test_zeros_and_infinities_are_left_out_of_logarithms(tmp_path):
    gone = Line("gone", [(1, math.inf), (10, 1e-3), (100, 1e-9), (1000, 0.0)])
    path = lines([Panel([gone], "people", "delta", log=True, wide=True)], tmp_path / "lines.png", title="Gone")
    assert path.stat().st_size > 5_000
