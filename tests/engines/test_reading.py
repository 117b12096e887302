"""What a value means hangs on that value and on the question alone: the tally of a crowd is the sum of its people's.

Everybody is tallied alone, and then all together, in every engine and every kind of file. Whatever one of them holds,
the others are read as if they were alone; and whoever would be refused alone is refused among others, and nobody else.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.engines import file_codes, file_columns, file_formats, memory, several_rows
from headcount.engines.duckdb_connection import database
from headcount.engines.engine import Rows
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.errors import BadArgument, Refused
from headcount.planner.planning import plan_for
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.protocols.base.plan import Plan
from headcount.questions import reading
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from stress import STRESS

EXACTLY = {"epsilon": 50, "model": "central"}
BIG = 2**53 + 1
TEXTS = [
    "1", "0", "01", "+1", "1.", "1.0", " 1\t", "1e0", "0.5", ".5", "5e-1", "1_0", "1,0", "0x1", "inf", "nan", "NaN", "",
    "  ", "true", "True", "FALSE", "yes", "x", "X", " x", "n/a", "\u00a01", "\u0661", "é", "e\u0301", str(BIG), "1e400",
    "2026-11-16", "2026-11-17T09:30:00Z", "2026-11-18 00:30+01:00", "2026-02-30", "Yes", "y", "OFF",
    "007", "-0", "0.1000000000000000055511151231257827", "'", '"', "#1",
]  # fmt: skip
INTS = st.sampled_from([0, 1, 2, -1, 7, BIG, BIG - 1, 2**62 + 1, -(2**63)])
FLOATS = st.sampled_from([0.0, -0.0, 1.0, 0.5, 0.1, 1e-7, 2.5, 1e23, float(BIG), float("inf"), float("nan")])
KINDS = {
    "ints": INTS, "floats": FLOATS, "truths": st.booleans(), "texts": st.sampled_from([*TEXTS, "x\0", "\0", "1\0"]),
    "days": st.sampled_from([date(2026, 11, 16), date(2000, 1, 1)]),
    "moments": st.sampled_from([datetime(2026, 11, 16, 9, 30), datetime(2026, 11, 17)]),
}  # fmt: skip
LABELS = ["1", "true", "x", "0.5", "2026-11-16", str(BIG)]
ASKED: dict[str, tuple[Question, Any]] = {
    "truths": (Count(), None), "true": (Count(), True), "false": (Count(), False), "one": (Count(), 1),
    "half": (Count(), 0.5), "text one": (Count(), "1"), "a word": (Count(), "x"), "digits": (Count(), str(BIG)),
    "places": (Histogram(3, other=True), None), "all places": (Histogram(3), None),
    "numbers": (Histogram([0, 1, 0.5, 7], other=True), None), "labels": (Histogram(LABELS, other=True), None),
    "all labels": (Histogram(LABELS), None), "unknown": (Histogram(), None),
    "bins": (Histogram.binned([0, 0.25, 1, 8], other=True), None), "sum": (Sum((-2, 2), clip=True), None),
    "whole sum": (Sum.whole((0, 7), clip=True), None), "mean": (Mean((0, 1)), None),
    "several": (Count(), ["Yes", "y", 1, True]), "several texts": (Count(), ["x", "X"]),
    "several numbers": (Count(), [1, 7]),
    "spelled": (Count(spelled=True, missing="no"), None), "missing is no": (Count(missing="no"), None),
    "nobody is missing": (Count(missing="refuse"), "x"),
    "missing apart": (Histogram(LABELS, other=True, missing="category"), None),
    "missing is other": (Histogram([0, 1, 0.5, 7], other=True, missing="other"), None),
    "unknown and missing": (Histogram(missing="category"), None),
    "bins and missing": (Histogram(edges=(0, 0.25, 1, 8), other=True, missing="category"), None),
    "weeks": (replace(Histogram.binned("week", ("2026-11-01", "2026-11-30"), other=True), missing="category"), None),
    "days": (Histogram.binned(["2026-11-16", "2026-11-17"], other=True), None),
    "sum with gaps": (Sum((-2, 2), clip=True, missing=0.5), None), "mean with gaps": (Mean((0, 1), missing=0), None),
}  # fmt: skip


@cache
def plan(name: str) -> Plan:
    return plan_for(ASKED[name][0], Crowd(10), Budget(1.0, 1e-6), "central")


def tallied(engine: Any, name: str, data: Any, **rows: Any) -> Counter[Any] | None:
    """How many steps, or people of each category; nothing where the crowd is refused."""
    task, where = ASKED[name]
    try:
        answers = engine.answers(task, Rows(data, where=where, **rows))
        assert answers.size
        tally = engine.tally(plan(name), answers, SeededCoins(0))
    except BadArgument:
        raise
    except Refused:
        return None
    keys = range(tally.totals.size) if tally.keys is None else tally.keys.tolist()
    return Counter({key: total for key, total in zip(keys, tally.totals.tolist(), strict=True) if total})


def is_one(value: Any, where: Any) -> bool:
    one = type(where) is bool and reading.truth(value) is where
    one |= isinstance(where, str) and reading.text(value) == where
    one |= type(where) in (int, float) and reading.number(value) == where
    return bool(one and not reading.is_missing(value))


def alone(name: str, value: Any) -> Counter[Any] | None:
    """The tally of a person of whom Python makes what the page on readings says, one value at a time."""
    task, where = ASKED[name]
    if where is not None:
        if task.domain.missing == "refuse" and reading.is_missing(value):
            return None
        value = any(is_one(value, each) for each in (where if isinstance(where, list) else [where]))
    held = np.fromiter([value], dtype=object, count=1)
    return tallied(MemoryEngine(), name, held) if where is None else tallied(MemoryEngine(), "truths", held)


def together(name: str, values: list[Any]) -> Counter[Any] | None:
    each = [alone(name, value) for value in values]
    return None if None in each else sum(each, Counter())


# Containers and files


def in_csv(folder: Path, values: list[Any]) -> Path:
    with (folder / "x.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["n", "x"], *enumerate(values)])
    return folder / "x.csv"


def in_parquet(folder: Path, values: list[Any]) -> Path:
    pq.write_table(pa.table({"x": pa.array(values)}), folder / "x.parquet")
    return folder / "x.parquet"


def in_arrow(folder: Path, values: list[Any]) -> Path:
    pa.feather.write_feather(pa.table({"x": pa.array(values)}), folder / "x.arrow", compression="uncompressed")
    return folder / "x.arrow"


def in_many(folder: Path, values: list[Any], ending: str = "parquet") -> Path:
    """A file for each type, as programs write them that find no other in their part."""
    (folder / "many").mkdir()
    kinds = {kind: [value for value in values if type(value) is kind] for kind in {type(value) for value in values}}
    for kind, some in kinds.items():
        table = pa.table({"x": pa.array(some)})
        if ending == "parquet":
            pq.write_table(table, folder / "many" / f"{kind.__name__}.parquet")
        else:
            pa.feather.write_feather(table, folder / "many" / f"{kind.__name__}.arrow", compression="uncompressed")
    return folder / "many"


PLAIN = {
    "list": lambda _, values: values,
    "tuple": lambda _, values: tuple(values),
    "objects": lambda _, values: np.fromiter(values, dtype=object, count=len(values)),
    "pandas objects": lambda _, values: pd.Series(values, dtype=object),
}
TYPED = {
    "arrow": lambda _, values: pa.array(values),
    "chunks": lambda _, values: pa.chunked_array([(whole := pa.array(values))[:2], whole[2:]]),
    "dictionary": lambda _, values: pa.array(values).dictionary_encode(),
    "polars": lambda _, values: pl.Series(values, strict=False),
    "pandas": lambda _, values: pd.Series(values, dtype=pd.ArrowDtype(pa.array(values).type)),
    "pandas categories": lambda _, values: pd.Series(pd.Categorical(values)),
}  # fmt: skip
FILES = {"parquet": in_parquet, "arrow file": in_arrow}
SMALL = settings(
    derandomize=True, max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # fmt: skip
FEW = settings(SMALL, max_examples=25)


@st.composite
def crowds(draw: st.DrawFn, gaps: bool = True) -> list[Any]:
    """All of one type, as a typed column holds them; perhaps with gaps."""
    kind = draw(st.sampled_from([*KINDS]))
    return draw(st.lists(KINDS[kind] | st.none() if gaps else KINDS[kind], min_size=1, max_size=8))


mixed = st.lists(st.one_of(*KINDS.values(), st.none()), min_size=1, max_size=8)
asked = st.sampled_from([*ASKED])


@pytest.mark.parametrize("kind", PLAIN)
@SMALL
@given(name=asked, values=mixed)
@example(name="text one", values=[1, 1, "x"])
@example(name="digits", values=[BIG, 0.5])
@example(name="digits", values=[BIG, 2**63])
@example(name="labels", values=["x\0", "x"])
@example(name="digits", values=[BIG, None])
def test_values_of_all_kinds_in_memory(kind, name, values):
    assert tallied(MemoryEngine(), name, PLAIN[kind](None, values)) == together(name, values)


@pytest.mark.parametrize("kind", TYPED)
@SMALL
@given(name=asked, values=crowds())
@example(name="digits", values=[BIG, None])
def test_columns_with_a_type_in_memory(kind, name, values):
    if kind == "pandas categories" and any(value != value for value in values if value is not None):
        values = [value for value in values if value == value] or [1]
    assert tallied(MemoryEngine(), name, TYPED[kind](None, values)) == together(name, values)


@pytest.mark.parametrize("kind", FILES)
@FEW
@given(name=asked, values=crowds())
def test_files_with_types(kind, name, values, tmp_path_factory):
    path = FILES[kind](tmp_path_factory.mktemp("x"), values)
    assert tallied(FileEngine(), name, path, column="x") == together(name, values)


@FEW
@given(name=asked, values=st.lists(st.sampled_from(TEXTS) | st.none(), min_size=1, max_size=8))
@example(name="one", values=["1.0"] * 5 + ["n/a"])
@example(name="true", values=["True"] * 5 + ["maybe"])
def test_files_without_types(name, values, tmp_path_factory):
    path = in_csv(tmp_path_factory.mktemp("x"), values)
    assert tallied(FileEngine(), name, path, column="x") == together(name, values)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@FEW
@given(name=asked, values=st.lists(st.one_of(*KINDS.values()), min_size=1, max_size=8))
@example(name="digits", values=[BIG, 0.5, "x"])
def test_folders_of_files_with_different_types(ending, name, values, tmp_path_factory):
    path = in_many(tmp_path_factory.mktemp("x"), values, ending)
    assert tallied(FileEngine(), name, path, column="x") == together(name, values)


@settings(SMALL, max_examples=6)
@given(name=asked, values=crowds())
def test_frames_of_spark(spark, name, values):
    from headcount.engines.spark import SparkEngine

    if {type(value) for value in values} == {type(None)}:
        values = [*values, 1]
    frame = spark.createDataFrame(pa.table({"x": pa.array(values)}))
    assert tallied(SparkEngine(), name, frame, column="x") == together(name, values)


@settings(SMALL, max_examples=6)
@given(name=asked, values=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8))
def test_text_files_on_spark(spark, name, values, tmp_path_factory):
    from headcount.engines.spark import SparkEngine

    path = in_csv(tmp_path_factory.mktemp("x"), values)
    assert tallied(SparkEngine(spark), name, path, column="x") == together(name, values)


@pytest.mark.parametrize("model", ["local", "shuffle"])
@settings(SMALL, max_examples=15)
@given(name=st.sampled_from(["true", "one", "text one", "labels", "numbers"]), values=crowds())
def test_randomisers_are_given_the_same_codes(model, name, values, tmp_path_factory):
    """In the order of the rows, as a device would have encoded each of them."""
    path = in_parquet(tmp_path_factory.mktemp("x"), values)
    task, where = ASKED[name]
    if together(name, values) is None:
        return
    scan = FileEngine().answers(task, Rows(path, column="x", where=where))
    there = np.concatenate([scan.codes(batch) for batch in scan.batches()])
    here = MemoryEngine().answers(task, Rows(values, where=where))
    assert there.tolist() == here.tolist()


# People with several rows


@pytest.mark.parametrize("engine", ["memory", "files", pytest.param("spark", marks=STRESS)])
@settings(SMALL, max_examples=12)
@given(
    name=st.sampled_from(["one", "truths", "sum", "mean", "labels", "unknown"]),
    rows=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1.0, 0.1, 0.2, 0.7, 1e16, -1e16])), min_size=1),
    most=st.sampled_from([None, 1, 2]),
)  # fmt: skip
def test_a_persons_rows_are_merged_whatever_the_others_hold(engine, name, rows, most, tmp_path_factory, request):
    """Also their sums, which in doubles hang on the order; and with the same key, the lots."""
    table = pa.table({"p": [person for person, _ in rows], "x": [value for _, value in rows]})

    def made(some: pa.Table) -> Counter[Any] | None:
        given_rows = {"column": "x", "unit": "p", "most": most, "key": b"k" * 32}
        if engine == "memory":
            return tallied(MemoryEngine(), name, some, **given_rows)
        path = tmp_path_factory.mktemp("x") / "x.parquet"
        pq.write_table(some, path)
        if engine == "files":
            return tallied(FileEngine(), name, path, **given_rows)
        from headcount.engines.spark import SparkEngine

        return tallied(SparkEngine(request.getfixturevalue("spark")), name, str(path), **given_rows)

    if engine == "memory" and most is not None:
        return  # lots follow the rows' places there
    each = [made(table.filter(pa.compute.equal(table["p"], person))) for person in set(table["p"].to_pylist())]
    assert made(table) == (None if None in each else sum(each, Counter()))
    if most is None:
        assert made(table) == tallied(MemoryEngine(), name, table, column="x", unit="p")


# What the asker declares


@pytest.mark.parametrize("last", [0, "x", 0.5, None, 2**63])
def test_one_person_does_not_change_how_a_thousand_are_read(last):
    assert round(hc.count([1] * 1000 + [last], where="1", **EXACTLY).value) == 1000
    assert round(hc.count([BIG] * 1000 + [last], where=str(BIG), **EXACTLY).value) == 1000
    told = hc.histogram([BIG] * 1000 + [last or 0], categories=[str(BIG)], other=True, **EXACTLY)
    assert np.round(told.values).tolist() == [1000, 1]


@pytest.mark.parametrize("last", [2**53 - 8, 2.0**53 - 8, str(2**53 - 8)])
def test_a_whole_number_is_the_same_however_it_is_written(last):
    bounds = (2**53 - 10, 2**53 - 1)
    told = hc.sum([2**53 - 9] * 1000 + [last], bounds=bounds, whole=True, epsilon=50, model="central")
    assert told.protocol.task.domain.codes(reading.column([2**53 - 9, last])).tolist() == [1, 2]


@pytest.mark.parametrize("declared", [2**53, -(2**53), 2**64, 1e300, float("inf")])
def test_numbers_that_doubles_do_not_tell_apart_are_not_declared(declared):
    with pytest.raises(BadArgument, match="text, which is exact"):
        hc.count([1, 0], where=declared, **EXACTLY)
    with pytest.raises(BadArgument, match="text, which is exact"):
        Histogram([declared, 1])


def test_bounds_that_doubles_do_not_tell_apart_are_not_declared():
    with pytest.raises(BadArgument, match="bounds has whole numbers"):
        Sum.whole((2**53 - 5, 2**53 + 5))


def test_blank_labels_are_not_declared():
    with pytest.raises(BadArgument, match="blank"):
        Histogram(["a", " "])
    with pytest.raises(BadArgument, match="duplicates"):
        Histogram(["a", " a "])


# DuckDB reads numbers as Python does

numerals = st.from_regex(r"\A[ \t]?[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?[ \n]?\Z")
HARD = [
    "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9406564584124654e-324", "2.4703282292062327e-324",
    "2.4703282292062328e-324", "1.7976931348623158e308", "1.7976931348623159e308", "9007199254740993", "1" * 400,
    "0." + "0" * 330 + "1", "8.5e22", "1e23", "0.500000000000000166533453693773481063544750213623046875",
    "3.518437208883201171875e13", "62.5364939768271845828", "1e-400", "-1e400", "0e999", "1e99999999999999999999",
]  # fmt: skip


def by_duckdb(values: list[str]) -> list[float | None]:
    with database(os.getpid()).cursor() as cursor:
        cursor.register("said", pa.table({"answer": pa.array(values, pa.string())}))
        number = file_columns.Column("answer", "VARCHAR").number
        return [row[0] for row in cursor.execute(f"SELECT {number} FROM said").fetchall()]


def as_said(values: list[str]) -> list[str]:
    return [repr(reading.number(value)) for value in values]


@settings(SMALL, max_examples=150)
@given(st.lists(numerals | st.sampled_from([*TEXTS, *HARD]) | st.text(max_size=6), max_size=30))
@example(HARD)
@example(TEXTS)
def test_duckdb_reads_numerals_as_python_does(values):
    assert [*map(repr, by_duckdb(values))] == as_said(values)


@settings(SMALL, max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_every_double_is_read_from_what_it_is_written_as(values):
    written = [*map(repr, values), *(reading.text(value) for value in values)]
    assert by_duckdb(written) == [*values, *values]


def test_a_reader_that_takes_more_for_numbers_is_caught(monkeypatch):
    monkeypatch.setattr(file_columns, "NUMERAL", ".*")
    assert [*map(repr, by_duckdb(TEXTS))] != as_said(TEXTS)


# Broken twins


def test_numpys_guess_is_caught(monkeypatch):
    monkeypatch.setattr(memory, "column", np.asarray)
    for name, values in (("labels", [True, "x"]), ("digits", [BIG, 0.5]), ("labels", ["x\0", "x"])):
        assert tallied(MemoryEngine(), name, values) != together(name, values)


def test_gaps_that_make_floats_of_integers_are_caught(monkeypatch):
    monkeypatch.setattr(memory, "from_arrow", lambda data: data.to_numpy(zero_copy_only=False))
    values = [BIG, None]
    assert tallied(MemoryEngine(), "digits", pa.array(values)) != together("digits", values)


def test_types_that_are_sniffed_are_caught(monkeypatch, tmp_path):
    def sniffed(*asked: Any) -> list[str]:
        return [table.replace("all_varchar = true", "all_varchar = false") for table in file_formats.scanned(*asked)]

    monkeypatch.setattr(file_codes, "scanned", sniffed)
    values = [str(BIG)] * 5 + ["0.5"]
    path = in_csv(tmp_path, values)
    assert tallied(FileEngine(), "digits", path, column="x") != together("digits", values)


def test_files_brought_to_the_wider_type_are_caught(monkeypatch, tmp_path):
    monkeypatch.setattr(file_formats, "_of_the_same_types", lambda files, *_: [files])
    values = [BIG, 0.5]
    assert tallied(FileEngine(), "digits", in_many(tmp_path, values), column="x") != together("digits", values)


def test_sums_in_the_order_of_the_rows_are_caught(monkeypatch):
    def in_order(part: Any, column: Any, person: Any) -> Any:
        return np.bincount(person, weights=part.numbers(column))

    rows = {"data": [0.1, 1e16, -1e16], "unit": [1, 1, 1]}
    turned = {"data": [1e16, -1e16, 0.1], "unit": [1, 1, 1]}
    held = [MemoryEngine().answers(Sum((0, 1)), Rows(**some)).tolist() for some in (rows, turned)]
    assert held[0] == held[1]
    monkeypatch.setattr(several_rows, "_totals", in_order)
    held = [MemoryEngine().answers(Sum((0, 1)), Rows(**some)).tolist() for some in (rows, turned)]
    assert held[0] != held[1]
