"""The nouns: what they refuse and how they say so, and the arithmetic of tallies, laws and losses."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tapes import chi_square_rejects

from headcount.core.budget import Budget, Neighbours
from headcount.core.coins import SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, BadData, OverBudget, Refused
from headcount.core.law import DIRECT, FOURIER_ERROR, Law, Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.tally import Tally
from headcount.core.task import Count

few = settings(derandomize=True, max_examples=100, deadline=None)


# Crowd


def test_a_crowd_that_all_turn_up_has_only_honest_people() -> None:
    crowd = Crowd(10)
    assert (crowd.least, crowd.corrupt, crowd.honest) == (10, 0, 10)


def test_the_honest_are_the_fewest_reports_less_those_who_may_lie() -> None:
    assert Crowd(100, least=80, corrupt=30).honest == 50


@pytest.mark.parametrize(
    ("size", "least", "corrupt", "argument"),
    [
        (0, 0, 0, "n"), (-5, 0, 0, "n"), (10, 11, 0, "least"), (10, -1, 0, "least"),
        (10, 10, 10, "corrupt"), (10, 4, 4, "corrupt"), (10, 10, -1, "corrupt"),
    ],
)  # fmt: skip
def test_an_impossible_crowd_is_refused_by_the_argument_s_name(
    size: int, least: int, corrupt: int, argument: str
) -> None:
    with pytest.raises(BadArgument) as refusal:
        Crowd(size, least, corrupt)
    assert refusal.value.argument == argument


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"size": 0}, "n is 0; a crowd has at least 1 person"),
        ({"size": 2000, "least": 3000}, "least is 3000; use a number from 1 to the crowd's 2,000"),
        ({"size": 2000, "corrupt": 2000}, "corrupt is 2000; use a number from 0 to 1,999"),
    ],
)
def test_a_refused_crowd_says_what_would_work(wrong: dict[str, int], words: str) -> None:
    with pytest.raises(BadArgument, match=words):
        Crowd(**wrong)


def test_a_crowd_of_one_is_allowed() -> None:
    assert Crowd(1).honest == 1


def test_a_crowd_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Crowd(5).size = 6  # type: ignore[misc]


def test_values_survive_pickling() -> None:
    for value in (Crowd(10, 8, 2), Budget(1, 1e-6, Neighbours.ADD_REMOVE), Count()):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301


# Budget and neighbours


@pytest.mark.parametrize("epsilon", [0, -1, 51, math.inf, math.nan, True, "1", None])
def test_an_impossible_epsilon_is_refused_by_name(epsilon: object) -> None:
    with pytest.raises(BadArgument, match="^epsilon is .*use a number above 0 and up to 50") as refusal:
        Budget(epsilon)  # type: ignore[arg-type]
    assert refusal.value.argument == "epsilon"


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.inf, math.nan, False, "1e-6", None])
def test_an_impossible_delta_is_refused_by_name(delta: object) -> None:
    with pytest.raises(BadArgument, match="^delta is .*use a number from 0 up to 1, for example 1e-6") as refusal:
        Budget(1.0, delta)  # type: ignore[arg-type]
    assert refusal.value.argument == "delta"


@pytest.mark.parametrize("epsilon", [5e-324, 1, 50])
def test_epsilon_may_be_tiny_whole_or_fifty(epsilon: float) -> None:
    assert Budget(epsilon).epsilon == float(epsilon)


@pytest.mark.parametrize("text", ["replace-two", "", "Replace"])
def test_an_unknown_relation_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(BadArgument, match="use 'replace' or 'add-remove'") as refusal:
        Budget(1.0, 0.0, text)  # type: ignore[arg-type]
    assert refusal.value.argument == "neighbours"


@pytest.mark.parametrize("text", ["add-remove", "add_remove", Neighbours.ADD_REMOVE])
def test_a_relation_may_be_spelled_with_a_hyphen_or_an_underscore(text: str) -> None:
    assert Neighbours.parse(text) is Neighbours.ADD_REMOVE


def test_refusals_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="epsilon") as refusal:
        Budget(0)
    assert isinstance(refusal.value, Refused)


def test_a_budget_reads_as_epsilon_and_delta() -> None:
    assert str(Budget(1, 1e-6)) == "(ε=1, δ=1e-06)"


class Exponential(PrivacyLoss):
    """delta = exp(-a - b epsilon) forwards and half of it backwards."""

    def __init__(self, a: float, b: float, swapped: bool = False) -> None:
        self.a, self.b, self.swapped = a, b, swapped

    def orders(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        delta = np.exp(-self.a - self.b * epsilon)
        return (delta / 2.0, delta) if self.swapped else (delta, delta / 2.0)


def test_a_loss_within_the_budget_is_let_through() -> None:
    Budget(1.0, 0.11).require(Exponential(1.0, 1.3))


def test_a_loss_over_the_budget_is_refused_with_both_deltas() -> None:
    with pytest.raises(OverBudget, match="delta at epsilon=1 is 0.1, over the budget's 0.09"):
        Budget(1.0, 0.09).require(Exponential(1.0, math.log(10) - 1.0))


# Losses


@few
@given(st.floats(0.0, 3.0), st.floats(0.1, 3.0), st.floats(1e-15, 0.9))
def test_epsilon_undoes_delta(a: float, b: float, delta: float) -> None:
    expected = max(0.0, (-math.log(delta) - a) / b)
    assert Exponential(a, b).epsilon(delta) == pytest.approx(expected, rel=1e-8, abs=1e-8)


@few
@given(st.floats(0.0, 3.0), st.floats(0.1, 3.0), st.floats(1e-15, 0.9))
def test_epsilon_is_rounded_to_the_safe_side(a: float, b: float, delta: float) -> None:
    loss = Exponential(a, b)
    assert loss.delta(loss.epsilon(delta)) <= delta


@pytest.mark.parametrize("swapped", [False, True])
def test_delta_is_that_of_the_worse_order(swapped: bool) -> None:
    assert Exponential(1.0, 1.0, swapped).delta(1.0) == pytest.approx(math.exp(-2.0), rel=1e-9)


def test_delta_is_rounded_up() -> None:
    assert Exponential(1.0, 1.0).delta(1.0) > math.exp(-2.0)


def test_delta_is_never_above_one() -> None:
    assert Exponential(-3.0, 1.0).delta(0.0) == 1.0


def test_epsilon_is_infinite_where_no_epsilon_will_do() -> None:
    class Constant(Exponential):
        def slack(self, epsilon: float) -> float:
            return 1e-3

    assert Constant(1.0, 1.0).epsilon(1e-4) == math.inf


def test_epsilon_is_zero_where_delta_alone_pays() -> None:
    assert Exponential(1.0, 1.0).epsilon(0.5) == 0.0


# Count


@pytest.mark.parametrize(
    "data",
    [[0, 1, 1, 0], [False, True, True, False], [0.0, 1.0, 1.0, 0.0], np.array([0, 1, 1, 0], dtype=np.uint64)],
)
def test_zeros_and_ones_of_any_type_are_taken(data: object) -> None:
    encoded = Count().encoded(np.asarray(data))
    assert (encoded.dtype, encoded.tolist()) == (np.uint8, [0, 1, 1, 0])


SECRET = 31337
UNFIT = {
    "another number": np.array([0, 1, SECRET]),
    "a negative number": np.array([0, 1, -SECRET]),
    "a fraction": np.array([0.0, 1.0, 0.31337]),
    "infinity": np.array([0.0, math.inf]),
    "a missing value": np.array([0.0, 1.0, math.nan]),
    "text": np.array(["0", "1", "secret 31337"]),
    "objects": np.array([0, 1, None, "31337"], dtype=object),
    "complex numbers": np.array([0, 1, 31337j]),
    "two columns": np.full((3, 2), SECRET),
    "a single value": np.array(SECRET),
    "nobody": np.array([]),
}


@pytest.mark.parametrize("data", UNFIT.values(), ids=UNFIT)
def test_other_data_are_refused(data: np.ndarray) -> None:
    with pytest.raises(BadData, match="^data "):
        Count().encoded(data)


@pytest.mark.parametrize("data", UNFIT.values(), ids=UNFIT)
def test_a_refusal_quotes_nobody_s_data(data: np.ndarray) -> None:
    with pytest.raises(BadData) as refusal:
        Count().encoded(data)
    assert not any(trace in str(refusal.value) for trace in ("31337", "secret", "inf", "nan"))


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("another number", "use where"), ("text", "use where"), ("a missing value", "drop them"),
        ("two columns", "one column"), ("nobody", "at least one person"),
    ],
)  # fmt: skip
def test_a_refusal_of_data_says_what_to_do(name: str, advice: str) -> None:
    with pytest.raises(BadData, match=advice):
        Count().encoded(UNFIT[name])


# Tally


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    totals = draw(st.lists(st.integers(-(1 << 60), 1 << 60), min_size=3, max_size=3))
    return Tally(draw(st.integers(0, 1 << 40)), np.array(totals))


@few
@given(tallies(), tallies())
def test_tallies_may_be_added_in_either_order(first: Tally, second: Tally) -> None:
    assert first + second == second + first


@few
@given(tallies(), tallies(), tallies())
def test_tallies_may_be_grouped_at_will(first: Tally, second: Tally, third: Tally) -> None:
    assert (first + second) + third == first + (second + third)


@few
@given(tallies())
def test_nobody_s_tally_changes_nothing(tally: Tally) -> None:
    assert tally + Tally.nobody(3) == tally


@few
@given(tallies(), tallies())
def test_equal_tallies_have_equal_hashes(first: Tally, second: Tally) -> None:
    assert hash(first + second) == hash(second + first)


def test_tallies_of_other_reports_or_totals_differ() -> None:
    tally = Tally(5, np.array([1, 2]))
    assert tally != Tally(6, np.array([1, 2]))
    assert tally != Tally(5, np.array([1, 3]))
    assert tally != (5, [1, 2])


# Laws

masses = st.lists(st.integers(1, 1000), min_size=1, max_size=12)


def law_of(weights: list[int], start: int) -> tuple[Law, dict[int, Fraction]]:
    exact = {start + i: Fraction(weight, sum(weights)) for i, weight in enumerate(weights)}
    return Law(start, np.array([float(mass) for mass in exact.values()])), exact


def moments(exact: dict[int, Fraction]) -> tuple[float, float]:
    mean = sum(value * mass for value, mass in exact.items())
    return float(mean), float(sum((value - mean) ** 2 * mass for value, mass in exact.items()))


@few
@given(masses, st.integers(-50, 50))
def test_a_law_s_moments_are_those_of_its_masses(weights: list[int], start: int) -> None:
    law, exact = law_of(weights, start)
    assert (law.mean, law.variance) == pytest.approx(moments(exact), rel=1e-12, abs=1e-12)


@few
@given(masses, st.integers(-50, 50), st.integers(-9, 9))
def test_a_shifted_law_has_the_same_masses_further_on(weights: list[int], start: int, by: int) -> None:
    law, exact = law_of(weights, start)
    moved = law.shifted(by)
    assert moved.values.tolist() == [value + by for value in exact]
    assert moved.masses.tolist() == law.masses.tolist()


@few
@given(masses, st.integers(-50, 50))
def test_the_law_of_the_negative_is_mirrored(weights: list[int], start: int) -> None:
    law, exact = law_of(weights, start)
    mirrored = dict(zip((-law).values.tolist(), (-law).masses.tolist(), strict=True))
    assert mirrored == {-value: float(mass) for value, mass in exact.items()}


def sum_by_brute_force(first: dict[int, Fraction], second: dict[int, Fraction]) -> dict[int, Fraction]:
    together: dict[int, Fraction] = {}
    for a, p in first.items():
        for b, q in second.items():
            together[a + b] = together.get(a + b, Fraction(0)) + p * q
    return together


@few
@given(masses, masses, st.integers(-50, 50), st.integers(-50, 50))
def test_the_law_of_a_sum_is_found_pair_by_pair(one: list[int], two: list[int], start: int, other: int) -> None:
    (first, p), (second, q) = law_of(one, start), law_of(two, other)
    together = sum_by_brute_force(p, q)
    assert (first + second).values.tolist() == list(together)
    assert (first + second).masses.tolist() == pytest.approx([float(mass) for mass in together.values()], rel=1e-14)


def test_a_sum_owns_up_to_what_both_dropped() -> None:
    assert (Law(0, np.ones(1), 0.25) + Law(0, np.ones(1), 0.5)).dropped == 0.75


def long_law(size: int, steep: float) -> Law:
    weights = np.exp(-steep * np.arange(size))
    return Law(0, weights / weights.sum())


LONG = {
    "flat": (long_law(DIRECT + 1, 0.0), long_law(DIRECT + 1, 0.0)),
    "steep": (long_law(3 * DIRECT, 0.3), long_law(2 * DIRECT, 0.01)),
    "concentrated": (long_law(5 * DIRECT, 30.0), long_law(DIRECT + 1, 30.0)),
}


@pytest.mark.parametrize("pair", LONG.values(), ids=LONG)
def test_the_fourier_transform_s_error_is_owned_up_to(pair: tuple[Law, Law]) -> None:
    first, second = pair
    error = np.abs((first + second).masses - np.convolve(first.masses, second.masses)).sum()
    assert error <= (first + second).dropped == FOURIER_ERROR


def test_a_sum_through_the_fourier_transform_has_no_negative_mass() -> None:
    first, second = LONG["steep"]
    assert ((first + second).masses >= 0.0).all()


def test_a_short_side_keeps_the_sum_direct_and_its_tails_exact() -> None:
    total = long_law(5 * DIRECT, 0.05) + long_law(DIRECT, 0.05)
    assert total.dropped == 0.0
    assert total.masses[-1] == pytest.approx(long_law(5 * DIRECT, 0.05).masses[-1] * long_law(DIRECT, 0.05).masses[-1])


def test_samples_follow_the_law() -> None:
    law = Law(-2, np.array([0.5, 0.1, 0.25, 0.0, 0.15]))
    drawn = law.sample(SeededCoins(1), 200_000)
    assert not chi_square_rejects(np.bincount(drawn + 2, minlength=5), 200_000 * law.masses)


def test_the_test_of_samples_catches_a_law_shifted_by_one_percent() -> None:
    law = Law(-2, np.array([0.5, 0.1, 0.25, 0.0, 0.15]))
    drawn = Law(-2, np.array([0.51, 0.09, 0.25, 0.0, 0.15])).sample(SeededCoins(1), 200_000)
    assert chi_square_rejects(np.bincount(drawn + 2, minlength=5), 200_000 * law.masses)


# Noise


@few
@given(masses, st.integers(-50, 50), st.floats(-20.0, 20.0), st.floats(0.1, 10.0))
def test_noise_is_its_law_seen_from_the_centre(weights: list[int], start: int, centre: float, scale: float) -> None:
    law, exact = law_of(weights, start)
    noise = Noise.of(law, centre=centre, scale=scale)
    mean, variance = moments(exact)
    bias = (mean - centre) * scale
    assert noise.bias == pytest.approx(bias, rel=1e-9, abs=1e-9)
    assert noise.variance == pytest.approx(variance * scale**2, rel=1e-9, abs=1e-9)
    assert noise.std_error == pytest.approx(math.sqrt(variance) * scale, rel=1e-9, abs=1e-9)
    assert noise.rmse == pytest.approx(math.sqrt(variance * scale**2 + bias**2), rel=1e-9, abs=1e-9)


def covered(noise: Noise, half: float) -> float:
    return math.fsum(noise.masses[np.abs(noise.values) <= half])


noises = st.builds(
    lambda weights, centre: Noise.of(law_of(weights, 0)[0], centre=centre), masses, st.integers(-24, 24).map(lambda k: k / 2)
)
confidences = st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.95, 0.99])


@few
@given(noises, confidences)
def test_the_half_width_covers_with_the_confidence(noise: Noise, confidence: float) -> None:
    assert covered(noise, noise.half_width(confidence)) >= confidence - 1e-15


@few
@given(noises, confidences)
def test_no_smaller_half_width_covers(noise: Noise, confidence: float) -> None:
    smaller = np.abs(noise.values)[np.abs(noise.values) < noise.half_width(confidence)]
    assert all(covered(noise, float(half)) < confidence + 1e-15 for half in smaller)


def test_what_was_dropped_widens_the_half_width() -> None:
    values, weights = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.46, 0.04])
    assert Noise(values, weights).half_width(0.95) == 1.0
    assert Noise(values, weights, dropped=0.02).half_width(0.95) == 2.0


def test_full_confidence_takes_the_widest_value() -> None:
    assert Noise(np.array([-3.0, 1.0]), np.array([0.1, 0.9])).half_width(1.0) == 3.0
