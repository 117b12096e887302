"""Numbers, moments and durations on the line of a distribution: how they are read, laid out, and written."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.errors import BadArgument, BadData
from headcount.questions import question_from_json
from headcount.questions.domains.intervals import Intervals
from headcount.questions.reading import column
from headcount.questions.times import DAY, clock, duration, durations, moment, moments

YEAR = "2026-01-01", "2026-12-31"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0:00", 0),
        ("1:30", 5_400),
        (" 0:01:30.5 ", 90.5),
        ("-0:30", -1_800),
        ("2 days 1:00", 176_400),
        ("1 day, 0:00:01", 86_401),
        ("3 days", 259_200),
        ("100:00:00", 360_000),
        (timedelta(minutes=2), 120),
        (np.timedelta64(3, "h"), 10_800),
        (np.timedelta64(1, "Y"), None),
        (np.timedelta64("NaT"), None),
        ("0:60", None),
        ("90", None),
        (90, None),
        ("1:2:3", None),
    ],
)
def test_what_a_duration_is(said: object, seconds: float | None) -> None:
    assert duration(said) == (None if seconds is None else round(seconds * 1e6))


@pytest.mark.parametrize("text", ["0:00:00", "1:30:00", "-0:30:00", "49:00:00.5", "0:00:00.000001"])
def test_a_duration_is_written_as_it_is_read(text: str) -> None:
    assert clock(duration(text) or 0) == text


def test_moments_of_numpy_are_read_as_each_by_itself() -> None:
    held = [f"2026-0{1 + i % 9}-{10 + i % 18}T0{i % 10}:5{i % 10}:00.{i:06}" for i in range(500)]
    held += ["1905-03-01T23:59:59.999999", "0001-01-01", "9999-12-31T23:59:59.999999"]
    fast, slow = moments(np.array(held, dtype="M8[us]")), moments(np.array(held, dtype=object))
    assert fast.values.tolist() == slow.values.tolist()
    fine = np.array(["1905-03-01T23:59:59.999999999", "2026-01-01T00:00:00.000000001"], dtype="M8[ns]")
    assert moments(fine).values.tolist() == [moment(str(each)) for each in fine]


def test_what_numpy_can_hold_and_no_calendar_has_is_no_moment() -> None:
    read = moments(np.array([0, 1 << 62, -(1 << 62)], dtype="M8[s]"))
    assert read.strange.tolist() == [False, True, True]
    assert moments(np.array(["NaT"], dtype="M8[D]")).missing.all()
    assert durations(np.array([1 << 62], dtype="m8[D]")).strange.all()


@pytest.mark.parametrize(
    ("bounds", "bins", "ends", "count"),
    [
        ((0, 120), 12, (0.0, 120.0), 12),
        ((0, 120), None, (0.0, 120.0), 1_024),
        (YEAR, None, (20_454 * DAY, 20_819 * DAY), 365),
        ((date(2026, 1, 1), date(2026, 12, 31)), None, (20_454 * DAY, 20_819 * DAY), 365),
        (YEAR, "week", (20_454 * DAY, (20_454 + 53 * 7) * DAY), 53),
        (YEAR, 12, (20_454 * DAY, 20_819 * DAY), 12),
        (("2026-01-01", "2026-01-01"), "hour", (20_454 * DAY, 20_455 * DAY), 24),
        (("2026-01-01T00:00", "2026-01-02T00:00"), "hour", (20_454 * DAY, 20_455 * DAY), 24),
        ((datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 6)), "minute", (20_454 * DAY, 20_454.25 * DAY), 360),
        (("0:00", "2:00:00"), "minute", (0.0, DAY / 12), 120),
        (("0:00", "0:00:30"), None, (0.0, 3e7), 1_024),
        ((timedelta(0), timedelta(hours=36)), "day", (0.0, 2.0 * DAY), 2),
    ],
)
def test_where_a_line_begins_and_ends(bounds, bins, ends, count: int) -> None:
    question = hc.Distribution(bounds, bins)
    assert question.domain.ends == ends
    assert question.bins == question.domain.count == count
    assert question_from_json(question.to_json()) == question
    again = Intervals.of(question.bounds, question.bins)
    assert again.ends == ends


def test_a_day_that_is_the_last_one_there_is_is_a_bound() -> None:
    assert hc.Distribution(("9999-12-01", "9999-12-31"), 31).domain.size == 31


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: hc.Distribution(("2026-01-02", "2026-01-01")), "the smaller first"),
        (lambda: hc.Distribution(("2026-01-01", 3)), "two numbers"),
        (lambda: hc.Distribution(("2026-01-01", "0:30")), "two numbers"),
        (lambda: hc.Distribution(("2026-02-30", "2026-03-30")), "two numbers"),
        (lambda: hc.Distribution(("2:00", "1:00")), "two durations, the smaller first"),
        (lambda: hc.Distribution(YEAR, "month"), "or day, week, hour, minute or second"),
        (lambda: hc.Distribution((0, 1), "day"), "use a whole number of them, for example 1024"),
        (lambda: hc.Distribution((0, 1), dates="%d.%m.%Y"), "is for days and moments"),
        (lambda: hc.Distribution(YEAR, dates="%d"), "use %Y, %m and %d"),
        (lambda: hc.Distribution(YEAR, missing=3.0).domain, "people hold none"),
        (lambda: hc.Table({"a": {"bounds": YEAR, "bins": 3, "other": True}}), "says other of 'a'"),
        (lambda: hc.Table({"a": {"bins": "month"}}), "bounds is missing"),
    ],
)
def test_refusals_say_what_would_work(ask, words: str) -> None:
    with pytest.raises(BadArgument) as refused:
        ask()
    assert words in str(refused.value)


def test_text_that_is_no_day_is_refused_and_never_quoted() -> None:
    with pytest.raises(BadData) as refused:
        hc.Distribution(YEAR).domain.codes(column(["2026-01-01", "31.12.2026"]))
    assert "dates='%d.%m.%Y'" in str(refused.value)
    assert "31.12" not in str(refused.value)
    assert hc.Distribution(YEAR, dates="%d.%m.%Y").domain.codes(column(["31.12.2026"])).tolist() == [364]


@pytest.mark.parametrize(
    "held",
    [
        ["2026-01-01", "2026-12-31T23:59:59.999999", "2026-07-01 12:00"],
        [date(2026, 1, 1), datetime(2027, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 7, 1, 3)],
        pd.to_datetime(pd.Series(["2026-01-01 00:00", "2026-12-31 03:00", "2026-07-01 00:00"])),
        np.array(["2026-01-01", "2026-12-31", "2026-07-01"], dtype="M8[D]"),
    ],
)
def test_days_in_any_form_are_in_their_bin(held) -> None:
    assert hc.Distribution(YEAR).domain.codes(column(held)).tolist() == [0, 364, 181]


def test_every_bin_has_its_label_and_an_answer_in_it() -> None:
    for question in (hc.Distribution(YEAR, "week"), hc.Distribution(("0:00", "1:00"), 7), hc.Distribution((0, 1), 9)):
        domain = question.domain
        answers = [domain.label(code) for code in range(domain.size)]
        assert domain.codes(column(answers)).tolist() == [*range(domain.size)]
        assert len(set(domain.labels)) == domain.size
    assert hc.Distribution(YEAR).domain.labels[0] == "[2026-01-01, 2026-01-02)"
    assert hc.Distribution(("0:00", "1:00"), "minute").domain.labels[1] == "[0:01:00, 0:02:00)"
