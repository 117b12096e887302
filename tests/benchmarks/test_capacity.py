"""The arithmetic behind the page on capacity: lines through points, and what follows. Nothing is timed here."""

import math
import sys
from itertools import pairwise
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import capacity_page
import headcount as hc
import model
import split
from model import Line
from stages import Measured


def test_a_line_through_points_of_a_line_is_that_line():
    line = Line.through([(x, 3.0 + 0.5 * x) for x in (1, 2, 4, 8)])
    assert (line.fixed, line.each) == pytest.approx((3.0, 0.5))
    assert line.unsure == pytest.approx(0.0, abs=1e-12)
    assert line.at(10) == pytest.approx(8.0)
    assert line.most(8.0) == pytest.approx(10.0)
    assert line.most(2.0) == 0.0
    assert line.times(2).at(10) == pytest.approx(13.0)


def test_the_spread_is_that_of_least_squares():
    # Three points, 1 2 3: the slope of 0, 0, 3 is 3/2, the residuals are 1/2, -1, 1/2, and 3/2 over 1 is divided by 2.
    line = Line.through([(1, 10.0), (2, 10.0), (3, 13.0)])
    assert line.each == pytest.approx(1.5)
    assert line.unsure == pytest.approx(math.sqrt(1.5 / 2))


def test_no_fixed_cost_is_below_nothing():
    line = Line.through([(1, 0.0), (2, 2.0), (3, 4.0)])
    assert line.fixed == 0.0
    assert line.each == pytest.approx(16 / 14)


@pytest.mark.parametrize("points", [[], [(1, 1.0), (2, 2.0)], [(1, 1.0), (1, 2.0), (1, 3.0)]])
def test_too_few_points_make_no_line(points):
    with pytest.raises(ValueError, match="three points"):
        Line.through(points)


def test_people_and_cores_are_two_sides_of_one_thing():
    people = model.people_a_day(1e-3, 4)
    assert people == pytest.approx(0.5 * 4 * 86_400 / 1e-3)
    assert model.cores_for(people, 1e-3) == pytest.approx(4.0)
    assert model.bottleneck({"uploads": 3.0, "opening": 5.0, "mixing": 1.0}) == "opening"


def test_there_are_as_many_shufflers_as_the_worse_of_both_limits_needs():
    assert model.shards(10, 3_600, 1e6, 1_000) == 1
    assert model.shards(10**7, 3_600, 1e6, 1_000) == 10  # by the batch; 2,778 a second would take three
    assert model.shards(10**7, 3_600, 1e8, 1_000) == 3


@pytest.mark.parametrize("name", split.SPLIT)
def test_shards_err_by_the_root_of_their_number(name):
    errors = [split.apart(name, 10**6, k) for k in split.SHARDS]
    for k, error in zip(split.SHARDS, errors, strict=True):
        assert error == pytest.approx(errors[0] * math.sqrt(k), rel=2e-3)


def test_a_shard_that_is_seen_alone_is_promised_less():
    deltas = [split.left("zsum", 10**6, k) for k in split.SHARDS]
    assert deltas[0] <= 1e-6
    assert all(before < after for before, after in pairwise(deltas))
    planned = hc.protocol("zsum", n=10**6 // 4, epsilon=1, delta=1e-6)
    assert planned.loss.delta(1.0) <= 1e-6  # and one that was planned for is not


def test_a_second_seal_is_on_every_message():
    plan = split.sent("zsum", 10**6)
    seal = 1_120 + 16  # a key, encapsulated by ML-KEM-768 and X25519, and a tag
    assert (plan.messages, plan.upload) == (2, 2 + seal + 16 + 32 + 2 * plan.message)
    assert plan.cascaded - plan.upload == 2 * (2 + seal)


def test_the_page_follows_from_the_points():
    seen, sizes = Measured(), (1_000, 2_000, 4_000)
    each = {"uploads": 3e-4, "mixing": 3e-6, "handing on": 2e-6, "opening and counting": 6e-5}
    for size in sizes:
        for stage, cost in each.items():
            seen.add(f"{stage}, SQLite", size, cost * size)
    lines = capacity_page.people(seen).splitlines()
    zsum = next(line for line in lines if line.startswith("| zsum"))
    assert "**140 million**" in zsum  # half a day of a core, at 0.3 ms each
    # Six messages of 60 µs are more than one upload of 300.
    histogram = [line for line in lines if "opening" in line][2]
    assert histogram.startswith("|  | **opening and counting** | **120 million**")
    assert "28 million" in capacity_page.splitting(seen)  # an hour, at 130 µs for two messages
    assert "*uploads* is full first" in capacity_page.short(seen)
