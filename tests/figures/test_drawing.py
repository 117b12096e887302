"""The house style: files as promised, the same bytes each time, colours that can be told apart."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

import headcount as hc
from headcount.errors import BadArgument, MissingExtra
from headcount.figures.bars import Bar, bars
from headcount.figures.canvas import apart, canvas, decades, number
from headcount.figures.colours import FAMILIES, THEMES, blend, dashes_of, place_of
from headcount.figures.tradeoffs import Dots, covers
from headcount.privacy.model import Model
from headcount.questions.domains.domain import Shape

ROWS = [
    Bar("geometric", Model.CENTRAL, 3.0, dot=0.0),
    Bar("zsum", Model.SHUFFLE, 11.5, dim=True, note="too many messages"),
    Bar("cheu-count", Model.SHUFFLE, note="needs 12,000 people"),
    Bar("randomised-response", Model.LOCAL, 187.4),
]


def drawn(path, **given):
    return bars(ROWS, path, **{"title": "Price of trust", "xlabel": "people", **given})


@pytest.mark.parametrize("theme", THEMES)
def test_a_figure_is_what_its_name_says_in_a_folder_made_for_it(tmp_path, theme):
    svg = drawn(tmp_path / "new" / "bars.svg", theme=theme)
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")  # noqa: S314
    assert "Price of trust" in svg.read_text()
    png = drawn(tmp_path / "bars.png", theme=theme).read_bytes()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 10_000


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_figure_has_the_same_bytes_and_no_date(tmp_path, suffix):
    first, second = (drawn(tmp_path / f"{i}.{suffix}").read_bytes() for i in range(2))
    assert first == second
    assert b"dc:date" not in first
    assert drawn(tmp_path / f"3.{suffix}", title="Another").read_bytes() != first


def test_themes_differ(tmp_path):
    light, dark = (drawn(tmp_path / f"{theme}.svg", theme=theme).read_text() for theme in THEMES)
    assert THEMES["light"].paper in light
    assert THEMES["dark"].paper in dark
    assert THEMES["dark"].paper not in light


@pytest.mark.parametrize("name", ["bars.gif", "bars", "bars.SVG", "bars.jpeg"])
def test_other_suffixes_are_refused_with_one_that_works(tmp_path, name):
    with pytest.raises(BadArgument, match=r"ends in \.svg, \.png or \.pdf"):
        drawn(tmp_path / "folder" / name)
    assert not (tmp_path / "folder").exists()


def test_a_folder_or_an_unknown_theme_is_refused(tmp_path):
    (tmp_path / "a.svg").mkdir()
    with pytest.raises(BadArgument, match="a folder"):
        drawn(tmp_path / "a.svg")
    with pytest.raises(BadArgument, match="'light' or 'dark'"):
        drawn(tmp_path / "b.svg", theme="sepia")


def test_nothing_is_written_if_drawing_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), canvas(tmp_path / "new" / "x.svg", title="never"):
        raise ZeroDivisionError
    assert not (tmp_path / "new").exists()


def test_without_matplotlib_a_figure_is_refused_and_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"headcount\[plots\]"):
        drawn(tmp_path / "bars.svg")


def test_matplotlib_is_not_loaded_before_something_is_drawn():
    code = "import sys, headcount, headcount.cli.main, headcount.figures.bars; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_settings_of_the_user_are_left_alone_and_do_not_matter(tmp_path):
    import matplotlib as mpl

    plain = drawn(tmp_path / "plain.svg").read_bytes()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert drawn(tmp_path / "set.svg").read_bytes() == plain
        assert mpl.rcParams["font.size"] == 30


def light(colour: str) -> float:
    """Relative luminance, as the guidelines for readable text define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted([light(a), light(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_words_can_be_read_on_the_paper(theme):
    for colour in (theme.ink, theme.soft, *theme.words.values()):
        assert contrast(colour, theme.paper) >= 4.5
    assert contrast(LIGHT_TWIN, THEMES["light"].paper) < 4.5  # the fill would not do for words


LIGHT_TWIN = THEMES["light"].models[Model.THRESHOLD]


def seen(colour: str, rows: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return tuple(sum(weight * part for weight, part in zip(row, parts, strict=True)) for row in rows)


SIGHTS = {  # how red-blind and green-blind eyes mix the three parts, roughly
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "red-blind": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "green-blind": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_models_can_be_told_apart_by_everybody(theme, sight):
    def distance(a: str, b: str) -> float:
        return sum((p - q) ** 2 for p, q in zip(seen(a, SIGHTS[sight]), seen(b, SIGHTS[sight]), strict=True)) ** 0.5

    assert min(distance(a, b) for a, b in combinations(theme.models.values(), 2)) > 45
    assert distance("#ff0000", "#ff2020") < 60  # such a pair would not do


def test_every_protocol_has_a_place_and_members_of_a_family_differ():
    known = {member for members in FAMILIES.values() for member in members}
    assert place_of("staircase")[0] == "central noise"  # which has a place by its model
    for protocol in hc.CATALOGUE:
        assert protocol.name in known or protocol.name.startswith("shuffled-"), protocol.name
    assert place_of("unheard-of") == place_of("unheard-of")
    for theme in THEMES.values():
        looks = {(theme.of(cls.name), dashes_of(cls.name)) for cls in hc.CATALOGUE if Shape.BIT in cls.shapes}
        assert len(looks) == sum(Shape.BIT in cls.shapes for cls in hc.CATALOGUE)


def test_numbers_and_ticks_read_well():
    assert [number(x) for x in (0, 0.00123, 1, 3.14159, 12345.6, 1e6, float("inf"))] == [
        "0",
        "0.00123",
        "1",
        "3.14",
        "12,346",
        "1,000,000",
        "∞",
    ]
    assert decades(1, 1000) == [1, 10, 100, 1000]
    assert len(decades(1e-9, 1e12)) <= 9
    assert blend("#000000", "#ffffff", 0.5) == "#808080"


def test_labels_stand_apart_in_their_order_and_move_no_more_than_needed():
    wanted = [3.0, 1.0, 1.1, 1.2, 9.0]
    placed = apart(wanted, 0.5, 0.0, 10.0)
    assert placed[0] == 3.0
    assert placed[4] == 9.0
    assert placed[1:4] == pytest.approx([0.6, 1.1, 1.6])
    assert all(b - a >= 0.5 - 1e-9 for a, b in pairwise(sorted(apart([0.0] * 7, 0.5, 0.0, 10.0))))
    assert apart([], 1.0) == []


def test_a_name_is_not_written_over_the_points_of_another(tmp_path):
    with canvas(tmp_path / "tradeoffs.svg", title="Names") as sheet:
        axes = sheet.panels[0]
        axes.set(xscale="log", yscale="log", xlim=(0.01, 100.0), ylim=(1.0, 1000.0))
        alone = Dots("randomised-response", Model.LOCAL, [(1.0, 100.0)], [True])
        through = Dots("sample-threshold", Model.THRESHOLD, [(0.1, 600.0), (0.9, 60.0)], [True, True])
        below = Dots("sample-threshold", Model.THRESHOLD, [(0.1, 6.0), (0.9, 6.0)], [True, True])
        assert covers(axes, alone, [alone, through])
        assert not covers(axes, alone, [alone, below])
