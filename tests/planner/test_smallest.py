"""The fewest people a protocol needs: found in a hurry, and the same as by calibrating at every size."""

from __future__ import annotations

import pytest

import headcount as hc
from headcount.errors import BadArgument, Refused
from headcount.planner import calibrate as calibration
from headcount.planner.calibrate import attainable, calibrate
from headcount.planner.selection import parsed_models
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum
from stress import some

LOOSE, TIGHT = Budget(4.0, 1e-4), Budget(1.5, 1e-6)
SOME_MISSING = Crowd(1_000, 900, 2)
FEW = ["geometric", "zsum", "poisson-count", "cheu-count", "sample-threshold"]


def question(cls: type[Protocol]) -> Question:
    if Shape.BIT in cls.shapes:
        return Count()
    if Shape.ONE_OF in cls.shapes:
        return Histogram(5)
    return Sum.whole((0, 10)) if Shape.AMOUNT in cls.shapes else cls.tiny().task


def slowly(cls: type[Protocol], task: Question, crowd: Crowd, budget: Budget) -> int | None:
    """With a whole calibration at every size that is tried."""

    def serves(size: int) -> bool:
        least = max(1, round(size * crowd.least / crowd.size))
        try:
            found = calibrate(cls, task, Crowd(size, least, crowd.corrupt), budget) if least > crowd.corrupt else None
        except Refused:
            return False
        return found is not None and found.error_of_answer() < size / 2

    low, high = 0, 1
    while not serves(high):
        low, high = high, 2 * high
        if high > 1 << 20:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return high


@pytest.mark.parametrize("budget", some([LOOSE, TIGHT], lambda budget: budget is LOOSE), ids=str)
@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.name)
def test_it_is_the_same_as_by_calibrating_at_every_size(cls, budget):
    assert smallest_crowd(cls, question(cls), Crowd(1_000), budget) == slowly(cls, question(cls), Crowd(1_000), budget)


@pytest.mark.parametrize("name", ["cheu-count", "zsum", "poisson-count", "sample-threshold", "balcer-cheu-histogram"])
def test_also_where_some_are_missing_or_corrupt(name):
    cls = named(name)
    found = smallest_crowd(cls, question(cls), SOME_MISSING, TIGHT)
    assert found == slowly(cls, question(cls), SOME_MISSING, TIGHT)
    assert found > smallest_crowd(cls, question(cls), Crowd(1_000), TIGHT)


@pytest.mark.parametrize("name", ["geometric", "sample-threshold", "stability-histogram"])
def test_also_where_people_come_and_go(name):
    cls, budget = named(name), Budget(1.5, 1e-6, Neighbours.ADD_REMOVE)
    assert smallest_crowd(cls, question(cls), Crowd(1_000), budget) == slowly(cls, question(cls), Crowd(1_000), budget)


@pytest.mark.parametrize("models", [None, ["shuffle-threshold", "shuffle"]], ids=str)
def test_of_several_it_is_the_smallest(models):
    """All but the first are only asked whether still fewer will do."""
    given = {"epsilon": TIGHT.epsilon, "delta": TIGHT.delta, "models": models, "protocols": FEW}
    one_by_one = [
        option.smallest_n
        for option in hc.advise("count", n=1, **given).options
        if option.kind.model in parsed_models(models)
    ]
    assert hc.smallest_n("count", **given) == min(one_by_one)
    assert len(set(one_by_one)) > 2


def test_fewer_than_are_known_to_suffice_takes_one_look(monkeypatch):
    sizes = []

    def look(cls, task, crowd, *given):
        sizes.append(crowd.size)
        return attainable(cls, task, crowd, *given)

    monkeypatch.setattr("headcount.planner.smallest_crowd.attainable", look)
    cls = named("poisson-count")
    exact = smallest_crowd(cls, Count(), Crowd(1_000), TIGHT)
    sizes.clear()
    assert smallest_crowd(cls, Count(), Crowd(1_000), TIGHT, below=exact) is None
    assert sizes == [exact - 1]
    assert smallest_crowd(cls, Count(), Crowd(1_000), TIGHT, below=exact + 1) == exact


def test_none_will_do_without_delta_or_without_a_list():
    assert smallest_crowd(named("zsum"), Count(), Crowd(1_000), Budget(1.0)) is None
    assert smallest_crowd(named("poisson-histogram"), Histogram(), Crowd(1_000), TIGHT) is None


@pytest.mark.parametrize(("buckets", "fewest"), [(10, 700), (1_000, 5_000)])
def test_histograms_of_many_cells_do_not_break_it(buckets, fewest):
    """At tiny sizes hardly any mass is left that both neighbours share."""
    found = smallest_crowd(named("count-min-shuffle"), Histogram(buckets), Crowd(10**5), Budget(1.0, 1e-6))
    assert found is not None
    assert fewest < found < 2 * fewest


def test_a_knob_is_not_turned_further_than_need_be(monkeypatch):
    """In a large crowd the first setting within the budget is good enough; calibration looks on."""
    looks, turn = [], calibration._turn

    def counting(cls, base, budget, watch=lambda _, __: None):
        def look(protocol, within):
            looks.append(within)
            watch(protocol, within)

        return turn(cls, base, budget, look)

    monkeypatch.setattr(calibration, "_turn", counting)
    assert attainable(named("cheu-count"), Count(), Crowd(10**5), TIGHT, lambda p: p.rmse() < 5_000)
    assert sum(looks) == 1
    looks.clear()
    calibrate(named("cheu-count"), Count(), Crowd(10**5), TIGHT)
    assert sum(looks) > 1


def test_an_answer_before_it_is_certain_would_be_noticed(monkeypatch):
    """A search that stops at the first setting within the budget, however bad its answers, finds too small a crowd."""
    cls = named("poisson-count")
    right = smallest_crowd(cls, Count(), Crowd(1_000), TIGHT)
    monkeypatch.setattr(
        "headcount.planner.smallest_crowd.attainable", lambda *given: attainable(*given[:-1], lambda _: True)
    )
    assert smallest_crowd(cls, Count(), Crowd(1_000), TIGHT) < right


@pytest.mark.parametrize("solve", [hc.smallest_n, hc.advise, hc.most_rounds])
def test_a_value_is_within_no_number_of_people(solve) -> None:
    told = {"n": 100} if solve is hc.most_rounds else {}
    with pytest.raises(BadArgument, match=r"within is a number of people, .* best_for='quantiles'"):
        solve(hc.Quantile((18, 90), whole=True), epsilon=1, within=0.01, **told)
    assert hc.advise(hc.Quantile((18, 90), whole=True), n=100, epsilon=1, protocols="geometric").best


def test_the_people_below_a_value_are_within_a_number_of_people() -> None:
    question = hc.Distribution((0, 3), whole=True, best_for="quantiles")
    few = hc.smallest_n(question, epsilon=1, within=20, protocols=["geometric", "oracle-by-lot"])
    assert few < 20
