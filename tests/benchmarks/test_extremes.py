"""Advice for large crowds and extreme budgets: which calls are measured, and what counts as late."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import extremes


def test_every_kind_of_question_is_asked_of_everybody_and_beyond_reach():
    calls = list(extremes.calls())
    for task in extremes.TASKS:
        written = [str(call) for call in calls if call.task == task]
        assert f"advise({task}, n=1e+09, epsilon=48.7, delta=5e-18)" in written
        assert f"smallest_n({task}, epsilon=1, delta=1e-06, within=0.001)" in written


def test_a_call_says_what_comes_of_it_and_what_takes_longer_is_late(monkeypatch, capsys):
    reached, refused = (extremes.Call("smallest_n", "count", {"epsilon": 1, "within": at}) for at in (1e3, 1e-3))
    monkeypatch.setattr(extremes, "calls", lambda: [reached, refused])
    monkeypatch.setattr(extremes, "apart", lambda _, call: (call(), 2.0))
    assert extremes.main("") == 1
    in_time, late = capsys.readouterr().out.splitlines()
    assert "over" not in in_time
    assert "over" in late
    assert "refused: " in late
    assert extremes.main("nobody asks this") == 0
