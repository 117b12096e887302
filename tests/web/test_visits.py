"""Visits to the questionnaire, without a browser: a few at a time, and none that waits for ever."""

import time

import pytest

from headcount.errors import Refused, UnknownCollection
from headcount_service.operator.operator import Operator
from headcount_service.web import visits
from headcount_service.web.visits import DEMONSTRATION, Visits


def test_a_visit_that_nobody_answered_makes_room_for_the_next(empty_trial, monkeypatch):
    monkeypatch.setattr(visits, "MOST", 2)
    few = Visits(empty_trial.folder)
    first, second, third = (few.begin()["collection"] for _ in range(3))
    with pytest.raises(UnknownCollection):
        few.state(first)
    assert set(Operator.open(empty_trial.folder).names()) == {second, third}
    populations = [each["population"] for each in Operator.open(empty_trial.folder).populations()]
    assert populations == [f"{DEMONSTRATION} 1", f"{DEMONSTRATION} 2"]
    monkeypatch.setattr(Visits, "_came", lambda *_: 1)
    with pytest.raises(Refused, match="has had its visitors"):
        few.begin()


def test_a_visit_that_breaks_says_so(trial, monkeypatch):
    def broken(*_, **__):
        raise OSError

    monkeypatch.setattr(visits, "report_all", broken)
    monkeypatch.setattr(Visits, "_came", lambda *_: 1)
    some = Visits(trial.folder)
    name = some.begin()["collection"]
    some.crowd(name)
    until = time.monotonic() + 120  # on a busy machine
    while (told := some.state(name))["state"] == "reporting" and time.monotonic() < until:
        time.sleep(0.02)
    assert told["state"] == "failed"
    assert "went wrong" in told["problem"]
