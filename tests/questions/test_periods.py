"""Days, weeks and months: where they begin and end, and days that are not written by ISO 8601."""

from __future__ import annotations

import pytest

import headcount as hc
from headcount.errors import BadArgument, BadData

SURE = {"epsilon": 50}
QUARTER = {"bins": "month", "bounds": ("2026-01-01", "2026-03-31"), **SURE}


@pytest.mark.parametrize(
    ("period", "bounds", "labels"),
    [
        ("month", ("2026-01-01", "2026-03-31"), ["2026-01", "2026-02", "2026-03"]),
        ("month", ("2026-01-01", "2026-04-01"), ["2026-01", "2026-02", "2026-03"]),
        ("month", ("2026-01-15", "2026-02-02"), ["2026-01", "2026-02"]),
        ("month", ("2026-02-01", "2026-02-01"), ["2026-02"]),
        ("quarter", ("2026-01-01", "2026-07-01"), ["2026-Q1", "2026-Q2"]),
        ("year", ("2025-01-01", "2026-01-01"), ["2025"]),
        ("week", ("2026-01-05", "2026-01-19"), ["2026-01-05", "2026-01-12", "2026-01-19"]),
        ("day", ("2026-01-05", "2026-01-07"), ["2026-01-05", "2026-01-06", "2026-01-07"]),
    ],
)
def test_the_first_day_of_a_month_may_be_the_end_and_a_monday_is_a_day(period, bounds, labels):
    assert hc.Histogram.binned(period, bounds).labels() == labels


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        ("%d.%m.%Y", ["03.01.2026", "3.2.2026 ", "28.02.2026"]),
        ("%m/%d/%Y", ["01/03/2026", "02/3/2026", "2/28/2026"]),
        ("%d.%m.%Y %H:%M", ["03.01.2026 09:30", "3.2.2026 23:59", "28.02.2026 0:00"]),
        ("%m/%Y", ["01/2026", "2/2026", "02/2026"]),
        ("%Y%m%d", ["20260103", "20260203", "20260228"]),
    ],
)
def test_days_are_written_as_is_declared(dates, days):
    answer = hc.histogram(days * 100, **QUARTER, dates=dates)
    assert answer.values.tolist() == [100, 200, 0]
    assert f"dates are written as {dates}, or as 2026-11-16" in answer.rules


def test_days_of_either_form_are_read_and_what_has_the_form_by_nothing_else():
    days = ["03.01.2026", "2026-01-04", "2026-02-01T00:30:00+02:00"]
    assert hc.histogram(days * 50, **QUARTER, dates="%d.%m.%Y").values.tolist() == [150, 0, 0]
    with pytest.raises(BadData, match="no days written as %Y-%d-%m"):
        hc.histogram(["2026-01-31"] * 50, **QUARTER, dates="%Y-%d-%m")


def test_days_in_a_file(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("day\n" + "03.01.2026\n" * 90 + "05.02.2026\n" * 60)
    answer = hc.histogram(str(path), column="day", **QUARTER, dates="%d.%m.%Y")
    assert answer.values.tolist() == [90, 60, 0]


@pytest.mark.parametrize("held", ["16.11.2026", "11.16.2026", "2026-13-01", "31.02.2026"])
def test_what_is_no_such_day_is_refused_with_what_would_work(held):
    with pytest.raises(BadData, match=r"that are no days as in 2026-11-16 .* dates='%d.%m.%Y'") as refused:
        hc.histogram([held] * 90, **QUARTER)
    assert held not in str(refused.value)
    with pytest.raises(
        BadData, match=r"no days written as %d/%m/%Y or 2026-11-16, or not from 2026-01-01 to before 2026-04-01"
    ):
        hc.histogram([held] * 90, **QUARTER, dates="%d/%m/%Y")


@pytest.mark.parametrize("dates", ["dd.mm.yyyy", "%d.%m.%y", "%d.%Y", "%m.%m.%Y", "%d %B %Y", "%"])
def test_a_form_that_leaves_a_day_open_is_refused(dates):
    with pytest.raises(BadArgument, match=r"dates is .*use %Y, %m and %d"):
        hc.histogram(["03.01.2026"] * 90, **QUARTER, dates=dates)


def test_a_form_of_days_is_for_periods():
    with pytest.raises(BadArgument, match="dates is for periods and days"):
        hc.histogram([3] * 90, categories=9, dates="%d.%m.%Y", **SURE)


def test_bounds_are_for_bins():
    with pytest.raises(BadArgument, match=r"bounds is for bins; .* bins=10"):
        hc.histogram([3] * 90, categories=9, bounds=(0, 9), **SURE)


def test_missing_numbers_of_a_distribution_and_missing_cells_of_a_table():
    answer = hc.distribution([None] * 90 + [7.0] * 10, bounds=(0, 10), bins=10, missing=2, **SURE)
    assert round(answer.between(2, 3).value) == 90
    assert "a missing value counts as 2" in answer.rules
    with pytest.raises(BadArgument, match="outside the bounds"):
        hc.distribution([None] * 90, bounds=(0, 10), bins=10, missing=12, **SURE)
    rows = {"plan": ["pro", "", "free", "gone"] * 25, "age": [1, 2, None, 4] * 25}
    columns = {"plan": ["pro", "free"], "age": {"bins": [0, 3, 5]}}
    import pandas as pd

    told = hc.table(pd.DataFrame(rows), columns=columns, missing="other", **SURE)
    assert round(told["plan", "age"]["(other)", "[0, 3)"].value) == 25
    assert round(told["plan", "age"]["free", "(other)"].value) == 25
    apart = {**columns, "plan": {"categories": ["pro", "free", "gone"]}}
    told = hc.table(pd.DataFrame(rows), columns=apart, missing="category", **SURE)
    assert round(told["plan"]["(missing)"].value) == 25
    assert round(told["age"]["(missing)"].value) == 25
