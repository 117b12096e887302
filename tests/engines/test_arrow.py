"""Files, folders and streams: what they hold is counted as it would be in memory, and refused without being quoted."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from visitors import CENTRAL, PEOPLE, N, plan

import headcount as hc
from headcount.engines import file_codes
from headcount.engines.duckdb_connection import database
from headcount.engines.engine import Rows, engine_for
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.engines.tallying import PART
from headcount.errors import BadArgument, BadData, MissingExtra, OverBudget


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    pq.write_table(PEOPLE, folder / "people.parquet")
    pa.csv.write_csv(PEOPLE, folder / "people.csv")
    pa.csv.write_csv(PEOPLE, folder / "people.tsv", pa.csv.WriteOptions(delimiter="\t"))
    pa.feather.write_feather(PEOPLE, folder / "people.arrow", compression="uncompressed")
    (folder / "days" / "june").mkdir(parents=True)
    for day in range(3):
        pq.write_table(PEOPLE.slice(day * 1_000, 1_000), folder / "days" / "june" / f"{day}.parquet")
    (folder / "days" / "_SUCCESS").touch()
    return folder


PLACES = ["people.parquet", "people.csv", "people.tsv", "people.arrow", "days", "days/**/*.parquet"]


@pytest.mark.parametrize("place", PLACES)
def test_whatever_the_file_the_tally_is_that_of_memory(lake, place):
    asked = [
        (hc.Count(), {"column": "clicked"}), (hc.Count(), {"column": "colour", "where": "red"}),
        (hc.Histogram(["blue", "green", "grey", "red"]), {"column": "colour"}), (hc.Histogram(7), {"column": "shop"}),
        (hc.Mean((0, 100)), {"column": "age"}), (hc.Histogram.binned([0, 30, 60, 100]), {"column": "age"}),
    ]  # fmt: skip
    for task, rows in asked:
        for model in ("central", "shuffle"):
            made = plan(task, models=[model])
            tallies = []
            for engine, data in ((MemoryEngine(), PEOPLE), (FileEngine(), lake / place)):
                answers = engine.answers(task, Rows(data, **rows))
                assert answers.size == N
                tallies.append(engine.tally(made, answers, hc.SeededCoins(5)))
            assert tallies[0] == tallies[1], (task, model)


@pytest.mark.parametrize("bounds", [(0, 100), (-3.5, 97.25), (-100, -1)])
def test_however_a_sum_is_added_up_it_is_exact(bounds, monkeypatch, tmp_path):
    low, high = bounds
    drawn = low + (high - low) * (np.arange(5_000) * 0.6180339887 % 1)
    values = np.concatenate([drawn, np.full(5_000, high), np.full(2_000, low)])
    pq.write_table(pa.table({"x": values}), tmp_path / "x.parquet")
    task = hc.Sum(bounds)
    truth = sum(map(int, task.domain.codes(values)))
    for most in (0, file_codes.MOST_ADDED):
        monkeypatch.setattr(file_codes, "MOST_ADDED", most)
        assert FileEngine().answers(task, Rows(tmp_path / "x.parquet", "x")).total() == truth


def test_a_sum_that_fills_a_word_is_exact(tmp_path):
    """As many people as fit, all at one end: the largest sum, and the smallest."""
    for end in (0.0, 1.0):
        rows = (file_codes.MOST_ADDED - 1) // (hc.Sum((0, 1)).steps + 1)
        database(os.getpid()).execute(
            f"COPY (SELECT {end}::DOUBLE AS x FROM range({rows})) TO '{tmp_path / 'x.parquet'}' (FORMAT parquet)"
        )
        task = hc.Sum((0, 1))
        answers = FileEngine().answers(task, Rows(tmp_path / "x.parquet", "x"))
        assert answers.total() == int(end) * task.steps * rows


def test_parts_have_coins_of_their_own(tmp_path):
    bits = np.arange(2 * PART + 77) % 3 == 0
    pq.write_table(pa.table({"bit": bits}), tmp_path / "bits.parquet", row_group_size=100_000)
    made = hc.advise("count", n=bits.size, epsilon=1, delta=1e-6, models=["shuffle"]).best
    answers = FileEngine().answers(hc.Count(), Rows(tmp_path / "bits.parquet", column="bit"))
    drawn = FileEngine().tally(made, answers, hc.SeededCoins(3))
    assert drawn == MemoryEngine().tally(made, bits, hc.SeededCoins(3))
    assert drawn != MemoryEngine().tally(made, bits, hc.SeededCoins(4))
    pieces = [bits[:PART], bits[PART : 2 * PART], bits[2 * PART :]]
    assert drawn == MemoryEngine().tally(made, iter(pieces), hc.SeededCoins(3))


def test_streams_and_frames_are_taken_as_they_are(lake):
    reader = pa.RecordBatchReader.from_batches(PEOPLE.schema, PEOPLE.to_batches(500))
    assert isinstance(engine_for(reader), FileEngine)
    assert abs(hc.count(reader, column="clicked", **CENTRAL).value - 600) < 40

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return PEOPLE.__arrow_c_stream__(requested_schema)

    assert abs(hc.count(Stream(), column="flag", **CENTRAL).value - 600) < 40
    assert isinstance(engine_for(PEOPLE), MemoryEngine)
    assert isinstance(engine_for(PEOPLE.to_pandas()), MemoryEngine)
    assert isinstance(engine_for(lake), FileEngine)


REFUSED = {
    "gaps": (pa.table({"x": [1, None, 0]}), hc.Count(), "missing"),
    "not 0 or 1": (pa.table({"x": [0, 1, 424242]}), hc.Count(), "other than 0 and 1"),
    "text": (pa.table({"x": ["secretive"]}), hc.Count(), "where="),
    "outside": (pa.table({"x": [0.5, 424242.0]}), hc.Mean((0, 1)), "outside the bounds"),
    "nan": (pa.table({"x": [0.5, float("nan")]}), hc.Mean((0, 1)), "missing"),
    "nan, to be clipped": (pa.table({"x": [0.5, float("nan")]}), hc.Mean((0, 1), clip=True), "missing"),
    "nan for a bit": (pa.table({"x": [0.0, 1.0, float("nan")]}), hc.Count(), "missing"),
    "between": (pa.table({"x": [1.0, 1.4242]}), hc.Sum.whole((0, 9)), "between the steps"),
    "unknown": (pa.table({"x": ["red", "secretive"]}), hc.Histogram(["red"]), "outside the categories"),
    "numbers for text": (pa.table({"x": [424242]}), hc.Histogram(["red"]), "outside the categories"),
    "dates": (pa.table({"x": pa.array([424242], pa.date32())}), hc.Histogram(3), "outside the categories"),
    "lists": (pa.table({"x": pa.array([[424242]])}), hc.Histogram(3), "neither numbers nor text"),
}


@pytest.mark.parametrize("model", ["central", "shuffle"])
@pytest.mark.parametrize(("table", "task", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_is_said_and_never_quoted(tmp_path, table, task, why, model):
    pq.write_table(table, tmp_path / "bad.parquet")
    engine = FileEngine()
    with pytest.raises((BadData, BadArgument), match=why) as refused:  # noqa: PT012 - whichever step refuses
        answers = engine.answers(task, Rows(tmp_path / "bad.parquet", column="x"))
        assert answers.size
        engine.tally(plan(task, models=[model]), answers, hc.SecretCoins())
    assert not any(secret in str(refused.value) for secret in ("424242", "secretive", "1.4242"))
    assert refused.value.__cause__ is None


def test_a_csv_with_another_kind_of_value_at_its_end_is_refused(tmp_path):
    with (tmp_path / "late.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["x"], *([1] for _ in range(50_000)), ["secretive"]])
    with pytest.raises(BadData, match="other than 0 and 1") as refused:
        hc.count(tmp_path / "late.csv", column="x", **CENTRAL)
    assert "secretive" not in str(refused.value)


def test_names_are_checked(lake):
    for place, rows, why in (
        ("people.parquet", {}, "column is missing"), ("people.parquet", {"column": "nose"}, "use one of person"),
        ("people.csv", {"column": "nose"}, "use a name from its first line, which is not quoted here"),
        ("people.csv", {"column": "Flags"}, "use flag$"),
        ("people.csv", {"column": "nose", "by": "flag"}, "one of person"),
        ("people.parquet", {"column": "flag", "unit": [1, 2]}, "does not name a column"),
        ("people.parquet", {"column": "flag", "max_contributions": 2}, "needs unit"),
        ("nowhere.parquet", {"column": "flag"}, "does not exist"), (".", {"column": "flag"}, "all of one kind"),
    ):  # fmt: skip
        with pytest.raises(BadArgument, match=why):
            hc.count(lake / place, **rows, **CENTRAL)


def test_names_may_hold_anything(tmp_path):
    name = 'it\'s "odd" $x; DROP'
    folder = tmp_path / "it's; --odd"
    folder.mkdir()
    pq.write_table(pa.table({name: [1, 0, 1]}), folder / "people.parquet")
    pq.write_table(pa.table({name: ["a'b", "a'b", 'c"d']}), folder.parent / "labels.parquet")
    assert hc.count(folder / "people.parquet", column=name, **CENTRAL).n == 3
    assert hc.count(folder.parent / "labels.parquet", column=name, where="a'b", **CENTRAL).n == 3


def test_what_is_refused_is_not_paid_for(lake, tmp_path):
    ledger = hc.Ledger(epsilon=1.0)
    pq.write_table(pa.table({"x": [0, 1, 2]}), tmp_path / "bad.parquet")
    with pytest.raises(BadData):
        hc.count(tmp_path / "bad.parquet", column="x", ledger=ledger, **CENTRAL)
    assert ledger.questions == 0
    hc.count(lake / "people.parquet", column="clicked", ledger=ledger, **CENTRAL)
    with pytest.raises(OverBudget):
        hc.count(lake / "people.parquet", column="clicked", ledger=ledger, **CENTRAL)
    assert ledger.questions == 1


def test_without_the_extra_a_single_csv_can_be_counted(lake):
    script = (
        "import sys\n"
        "sys.modules['duckdb'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'duckdb' else find(name, *rest)\n"
        "from headcount.cli.main import main; main()"
    )
    ask = [sys.executable, "-c", script, "count"]
    options = ["--column", "clicked", "--epsilon", "1", "--model", "central"]
    told = subprocess.run([*ask, str(lake / "people.csv"), *options], capture_output=True, text=True, check=True)
    assert "n=3,000" in told.stdout
    refused = subprocess.run([*ask, str(lake / "days"), *options], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "headcount[files]" in refused.stderr


def test_the_library_says_what_is_missing(lake, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    database.cache_clear()
    with pytest.raises(MissingExtra, match="files"):
        hc.count(lake / "people.parquet", column="clicked", **CENTRAL)
