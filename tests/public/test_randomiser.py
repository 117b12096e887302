"""A randomiser of one's own: what it tells alone, and among others."""

import math

import pytest
from matplotlib.figure import Figure

import headcount as hc
from headcount.errors import BadArgument
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance

RESPONSE = hc.randomiser([["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]])


def test_local_epsilon_is_exact_and_infinite_where_a_message_rules_a_value_out():
    assert RESPONSE.local_epsilon == pytest.approx(math.log(4), rel=1e-15)
    assert hc.randomiser([[0.5, 0.5, 0], [0.5, 0.5, 0]]).local_epsilon == 0.0
    assert hc.randomiser([[0.5, 0.5, 0], [0, 0.5, 0.5]]).local_epsilon == math.inf


def test_shuffled_it_loses_what_blanket_histogram_does():
    loss = hc.protocol("blanket-histogram", hc.Histogram(3), n=10_000, lie=0.5).loss
    assert RESPONSE.shuffled(10_000).epsilon(1e-6) == pytest.approx(loss.epsilon(1e-6), rel=1e-9)
    assert RESPONSE.lower(10_000).epsilon(1e-6) == pytest.approx(loss.attained.epsilon(1e-6), rel=1e-9)


def test_one_flipped_bit_is_accounted_for_exactly():
    coin = hc.randomiser([["3/4", "1/4"], ["1/4", "3/4"]])
    exact = ShuffledBits(Chance(0.25), 999).epsilon(1e-6)
    assert coin.lower(1_000).epsilon(1e-6) <= exact * (1 + 1e-9)
    assert coin.shuffled(1_000).epsilon(1e-6) == exact
    uneven = hc.randomiser([["3/4", "1/4"], ["1/5", "4/5"]])
    assert uneven.shuffled(1_000).kind == "bound"
    assert uneven.lower(1_000).epsilon(1e-6) < uneven.shuffled(1_000).epsilon(1e-6)


def test_the_worst_crowd_holds_a_third_value():
    assert RESPONSE.worst(10_000, 0.05).others == 2
    assert set(RESPONSE.worst(10_000, 0.05).values) == {0, 1}
    assert "and everybody else 2" in RESPONSE.describe(10_000)


def test_epsilon_is_drawn_against_people(tmp_path):
    assert RESPONSE.plot(sizes=[100, 1_000]).save(tmp_path / "epsilon.svg").stat().st_size > 1_000
    axes = Figure().subplots()
    RESPONSE.plot(axes, sizes=[100, 1_000], title="Three values", theme="dark")
    assert axes.get_title(loc="left") == "Three values"
    assert len(axes.get_lines()) >= 2
    with pytest.raises(BadArgument, match="fewer than two"):
        RESPONSE.plot(sizes=[100])
    with pytest.raises(BadArgument, match="name of a file"):
        RESPONSE.plot("epsilon.svg")


def test_what_tells_nothing_and_what_tells_all_at_once(tmp_path):
    silent = hc.randomiser([[1], [1]])
    assert silent.local_epsilon == silent.shuffled(1_000).epsilon(0) == silent.lower(1_000).epsilon(0) == 0.0
    with pytest.raises(BadArgument, match="different crowds"):
        hc.protocol("matrix-response", n=10, matrix=silent).rmse()
    assert silent.plot(sizes=[10, 100]).save(tmp_path / "nothing.svg").stat().st_size > 1_000
    with pytest.raises(BadArgument, match="no finite epsilon"):
        hc.randomiser([[1, 0], [0, 1]]).plot(sizes=[10, 100]).save(tmp_path / "all.svg")


@pytest.mark.parametrize(
    "matrix",
    [
        [],
        [[1]],
        [[], []],
        [[0.5, 0.5]],
        [[0.5, 0.5], [1]],
        [[0.3, 0.3], [0.5, 0.5]],
        [["x", 1], [0, 1]],
        [[2, -1], [0, 1]],
    ],
)
def test_what_is_no_matrix_of_chances_is_refused(matrix):
    with pytest.raises(BadArgument, match="matrix"):
        hc.randomiser(matrix)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_a_crowd_is_a_whole_number(n):
    with pytest.raises(BadArgument, match="n "):
        RESPONSE.shuffled(n)
