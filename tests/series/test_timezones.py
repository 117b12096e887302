"""Rounds whose days are those of a time zone: of 23 and 25 hours, of hours that come twice, of months."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import headcount as hc
from headcount.errors import BadArgument
from headcount.questions.domains.calendar_rounds import Rounds

BERLIN = ZoneInfo("Europe/Berlin")


def hours(rounds):
    """How long each is."""
    begins = [datetime.fromisoformat(start).replace(tzinfo=UTC) for start in rounds.starts]
    return [(later - earlier) / timedelta(hours=1) for earlier, later in pairwise(begins)]


def test_days_have_23_and_25_hours_where_clocks_are_changed():
    assert hours(Rounds.beginning("2026-03-28", "day", 3, "Europe/Berlin")) == [24, 23, 24]
    assert hours(Rounds.beginning("2026-10-24", "day", 3, "Europe/Berlin")) == [24, 25, 24]
    assert hours(Rounds.beginning("2026-03-28", "day", 3)) == [24, 24, 24]


def test_weeks_and_months_begin_at_midnight_there():
    weeks = Rounds.beginning("2026-03-23", "week", 3, "Europe/Berlin")
    assert weeks.labels == ("2026-03-23", "2026-03-30", "2026-04-06")
    assert weeks.starts[:2] == ("2026-03-22T23:00:00", "2026-03-29T22:00:00")
    months = Rounds.beginning("2026-01-01", "month", 12, "America/New_York")
    assert months.labels == tuple(f"2026-{month:02}-01" for month in range(1, 13))
    assert {start[11:] for start in months.starts} == {"04:00:00", "05:00:00"}


def test_an_hour_that_comes_twice_is_two_rounds_with_names_of_their_own():
    night = Rounds.beginning("2026-10-25T01:00", "hour", 4, "Europe/Berlin")
    assert hours(night) == [1, 1, 1, 1]
    assert night.labels[1:3] == ("2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00")
    assert len({*night.labels}) == 4


def test_a_day_whose_midnight_does_not_exist_begins_when_it_does():
    days = Rounds.beginning("2018-11-03", "day", 3, "America/Sao_Paulo")
    assert hours(days) == [24, 23, 24]
    assert days.starts[1] == "2018-11-04T03:00:00"


def test_a_first_moment_that_says_where_it_is_keeps_its_place():
    days = Rounds.beginning("2026-07-01T00:00+02:00", "day", 2, "Europe/Berlin")
    assert days.starts == Rounds.beginning("2026-07-01", "day", 2, "Europe/Berlin").starts


@pytest.mark.parametrize("name", ["Europe/Atlantis", "../etc/passwd", "", "/etc/localtime", 3, None])
def test_a_zone_that_is_none_is_refused(name):
    with pytest.raises(BadArgument, match="timezone"):
        Rounds.beginning("2026-01-05", "day", 2, name)


def test_months_that_begin_with_another_day_there_are_refused():
    with pytest.raises(BadArgument, match="in Europe/Berlin"):
        Rounds.beginning("2026-01-01T00:00Z", "month", 2, "Europe/Berlin")


def test_minutes_that_are_not_those_of_utc_are_refused():
    with pytest.raises(BadArgument, match="minutes of its own"):
        Rounds.beginning("1890-01-01", "day", 2, "Europe/Amsterdam")


def rows(zone):
    """An hour of each of three days around the change, with times in UTC; everybody has one."""
    start = datetime(2026, 10, 24, tzinfo=zone).astimezone(UTC)
    times = [start + timedelta(hours=each) for each in range(73)]
    return times, [(each.astimezone(BERLIN).date() - datetime(2026, 10, 24).date()).days for each in times]


@pytest.mark.parametrize("aware", [True, False])
def test_rows_are_counted_on_the_day_that_it_was_there(aware):
    times, days = rows(BERLIN)
    data = {
        "at": [each.isoformat() if aware else f"{each:%Y-%m-%dT%H:%M:%S}" for each in times] * 40,
        "who": range(73 * 40),
    }
    counted = hc.series(
        data, time="at", unit="who", first="2026-10-24", rounds=3, every="day", timezone="Europe/Berlin", epsilon=50
    )
    assert counted.begins == ("2026-10-24", "2026-10-25", "2026-10-26")
    assert [round(counted.round(at).value) for at in (1, 2, 3)] == (40 * np.bincount(days, minlength=3)).tolist()
    twin = hc.series(data, time="at", unit="who", first="2026-10-24", rounds=3, every="day", epsilon=50)
    assert [round(twin.round(at).value) for at in (1, 2, 3)] != (40 * np.bincount(days, minlength=3)).tolist()


def test_files_are_counted_as_memory_is(tmp_path):
    times, _ = rows(BERLIN)
    path = tmp_path / "rows.csv"
    lines = [f"{each:%Y-%m-%d %H:%M:%S},{at}" for at, each in enumerate(times * 40)]
    path.write_text("\n".join(["at,who", *lines]) + "\n", encoding="utf-8")
    given = {"time": "at", "unit": "who", "first": "2026-10-24", "rounds": 3, "every": "day", "epsilon": 50}
    counted = hc.series(str(path), timezone="Europe/Berlin", **given)
    assert [round(counted.round(at).value) for at in (1, 2, 3)] == [960, 1000, 960]
