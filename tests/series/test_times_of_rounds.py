"""Times of a table and the rounds that they fall in: the same wherever the rows are, at every edge of a calendar."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines import file_columns
from headcount.engines.counts_by_round import InRounds
from headcount.engines.engine import Rows, engine_for
from headcount.questions.count import Count
from headcount.questions.domains.calendar_rounds import Rounds

PLACES = ("lists", "pandas", "polars", "arrow", "parquet", "csv", pytest.param("spark", marks=pytest.mark.stress))
ZONE = "Europe/Berlin"


def times(*written, zone=None):
    return pd.to_datetime(list(written), format="ISO8601").tz_localize(zone)


def hours(first, number, zone=None):
    return pd.date_range(first, periods=number, freq="h", tz="UTC").tz_convert(zone)


WEEKS = ("2026-01-05", "week", 3)
CASES = {
    "edges": (
        times(
            "2026-01-04T23:59:59.999999", "2026-01-05", "2026-01-11T23:59:59.999999", "2026-01-12", "2026-01-25T23:59"
        ),
        WEEKS,
        [2, 1, 1],
    ),
    "after the last": (times("2026-01-26", "2030-01-01", "2020-01-01"), WEEKS, [0, 0, 0]),
    "another zone": (times("2026-01-05", "2026-01-12", "2026-01-13", zone=ZONE), WEEKS, [1, 1, 0]),
    "rounds of another zone": (
        times("2026-01-05", "2026-01-12", "2026-01-13", zone=ZONE),
        ("2026-01-05T00:00+01:00", "week", 3),
        [1, 2, 0],
    ),
    "clocks put forward": (hours("2026-03-28", 72, ZONE), ("2026-03-28", "day", 3), [24, 24, 24]),
    "clocks put back": (hours("2026-10-25", 4, ZONE), ("2026-10-25", "hour", 4), [1, 1, 1, 1]),
    "weeks across years": (
        times("2026-12-27T23:59", "2026-12-28", "2027-01-03T23:59", "2027-01-04"),
        ("2026-12-28", "week", 2),
        [2, 1],
    ),
    "months": (
        times("2026-01-31T23:59", "2026-02-01", "2026-02-28T23:59", "2026-03-01", "2026-03-31", "2026-04-01"),
        ("2026-01-01", "month", 3),
        [1, 2, 2],
    ),
    "a leap day": (times("2028-02-28", "2028-02-29", "2028-03-01"), ("2028-02-28", "day", 3), [1, 1, 1]),
    "days": (pd.Series([dt.date(2026, 1, 5), dt.date(2026, 1, 12), dt.date(2025, 1, 1)]), WEEKS, [1, 1, 0]),
    "text": (
        pd.Series(["2026-01-05", "2026-01-05T00:00+02:00", "2026-01-12 10:00", "2026-01-25T23:59:59Z"]),
        WEEKS,
        [1, 1, 1],
    ),
    "text where clocks are put forward": (
        pd.Series(["2026-03-29T01:59+01:00", "2026-03-29T03:00+02:00"]),
        ("2026-03-29", "hour", 2),
        [1, 1],
    ),
    "nobody": (times(), WEEKS, [0, 0, 0]),
    "before 1970": (times("1969-12-31T23:59:59.999999", "1970-01-01"), ("1969-12-31", "day", 2), [1, 1]),
    "a blank": (times("2026-01-05", None), WEEKS, "missing times"),
    "blank text": (pd.Series(["2026-01-05", " "]), WEEKS, "missing times"),
    "no text": (pd.Series(["2026-01-05", None], dtype=object), WEEKS, "missing times"),
    "a blank text among ids": (times("2026-01-05", "2020-01-01"), WEEKS, "missing person ids"),
    "no time": (pd.Series(["2026-01-05", "soon"]), WEEKS, "no times"),
    "numbers": (pd.Series([1, 2]), WEEKS, "no times"),
}


def put(place, frame, folder, request):
    """The same table in another place."""
    if place == "csv":
        frame.to_csv(folder / "rows.csv", index=False)
    if place == "parquet":
        frame.to_parquet(folder / "rows.parquet")
    return {
        "lists": lambda: {name: list(frame[name]) for name in frame},
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.Table.from_pandas(frame),
        "parquet": lambda: folder / "rows.parquet",
        "csv": lambda: folder / "rows.csv",
        "spark": lambda: in_spark(request.getfixturevalue("spark"), frame),
    }[place]()


def in_spark(spark, frame):
    """A session whose own zone is not UTC. What pandas has without a zone is a moment there as elsewhere."""
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    if not len(frame):
        return spark.createDataFrame([], "who string, day timestamp")
    naive = frame["day"].dtype.kind == "M" and getattr(frame["day"].dtype, "tz", None) is None
    return spark.createDataFrame(frame.assign(day=frame["day"].dt.tz_localize("UTC")) if naive else frame)


def people_in(data, first, every, number):
    named = {"column": None, "unit": "who", "key": b"7" * 16}
    in_rounds = InRounds("day", Rounds.beginning(first, every, number), number)
    rows = Rows.of(Count(), data, in_rounds=in_rounds, **named)
    return [int(each.people.sum()) for each in engine_for(data).rounds(Count(), rows)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", CASES)
def test_times_fall_in_the_same_rounds_everywhere(case, place, tmp_path, request):
    held, rounds, expected = CASES[case]
    names = [f"p{each}" for each in range(len(held))]
    frame = pd.DataFrame({"who": pd.Series(names, dtype=object), "day": held})
    if "ids" in case:
        frame.loc[1, "who"] = " "
    data = put(place, frame, tmp_path, request)
    if isinstance(expected, list):
        assert people_in(data, *rounds) == expected
        return
    with pytest.raises(hc.errors.BadData, match=expected):
        people_in(data, *rounds)


WRITTEN = ("31.01.2026", "05.02.2026", "2026-02-07", "NA", " ", "04.03.2026")
MONTHS = {"time": "day", "unit": "who", "first": "2026-01-01", "rounds": 3, "every": "month", "epsilon": 40}


@pytest.mark.parametrize("place", ["lists", "csv"])
def test_times_and_answers_are_read_as_they_are_declared(place, tmp_path):
    data = {"who": [*range(6)], "day": [*WRITTEN], "left": ["Yes", "", "no", "Y", "n", "oui"]}
    if place == "csv":
        pd.DataFrame(data).to_csv(tmp_path / "people.csv", index=False)
        data = tmp_path / "people.csv"
    said = {**MONTHS, "dates": "%d.%m.%Y", "blanks": "NA"}
    came = hc.series(data, **said, missing="drop")
    assert [came.round(at).value for at in (1, 2, 3)] == [1, 2, 1]
    assert "times are written as %d.%m.%Y, or as 2026-11-16; rows with a missing time are left out" in came.promise
    said |= {"column": "left", "synonyms": {"yes": "oui"}, "missing": {"day": "drop", "left": "no"}, "spelled": True}
    for question, cell in ((None, None), (hc.Histogram(["yes", "no"]), "yes")):
        left = hc.series(data, question, **said)
        assert [left.round(at, cell=cell).value for at in (1, 2, 3)] == [1, 0, 1]
        assert "day: rows with a missing time are left out" in left.promise
    for told, why in (
        ({"missing": {"left": "no"}}, "column 'day' has missing times; use missing='drop'"),
        ({"dates": None}, r"column 'day' has entries that are no times; .*dates='%d.%m.%Y'"),
        ({"missing": "drop", "spelled": False}, "column 'left' has values other than 0 and 1"),
        ({"missing": {"day": "no"}}, "missing is 'no', which means nothing here; use one of refuse, drop"),
    ):
        with pytest.raises(hc.errors.Refused, match=why):
            hc.series(data, **{**said, **told})


def test_nanoseconds_before_a_round_are_not_in_it(tmp_path, monkeypatch):
    """DuckDB would round them into the next one."""
    frame = pd.DataFrame(
        {"who": [1, 2, 3], "day": times("2026-01-04T23:59:59.999999999", "2026-01-11T23:59:59.9999999", "2026-01-12")}
    )
    early = pd.DataFrame(
        {"who": [1, 2], "day": times("1969-12-31T23:59:59.999999999", "1970-01-01T00:00:00.000000001")}
    )
    assert str(frame["day"].dtype) == str(early["day"].dtype) == "datetime64[ns]"
    for each in (frame, early):
        each.to_parquet(tmp_path / f"{len(each)}.parquet")
    assert people_in(frame, *WEEKS) == people_in(tmp_path / "3.parquet", *WEEKS) == [1, 1, 0]
    days = ("1969-12-31", "day", 2)
    assert people_in(early, *days) == people_in(tmp_path / "2.parquet", *days) == [1, 1]
    monkeypatch.setattr(file_columns, "NANOSECONDS", frozenset())
    assert people_in(tmp_path / "3.parquet", *WEEKS) != [1, 1, 0]


@pytest.mark.parametrize(
    "rounds",
    [("9999-01-01", "year", 5), ("9999-12-31", "week", 5), ("9998-06-01", "quarter", 9), ("9999-12-01", "month", 1)],
)
def test_rounds_end_with_the_calendar(rounds):
    with pytest.raises(hc.errors.BadArgument, match="after the year 9999"):
        Rounds.beginning(*rounds)


def test_months_begin_in_utc():
    with pytest.raises(hc.errors.BadArgument, match="in UTC"):
        Rounds.beginning("2026-01-01T00:00+01:00", "month", 2)


def test_the_zone_of_the_first_round_is_that_of_all():
    rounds = Rounds.beginning("2026-03-23T00:00+01:00", "week", 2)
    assert rounds.labels == ("2026-03-22T23:00:00", "2026-03-29T23:00:00")
    assert rounds.codes(np.array(["2026-03-29T22:59", "2026-03-29T23:00"], dtype="M8[us]")).tolist() == [0, 1]
