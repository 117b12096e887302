"""Lines: the same bytes each time, one colour for one thing, and what cannot be drawn is left out."""

from __future__ import annotations

import math
from contextlib import contextmanager

import pytest

from headcount.figures.axis import Axis
from headcount.figures.canvas import balanced, canvas
from headcount.figures.colours import THEMES
from headcount.figures.lines import BOUND, Line, Note, Panel, colours, lines

LINES = [
    Line("zsum", [(1.0, 2.0), (10.0, 3.0)], measured=[(3.0, 2.5)]),
    Line("by the paper", [(1.0, 20.0), (10.0, math.inf)], dashes=BOUND),
    Line("", [], "by the paper", measured=[(3.0, 5.0)]),
    Line("named at its start", [(2.0, 9.0), (5.0, 1.0)], first=True),
    Line("beyond the panel", [(2.0, 1e9)]),
]
AXES = (Axis("x"), Axis("y"))
LOG = Panel(
    LINES, Axis("ones", log=True), Axis("error", log=True, high=40.0), "a panel", [Note("floor", 4.0), Note("x", 2, 3)]
)
PLAIN = Panel(
    [Line("law", [(0, 0.0), (1, 0.6), (2, 0.3)], dots=True), LINES[0]],
    Axis("share", shares=True),
    Axis("error"),
    notes=[Note("half", y=0.5), Note("good", 0.5, to=1.5)],
)


@pytest.mark.parametrize("theme", THEMES)
def test_the_same_lines_have_the_same_bytes(theme, tmp_path):
    def drawn(name: str) -> bytes:
        path = lines([LOG, PLAIN, PLAIN], tmp_path / name, title="Title", subtitle="of what", theme=theme)
        return path.read_bytes()

    assert drawn("one.svg") == drawn("two.svg")
    assert THEMES[theme].paper.encode() in drawn("one.svg")
    assert len(drawn("lines.png")) > 10_000


def test_one_thing_has_one_colour_in_all_panels_and_protocols_have_their_own():
    theme = THEMES["light"]
    other = Panel([Line("another", [(1.0, 1.0)]), *LINES[:2]], Axis("ones"), Axis("error"))
    found = colours([LOG, other], theme)
    assert found["zsum"] == theme.of("zsum")
    assert found["sampling"] == theme.families["sampling"]
    rest = {found[name] for name in ("by the paper", "another", "named at its start")}
    assert len(rest) == 3
    assert found["zsum"] not in rest


def test_zeros_and_infinities_are_left_out_of_logarithms(tmp_path):
    gone = Line("gone", [(1, math.inf), (10, 1e-3), (100, 1e-9), (1000, 0.0)])
    panel = Panel([gone], Axis("people", log=True), Axis("delta", log=True))
    assert panel.seen(gone.points) == [(10, 1e-3), (100, 1e-9)]
    assert lines([panel], tmp_path / "lines.png", title="Gone").stat().st_size > 5_000


def _kept(monkeypatch):
    """The sheets that are drawn on from now on."""
    sheets = []

    @contextmanager
    def kept(*about, **more):
        with canvas(*about, **more) as sheet:
            sheets.append(sheet)
            yield sheet

    monkeypatch.setattr("headcount.figures.lines.canvas", kept)
    return sheets


def test_names_stand_apart_and_only_what_is_seen_has_one(tmp_path, monkeypatch):
    crowded = Panel([Line(f"line {i}", [(0.0, 1.0), (1.0, 1.0)]) for i in range(9)], Axis("x"), Axis("y"))
    far = Panel([Line("far away", [(0.0, 9.0)]), crowded.lines[0]], Axis("x"), Axis("y", high=2.0))
    sheets = _kept(monkeypatch)
    lines([crowded, far], tmp_path / "lines.png", title="Crowded")
    from matplotlib.text import Text  # without the line that leads there

    boxes = [Text.get_window_extent(text) for text in sheets[0].panels[0].texts]
    assert len(boxes) == 9
    assert not any(a.y0 < b.y1 - 0.5 and b.y0 < a.y1 - 0.5 for i, a in enumerate(boxes) for b in boxes[:i])
    assert [text.get_text() for text in sheets[0].panels[1].texts] == ["line 0"]


def test_a_line_may_be_named_where_told_and_upwards_if_it_is_steep(tmp_path, monkeypatch):
    flat = Line("flat", [(0.0, 1.0), (1.0, 1.0)], at=(0.2, 1.2))
    steep = Line("steep", [(0.5, 0.0), (0.6, 3.0)], at=(0.7, 0.4), steep=True)
    sheets = _kept(monkeypatch)
    lines([Panel([flat, steep], *AXES)], tmp_path / "lines.png", title="Told")
    panel = sheets[0].panels[0]
    names = {text.get_text(): text for text in panel.texts}
    assert {name: (text.xy, text.get_rotation()) for name, text in names.items()} == {
        "flat": ((0.2, 1.2), 0.0),
        "steep": ((0.7, 0.4), 90.0),
    }
    inside = panel.get_window_extent()
    assert all(inside.contains(*text.get_window_extent().p0) for text in panel.texts)


def test_a_line_that_ends_early_is_named_there_if_nothing_is_in_the_way(tmp_path, monkeypatch):
    short = Line("short", [(0.0, 1.0), (0.3, 1.0)])
    lonely = Panel([short, Line("long", [(0.0, 3.0), (1.0, 3.0)])], Axis("x"), Axis("y"))
    wall = [Line("", [(0.3 + 0.01 * i, 0.0), (0.3 + 0.01 * i, 3.0)]) for i in range(1, 10)]
    fenced = Panel([short, *wall, Line("", [(0.0, 1.1), (0.3, 1.1)]), Line("", [(0.0, 0.9), (0.3, 0.9)])], *AXES)
    sheets = _kept(monkeypatch)
    lines([lonely, fenced], tmp_path / "lines.png", title="Short")
    places = [{text.get_text(): text.get_position() for text in axes.texts} for axes in sheets[0].panels]
    assert 0.3 < places[0]["short"][0] < 0.4
    assert places[0]["short"][1] == pytest.approx(1.0 / (3.0 * 1.06), abs=0.01)
    assert places[0]["long"][0] > 1.0
    assert places[1]["short"][0] > 1.0


def test_a_line_is_named_where_it_leaves_the_panel(tmp_path, monkeypatch):
    steep = Panel([Line("steep", [(0.0, 0.0), (1.0, 4.0)]), Line("", [(2.0, 1.0)])], Axis("x"), Axis("y", high=2.0))
    sheets = _kept(monkeypatch)
    lines([steep], tmp_path / "lines.png", title="Steep")
    (name,) = sheets[0].panels[0].texts
    assert name.xy == pytest.approx((0.25, 1.0), abs=1e-3)


def test_words_are_broken_evenly_and_never_within():
    assert balanced("geometric, kept within 0 and n", 28) == ["geometric, kept", "within 0 and n"]
    assert balanced("56: sample-threshold, exactly", 28) == ["56: sample-threshold,", "exactly"]
    assert balanced("unbreakable", 4) == ["unbreakable"]
    assert balanced("", 10) == []


@pytest.mark.parametrize(
    ("axis", "values", "ends", "labels"),
    [
        (Axis("share", shares=True), [0.0, 0.5], (0.0, 0.5), ["0%", "10%", "20%", "30%", "40%", "50%"]),
        (Axis("people", log=True), [1.0, 1e8], (1.0, 1e8), ["1", "100", "$10^{4}$", "$10^{6}$", "$10^{8}$"]),
        (Axis("bins", log=True), [10.0, 1e6], (10.0, 1e6), ["100", "10,000", "1,000,000"]),
        (Axis("ones", high=5.0), [1, 2, 3], (1.0, 5.0), ["1", "2", "3", "4", "5"]),
    ],
)
def test_an_axis_ends_where_told_and_its_ticks_are_few_and_round(axis, values, ends, labels, tmp_path):
    with canvas(tmp_path / "axis.svg", title="Axis") as sheet:
        axes = sheet.panels[0]
        axis.divide(axes.xaxis, values, tight=True)
        assert axes.get_xlim() == pytest.approx(ends)
        assert [tick.get_text() for tick in axes.get_xticklabels()] == labels
