"""The frontier and the map on the command line."""

from __future__ import annotations

import csv
import io
import json
from threading import Event

import pytest
from rich.console import Console
from test_cli import BUDGET, headcount

from headcount.cli import progress
from headcount.cli.progress import ProgressBar

SMALL = ("--n", 100, 10_000, "--ones", 1, 1_000, "--points", 4, "--protocols", "zsum,sample-threshold", *BUDGET)


def test_a_frontier_prints_a_table_and_draws(tmp_path):
    done = headcount(
        "frontier", "count", "--n", 1_000, *BUDGET, "--protocols", "zsum,geometric", "--plot", "new/f.svg",
        where=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""
    assert "zsum" in done.stdout
    assert "written to new/f.svg, in a new folder" in done.stdout
    assert (tmp_path / "new" / "f.svg").stat().st_size > 5_000


@pytest.mark.parametrize(
    "arguments",
    [("fraction",), ("histogram", "--categories", 3), ("sum", "--bounds", 0, 1), ("mean", "--bounds", 0, 5, "--whole")],
    ids=lambda arguments: arguments[0],
)
def test_every_task_has_a_frontier(arguments):
    done = headcount("frontier", *arguments, "--n", 500, *BUDGET, "--model", "central", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["task"] == arguments[0]
    assert {point["model"] for point in found["points"]} == {"central"}


def test_a_frontier_is_a_row_for_each_point_in_csv():
    done = headcount(
        "frontier", "count", "--n", 500, *BUDGET, "--against", "dropouts", "--points", 3, "--protocols", "zsum",
        "--format", "csv",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["x"] for row in rows] == ["0.0", "0.25", "0.5"]
    assert float(rows[2]["epsilon_left"]) > 1.2


def test_the_map_prints_its_crossings_and_draws(tmp_path):
    done = headcount("map", *SMALL, "--plot", "map.png", "--situations", "--theme", "dark", where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(zsum above)" in done.stdout
    assert "Calibrated exactly, zsum counts best" in done.stdout
    assert (tmp_path / "map.png").stat().st_size > 20_000
    assert done.stderr == ""  # no bar where nobody watches


def test_the_map_as_json_and_csv():
    found = json.loads(headcount("map", *SMALL, "--format", "json").stdout)
    assert [panel["constants"] for panel in found["panels"]] == ["papers", "exact"]
    rows = list(csv.DictReader(io.StringIO(headcount("map", *SMALL, "--format", "csv").stdout)))
    assert set(rows[0]) == {"panel", "n", "ones", "winner", "rmse"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("map", *SMALL, "--plot", "map.gif"), "--plot is 'map.gif'; use a name that ends in .svg, .png or .pdf"),
        (("map", *SMALL, "--theme", "sepia"), "use 'light' or 'dark'"),
        (("map", "--epsilon", 1, "--n", 10, 5), "use two numbers, the smaller first"),
        (("map", "--epsilon", 1, "--points", 3), "none of these can give delta = 0; use --delta 1e-6"),
        (("frontier", "count", "--n", 10, *BUDGET, "--against", "money"), "use one of messages"),
        (("frontier", "count", "--n", 10, *BUDGET, "--protocols", "abacus"), "abacus"),
    ],
    ids=lambda given: str(given[-1]),
)
def test_what_cannot_be_is_refused_before_anything_is_computed(arguments, words, tmp_path):
    done = headcount(*arguments, where=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


class Watched(io.StringIO):
    """Tells when the bar has been drawn."""

    def __init__(self):
        super().__init__()
        self.drawn = Event()

    def write(self, text):
        if "calibrating" in text:
            self.drawn.set()
        return super().write(text)


def test_a_bar_is_shown_on_a_terminal_even_while_the_first_item_takes_long(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    written = Watched()
    for item in ProgressBar("calibrating", Console(file=written, force_terminal=True, width=80))([1, 2, 3]):
        assert written.drawn.wait(60) or item != 1


@pytest.mark.parametrize(("terminal", "patience"), [(True, 1e6), (False, 0.0)])
def test_no_bar_is_shown_before_that_or_where_nobody_watches(terminal, patience, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    written = Watched()
    bar = ProgressBar("calibrating", Console(file=written, force_terminal=terminal, width=80))
    assert list(bar([1, 2, 3])) == [1, 2, 3]
    assert not written.drawn.is_set()
