"""An answer about values that were clipped says so, wherever it is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.cli.render import console
from headcount_service.cli.releases import release_table

VALUES = np.array([10.0] * 990 + [4_000.0] * 10)  # of which the mean is 49.9, and that of the clipped ones 14.9
BOUNDS = (-200, 500)
ABOUT = "of values clipped to [-200, 500]"
ASKED: dict[str, Any] = {"bounds": BOUNDS, "epsilon": 5, "delta": 1e-6, "model": "central"}


@pytest.mark.parametrize("verb", [hc.sum, hc.mean])
def test_an_answer_of_clipped_values_says_so(verb: Any) -> None:
    clipped = verb(VALUES, clip=True, **ASKED)
    assert f" {ABOUT}  (95% interval" in str(clipped)
    assert ABOUT in clipped._repr_html_()
    assert clipped.to_json()["clipped_to"] == [-200, 500]


@pytest.mark.parametrize("verb", [hc.sum, hc.mean])
def test_one_of_the_data_does_not(verb: Any) -> None:
    plain = verb(np.clip(VALUES, *BOUNDS), **ASKED)
    assert "clipped" not in str(plain) + plain._repr_html_()
    assert plain.to_json()["clipped_to"] is None


def test_a_difference_is_of_values_that_were_clipped_alike() -> None:
    first, second = (hc.mean(VALUES, clip=True, **ASKED) for _ in range(2))
    assert ABOUT in str(first - second)
    assert (first - second).to_json()["clipped_to"] == [-200, 500]
    narrower = hc.mean(VALUES, clip=True, **{**ASKED, "bounds": (0, 100)})
    plain = hc.mean(np.clip(VALUES, *BOUNDS), **ASKED)
    for other in (narrower, plain):
        with pytest.raises(hc.Refused, match="clipped alike"):
            _ = first - other


def test_the_command_line_says_so(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("amount\n" + "".join(f"{value}\n" for value in VALUES))
    words = ["mean", str(file), "--column", "amount", "--bounds", "-200", "500", "--clip", "--epsilon", "5"]
    words += ["--model", "central"]
    assert ABOUT in CliRunner().invoke(app, words).output
    assert json.loads(CliRunner().invoke(app, [*words, "--format", "json"]).stdout)["clipped_to"] == [-200, 500]
    compared = ["compare", *words[1:-2], "--mean"]
    assert f"mean {ABOUT}" in CliRunner().invoke(app, compared).output


def test_advice_says_so() -> None:
    advice = hc.advise(hc.Mean(BOUNDS, clip=True), n=1_000, epsilon=5, delta=1e-6, models="central")
    assert f"the mean {ABOUT} within" in advice.why()
    assert "clipped" not in hc.advise(hc.Mean(BOUNDS), n=1_000, epsilon=5, delta=1e-6, models="central").why()


class Told:
    """As much of a release as its table shows."""

    def __init__(self, estimate: dict[str, Any]) -> None:
        self.estimate = estimate
        self.content = {"question": "How much?", "added": 0, "people": 1_000, "estimate": estimate}
        self.analyser = "00"


def test_a_release_says_so() -> None:
    told = hc.mean(VALUES, clip=True, **ASKED).to_json()
    older = {name: value for name, value in told.items() if name != "clipped_to"}
    for estimate, says in ((told, True), (older, False)):
        shown = console()
        with shown.capture() as text:
            shown.print(release_table(Told(estimate)))  # type: ignore[arg-type]
        assert (ABOUT in text.get()) is says


@pytest.mark.parametrize(
    "answer",
    [
        hc.distribution([1.0, 9.0] * 500, bounds=(0, 5), bins=8, clip=True, epsilon=1),
        hc.median([1.0, 9.0] * 499 + [9.0] * 300, bounds=(0, 5), bins=8, clip=True, epsilon=1),
        hc.table({"pay": [1.0, 9.0] * 500}, columns={"pay": {"bounds": (0, 5), "bins": 5, "clip": True}}, epsilon=1),
    ],
    ids=["distribution", "quantile", "table"],
)
def test_answers_and_figures_of_bins_say_what_was_clipped(answer, tmp_path):
    answer.plot().save(tmp_path / "answer.svg")
    assert "of values clipped to [0, 5]" in str(answer)
    assert "clipped" in (tmp_path / "answer.svg").read_text()


def test_labels_that_may_be_left_out_are_spoken_of():
    answer = hc.histogram(["a"] * 500 + ["b"] * 3, epsilon=1, delta=1e-6)
    assert "labels of fewer than about " in answer.note
    assert answer.note in str(answer)
    assert not hc.histogram(["a"] * 500, categories=["a", "b"], epsilon=1).note


def test_periods_that_are_whole_say_where_they_end():
    asked = {"bins": "week", "bounds": ("2026-01-07", "2026-01-20"), "epsilon": 1}
    answer = hc.histogram(["2026-01-08"] * 500, **asked)
    assert "weeks are whole, from 2026-01-05 to before 2026-01-26" in str(answer)
    assert "whole" not in str(hc.histogram(["2026-01-08"] * 500, **{**asked, "bins": "day"}))
