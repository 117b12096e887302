"""From a budget to parameters: what comes back fits, wastes nothing, and is refused with reasons where nothing fits."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest
from first_question import question

from headcount.audit.conformance.loss_checks import looser
from headcount.common.short_decimals import NEAR
from headcount.errors import BadArgument, Infeasible, OverBudget, Unsupported
from headcount.planner.calibrate import calibrate, calibrations
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.exact_tables import MOST_CELLS, negative_binomial_cells
from headcount.privacy.loss import PrivacyLoss
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.correlated_histogram import CorrelatedHistogram
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.split_and_mix import SplitAndMix
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from stress import lengths, some

GRID = [(1.0, 1e-6, 10**4), (0.3, 1e-8, 10**4), (3.0, 1e-3, 300), (1.0, 1e-6, 10**7), (0.1, 1e-3, 10**5)]
QUICK = GRID[:1] + GRID[2:3]


def is_exact(cls: type[Protocol]) -> bool:
    """Bounds are expectations over a plane of outcomes: many of them at small epsilons and in small crowds."""
    return cls.tiny().loss.kind == "exact"


every_protocol = pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.name)
on_the_grid = pytest.mark.parametrize(
    ("cls", "epsilon", "delta", "n"),
    some(
        [(cls, *point) for cls in CATALOGUE for point in GRID if is_exact(cls) or point[0] >= 1.0],
        lambda given: given[1:] in QUICK,
    ),
    ids=lambda given: getattr(given, "name", None) or f"{given:g}",
)
impure = pytest.mark.parametrize("cls", [cls for cls in CATALOGUE if not cls.pure], ids=lambda cls: cls.name)
pure = pytest.mark.parametrize("cls", [cls for cls in CATALOGUE if cls.pure], ids=lambda cls: cls.name)


@cache
def calibrated(cls: type[Protocol], epsilon: float, delta: float, n: int) -> Protocol:
    return calibrate(cls, question(cls), Crowd(n), Budget(epsilon, delta))


def rises(protocol: Protocol) -> bool:
    """Whether the knob's parameter grows toward privacy: it rises or falls all the way."""
    knob, given = protocol.knob, vars(protocol)
    return knob.at(knob.high, given) > knob.at(knob.low, given)


def position(protocol: Protocol) -> float:
    """Where the knob stands."""
    knob, value = protocol.knob, getattr(protocol, protocol.knob.name)
    low, high, given, rising = knob.low, knob.high, vars(protocol), rises(protocol)
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (knob.at(middle, given) < value) == rising else (low, middle)
    return high


def turned(protocol: Protocol, by: float) -> Protocol:
    """With the knob turned by so much, toward privacy if positive; by a whole step if it has nothing but those."""
    knob, setting = protocol.knob, getattr(protocol, protocol.knob.name)
    if has_whole_steps(protocol):
        return replace(protocol, **{knob.name: setting + (1 if (by > 0) == rises(protocol) else -1)})
    follows = {entry.name: None for entry in fields(protocol) if entry.default is None}  # from the knob
    return replace(protocol, **follows, **{knob.name: knob.at(position(protocol) + by, vars(protocol))})


def has_whole_steps(protocol: Protocol) -> bool:
    return isinstance(getattr(protocol, protocol.knob.name), int)


def at_its_limit(protocol: Protocol) -> bool:
    return position(protocol) < protocol.knob.low + 1e-9


def check_fits(protocol: Protocol, epsilon: float, delta: float) -> None:
    assert protocol.loss.delta(epsilon) <= delta


def check_tight(protocol: Protocol, epsilon: float, delta: float) -> None:
    """The next setting of the knob is over the budget."""
    assert at_its_limit(protocol) or looser(protocol).loss.delta(epsilon) > delta


@on_the_grid
def test_what_is_calibrated_fits_the_budget(cls: type[Protocol], epsilon: float, delta: float, n: int) -> None:
    check_fits(calibrated(cls, epsilon, delta, n), epsilon, delta)


@on_the_grid
def test_what_is_calibrated_leaves_nothing_of_delta(cls: type[Protocol], epsilon: float, delta: float, n: int) -> None:
    check_tight(calibrated(cls, epsilon, delta, n), epsilon, delta)


@on_the_grid
def test_one_percent_less_noise_breaks_the_budget(cls: type[Protocol], epsilon: float, delta: float, n: int) -> None:
    protocol = calibrated(cls, epsilon, delta, n)
    assert at_its_limit(protocol) or turned(protocol, -0.01).loss.delta(epsilon) > delta


@every_protocol
def test_the_check_of_the_budget_catches_a_little_less_noise(cls: type[Protocol]) -> None:
    with pytest.raises(AssertionError):
        check_fits(looser(calibrated(cls, 1.0, 1e-6, 10**4)), 1.0, 1e-6)


@every_protocol
def test_the_check_of_tightness_catches_a_little_more_noise(cls: type[Protocol]) -> None:
    with pytest.raises(AssertionError):
        check_tight(turned(calibrated(cls, 1.0, 1e-6, 10**4), 0.005), 1.0, 1e-6)


@every_protocol
def test_a_larger_epsilon_costs_no_more_error(cls: type[Protocol]) -> None:
    errors = [calibrated(cls, epsilon, 1e-6, 10**4).rmse(500) for epsilon in (0.5, 1.0, 2.0)]
    assert errors == sorted(errors, reverse=True)


CROWD = Crowd(400, least=200, corrupt=20)


@cache
def in_a_small_crowd(cls: type[Protocol], crowd: Crowd) -> tuple[Protocol, Budget]:
    budget = Budget(1.0, 1e-6) if is_exact(cls) else Budget(3.0, 1e-3)
    return calibrate(cls, question(cls), crowd, budget), budget


@every_protocol
def test_noise_is_calibrated_for_the_honest_people_alone(cls: type[Protocol]) -> None:
    protocol, budget = in_a_small_crowd(cls, CROWD)
    assert protocol.view(CROWD.honest).delta(budget.epsilon) <= budget.delta


@every_protocol
@lengths("crowd", CROWD, Crowd(1000, least=200))
def test_the_budget_holds_however_many_of_the_crowd_come(cls: type[Protocol], crowd: Crowd) -> None:
    protocol, budget = in_a_small_crowd(cls, crowd)
    for honest in (crowd.honest, (crowd.honest + crowd.size) // 2, crowd.size):
        assert protocol.view(honest).delta(budget.epsilon) <= budget.delta * (1 + 1e-9)


def test_a_sampled_crowd_larger_than_its_promise_is_still_hidden() -> None:
    crowd = Crowd(500, least=300)
    protocol = calibrate(SampleThreshold, Count(), crowd, Budget(1.0, 1e-6))
    assert protocol.view(crowd.size).delta(1.0) <= 1e-6


# Pure budgets


@pure
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
def test_a_pure_budget_is_met_purely(cls: type[Protocol], epsilon: float) -> None:
    assert calibrate(cls, question(cls), Crowd(100), Budget(epsilon)).loss.delta(epsilon) == 0.0


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
def test_pure_geometric_noise_has_the_textbook_scale(epsilon: float) -> None:
    protocol = calibrate(Geometric, Count(), Crowd(100), Budget(epsilon))
    assert 1.0 / epsilon <= protocol.scale * (1 + 1e-15) <= (1.0 + NEAR) / epsilon


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
def test_pure_randomised_response_keeps_as_the_textbook_does(epsilon: float) -> None:
    protocol = calibrate(RandomisedResponse, Count(), Crowd(100), Budget(epsilon))
    textbook = 1.0 / (1.0 + math.exp(-epsilon))
    assert textbook - NEAR * (textbook - 0.5) <= protocol.keep <= textbook


@pure
def test_a_pure_budget_met_with_slightly_less_noise_is_not_pure(cls: type[Protocol]) -> None:
    protocol = calibrate(cls, question(cls), Crowd(100), Budget(1.0))
    assert looser(protocol).loss.delta(1.0) > 0.0


@impure
def test_a_pure_budget_is_refused_where_delta_is_needed(cls: type[Protocol]) -> None:
    with pytest.raises(Infeasible, match=f"{cls.name} cannot give delta = 0; use delta=1e-6 or another model"):
        calibrate(cls, question(cls), Crowd(10**4), Budget(1.0))


# Refusals


def test_a_crowd_too_small_is_told_to_grow() -> None:
    with pytest.raises(Infeasible) as refusal:
        calibrate(Zsum, Count(), Crowd(1200, least=1100, corrupt=50), Budget(0.05, 1e-6))
    assert str(refusal.value) == (
        "zsum cannot meet epsilon=0.05, delta=1e-06 with 1,050 honest people; use more people or a larger budget"
    )


def test_a_crowd_just_large_enough_is_not_refused() -> None:
    feasible = [n for n in (40, 60, 80, 100, 120, 140) if _feasible(n)]
    assert feasible == [
        n for n in (40, 60, 80, 100, 120, 140) if Zsum(crowd=Crowd(n), gamma=0.5).loss.delta(1.0) <= 1e-6
    ]
    assert 0 < len(feasible) < 6


def _feasible(n: int) -> bool:
    try:
        calibrate(Zsum, Count(), Crowd(n), Budget(1.0, 1e-6))
    except Infeasible:
        return False
    return True


@every_protocol
def test_an_unknown_parameter_is_refused_with_the_known_ones(cls: type[Protocol]) -> None:
    with pytest.raises(BadArgument, match=f"^sigma is not a parameter of {cls.name}") as refusal:
        calibrate(cls, question(cls), Crowd(10**4), Budget(1.0, 1e-6), sigma=3.0)
    assert refusal.value.argument == "sigma"
    assert all(name in str(refusal.value) for name in cls.parameter_names()[1])


def test_an_option_of_the_protocol_is_among_the_known_ones() -> None:
    with pytest.raises(BadArgument, match="it has decay, even, inner, overhead, own, shape"):
        calibrate(CorrelatedCount, Count(), Crowd(10**4), Budget(1.0, 1e-6), sigma=3.0)


def test_a_given_knob_that_overspends_is_refused() -> None:
    with pytest.raises(OverBudget, match=r"delta at epsilon=1 is .* over the budget's 1e-06"):
        calibrate(Zsum, Count(), Crowd(10**4), Budget(1.0, 1e-6), gamma=0.003)


def test_a_given_knob_that_fits_is_kept() -> None:
    protocol = calibrate(Zsum, Count(), Crowd(10**4), Budget(1.0, 1e-6), gamma=0.01)
    assert protocol.gamma == 0.01


def test_a_relation_without_a_guarantee_is_refused() -> None:
    with pytest.raises(Unsupported, match="use neighbours='replace'"):
        calibrate(Zsum, Count(), Crowd(10**4), Budget(1.0, 1e-6, Neighbours.ADD_REMOVE))


def test_the_relation_of_the_budget_is_the_protocol_s() -> None:
    protocol = calibrate(Geometric, Count(), Crowd(10), Budget(1.0, 0.0, Neighbours.ADD_REMOVE))
    assert protocol.neighbours is Neighbours.ADD_REMOVE


@pytest.mark.parametrize("overhead", [0.0, -1.0, math.nan])
def test_an_impossible_overhead_is_refused(overhead: float) -> None:
    with pytest.raises(BadArgument, match=r"^overhead is"):
        calibrate(CorrelatedCount, Count(), Crowd(10**4), Budget(1.0, 1e-6), overhead=overhead)


# Choices


@pytest.mark.parametrize("overhead", [0.01, 0.1, 0.5])
def test_overhead_is_how_far_the_error_lies_above_the_central_one(overhead: float) -> None:
    protocol = calibrate(CorrelatedCount, Count(), Crowd(10**4), Budget(1.0, 1e-6), overhead=overhead)
    central = Geometric(crowd=Crowd(10**4), scale=1.0)
    assert protocol.error().std_error / central.error().std_error == pytest.approx(1.0 + overhead, rel=NEAR)


def test_a_smaller_overhead_costs_more_messages() -> None:
    few, many = (
        calibrate(CorrelatedCount, Count(), Crowd(10**4), Budget(1.0, 1e-6), overhead=overhead).messages_per_person
        for overhead in (0.2, 0.02)
    )
    assert few < many


def test_the_choice_with_the_smallest_objective_is_taken() -> None:
    def threshold(protocol: Protocol) -> float:
        return float(protocol.parameters["threshold"])

    budget, crowd = Budget(1.0, 1e-6), Crowd(2000)
    fewest = min(choice["threshold"] for choice in SampleThreshold.choices(Count(), crowd, budget))
    assert calibrate(SampleThreshold, Count(), crowd, budget, objective=threshold).threshold == fewest


def test_split_and_mix_has_no_more_levels_than_a_person_can_draw_noise_for() -> None:
    # Among so many people the rounding would ask for more; fewer cost less than a tenth of the error.
    protocol = calibrate(SplitAndMix, Sum((0, 1)), Crowd(10**9), Budget(1.0, 1e-6))
    assert negative_binomial_cells(1e-9, protocol.decay) <= MOST_CELLS
    assert protocol.rmse() == pytest.approx(math.sqrt(2.0), rel=0.1)


# Figures that were known before


def at_epsilon_one(cls: type[Protocol], n: int, **given: Any) -> Protocol:
    return calibrate(cls, Count(), Crowd(n), Budget(1.0, 1e-6), **given)


@pytest.mark.parametrize("n", [10**4, 10**6, 10**9])
def test_zsum_needs_34_missing_dummies(n: int) -> None:
    assert n * at_epsilon_one(Zsum, n).parameters["gamma"] == pytest.approx(34.0, rel=0.01)


def test_cheu_count_needs_67_coins_among_6000_people() -> None:
    assert at_epsilon_one(CheuCount, 6000).parameters["lam"] == pytest.approx(66.6, rel=0.01)


def test_poisson_count_needs_34_dummies() -> None:
    assert at_epsilon_one(PoissonCount, 10**4).parameters["mean"] == pytest.approx(34.07, rel=0.01)


def test_a_threshold_of_17_lets_three_in_ten_be_sampled() -> None:
    protocol = at_epsilon_one(SampleThreshold, 10**4, threshold=17)
    assert protocol.parameters["rate"] == pytest.approx(0.302, rel=0.01)


def test_a_setting_that_cannot_be_drawn_on_the_way_does_not_end_the_search() -> None:
    """The first step goes too far for tables, and the budget is met before that."""
    crowd, budget = Crowd(5_000), Budget(1.0, 1e-6)
    found = calibrate(CorrelatedHistogram, Histogram(10**6), crowd, budget)
    check_fits(found, 1.0, 1e-6)
    check_tight(found, 1.0, 1e-6)
    with pytest.raises(Infeasible, match="dummies"):
        replace(found, decay=1.0 - (1.0 - found.decay) ** 3).loss.delta(1.0)


@pytest.mark.parametrize(
    "cls",
    [PoissonCount, NegativeBinomialCount, CorrelatedCount, PoissonHistogram, CorrelatedHistogram],
    ids=lambda cls: cls.name,
)
@pytest.mark.parametrize("delta", [1e-11, 1e-18])
def test_a_larger_epsilon_needs_no_more_noise_and_is_never_refused(cls: type[Protocol], delta: float) -> None:
    """Rounded tables of a billion people cost e^epsilon times as much; what was promised before still holds."""
    smaller, larger, largest = (calibrated(cls, epsilon, delta, 10**9) for epsilon in (7.0, 34.0, 50.0))
    assert smaller.rmse() * (1 + 1e-6) >= larger.rmse() >= largest.rmse() / (1 + 1e-3)
    assert larger.loss.delta(34.0) <= delta


@pytest.mark.parametrize("ones", [60, 200])
def test_the_threshold_is_as_good_as_the_best_of_all(ones: int) -> None:
    """A spread of them alone misses it by several per cent, as does a search that ends at the last of the spread."""
    crowd, budget = Crowd(220), Budget(1.0, 1e-3)

    def error(protocol: Protocol) -> float:
        return protocol.rmse(ones)

    found = error(calibrate(SampleThreshold, Count(), crowd, budget, error))
    every = [
        error(protocol)
        for threshold in range(2, 220)
        for protocol in calibrations(SampleThreshold, Count(), crowd, budget, threshold=threshold)
    ]
    spread = [error(protocol) for protocol in calibrations(SampleThreshold, Count(), crowd, budget)]
    assert min(every) <= found <= 1.002 * min(every)
    assert min(spread) > 1.02 * found


def test_where_more_noise_only_adds_slack_the_search_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delta of this budget is below the slack of wide tables: a rising delta is not followed to the widest of them."""
    asked = []
    delta = PrivacyLoss.delta

    def counted(self: PrivacyLoss, epsilon: float) -> float:
        asked.append(epsilon)
        return delta(self, epsilon)

    monkeypatch.setattr(PrivacyLoss, "delta", counted)
    with pytest.raises(Infeasible, match="cannot meet epsilon=34"):
        calibrate(CorrelatedCount, Count(), Crowd(17_875), Budget(34.0, 1e-11))
    assert len(asked) <= 4
