"""A question is one file: `share_above.py` works on every engine, for the advisor and on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from share_above import ShareAbove

import headcount as hc
from headcount.questions import QUESTIONS

PEOPLE = 4_000
GROUPS = ["east", "west"]
FRAME = pd.DataFrame({
    "group": np.where(np.arange(PEOPLE) % 4 == 0, "east", "west"),
    "minutes": np.arange(PEOPLE) % 100,
})  # fmt: skip
ASKED = {"column": "minutes", "by": "group", "epsilon": 8, "model": "central"}
QUESTION = ShareAbove(GROUPS, 80.0)
TRUTH = {group: float((rows["minutes"] > 80).mean()) for group, rows in FRAME.groupby("group")}


def test_it_is_short():
    lines = Path(__file__).with_name("share_above.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 80


def close(answer):
    for cell in answer.cells:
        assert cell.value == pytest.approx(TRUTH[cell.category], abs=0.01)
        assert cell.interval95[0] <= TRUTH[cell.category] <= cell.interval95[1]
    assert len(answer.cells) == 2


def test_in_memory():
    close(hc.ask(FRAME, QUESTION, **ASKED))


def test_its_answers_are_compared():
    """By their intervals: a share of two noisy counts has no law that is that of a cell, scaled."""
    late = FRAME[FRAME["minutes"] > 40]
    first, second = (hc.ask(rows, QUESTION, **ASKED) for rows in (FRAME, late))
    low, high = (second - first)["east"].interval()
    assert low < (late[late["group"] == "east"]["minutes"] > 80).mean() - TRUTH["east"] < high
    assert high - low > (second["east"].interval95[1] - second["east"].interval95[0])
    assert first.simultaneous95 is None
    assert repr(first).startswith("Estimate: share-above of 2 cells")


def test_in_files(tmp_path):
    FRAME.to_parquet(tmp_path / "x.parquet")
    close(hc.ask(tmp_path / "x.parquet", QUESTION, **ASKED))


def test_on_spark(spark):
    close(hc.ask(spark.createDataFrame(FRAME), QUESTION, **ASKED))


def test_by_shuffled_reports():
    answer = hc.ask(FRAME, QUESTION, column="minutes", by="group", epsilon=8, delta=1e-6)
    assert answer["east"].value == pytest.approx(TRUTH["east"], abs=0.05)


def test_for_the_advisor():
    advice = hc.advise(QUESTION, n=PEOPLE, epsilon=1, delta=1e-6)
    assert advice.best.protocol.task == QUESTION
    assert len(advice.feasible) > 5
    assert "share-above" not in QUESTIONS  # nobody has announced it


def test_on_the_command_line(tmp_path):
    """From a package that announces it by an entry point."""
    package = tmp_path / "share_above-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: share-above\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[headcount.questions]\nshare-above = share_above:ShareAbove\n")
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    options = ["--column", "minutes", "--by", "group", "--categories", "east,west", "--threshold", "80"]
    said = ["share-above", str(tmp_path / "x.csv"), *options, "--epsilon", "8", "--model", "central"]
    told = json.loads(run(tmp_path, *said, "--format", "json"))
    assert told["task"] == "share-above"
    assert told["cells"][0]["value"] == pytest.approx(TRUTH["east"], abs=0.01)
    advised = run(tmp_path, "advise", *said[:1], *options[4:], "--n", "4000", "--epsilon", "1", "--delta", "1e-6")
    assert "correlated-histogram" in advised


def run(folder, *words):
    places = [str(folder), str(Path(__file__).parent), *sys.path]
    code = f"import sys; sys.path[:0] = {places[:2]!r}; from headcount.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout
