"""Every result has a picture: in a file, in a notebook, on the user's own axes; and every table is one elsewhere."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from csv import DictReader
from functools import cache
from typing import Any

import matplotlib as mpl
import matplotlib.figure
import pytest

import headcount as hc
from headcount.answers import pictures
from headcount.figures.colours import THEMES
from headcount.figures.intervals import Span, columns, rows

mpl.use("Agg")
CENTRAL: dict[str, Any] = {"epsilon": 1, "model": "central"}
AGES = [float(20 + i % 60) for i in range(2_000)]
PLANS = ["basic", "pro", "team", "pro"] * 300


def _ledger() -> hc.Ledger:
    ledger = hc.Ledger(epsilon=3, delta=1e-5)
    for _ in range(25):
        hc.count([1, 0] * 50, epsilon=0.05, model="central", ledger=ledger)
    return ledger


def _histogram(skip: int = 0) -> hc.Estimate:
    return hc.histogram(PLANS[skip:], categories=["basic", "pro", "team"], **CENTRAL)


def _table() -> Any:
    frame = {"plan": PLANS, "left": ["yes", "no", "no"] * 400}
    return hc.table(frame, columns={"plan": ["basic", "pro", "team"], "left": ["yes", "no"]}, **CENTRAL)


RESULTS: dict[str, Callable[[], Any]] = {
    "count": lambda: hc.count([1] * 300 + [0] * 700, **CENTRAL),
    "fraction": lambda: hc.fraction([1] * 300 + [0] * 700, **CENTRAL),
    "clipped mean": lambda: hc.mean(AGES, bounds=(30, 60), clip=True, **CENTRAL),
    "histogram": _histogram,
    "shares": lambda: hc.histogram(PLANS, categories=["pro"], other=True, fractions=True, **CENTRAL),
    "bins": lambda: hc.histogram(AGES, bins=[0, 18, 40, 65, 120], **CENTRAL),
    "many bins": lambda: hc.histogram(AGES, bins=100, bounds=(0, 100), **CENTRAL),
    "unknown labels": lambda: hc.histogram(PLANS, epsilon=1, delta=1e-6, model="central"),
    "nothing to show": lambda: hc.histogram([*"abc"], epsilon=1, delta=1e-6, model="central"),
    "many categories": lambda: hc.histogram(list(map(str, range(90))), categories=list(map(str, range(90))), **CENTRAL),
    "top": lambda: _histogram().top(2),
    "weeks": lambda: hc.histogram(
        ["2026-01-06", "2026-01-14"] * 500, bins="week", bounds=("2026-01-05", "2026-01-25"), **CENTRAL
    ),
    "distribution": lambda: hc.distribution(AGES, bounds=(0, 120), bins=120, **CENTRAL),
    "quantile": lambda: hc.quantile(AGES, bounds=(0, 120), bins=120, **CENTRAL),
    "range": lambda: hc.distribution(AGES, bounds=(0, 120), bins=120, **CENTRAL).between(30, 40),
    "difference": lambda: RESULTS["count"]() - hc.count([1] * 100, **CENTRAL),
    "ratio": lambda: RESULTS["count"]() / hc.count([1] * 100, **CENTRAL),
    "differences": lambda: _histogram() - _histogram(100),
    "ratios": lambda: _histogram() / _histogram(100),
    "table": _table,
    "margin": lambda: _table()["plan"],
    "rate": lambda: _table().rate(of={"left": "yes"}),
    "comparison": lambda: hc.compare([1] * 300 + [0] * 700, epsilon=1),
    "comparison of histograms": lambda: hc.compare(PLANS, categories=["basic", "pro", "team"], epsilon=1),
    "ledger": _ledger,
    "new ledger": lambda: hc.Ledger(epsilon=1),
    "advice": lambda: hc.advise("count", n=1_000, epsilon=1, models="central"),
    "frontier": lambda: hc.frontier("count", n=1_000, epsilon=1, delta=1e-6, protocols=["zsum", "cheu-count"]),
    "map": lambda: hc.map(epsilon=1, delta=1e-6, points=4, protocols=["zsum"]),
}
QUIET = {"advice", "frontier", "map"}  # plans, which promise nothing yet


@cache
def found(name: str) -> Any:
    return RESULTS[name]()


def written(axes: Any) -> str:
    return " ".join(text.get_text() for text in axes.findobj(mpl.text.Text))


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_drawn_light_and_dark_into_files_and_for_a_notebook(name: str, tmp_path) -> None:
    for theme in THEMES:
        svg = found(name).plot(theme=theme).save(tmp_path / f"{theme}.svg").read_text()
        assert THEMES[theme].paper in svg
    data, about = found(name).plot()._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert 400 < about["width"] < 1_000
    assert "Picture" in repr(found(name).plot())


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "map"])
def test_every_picture_goes_onto_axes_of_ones_own_and_says_what_is_promised(name: str) -> None:
    figure = matplotlib.figure.Figure()
    axes = figure.subplots()
    found(name).plot(axes)
    words = written(axes)
    assert axes.get_title(loc="left")
    assert name in QUIET or ("ε=" in words and ("95%" in words or "ledger" in name))


def test_several_panels_do_not_go_onto_one_and_other_things_are_no_axes() -> None:
    figure = matplotlib.figure.Figure()
    many = hc.frontier("count", "dropouts", n=1_000, epsilon=1, delta=1e-6, protocols=["zsum"], points=3)
    with pytest.raises(hc.errors.BadArgument, match="2"):
        many.plot(figure.subplots())
    with pytest.raises(hc.errors.BadArgument, match=r"\.plot\(\)\.save\('a\.png'\)"):
        found("count").plot("a.png")
    with pytest.raises(hc.errors.BadArgument, match="ax is a int"):
        found("count").plot(3)
    with pytest.raises(hc.errors.BadArgument, match="theme"):
        found("count").plot(theme="blue")


def test_an_answer_has_the_title_that_it_is_given_and_its_own_otherwise() -> None:
    axes = matplotlib.figure.Figure().subplots()
    found("count").plot(axes, title="Customers who left")
    assert axes.get_title(loc="left") == "Customers who left"
    found("count").plot(axes)
    assert axes.get_title(loc="left") == f"{found('count').value:,.0f} people"


def test_bars_and_lines_stand_where_the_numbers_are() -> None:
    axes = matplotlib.figure.Figure().subplots()
    rows([Span("a", 30.0, 20.0, 45.0), Span("b", -5.0, -9.0, 1.0)], axes, title="t", xlabel="x")
    assert [bar.get_width() for bar in axes.patches] == [30.0, -5.0]
    assert [list(line.get_xdata()) for line in axes.lines[:2]] == [[20.0, 45.0], [-9.0, 1.0]]
    low, high = axes.get_xlim()
    assert low < -9.0
    assert high > 45.0
    axes = matplotlib.figure.Figure().subplots()
    columns([Span("a", 30.0, 20.0, 45.0), Span("b", 5.0, 2.0, 9.0)], axes, title="t", xlabel="x", ylabel="y")
    assert [bar.get_height() for bar in axes.patches] == [30.0, 5.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]


TABLES = [name for name in RESULTS if name not in {"new ledger", "nothing to show"}]


@pytest.mark.parametrize("name", TABLES)
def test_every_result_is_a_table_elsewhere(name: str, tmp_path) -> None:
    result, kept = found(name), tmp_path / "table.csv"
    records = result.records()
    assert len(list(DictReader(io.StringIO(result.to_csv(kept))))) == len(records)
    assert kept.read_text() == result.to_csv()
    assert len(result.to_pandas()) == len(result.to_polars()) == len(records)
    assert list(result.to_pandas().columns) == list(result.to_polars().columns)
    latex = result.to_latex()
    assert latex.count("\\\\") >= len(records) + 1
    assert latex.startswith("\\begin{tabular}")
    assert "<" in result._repr_html_()
    if "value" in records[0]:
        json.dumps(records, allow_nan=False)


def test_labels_do_not_leave_their_place_in_latex_or_in_a_notebook() -> None:
    odd = ["50% & more_\\{x}", "<b>$&</b>"]
    answer = hc.histogram(odd * 300, categories=odd, **CENTRAL)
    assert r"50\% \& more\_\textbackslash{}\{x\}" in answer.to_latex()
    assert "<b>" not in answer._repr_html_()
    assert "<b>" not in (answer - hc.histogram(odd * 300, categories=odd, **CENTRAL))._repr_html_()
    answer.plot().save  # noqa: B018
    data, _ = answer.plot()._repr_png_()  # a dollar is no formula
    assert data


@pytest.mark.parametrize(
    ("missing", "call", "extra"),
    [("matplotlib", "plot", "plots"), ("pandas", "to_pandas", "frames"), ("polars", "to_polars", "frames")],
)
def test_a_missing_extra_is_refused_by_its_name(missing: str, call: str, extra: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
import headcount as hc
from headcount.answers import pictures
answer = hc.count([1, 0] * 50, epsilon=1, model="central")
try:
    answer.{call}()
except hc.errors.MissingExtra as refusal:
    print(refusal)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"headcount[{extra}]" in done.stdout


def test_labels_of_ticks_stand_where_they_say() -> None:
    axes = matplotlib.figure.Figure().subplots()
    rows([Span("", 0.9062, 0.9044, 0.9080)], axes, title="", xlabel="", from_zero=False)
    named = zip(axes.get_xticks(), (label.get_text() for label in axes.get_xticklabels()), strict=True)
    assert all(float(label) == pytest.approx(place, rel=1e-9) for place, label in named)


def test_the_picture_of_the_largest_has_these_alone_in_their_order() -> None:
    axes = matplotlib.figure.Figure().subplots()
    found("top").plot(axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == [cell.category for cell in found("top")]


def test_a_group_with_too_few_people_says_so_beside_its_line() -> None:
    axes = matplotlib.figure.Figure().subplots()
    rows([Span("a", float("nan"), 0.0, 1.0, "too few people to tell")], axes, title="", xlabel="")
    (note,) = [text for text in axes.texts if text.get_text() == "too few people to tell"]
    assert note.xy == (1.0, 0.0)


def test_what_belongs_to_no_period_is_named_however_many_there_are() -> None:
    axes = matplotlib.figure.Figure().subplots()
    names = [f"2026-01-{day:02}" for day in range(1, 32)]
    columns([Span(name, 1.0, 0.5, 1.5) for name in [*names, "(other)"]], axes, title="", xlabel="", ylabel="")
    assert axes.get_xticklabels()[-1].get_text() == "(other)"


def test_rates_are_written_as_their_axis_has_them() -> None:
    assert pictures.written(("0.2297", "0.20", "1.00"), percent=True) == ("22.97%", "20%", "100%")
    assert pictures.written(("too few", "-0.0012", "0.3"), percent=True) == ("too few", "-0.12%", "30%")
    assert pictures.written(("0.2297", "0.20", "1.00"), percent=False) == ("0.2297", "0.20", "1.00")
