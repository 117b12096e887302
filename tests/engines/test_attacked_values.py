"""Attacks by what one person holds: on what others count for, on what is refused, and on what is warned of."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headcount as hc
from headcount.engines import file_codes, file_columns
from headcount.engines.spark import SparkEngine
from stress import STRESS

EXACTLY = {"epsilon": 50, "delta": 1e-6, "model": "central"}  # so little noise that the answer is the truth
INFINITE = float("inf")
MISSING = 1_000
LAST = 253_402_300_799_000_000  # microseconds: a second before Python's years end


def missing_beside(*others):
    """A file in which many numbers are missing, as NaN; of the others it tells the least and the largest."""
    held = [float("nan")] * MISSING + list(others)
    return pa.table({"x": held, "g": ["a"] * len(held), "u": range(len(held))})


def in_file(table, folder):
    pq.write_table(table, folder / "x.parquet")
    return folder / "x.parquet"


def answers(data, total, **asked):
    """Whether the answer can be of this sum: one in 10⁸ is further away."""
    estimate = hc.sum(data, column="x", bounds=(0, 10), clip=True, **EXACTLY, **asked)
    low, high = estimate.intervals(1 - 1e-8).flat
    assert high - low < 20  # nothing that matters here is as small
    return low <= total <= high


DECLARED = {
    "a sum": ({"missing": 3}, 3 * MISSING),
    "of people": ({"missing": 3, "unit": "u"}, 3 * MISSING),
    "in groups": ({"missing": 3, "by": "g", "categories": ["a"]}, 3 * MISSING),
    "left out": ({"missing": "drop", "neighbours": "add-remove"}, 0),
}


@pytest.mark.parametrize(("declared", "of_missing"), DECLARED.values(), ids=DECLARED)
def test_what_others_hold_does_not_say_what_a_missing_number_counts_as(declared, of_missing, tmp_path):
    """The last person's number decides whether the file tells one number of all, or a range."""
    for last in (1.0, 2.0):
        table = missing_beside(1.0, 1.0, last)
        for data in (table, in_file(table, tmp_path)):
            assert answers(data, of_missing + 2 + last, **declared)


def test_believing_what_a_file_tells_of_its_numbers_is_caught(monkeypatch, tmp_path):
    for module in (file_codes, file_columns):  # numbers as they are, with what the file tells of them
        monkeypatch.setattr(module, "REAL", set())
    declared, of_missing = DECLARED["in groups"]
    table = missing_beside(1.0, 1.0, 1.0)
    assert answers(table, of_missing + 3, **declared)
    assert not answers(in_file(table, tmp_path), of_missing + 3, **declared)


@pytest.mark.parametrize("others", [(1.0, 7.0), (1.0, 1.0)], ids=["a range", "one number"])
@pytest.mark.parametrize("asked", [{}, {"by": "g", "categories": ["a"]}], ids=["of all", "in groups"])
@pytest.mark.parametrize("clip", [True, False])
def test_a_missing_number_is_refused_whatever_a_file_tells(others, asked, clip, tmp_path):
    for data in (table := missing_beside(*others), in_file(table, tmp_path)):
        with pytest.raises(hc.Refused, match="missing values"):
            hc.sum(data, column="x", bounds=(0, 10), clip=clip, **EXACTLY, **asked)


def test_not_asking_the_sum_of_the_numbers_for_nan_is_caught(monkeypatch, tmp_path):
    monkeypatch.setattr(np, "isfinite", lambda held: np.ones(np.shape(held), dtype=np.bool_))
    assert not answers(in_file(missing_beside(1.0, 7.0), tmp_path), 8)


ROWS = {
    "infinite in both directions": ([INFINITE, -INFINITE, 4.0], 4.0),
    "larger together than any double": ([1e308, 1e308, 4.0], 14.0),
}


@pytest.mark.parametrize(("held", "total"), ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("kind", ["memory", "file", pytest.param("spark", marks=STRESS)])
def test_what_a_persons_rows_come_to_is_clipped_without_a_word(held, total, kind, tmp_path, request):
    data = pa.table({"x": held, "u": ["a", "a", "b"]})
    more = {"engine": SparkEngine(request.getfixturevalue("spark"))} if kind == "spark" else {}
    answer = hc.sum(
        data if kind == "memory" else in_file(data, tmp_path),
        column="x", unit="u", bounds=(0, 10), clip=True, **EXACTLY, **more,
    )  # fmt: skip
    assert answer.value == pytest.approx(total, abs=2)


def test_a_number_that_no_double_holds_warns_of_nothing():
    if np.finfo(np.longdouble).maxexp > np.finfo(float).maxexp:
        assert hc.sum(np.array([1, 2], np.longdouble) * 10**400, bounds=(0, 3), clip=True, **EXACTLY).value > 4


BEYOND = [  # moments that are in another year in UTC, which Python has not
    datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=2))),
    datetime(1, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
]


@pytest.mark.parametrize("odd", [*BEYOND, np.timedelta64(1, "D")], ids=str)
def test_an_odd_moment_is_one_of_the_others(odd):
    held = ["2026-01-02"] * 7 + [odd]
    for asked in ({"categories": ["2026-01-02"]}, {"bins": "month", "bounds": ("2026-01-01", "2026-01-31")}):
        answer = hc.histogram(held, other=True, **asked, **EXACTLY)
        assert np.round(answer.values).tolist() == [7, 1]
    assert round(hc.count([1] * 7 + [odd], where=1, **EXACTLY).value) == 7


def columns():
    """Moments with a zone, of which the last has no year in Python, in everything that has a type for them."""
    for unit, zone in (("us", "UTC"), ("us", "Europe/Berlin"), ("s", "America/New_York")):
        held = pa.array([0, 0, LAST + 10_000_000], pa.int64()).view(pa.timestamp("us", tz=zone))
        table = pa.table({"x": held.cast(pa.timestamp(unit, tz=zone))})
        yield table
        yield duckdb.from_arrow(table)
        yield table.to_pandas(types_mapper=pd.ArrowDtype)
        if unit == "us":
            yield table.to_pandas()
            yield pl.from_arrow(table)


def test_a_moment_without_a_year_in_python_is_one_of_the_others_in_every_column():
    for data in columns():
        for asked in (
            {"categories": ["1970-01-01T00:00:00Z"]},
            {"bins": "day", "bounds": ("1970-01-01", "1970-01-01")},
        ):
            answer = hc.histogram(data, column="x", other=True, **asked, **EXACTLY)
            assert np.round(answer.values).tolist() == [2, 1]


def test_a_moment_with_a_zone_reads_as_one_that_python_has():
    aware = [datetime(2026, 3, 29, 1, 30, 0, 250_000, tzinfo=UTC), None]
    asked = {"categories": ["2026-03-29T01:30:00.25Z"], "other": True, "missing": "other"}
    for data in (table := pa.table({"x": aware}), table.to_pandas(), pl.from_arrow(table), {"x": aware}):
        assert np.round(hc.histogram(data, column="x", **asked, **EXACTLY).values).tolist() == [1, 1]


def test_decimals_that_are_no_ids_are_refused_in_words():
    asked = {"column": "x", "unit": "u", **EXACTLY}
    for odd in (Decimal("1.5"), Decimal("inf"), Decimal("NaN")):
        with pytest.raises(hc.Refused, match="person ids"):
            hc.count({"x": [1, 1], "u": [Decimal(1), odd]}, **asked)
    assert round(hc.count({"x": [1, 1], "u": [Decimal(1), Decimal("1e40")]}, **asked).value) == 2
