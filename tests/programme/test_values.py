"""The nouns: what they refuse and how they say so, and the arithmetic of tallies and losses."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.common.plurals import counted, people
from headcount.errors import BadArgument, BadData, OverBudget, Refused
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.programme.tally import Tally, exactly_summed
from headcount.questions.count import Count
from headcount.questions.reading import column

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
        ({"size": 0}, "n is 0; use a number from 1 to 1,000,000,000,000"),
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
        assert pickle.loads(pickle.dumps(value)) == value


# Budget and neighbours


@pytest.mark.parametrize("epsilon", [0, -1, 1e-9, 51, math.inf, math.nan, True, "1", None])
def test_an_impossible_epsilon_is_refused_by_name(epsilon: object) -> None:
    with pytest.raises(
        BadArgument, match=r"^epsilon is .*(use a number from 0.001 to 50|write 1, a number)"
    ) as refusal:
        Budget(epsilon)  # type: ignore[arg-type]
    assert refusal.value.argument == "epsilon"


@pytest.mark.parametrize("delta", [-1e-9, 1e-19, 1, 1.5, math.inf, math.nan, False, "1e-6", None])
def test_an_impossible_delta_is_refused_by_name(delta: object) -> None:
    with pytest.raises(BadArgument, match=r"^delta is .*use 0, or a number from 1e-18 to below 1") as refusal:
        Budget(1.0, delta)  # type: ignore[arg-type]
    assert refusal.value.argument == "delta"


@pytest.mark.parametrize("epsilon", [0.001, 1, 50])
def test_epsilon_may_be_small_whole_or_fifty(epsilon: float) -> None:
    assert Budget(epsilon).epsilon == float(epsilon)


@pytest.mark.parametrize("text", ["replace-two", "", "Replace"])
def test_an_unknown_relation_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(BadArgument, match="use 'replace' or 'add-remove'") as refusal:
        Budget(1.0, 0.0, text)  # type: ignore[arg-type]
    assert refusal.value.argument == "neighbours"


@pytest.mark.parametrize("text", ["add-remove", "add_remove", Neighbours.ADD_REMOVE])
def test_a_relation_may_be_spelled_with_a_hyphen_or_an_underscore(text: str) -> None:
    assert Neighbours(text) is Neighbours.ADD_REMOVE


def test_refusals_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="epsilon") as refusal:
        Budget(0)
    assert isinstance(refusal.value, Refused)


def test_a_budget_reads_as_epsilon_and_delta() -> None:
    assert str(Budget(1, 1e-6)) == "(ε=1, δ=1e-06)"


class Exponential(PrivacyLoss):
    """delta = exp(-a - b epsilon) forwards and half of it backwards."""

    kind = "exact"

    def __init__(self, a: float, b: float, swapped: bool = False) -> None:
        self.a, self.b, self.swapped = a, b, swapped

    def orders(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        delta = np.exp(-self.a - self.b * epsilon)
        return (delta / 2.0, delta) if self.swapped else (delta, delta / 2.0)


def test_a_loss_within_the_budget_is_let_through() -> None:
    Budget(1.0, 0.11).require(Exponential(1.0, 1.3))


def test_a_loss_over_the_budget_is_refused_with_both_deltas() -> None:
    with pytest.raises(OverBudget, match=r"delta at epsilon=1 is 0.1, over the budget's 0.09"):
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
    encoded = Count().domain.codes(np.asarray(data))
    assert (encoded.dtype, encoded.tolist()) == (np.uint8, [0, 1, 1, 0])


def test_nobody_holds_nothing() -> None:
    assert Count().domain.codes(np.array([])).tolist() == []  # whether there must be somebody is for a plan to say


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
}


@pytest.mark.parametrize("data", UNFIT.values(), ids=UNFIT)
def test_other_data_are_refused(data: np.ndarray) -> None:
    with pytest.raises(BadData, match=r"^data "):
        Count().domain.codes(column(data))


@pytest.mark.parametrize("data", UNFIT.values(), ids=UNFIT)
def test_a_refusal_quotes_nobody_s_data(data: np.ndarray) -> None:
    with pytest.raises(BadData) as refusal:
        Count().domain.codes(column(data))
    assert not any(trace in str(refusal.value) for trace in ("31337", "secret", "inf", "nan"))


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("another number", "use where"), ("text", "use where"), ("a missing value", "use missing="),
        ("two columns", "one column"),
    ],
)  # fmt: skip
def test_a_refusal_of_data_says_what_to_do(name: str, advice: str) -> None:
    with pytest.raises(BadData, match=advice):
        Count().domain.codes(column(UNFIT[name]))


# Tally


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """Of 64 bits or of any size; together they may leave 64 bits in either case."""
    bits = draw(st.sampled_from([3, 60, 63, 64, 90]))
    totals = draw(st.lists(st.integers(-(1 << bits), (1 << bits) - 1), min_size=3, max_size=3))
    return Tally(draw(st.integers(0, 1 << 40)), np.array(totals, dtype=np.int64 if bits < 64 else object))


@few
@given(tallies(), tallies())
def test_tallies_add_up_exactly(first: Tally, second: Tally) -> None:
    added = zip(first.totals.tolist(), second.totals.tolist(), strict=True)
    assert (first + second).totals.tolist() == [a + b for a, b in added]


@few
@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.sampled_from([-(1 << 63), (1 << 63) - 1])))
def test_a_sum_of_64_bits_each_is_exact(values: list[int]) -> None:
    assert exactly_summed(np.array(values, dtype=np.int64)).tolist() == [sum(values)]


def test_a_total_is_the_same_whatever_array_it_is_in() -> None:
    plain, wide = Tally(5, np.array([1, -2])), Tally(5, np.array([1, -2], dtype=object))
    assert plain == wide
    assert hash(plain) == hash(wide)
    assert wide != Tally(5, np.array([1, 1 << 70]))
    assert Tally(5, np.array([1 << 63])).totals.tolist() == [1 << 63]  # numpy takes it for an unsigned one


def test_released_totals_have_64_bits() -> None:
    assert Tally(5, np.array([1, 2], dtype=object), released=True).totals.dtype == np.int64
    with pytest.raises(OverflowError):
        Tally(5, np.array([1 << 63]), released=True)
    with pytest.raises(TypeError):
        Tally(5, np.array([0.5], dtype=object))


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
    assert tally + Tally(0, np.zeros(3, dtype=np.int64)) == tally


@few
@given(tallies(), tallies())
def test_equal_tallies_have_equal_hashes(first: Tally, second: Tally) -> None:
    assert hash(first + second) == hash(second + first)


def test_tallies_of_other_reports_or_totals_differ() -> None:
    tally = Tally(5, np.array([1, 2]))
    assert tally != Tally(6, np.array([1, 2]))
    assert tally != Tally(5, np.array([1, 3]))
    assert tally != (5, [1, 2])


def test_one_is_a_person_and_the_rest_are_people() -> None:
    assert [people(number) for number in (0, 1, 2, 1_000)] == ["0 people", "1 person", "2 people", "1,000 people"]
    assert counted(1.0, "message", digits=".4g") == "1 message"
    assert counted(1.5, "message", digits=".4g") == "1.5 messages"
