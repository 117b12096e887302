"""The root finder of calibration and of epsilon."""

import math

import pytest

from headcount.common.root_finding import crossing, secants

FALLING = {
    "a line": lambda u: 1.0 - u,
    "a curve": lambda u: math.exp(-u) - math.exp(-1.0),
    "a steep curve": lambda u: math.exp(-30.0 * u) - math.exp(-30.0),
    "a flat one": lambda u: 1e-3 * (1.0 - u) ** 3,
    "a step": lambda u: 1.0 if u < 1.0 else -1.0,
}


@pytest.mark.parametrize("excess", FALLING.values(), ids=FALLING.keys())
@pytest.mark.parametrize("tight", [1e-6, 1e-9, 0.0])
def test_the_point_found_is_within_and_no_further_than_asked(excess, tight):
    found = crossing(excess, (0.0, excess(0.0)), (7.0, excess(7.0)), tight=tight)
    assert excess(found) <= 0.0
    assert excess(found) >= -tight or excess(found - 1e-9) > 0.0 or tight == 0.0
    if tight == 0.0:
        assert excess(found - 1e-12) > 0.0 or found == pytest.approx(1.0, abs=1e-5)


def test_a_smooth_root_takes_few_evaluations():
    asked = []

    def excess(u):
        asked.append(u)
        return -math.log(u)

    assert crossing(excess, (0.5, -math.log(0.5)), (2.0, -math.log(2.0)), tight=1e-9) == pytest.approx(1.0, abs=2e-9)
    assert len(asked) <= 10


def test_a_small_jump_need_not_be_found_more_closely_than_asked():
    asked = []

    def excess(u):
        asked.append(u)
        return jump if u < math.pi / 4.0 else -jump

    for jump, patient in ((1e-4, False), (1.0, True)):
        asked.clear()
        found = crossing(excess, (0.0, jump), (1.0, -jump), tight=1e-6, close=1e-4)
        assert math.pi / 4.0 <= found <= math.pi / 4.0 + (1e-12 if patient else 1e-4)
        assert (len(asked) > 30) is patient


def bent(place):
    return 3.0 - place + 0.02 * (place - 3.0) ** 2


def test_a_few_secants_end_just_inside():
    asked = []
    low, high = secants(
        lambda place: asked.append(place) or bent(place), 2.0, 1.1, tight=5e-3, low=0.0, high=9.0, steps=4
    )
    assert -5e-3 <= high[1] <= 0.0
    assert low[0] <= high[0]
    assert len(asked) <= 3


def test_secants_enclose_the_root_of_a_staircase():
    """Between two steps there is nothing within: both are returned, for bisection."""
    low, high = secants(
        lambda place: round(20.0 * bent(place)) / 20.0 - 0.01, 2.9, 1.0, tight=5e-3, low=0.0, high=9.0, steps=6
    )
    assert low[1] > 0.0 >= high[1]
    assert low[0] < high[0]


def test_secants_give_up_where_a_line_is_no_guide():
    assert secants(lambda _: -1.0, 2.0, 1.0, tight=5e-3, low=0.0, high=9.0, steps=4) is None
    assert secants(lambda place: -place, 8.0, 10.0, tight=5e-3, low=7.0, high=9.0, steps=4) is None
