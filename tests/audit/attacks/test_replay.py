"""The same coins, another value: nothing may change but one person's part."""

import pytest
from broken_protocols import BranchesOnData, DrawsForOnes, NoiseByTheTotal, ScaledByTheLargest, TellsTheNeighbour

from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.protocols import named
from headcount_survey.attacks.replay import HOME, replay, traced
from stress import tinies


@tinies()
def test_only_that_persons_part_changes(tiny):
    assert not replay(tiny, pairs=30, coins=SeededCoins(1)).leaks


@pytest.mark.parametrize("name", ["geometric", "zsum", "basic-rappor", "poisson-histogram", "cheu-sum"])
def test_the_same_in_a_larger_crowd(name):
    """More than the few for whom tables are scanned whole."""
    assert not replay(named(name).tiny().among(Crowd(100)), pairs=10, coins=SeededCoins(2)).leaks


@pytest.mark.parametrize(
    ("twin", "what"),
    [
        (DrawsForOnes, "the amount of randomness"),
        (BranchesOnData, "the lines run"),
        (TellsTheNeighbour, "other people's messages"),
        (ScaledByTheLargest, "more of the tally"),
        (NoiseByTheTotal, "the noise"),
    ],
    ids=lambda case: getattr(case, "__name__", None),
)
def test_twins_are_caught(twin, what, monkeypatch):
    monkeypatch.setattr("headcount_survey.attacks.replay.HOME", "/")  # a twin's own lines count as the library's
    found = replay(twin.tiny(), pairs=60, coins=SeededCoins(1))
    assert found.leaks
    assert any(name.startswith(what) for name in found.found), str(found)
    assert what in str(found)


def test_coins_that_are_shared_out_otherwise_are_counted_and_tell_nothing():
    """Ones and zeros of a unary sum take as many words together, whatever the value."""
    found = replay(named("cheu-sum").tiny(), pairs=40, coins=SeededCoins(1))
    assert found.incomparable > 0
    assert not found.leaks


def test_a_trace_sees_the_lines_of_the_library_only():
    _, lines = traced(lambda: named("zsum").tiny().simulate([1, 0, 1, 1, 0, 0], runs=2))
    assert lines
    assert all(file.startswith(HOME) for file, _ in lines)
