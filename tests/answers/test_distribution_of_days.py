"""Distributions of days and durations: ranges, quantiles, means, curves, exports and pictures."""

import json
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.errors import BadArgument, Refused
from headcount.programme.coins import SeededCoins

PEOPLE = 8_000
YEAR = "2026-01-01", "2026-12-31"
DAYS = np.datetime64("2026-01-01") + (364.0 * SeededCoins(7).uniform(PEOPLE) ** 0.5).astype(int).astype("m8[D]")
CALLS = [timedelta(seconds=round(float(each) ** 2 * 3_000)) for each in SeededCoins(8).uniform(PEOPLE)]
SURE = 0.999999


@pytest.fixture(scope="module")
def signed_up() -> hc.DistributionEstimate:
    return hc.distribution(DAYS, bounds=YEAR, epsilon=1)


def test_ranges_and_quantiles_of_days(signed_up) -> None:
    median = np.sort(DAYS)[PEOPLE // 2 - 1]
    low, high = signed_up.median.interval(SURE)
    assert isinstance(signed_up.median.value, datetime)
    assert np.datetime64(low) <= median <= np.datetime64(high)
    assert high - low < timedelta(days=10)
    for first, last in (("2026-03-01", "2026-04-01"), (date(2026, 3, 1), datetime(2026, 4, 1))):
        found = signed_up.between(first, last)
        truth = ((np.datetime64("2026-03-01") <= DAYS) & (np.datetime64("2026-04-01") > DAYS)).sum()
        assert found.interval(SURE)[0] < truth < found.interval(SURE)[1]
    assert signed_up.below("2027-01-01").interval(SURE) == (PEOPLE, PEOPLE)
    halves = signed_up.below("2026-05-11").value + signed_up.between("2026-05-11", "2027-01-01").value
    assert halves == pytest.approx(PEOPLE)
    assert [cell.category for cell in signed_up.histogram(["2026-01-01", "2026-07-01", "2027-01-01"])] == [
        "[2026-01-01, 2026-07-01)",
        "[2026-07-01, 2027-01-01)",
    ]


def test_days_are_printed_as_days(signed_up) -> None:
    line = str(signed_up).splitlines()[2]
    assert line.startswith("  50%  2026-")
    assert ":" not in line
    assert all(len(text) == len("2026-01-01") for text in signed_up.median.shown())
    (low, high), mean = signed_up.mean.interval(SURE), np.datetime64(round(float(DAYS.astype(int).mean() * 24)), "h")
    assert np.datetime64(low) < mean < np.datetime64(high)
    assert str(signed_up.mean).startswith("2026-")


def test_the_curve_and_its_band_begin_with_the_edges(signed_up) -> None:
    for rows in (signed_up.cdf(), signed_up.band()):
        assert rows.shape == (366, 4)
        assert rows[0, 0] == datetime(2026, 1, 1)
        assert rows[-1, 0] == datetime(2027, 1, 1)
        assert (rows[:, 2] <= rows[:, 1]).all()
        assert (rows[:, 1] <= rows[:, 3]).all()
    assert signed_up.edges.dtype == np.dtype("M8[us]")


def test_days_are_exported_and_read_back(signed_up, tmp_path) -> None:
    said = json.loads(json.dumps(signed_up.to_json(), allow_nan=False))
    assert said["bounds"] == list(YEAR)
    assert said["quantiles"][2]["interval95"][0].startswith("2026-")
    (tmp_path / "answer.json").write_text(json.dumps(said), encoding="utf-8")
    again = hc.load_answer(tmp_path / "answer.json")
    assert again.median.value == signed_up.median.value
    frame = signed_up.to_pandas()
    assert pd.api.types.is_datetime64_any_dtype(frame["from"])
    assert frame["value"].sum() == pytest.approx(PEOPLE, abs=300)
    signed_up.plot().save(tmp_path / "days.png")
    signed_up.median.plot().save(tmp_path / "median.svg")
    assert "2026-09" in (tmp_path / "median.svg").read_text(encoding="utf-8")


def test_the_short_ways() -> None:
    median = hc.median(DAYS, bounds=YEAR, bins="week", epsilon=1)
    assert all((each - datetime(2026, 1, 1)).days % 7 == 0 for each in median.interval())
    written = [f"{each:%d.%m.%Y}" for each in DAYS.tolist()]
    assert hc.quantile(written, 0.9, bounds=YEAR, dates="%d.%m.%Y", epsilon=1).value.year == 2026
    frame = pd.DataFrame({"day": DAYS})
    assert hc.median(frame, column="day", bounds=YEAR, epsilon=1).part == 0.5


def test_durations() -> None:
    answer = hc.distribution(CALLS, bounds=("0:00", "1:00:00"), bins="minute", epsilon=1)
    low, high = answer.median.interval(SURE)
    assert low <= sorted(CALLS)[PEOPLE // 2] <= high
    assert answer.below("0:10").value == pytest.approx(sum(each < timedelta(minutes=10) for each in CALLS), abs=150)
    assert str(answer.median).startswith("0:1")
    assert answer.below(timedelta(minutes=10)).value == answer.below("0:10").value
    assert answer.edges.dtype == np.dtype("m8[us]")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda answer: answer.below("2028-01-01"),
            "value is 2028-01-01; use a day or a moment from 2026-01-01 to 2027",
        ),
        (lambda answer: answer.below(7), "value is 7; use a day"),
        (lambda answer: answer.between("2026-05-01", "2026-04-01"), "high is less than low, 2026-05-01"),
        (lambda answer: answer.minimum, "ask for 0.0"),
        (lambda answer: answer.maximum, "ask for 0.0"),
    ],
)
def test_refusals_say_what_would_work(signed_up, ask, words: str) -> None:
    with pytest.raises(Refused) as refused:
        ask(signed_up)
    assert words in str(refused.value)
    with pytest.raises(BadArgument):
        hc.distribution(DAYS, bounds=YEAR, bins="month", epsilon=1)


def test_tables_of_days() -> None:
    frame = {"day": DAYS, "plan": ["free", "pro"] * (PEOPLE // 2)}
    columns = {"day": {"bounds": YEAR, "bins": "quarter"}, "plan": ["free", "pro"]}
    table = hc.table(frame, columns=columns, epsilon=1)
    assert table["day"]["2026-Q4"].value == pytest.approx((np.datetime64("2026-10-01") <= DAYS).sum(), abs=60)
    weekly = hc.table(frame, columns={"day": {"bounds": YEAR, "bins": "week"}, "plan": ["free", "pro"]}, epsilon=1)
    assert weekly.sum(plan="pro").value == pytest.approx(PEOPLE / 2, abs=300)
    equal = hc.table(frame, columns={"day": {"bounds": YEAR, "bins": 73}, "plan": ["free", "pro"]}, epsilon=1)
    truth = ((np.datetime64("2026-01-06") <= DAYS) & (np.datetime64("2026-12-27") > DAYS)).sum()
    assert equal.sum(day=("2026-01-06", "2026-12-27")).value == pytest.approx(truth, abs=300)
