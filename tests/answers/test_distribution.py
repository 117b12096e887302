"""Distributions: figures of the tables, coverage of ranges and quantiles, what is refused."""

import json
import math
import tempfile
from collections.abc import Callable

import numpy as np
import pytest

import headcount as hc
from headcount.answers.distribution import DistributionEstimate
from headcount.planner.calibrate import calibrate
from headcount.programme.coins import SeededCoins
from headcount.protocols import named

BUDGET = hc.Budget(1, 1e-6)
PEOPLE = 10_000


def values(people: int = PEOPLE) -> np.ndarray:
    """Skewed, within 0 to 120, with two humps."""
    low, high = SeededCoins(5).uniform(people), SeededCoins(6).uniform(people)
    return np.where(low < 0.7, 60.0 * high**2, 80.0 + 20.0 * high)


def calibrated(name: str, radices: tuple[int, ...] | None, people: int = PEOPLE) -> hc.Protocol:
    question = hc.Distribution((0, 1), 1_024, radices=radices)
    return calibrate(named(name), question, hc.Crowd(people), BUDGET)


def mean_range(protocol: hc.Protocol) -> float:
    return protocol.rmse() * protocol.spread


@pytest.mark.parametrize(
    ("name", "radices", "people", "error", "messages"),
    [
        ("geometric", (32, 32), PEOPLE, 22.1, 2.0),
        ("geometric", (16, 8, 8), PEOPLE, 21.9, 3.0),
        ("geometric", (1_024,), PEOPLE, 36.6, 1.0),
        ("discrete-gaussian", (8, 4, 4, 4, 2), PEOPLE, 24.5, 5.0),
        ("poisson-histogram", (4,) * 5, PEOPLE, 25.8, 29.6),
        ("poisson-histogram", (32, 32), PEOPLE, 34.0, 9.9),
        ("correlated-histogram", (32, 32), 1_000_000, 23.2, 3.13),
    ],
)
def test_errors_and_messages_are_those_of_the_tables(
    name: str, radices: tuple[int, ...], people: int, error: float, messages: float
) -> None:
    protocol = calibrated(name, radices, people)
    assert mean_range(protocol) == pytest.approx(error, rel=0.01)
    assert protocol.messages_per_person == pytest.approx(messages, rel=0.015)
    assert protocol.loss.delta(1.0) <= 1e-6


def test_a_shuffler_that_adds_messages_has_the_central_error() -> None:
    question = hc.Distribution((0, 1), 1_024, radices=(32, 32))
    protocol = hc.protocol("padded-histogram", question, n=PEOPLE, epsilon=1, delta=1e-6, analyser=False)
    assert mean_range(protocol) == pytest.approx(22.1, rel=5e-3)
    assert protocol.messages_per_person + protocol.dummies / PEOPLE == pytest.approx(7.28, abs=0.01)


@pytest.mark.parametrize(("name", "error"), [("geometric", 21.9), ("poisson-histogram", 25.8)])
def test_the_planner_finds_radices_at_least_as_good(name: str, error: float) -> None:
    assert mean_range(calibrated(name, None)) <= 1.01 * error


@pytest.mark.parametrize(
    ("name", "radices"), [("geometric", (16, 16)), ("poisson-histogram", (8, 8, 4)), ("correlated-histogram", (16, 16))]
)
def test_ranges_and_quantiles_are_covered(name: str, radices: tuple[int, ...]) -> None:
    people, data = 3_000, values(3_000)
    question = hc.Distribution((0, 120), 256, radices=radices)
    protocol = calibrate(named(name), question, hc.Crowd(people), BUDGET)
    held = np.bincount(question.domain.codes(data), minlength=256)
    within, inside, quantiles = 0, 0, np.zeros(3)
    ordered, parts, runs = np.sort(data), (0.1, 0.5, 0.9), 100
    for totals in protocol.sample(held, SeededCoins(7), runs):
        answer = protocol.estimate(hc.Tally(people, totals, released=True))
        assert isinstance(answer, DistributionEstimate)
        low, high = answer.between(15, 60).interval()  # both are edges
        within += low <= ((data >= 15) & (data < 60)).sum() <= high
        low, high = answer.below(20.1).interval()
        inside += low <= (data < 20.1).sum() <= high
        ends = [answer.quantile(part).interval() for part in parts]
        true = [ordered[int(np.ceil(part * people)) - 1] for part in parts]
        quantiles += [low <= truth <= high for truth, (low, high) in zip(true, ends, strict=True)]
    assert within / runs >= 0.86  # at 0.95, less than that comes once in 10,000 times
    assert inside / runs >= 0.86
    assert quantiles.min() / runs >= 0.86


def test_a_band_covers_everything_at_once() -> None:
    people, data = 2_000, values(2_000)
    question = hc.Distribution((0, 120), 64, radices=(8, 8))
    protocol = calibrate(named("geometric"), question, hc.Crowd(people), BUDGET)
    held = np.bincount(question.domain.codes(data), minlength=64)
    truth = np.append(0.0, np.cumsum(held)) / people
    covered, runs = 0, 40
    for totals in protocol.sample(held, SeededCoins(8), runs):
        answer = protocol.estimate(hc.Tally(people, totals, released=True))
        band, each = answer.band(0.9), answer.cdf(0.9)
        covered += bool(((band[:, 2] - 1e-9 <= truth) & (truth <= band[:, 3] + 1e-9)).all())
        assert (band[1:-1, 3] - band[1:-1, 2] > each[1:-1, 3] - each[1:-1, 2]).all()
    assert covered / runs >= 0.67  # at 0.9, less than that comes once in 10,000 times


@pytest.mark.parametrize(("model", "delta"), [("central", 0.0), ("central", 1e-6), ("shuffle", 1e-6)])
def test_an_answer_tells_everything_from_one_release(model: str, delta: float) -> None:
    data = values()
    answer = hc.distribution(data, bounds=(0, 120), bins=128, epsilon=2, delta=delta, model=model)
    assert answer.people.size == 128
    assert answer.people.sum() == pytest.approx(PEOPLE)  # the number of people is public, and kept
    assert answer.below(120).value == pytest.approx(PEOPLE)
    assert answer.between(0, 120).interval() == pytest.approx((PEOPLE, PEOPLE))
    assert answer.median.value == pytest.approx(np.median(data), abs=3.0)
    assert answer.mean.value == pytest.approx(data.mean(), abs=2.0)
    assert [cell.category for cell in answer.histogram([0, 30, 60, 120])] == ["[0, 30)", "[30, 60)", "[60, 120)"]
    assert [each.part for each in answer.quantiles([0.25, 0.75])] == [0.25, 0.75]
    assert str(answer).splitlines()[2].startswith("  50%")
    assert {"quantiles", "bins", "counts"} <= set(answer.to_json())
    assert answer.intervals().shape == (128, 2)
    assert (answer.intervals(simultaneous=True)[:, 1] > answer.intervals()[:, 1]).all()


@pytest.mark.parametrize(("bring", "neighbours"), [("consistent", "replace"), ("clamped", "add-remove")])
def test_a_curve_that_rises_keeps_the_intervals_of_what_was_measured(bring: str, neighbours: str) -> None:
    """Negative bins that are set to nothing would add up to people who are not there, and shift every quantile."""
    data = values()
    answer = hc.distribution(data, bounds=(0, 120), bins=1_000, epsilon=1, model="central", neighbours=neighbours)
    brought = getattr(answer, bring)()
    assert answer.people.min() < 0.0 <= brought.people.min()
    assert brought.median.interval() == answer.median.interval()
    assert brought.median.value == pytest.approx(np.median(data), abs=3.0)
    nobody = answer.between(119, 120).interval()
    assert brought.between(119, 120).interval() == (max(nobody[0], 0.0), max(nobody[1], 0.0))
    assert np.array_equal(brought.intervals(), np.maximum(answer.intervals(), 0.0))
    assert hc.load_answer(saved(brought)).people.tolist() == brought.people.tolist()


def saved(answer: hc.Estimate) -> str:
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(answer.to_json(), file)
    return file.name


def test_of_everybody_the_curve_ends_with_everybody() -> None:
    question = hc.Distribution((0, 120), 1_000, radices=(40, 26))  # with 40 leaves beyond the bins
    answer = hc.ask(values(), question, epsilon=1, model="central")
    assert answer.cdf()[-1].tolist() == answer.band()[-1].tolist() == [120.0, 1.0, 1.0, 1.0]


def test_several_quantiles_at_once_are_each_less_often_wrong() -> None:
    answer = hc.distribution(values(), bounds=(0, 120), bins=1_000, epsilon=1, model="central")
    parts = [0.1, 0.5, 0.9]
    for alone, together in zip(answer.quantiles(parts), answer.quantiles(parts, simultaneous=True), strict=True):
        assert together.value == alone.value
        assert together.interval(0.9) == alone.interval(1.0 - 0.1 / 3.0)


def test_whoever_names_a_protocol_gets_people_who_add_up_to_nothing_known() -> None:
    task = hc.Distribution((0, 8), 8, radices=(2, 4))
    protocol = hc.protocol("geometric", task, n=1_000, epsilon=8, neighbours="add-remove")
    released = protocol.release(protocol.tally(protocol.randomise([0.5] * 1_000)))
    assert protocol.estimate(released).people.sum() == pytest.approx(1_000, abs=30)


@pytest.mark.parametrize("value", [math.nan, "much", None])
def test_what_is_no_value_is_refused_by_its_name(value: object) -> None:
    answer = hc.distribution(values(), bounds=(0, 120), bins=8, epsilon=1, model="central")
    with pytest.raises(hc.Refused, match=r"^high is .*; use a number from 0 to 120$"):
        answer.between(0, value)


def test_where_the_number_of_people_is_private() -> None:
    data = values()
    answer = hc.distribution(data, bounds=(0, 120), bins=64, epsilon=2, model="central", neighbours="add-remove")
    assert answer.n is None
    assert answer.below(120).value == pytest.approx(PEOPLE, abs=100)
    low, high = answer.below(120).interval()
    assert low < high
    assert answer.median.value == pytest.approx(np.median(data), abs=3.0)
    for refused in (lambda: answer.mean, answer.cdf, answer.band):
        with pytest.raises(hc.errors.Unsupported, match="private"):
            refused()


def test_an_interval_within_a_bin_covers_both_ends_of_it() -> None:
    answer = hc.distribution(values(), bounds=(0, 120), bins=16, epsilon=50, model="central")
    low, high = answer.below(11).interval()  # bins of 7.5
    assert low <= answer.below(7.5).value + 5
    assert high >= answer.below(15).value - 5
    assert answer.below(7.5).value <= answer.below(11).value <= answer.below(15).value


@pytest.mark.parametrize("part", [0.0, 1.0, 0.0001])
def test_extremes_are_refused_with_what_to_ask_instead(part: float) -> None:
    answer = hc.distribution(values(), bounds=(0, 120), bins=64, epsilon=1, model="central")
    with pytest.raises(hc.errors.Unsupported, match=r"ask for 0\.\d+ to 0\.\d+"):
        answer.quantile(part)
    with pytest.raises(hc.errors.Unsupported):
        _ = answer.maximum
    with pytest.raises(hc.errors.Unsupported):
        _ = answer.minimum


def test_few_people_have_no_quantiles_to_show() -> None:
    answer = hc.distribution(values(30), bounds=(0, 120), bins=64, epsilon=0.5, model="central")
    assert answer.shown_quantiles == []
    assert "too few people" in str(answer)
    with pytest.raises(hc.errors.Unsupported, match="ask more people"):
        _ = answer.median


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [({"bounds": (5, 5)}, "bounds"), ({"bins": 0}, "bins"), ({"bins": 2.5}, "bins"), ({"best_for": "x"}, "best_for")],
)
def test_arguments_are_named(wrong: dict[str, object], argument: str) -> None:
    with pytest.raises(hc.errors.BadArgument, match=argument):
        hc.distribution([1.0], **{"bounds": (0, 10), "epsilon": 1, "model": "central", **wrong})


def test_values_outside_are_refused_or_clipped() -> None:
    with pytest.raises(hc.errors.BadData, match="clip=True"):
        hc.distribution([1.0, 11.0], bounds=(0, 10), epsilon=1, model="central")
    with pytest.raises(hc.errors.BadData, match="numbers"):
        hc.distribution(["a", "b"], bounds=(0, 10), epsilon=1, model="central")
    answer = hc.distribution([-5.0] * 90 + [50.0] * 10, bounds=(0, 10), bins=4, clip=True, epsilon=50, model="central")
    assert answer.people == pytest.approx([90, 0, 0, 10], abs=2)
    with pytest.raises(hc.errors.BadArgument, match="low"):
        answer.between(-1, 5)
    with pytest.raises(hc.errors.BadArgument, match="smaller end first"):
        answer.between(5, 2)


def test_a_single_quantile() -> None:
    data = values()
    answer = hc.quantile(data, 0.9, bounds=(0, 120), bins=240, epsilon=1, delta=1e-6)
    low, high = answer.interval()
    assert low <= np.quantile(data, 0.9) <= high
    assert answer.part == 0.9
    for wrong in (0.0, 1.0):
        with pytest.raises(hc.errors.BadArgument, match="at"):
            hc.quantile(data, wrong, bounds=(0, 120), epsilon=1, model="central")


def test_plans_are_read_back_exactly(tmp_path) -> None:
    question = hc.Quantile((0, 120), 64, at=0.25)
    plan = hc.advise(question, n=1_000, epsilon=1, delta=1e-6, models="central").best
    assert plan.protocol.task.radices is not None
    assert hc.load_plan(plan.save(tmp_path / "plan.json"), hash=plan.hash) == plan
    answer = hc.run(plan, values(1_000))
    assert answer.rows()[0][0] == "25%"


def test_a_tree_is_chosen_for_what_it_is_to_be_best_for() -> None:
    radices = {}
    for aim in ("ranges", "bins"):
        question = hc.Distribution.posed(bounds=(0, 1), bins=1_024, best_for=aim)
        radices[aim] = hc.protocol("geometric", question, n=1_000, epsilon=1).task.radices
    assert radices == {"ranges": (48, 22), "bins": (1_024,)}


def test_what_cannot_be_added_up_is_no_plan_for_a_distribution() -> None:
    """Messages that may be missing make the error of a cell depend on who is in it: no sum of cells has a known law."""
    task = hc.Distribution((0, 64), 64, radices=(8, 8))
    assert list(named("poisson-histogram").choices(task, hc.Crowd(PEOPLE), BUDGET)) == [{}]
    with pytest.raises(hc.Refused, match="depend on what people hold"):
        hc.protocol("poisson-histogram", task, n=PEOPLE, epsilon=2, delta=1e-6, keep=0.5)


@pytest.mark.parametrize("ask", [hc.median, hc.distribution])
def test_groups_of_a_distribution_are_refused_with_what_to_ask_instead(ask: Callable[..., object]) -> None:
    data = {"pay": [1.0, 2.0, 3.0], "place": ["a", "b", "a"]}
    with pytest.raises(hc.errors.BadArgument, match="ask for a table of that column"):
        ask(data, column="pay", by="place", bounds=(0, 4), epsilon=1)
