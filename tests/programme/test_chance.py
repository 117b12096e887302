"""A chance is drawn exactly: a float that is also a whole number of 2**-64."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.errors import BadArgument
from headcount.programme.chance import WORD, Chance

probabilities = st.floats(0.0, 1.0)
few = settings(derandomize=True, max_examples=200, deadline=None)


@few
@given(probabilities)
def test_up_is_the_smallest_chance_not_below_the_value(value: float) -> None:
    assert Chance.up(value).threshold == math.ceil(Fraction(value) * WORD)


@few
@given(probabilities)
def test_down_is_the_largest_chance_not_above_the_value(value: float) -> None:
    assert Chance.down(value).threshold == math.floor(Fraction(value) * WORD)


def test_the_check_of_rounding_catches_rounding_to_nearest() -> None:
    value = 1.3 * 2.0**-64
    assert round(value * WORD) != math.ceil(Fraction(value) * WORD)


@few
@given(st.integers(0, WORD))
def test_threshold_and_float_are_the_same_number(threshold: int) -> None:
    chance = Chance.down(threshold / WORD)
    assert Fraction(float(chance)) * WORD == chance.threshold


@few
@given(st.floats(2.0**-11, 1.0))
def test_every_double_from_two_to_the_minus_eleven_upward_is_kept(value: float) -> None:
    assert Chance.up(value) == value == Chance.down(value)


@pytest.mark.parametrize("value", [2.0**-65, 3 * 2.0**-65, 1e-18, 0.1 * 2.0**-20, 2.0**-1074])
def test_a_number_between_two_multiples_is_refused(value: float) -> None:
    with pytest.raises(BadArgument, match="not a multiple of 2\\*\\*-64"):
        Chance(value)


@pytest.mark.parametrize("value", [-(2.0**-10), -1e-300, 1.0 + 2.0**-52, math.inf, -math.inf, math.nan])
def test_a_number_outside_of_zero_to_one_is_refused(value: float) -> None:
    with pytest.raises(BadArgument, match="chance"):
        Chance(value)


@pytest.mark.parametrize(("value", "threshold"), [(0.0, 0), (2.0**-64, 1), (0.5, 1 << 63), (1.0, WORD)])
def test_threshold_counts_the_words_that_say_yes(value: float, threshold: int) -> None:
    assert Chance(value).threshold == threshold


def test_the_smallest_positive_value_is_rounded_up_to_one_word() -> None:
    assert Chance.up(5e-324).threshold == 1


def test_the_smallest_positive_value_is_rounded_down_to_no_word() -> None:
    assert Chance.down(5e-324).threshold == 0


def test_the_largest_double_below_one_stays_below_one() -> None:
    assert Chance.up(1.0 - 2.0**-53).threshold == WORD - (1 << 11)


def test_up_stops_at_one() -> None:
    assert Chance.up(1.5) == 1.0


def test_down_stops_at_zero() -> None:
    assert Chance.down(-0.5) == 0.0


def test_pickles_keep_the_number_and_the_type() -> None:
    again = pickle.loads(pickle.dumps(Chance(0.375)))
    assert type(again) is Chance
    assert again == 0.375


def test_repr_can_be_read_back() -> None:
    assert eval(repr(Chance.up(1e-15))) == Chance.up(1e-15)  # noqa: S307
