"""Where the number of people is private, neighbours with one person more or less get the same kind of answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import stats

import headcount as hc
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.errors import BadArgument, BadData, HeadcountError, TooFewReports, TooManyReports
from headcount.programme.coins import SeededCoins
from headcount.programme.tally import Tally

PRIVATE: dict[str, Any] = {"epsilon": 1.0, "neighbours": "add-remove", "model": "central"}
SIZES = (0, 1, 2, 999, 1_000, 1_001)


def in_memory(values: list[Any], folder: Path) -> dict[str, Any]:
    return {"data": values, "engine": MemoryEngine()}


def in_a_file(values: list[Any], folder: Path) -> dict[str, Any]:
    kind = pa.string() if isinstance((values or [""])[0], str) else pa.int64()
    path = folder / "people.parquet"
    pyarrow.parquet.write_table(pa.table({"held": pa.array(values, type=kind)}), path)
    return {"data": path, "column": "held", "engine": FileEngine()}


QUESTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any], Any]] = {
    "count": (hc.count, {}, 1),
    "where": (hc.count, {"where": "yes"}, "yes"),
    "sum": (hc.sum, {"bounds": (0, 10), "whole": True}, 7),
    "reals": (hc.sum, {"bounds": (0, 10)}, 7),
    "histogram": (hc.histogram, {"categories": ["a", "b"]}, "a"),
    "bins": (hc.histogram, {"bins": 4, "bounds": (0, 8)}, 3),
    "unknown labels": (hc.histogram, {"delta": 1e-6}, "a"),
}


def told(answer: hc.Estimate) -> dict[str, Any]:
    """What an answer says besides its numbers, which are noisy."""
    shown = json.loads(json.dumps(answer.to_json()))
    noisy = {"value", "interval95", "cells", "other", "simultaneous95", "released"}
    return {name: part for name, part in shown.items() if name not in noisy} | {"reports": shown["released"]["reports"]}


@pytest.mark.parametrize("given", [in_memory, in_a_file])
@pytest.mark.parametrize("name", QUESTIONS)
def test_every_number_of_people_gets_the_same_kind_of_answer(name: str, given: Any, tmp_path: Path) -> None:
    verb, more, held = QUESTIONS[name]
    if given is in_a_file and not isinstance(held, str) and name == "where":
        pytest.skip("one type to a column")
    answers = [verb(**given([held] * size, tmp_path), **PRIVATE, **more) for size in SIZES]
    first, *others = map(told, answers)
    assert first["n"] is None
    assert first["reports"] == 0
    if name != "unknown labels":  # whose error is told for the largest count that is shown
        assert all(other == first for other in others)
    assert {type(answer) for answer in answers} == {hc.Estimate}


@pytest.mark.parametrize("given", [in_memory, in_a_file])
def test_a_plan_answers_for_fewer_more_and_nobody(given: Any, tmp_path: Path) -> None:
    for plan in (
        hc.advise(hc.Count(), n=1_000, epsilon=1, models=["central"], neighbours="add-remove"),
        hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6, models=["shuffle-threshold"], neighbours="add-remove"),
        hc.advise(hc.Histogram(["a", "b"]), n=(900, 1_000), epsilon=1, models=["central"], neighbours="add-remove"),
    ):
        held = "a" if isinstance(plan.task, hc.Histogram) else 1
        for size in SIZES:
            assert hc.run(plan, **given([held] * size, tmp_path)).n is None


def test_people_with_several_rows_may_be_missing_too(tmp_path: Path) -> None:
    for rows, ids in (([], []), ([1, 0, 1], ["x", "x", "y"])):
        for most in (None, 2):
            assert hc.count(rows, unit=ids, max_contributions=most, **PRIVATE).n is None
            assert hc.sum(rows, bounds=(0, 9), unit=ids, max_contributions=most, **PRIVATE).n is None
    assert hc.count([], by=[], categories=["a", "b"], **PRIVATE).n is None


@pytest.mark.parametrize("model", ["central", "local", "shuffle"])
def test_where_the_number_is_public_nobody_is_refused_in_words(model: str) -> None:
    with pytest.raises(BadData, match="data is empty; a count needs at least one person"):
        hc.count([], epsilon=1, delta=1e-6, model=model)


def test_there_is_no_fewest_where_their_number_is_private() -> None:
    with pytest.raises(BadArgument, match="least is given, and how many people report is private"):
        hc.protocol("geometric", n=100, least=50, epsilon=1, neighbours="add-remove")
    assert not hc.advise(hc.Count(), n=100, least=50, epsilon=1, neighbours="add-remove").feasible
    assert "However many report" in hc.advise(hc.Count(), n=100, epsilon=1, neighbours="add-remove").why()


def passed(holders: int, rate: float, threshold: int) -> np.ndarray:
    """The exact law of what a thresholding shuffler shows of so many holders."""
    masses = stats.binom.pmf(np.arange(6_000), holders, rate)
    return np.append(masses[:threshold].sum(), masses[threshold:])


def divergence(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return max(float(np.maximum(a - np.exp(epsilon) * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def test_the_law_of_the_answers_of_any_two_crowds_is_within_the_claim() -> None:
    plan = hc.advise(
        hc.Count(), n=1_000, epsilon=1, delta=1e-6, models=["shuffle-threshold"], neighbours="add-remove"
    ).best
    rate, threshold = (plan.protocol.parameters[name] for name in ("rate", "threshold"))
    claim = plan.protocol.loss.delta(1.0)
    worst = 0.0
    for holders in (0, 1, *range(threshold - 1, 3 * threshold, 7), 998, 999, 1_000, 1_001, 2_000, 5_000):
        found = divergence(passed(holders, rate, threshold), passed(holders + 1, rate, threshold), 1.0)
        worst = max(worst, found)
    assert worst <= claim <= 1e-6
    # A plan that was calibrated to the planned people alone, and answers more of them all the same, is not.
    small = hc.protocol("sample-threshold", n=30, rate=0.6, threshold=30)
    assert small.loss.delta(1.0) < 1e-6
    rate = small.parameters["rate"]
    found = max(divergence(passed(k, rate, 30), passed(k + 1, rate, 30), 1.0) for k in range(30, 90))
    assert found > 100 * small.loss.delta(1.0)
    with pytest.raises(TooManyReports, match="at most 30 people"):
        small.release(Tally(31, np.array([31])))


def test_a_range_of_people_is_kept_to_at_its_far_end_too(tmp_path: Path) -> None:
    plan = hc.advise(hc.Count(), n=(100, 1_000), honest=0.9, epsilon=1, delta=1e-6, models=["shuffle-threshold"]).best
    rate, threshold = (plan.protocol.parameters[name] for name in ("rate", "threshold"))

    def worst(corrupt: int, people: int) -> float:
        """The corrupt all send ones, which lowers the threshold for the others."""
        lowered = max(0, threshold - corrupt)
        laws = [passed(k, rate, lowered) for k in range(people - corrupt + 1)]
        return max(divergence(p, q, 1.0) for p, q in pairwise(laws))

    assert max(worst(people - int(0.9 * people), people) for people in (100, 300, 1_000)) <= 1e-6 * (1 + 1e-9)
    assert plan.protocol.crowd.most_corrupt == 100
    again = hc.load_plan(plan.save(tmp_path / "plan.json"))
    assert again.protocol.crowd == plan.protocol.crowd


@pytest.mark.parametrize("name", ["poisson-count", "cheu-count", "zsum", "randomised-response", "geometric"])
def test_elsewhere_the_fewest_of_a_range_are_the_worst(name: str) -> None:
    plan = hc.protocol(
        name, n=500, least=50, epsilon=1.0, delta=0.0 if name in ("geometric", "randomised-response") else 1e-4
    )
    deltas = [plan.loss_if(people).delta(0.7) for people in (50, 51, 100, 499, 500)]
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in pairwise(deltas))
    assert plan.loss.delta(0.7) == deltas[0]


def test_backwards_and_forwards_the_promise_is_for_all_rows_of_a_person() -> None:
    asked: dict[str, Any] = {"delta": 1e-6, "neighbours": "add-remove", "max_contributions": 3, "models": ["central"]}
    for wish in ({"epsilon": 1.0}, {"n": 5_000}):
        found = hc.advise(hc.Count(), within=50, **wish, **asked).best
        assert found.protocol.crowd.each == 3
    assert hc.advise(hc.Count(), n=5_000, epsilon=1, **asked).best.protocol.crowd.each == 3


def test_with_public_numbers_too_few_are_refused_and_counted_in_words() -> None:
    plan = hc.advise(hc.Count(), n=(100, 200), epsilon=1, delta=1e-6, models=["shuffle"])
    with pytest.raises(TooFewReports, match="99 reports came and the plan needs at least 100"):
        hc.run(plan, [1] * 99, coins=SeededCoins(1))
    assert issubclass(TooFewReports, HeadcountError)


@pytest.mark.parametrize("made", [
    lambda asked: hc.advise(asked, n=1_000, epsilon=1, models="central"),
    lambda asked: hc.protocol("geometric", asked, n=1_000, epsilon=1),
    lambda asked: hc.protocol("geometric", asked, n=1_000, scale=1.0),
], ids=["advised", "calibrated", "given"])  # fmt: skip
def test_no_plan_leaves_rows_out_where_the_number_of_the_others_is_told(made: Callable[[Any], object]) -> None:
    """It was refused of those who asked at once, and a plan told how many rows were left: exactly, and for nothing."""
    for asked in (hc.Histogram(["a", "b"], missing="drop"), hc.Distribution((0, 10), 16, missing="drop")):
        with pytest.raises(BadArgument, match="how many lack it"):
            made(asked)


HELD = {
    "distribution": (hc.Distribution((0, 10), 16), [3.0] * 900 + [7.0] * 100, [900, 100]),
    "table": (hc.Table({"x": ["a", "b"]}), {"x": ["a"] * 900 + ["b"] * 100}, [900, 100]),
    "mean": (hc.Mean((0, 10)), [3.0] * 900 + [8.0] * 100, [3.5]),
    "fraction": (hc.Fraction(), [1] * 900 + [0] * 100, [0.9]),
}


@pytest.mark.parametrize(("asked", "data", "truth"), HELD.values(), ids=HELD)
def test_a_plan_of_people_who_may_be_missing_answers_as_a_question_does(asked: Any, data: Any, truth: Any) -> None:
    plan = hc.advise(asked, n=1_000, epsilon=50, delta=1e-6, models="central", neighbours="add-remove").best
    found = np.round(hc.run(plan, data).values, 1)
    assert np.sort(found[found > 0.5])[::-1] == pytest.approx(truth, abs=0.2)
