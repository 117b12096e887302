"""Differences and ratios of two answers: what they cover, what they cost, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import headcount as hc
from chances import fewest
from headcount.answers.change import Part
from headcount.answers.error_law import ErrorLaw
from headcount.answers.ratio import Ratio
from headcount.privacy.laws import discrete_laplace

CENTRAL = {"epsilon": 1, "model": "central"}
RUNS = 4_000
FEW = 5 * math.sqrt(0.05 * 0.95 / RUNS)  # five standard errors: a false alarm has a chance below 1e-6


def counted(ones: int, others: int = 500, **given: object) -> hc.Estimate:
    return hc.count([1] * ones + [0] * others, **{**CENTRAL, **given})


def unused(_confidence: float) -> tuple[float, float]:
    """The interval of an answer that has a law."""
    raise AssertionError


def missed(above: float, below: float, errors: tuple[ErrorLaw, ErrorLaw], shrunk: float = 1.0) -> float:
    """How often the interval of a ratio misses it, with errors drawn from their laws."""
    coins, task, out = hc.SeededCoins(7), hc.Count(), 0
    draws = []
    for error in errors:
        reached = np.cumsum(error.noise.masses)
        at = np.searchsorted(reached, coins.uniform(RUNS) * reached[-1])
        draws.append(error.noise.values[at])
    first, second = (error.scaled(shrunk) for error in errors)
    for a, b in zip(*draws, strict=True):
        parts = (Part(above + float(a), unused, first), Part(below + float(b), unused, second))
        ratio = Ratio(task, *parts, ("", ""))
        out += not ratio.accepts(above / below)
    return out / RUNS


@pytest.mark.parametrize(("above", "below"), [(300, 40), (5, 60), (0, 12), (40, 3)])
def test_the_interval_of_a_ratio_covers_as_often_as_it_says_and_a_twin_that_thinks_errors_smaller_does_not(
    above: int, below: int
) -> None:
    errors = (counted(9)._law, counted(9, epsilon=0.4)._law)
    assert missed(above, below, errors) <= 0.05 + FEW
    assert missed(above, below, errors, shrunk=0.7) > 0.05 + FEW


def test_the_interval_is_made_of_the_ratios_that_are_accepted() -> None:
    ratio = counted(450) / counted(90, epsilon=0.3)
    low, high = ratio.interval()
    assert low < ratio.value < high
    tried = np.linspace(low - 1.0, high + 1.0, 4_001).tolist()
    assert all(low <= each <= high for each in tried if ratio.accepts(each))
    narrow = ratio.interval(0.5)
    assert low < narrow[0] < narrow[1] < high


def test_a_ratio_by_what_may_be_zero_has_no_interval_and_says_so() -> None:
    ratio = counted(450) / counted(0, epsilon=0.1)
    ratio = replace(ratio, second=replace(ratio.second, value=1.0))  # which noise of this size often is
    assert ratio.interval() == (-math.inf, math.inf)
    assert "not known" in str(ratio)
    assert json.loads(json.dumps(ratio.to_json(), allow_nan=False))["interval95"] == [None, None]
    nothing = replace(ratio, second=replace(ratio.second, value=0.0))
    assert math.isnan(nothing.value)
    assert nothing.interval() == (-math.inf, math.inf)


def test_sums_of_values_have_ratios_too() -> None:
    now = hc.sum([4.5] * 500, bounds=(0, 10), **CENTRAL)
    before = hc.sum([1.5] * 500, bounds=(0, 10), **CENTRAL)
    low, high = (now / before).interval(0.999999)
    assert low < 3 < high
    assert high - low < 3


def test_bins_of_a_distribution_differ_by_the_law_of_a_bin() -> None:
    given = {"bounds": (0, 10), "bins": 256, "clip": True, **CENTRAL}
    now, before = (hc.distribution([3.0] * many, **given) for many in (900, 500))
    first = next(iter((now - before).values()))
    assert first.std_error == pytest.approx(math.sqrt(2.0) * now.std_error, rel=1e-3)


def test_both_answers_cost_people_in_both_their_sum() -> None:
    both = counted(300, epsilon=0.1) - counted(200, epsilon=0.2)
    assert both.together is not None
    assert (both.together.epsilon, both.together.delta) == (pytest.approx(0.3), 0.0)
    assert both.together.epsilon >= 0.3
    assert "for people in both" in str(both)
    private = counted(200, neighbours="add-remove")
    assert (counted(300) - private).together is None
    assert "together" not in str(counted(300) - private)


def test_histograms_have_differences_and_ratios_of_every_category() -> None:
    now, before = (hc.histogram(["a"] * 600 + ["b"] * many, categories=["a", "b"], **CENTRAL) for many in (400, 100))
    assert (now - before).to_pandas().columns.tolist() == ["category", "value", "low95", "high95"]
    low, high = (now / before)["b"].interval(0.999999)
    assert low < 4 < high
    assert "b" in str(now / before)
    assert {cell["category"] for cell in (now / before).to_json()["cells"]} == {"a", "b"}


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda a, b: a + b, "has no"),
        (lambda a, b: sum([a, b]), "has no"),
        (lambda a, _: 2 * a, "has no"),
        (lambda a, _: a - 5, "a - b or a / b"),
        (lambda a, _: 5 / a, "has no"),
        (lambda a, b: a < b, "noise could decide"),
        (lambda a, b: max(a, b), "noise could decide"),
        (lambda a, _: a / a, "itself"),
        (lambda a, _: a - hc.fraction([1, 0] * 50, **CENTRAL), "same question"),
        (lambda *_: format(hc.histogram(["a"] * 90, categories=["a", "b"], **CENTRAL), ".1f"), "several values"),
        (lambda *_: format(hc.histogram(["a"] * 90, categories=["a", "b"], **CENTRAL).top(1), ".1f"), "several values"),
    ],
)
def test_arithmetic_that_cannot_be_right_is_refused_in_words(wrong: object, match: str) -> None:
    with pytest.raises(hc.errors.Unsupported, match=match):
        wrong(counted(300), counted(200))  # type: ignore[operator]


def test_answers_are_formatted_like_numbers() -> None:
    answer = counted(300)
    assert f"{answer:.1f}" == f"{answer.value:.1f}"
    assert f"{answer}" == str(answer)
    assert f"{answer - counted(100):+.0f}".startswith("+")
    told = hc.distribution([3.0] * 900, bounds=(0, 10), bins=16, **CENTRAL)
    assert f"{told.median:.1f} {told.below(5):.0f}" == f"{told.median.value:.1f} {told.below(5).value:.0f}"


@pytest.mark.parametrize(
    "answer",
    [
        counted(300),
        counted(300, neighbours="add-remove"),
        hc.count([1] * 300 + [0] * 700, epsilon=1, delta=1e-6, model="shuffle").clamped(),
        hc.histogram(["a"] * 600 + ["b"] * 400, epsilon=1, delta=1e-6, model="central"),
        hc.histogram(["a"] * 600 + ["b"] * 400, categories=["a", "b"], **CENTRAL).consistent(),
        hc.sum([3.5] * 500, bounds=(0, 10), **CENTRAL),
        hc.distribution([3.0] * 900, bounds=(0, 10), bins=16, **CENTRAL),
    ],
    ids=lambda answer: answer.protocol.name,
)
def test_an_answer_is_read_back_from_its_json(answer: hc.Estimate, tmp_path) -> None:
    kept = tmp_path / "answer.json"
    kept.write_text(json.dumps(answer.to_json()))
    again = hc.load_answer(kept)
    assert again.to_json() == answer.to_json()
    assert str(again) == str(answer)


@pytest.mark.parametrize("order", [
    lambda answer: answer.top(2).to_json(),
    lambda answer: {**answer.to_json(), "cells": [cell.to_json() for cell in answer.sorted()]},
])  # fmt: skip
def test_an_answer_is_read_back_in_whatever_order_its_cells_were_printed(order, tmp_path) -> None:
    answer = hc.histogram(["a"] * 20 + ["b"] * 400 + ["c"] * 80, categories=["a", "b", "c"], **CENTRAL)
    kept = tmp_path / "answer.json"
    kept.write_text(json.dumps(order(answer)))
    assert hc.load_answer(kept).to_json() == answer.to_json()
    told = order(answer)
    kept.write_text(json.dumps({**told, "cells": [{**told["cells"][0], "value": 1}, *told["cells"][1:]]}))
    with pytest.raises(hc.errors.BadArgument, match="was changed"):
        hc.load_answer(kept)


def test_months_are_read_back(tmp_path) -> None:
    answer = hc.histogram(["2026-01-05"] * 90, bins="month", bounds=("2026-01-01", "2026-03-01"), **CENTRAL)
    kept = tmp_path / "answer.json"
    kept.write_text(json.dumps(answer.to_json()))
    assert hc.load_answer(kept).categories == ["2026-01", "2026-02"]


GROUPS = {"by": "g", "categories": ["large", "small"], **CENTRAL}
TABLE = {"g": ["large"] * 900 + ["small"] * 100, "y": [1, 0, 0] * 300 + [1, 0] * 50, "x": [3.0, 9.0] * 500}


def test_rates_of_small_groups_differ_by_as_much_as_they_may_be_off() -> None:
    """The broken twin gave every group the interval of a typical one."""
    first, second = (hc.fraction(hc_frame(), column="y", **GROUPS) for _ in range(2))
    widths = {}
    for group, pair in (first - second).items():
        (low, high), ends = pair.interval(), [answer[group].interval95 for answer in (first, second)]
        assert low <= ends[0][0] - ends[1][1]
        assert high >= ends[0][1] - ends[1][0]
        assert pair.std_error is None
        widths[group] = high - low
    assert widths["small"] > 4 * widths["large"]


def test_margins_of_a_table_differ_by_as_much_as_they_may_be_off() -> None:
    said = {"columns": {"g": ["large", "small"], "y": [0, 1]}, "epsilon": 1}
    first, second = (hc.table(hc_frame(), **said) for _ in range(2))
    pairs = first - second
    wide, narrow = (np.diff(pairs[label].interval())[0] for label in ("g=large", "g=large, y=1"))
    assert wide > narrow


def test_sums_in_groups_differ_by_the_law_of_both_their_cells() -> None:
    answer = hc.sum(hc_frame(), column="x", bounds=(-10, 30), **GROUPS)
    pair = answer["large"] - answer["small"]
    one = np.diff(answer["large"].interval95)[0]
    assert 1.2 * one < np.diff(pair.interval())[0] < 1.6 * one


def hc_frame():
    import pandas as pd

    return pd.DataFrame(TABLE)


def test_two_cells_of_one_answer_cost_nothing_more() -> None:
    runs, inside = 200, 0
    for _ in range(runs):
        answer = hc.histogram(["a"] * 300 + ["b"] * 200, categories=["a", "b"], other=True, **CENTRAL)
        pair = answer["a"] - answer["b"]
        assert pair.together is None
        low, high = pair.interval()
        inside += low <= 100 <= high
    assert inside >= fewest(runs)
    assert f"{pair}".count("geometric") == 1
    assert pair.value == answer["a"].value - answer["b"].value
    low, high = (answer["a"] / answer["b"]).interval(0.9999999)
    assert low < 1.5 < high
    assert answer["(other)"].value == answer.other.value


def test_cells_that_hang_together_are_compared_by_their_intervals() -> None:
    answer = hc.histogram(["a"] * 300 + ["b"] * 200, categories=["a", "b"], **CENTRAL)
    agreed = answer.consistent()
    exact, careful = ((each["a"] - each["b"]).interval() for each in (answer, agreed))
    assert careful[1] - careful[0] > exact[1] - exact[0]
    again = hc.histogram(["a"] * 300 + ["b"] * 200, categories=["a", "b"], **CENTRAL)
    assert (answer["a"] - again["a"]).together == hc.Budget(2)


def test_cells_that_cannot_be_compared_are_refused() -> None:
    answer = hc.histogram(["a"] * 300 + ["b"] * 200, categories=["a", "b"], **CENTRAL)
    with pytest.raises(hc.errors.Unsupported, match="not compared with itself"):
        answer["a"] - answer["a"]
    with pytest.raises(hc.errors.Unsupported, match="an answer has no '-'"):
        answer["a"] - 3
    shares = hc.histogram(["a"] * 300 + ["b"] * 200, categories=["a", "b"], fractions=True, **CENTRAL)
    with pytest.raises(hc.errors.Unsupported, match="same unit"):
        answer["a"] - shares["a"]


def test_an_answer_that_was_changed_is_refused(tmp_path) -> None:
    told, kept = counted(300).to_json(), tmp_path / "answer.json"
    kept.write_text(json.dumps({**told, "value": told["value"] + 1}))
    with pytest.raises(hc.errors.BadArgument, match="was changed"):
        hc.load_answer(kept)
    for text in ("{}", "[1]", '{"released": {"protocol": 3}}'):
        kept.write_text(text)
        with pytest.raises(hc.errors.BadArgument, match="not"):
            hc.load_answer(kept)


def changed_rates(seed: int, law: ErrorLaw | None = None) -> list[float]:
    """How often the interval of a difference misses it, in a group of 20 people and in one of 4,000, whose rates are
    the same in both runs; with a `law`, as if that were the one of every group's error."""
    rows = {"plan": ["small"] * 20 + ["big"] * 4_000, "churned": [0, 1] * 2_010}
    asked = {"column": "churned", "by": "plan", "categories": ["small", "big"], **CENTRAL}
    answer, coins, times = hc.fraction(rows, **asked), hc.SeededCoins(seed), 400
    truth = np.array([10.0, 10.0, 2_000.0, 2_000.0])
    noise = discrete_laplace(float(answer.protocol.rate)).sample(coins, 8 * times).reshape(times, 2, 4)
    missed = np.zeros(2)
    for first, second in (truth + noise).astype(float):
        runs = [replace(answer, people=people, tally=replace(answer.tally)) for people in (first, second)]
        changes = (runs[0] - runs[1]).values()
        if law is not None:
            changes = [
                replace(each, first=replace(each.first, law=law), second=replace(each.second, law=law))
                for each in changes
            ]
        ends = [change.interval() for change in changes]
        missed += [not low <= 0.0 <= high for low, high in ends]
    return (missed / times).tolist()


def test_differences_of_rates_in_groups_cover_in_small_groups_too_and_a_twin_with_one_law_for_all_does_not() -> None:
    allowed = 0.05 + 5 * math.sqrt(0.05 * 0.95 / 400)
    assert max(changed_rates(3)) <= allowed
    one = ErrorLaw(counted(9).error, 0.0).scaled(2 / 4_020)
    assert changed_rates(3, one)[0] > allowed


def test_ratios_of_rates_in_groups_are_made_of_both_intervals() -> None:
    rows = {"plan": ["few"] * 200 + ["many"] * 800, "churned": [0, 1] * 500}
    asked = {"column": "churned", "by": "plan", "categories": ["few", "many"], **CENTRAL}
    ratio = (hc.fraction(rows, **asked) / hc.fraction(rows, **asked))["few"]
    low, high = ratio.interval(0.999999)
    assert low < 1.0 < high
    assert ratio.accepts(1.0, 0.999999)
    assert not ratio.accepts(40.0)
    nobody = {"plan": ["few"] * 200 + ["many"] * 800, "churned": [0] * 1_000}
    by_nobody = (hc.fraction(rows, **asked) / hc.fraction(nobody, **asked))["few"]
    assert by_nobody.interval(0.999999) == (-math.inf, math.inf)


def test_differences_of_tables_have_the_law_of_their_margin() -> None:
    rows = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
    asked = {"columns": {"sex": ["f", "m"], "vote": ["yes", "no"]}, **CENTRAL}
    now, before = hc.table(rows, **asked), hc.table(rows, **asked)
    changes = now - before
    assert changes["sex=f"].std_error == pytest.approx(math.sqrt(2) * now["sex"].std_error)
    assert changes["sex=f, vote=no"].std_error == pytest.approx(math.sqrt(2) * now["sex", "vote"].std_error)


def test_what_was_brought_into_a_range_is_compared_by_its_intervals() -> None:
    now, before = counted(3).clamped(), counted(450)
    assert (now - before).std_error is None
    low, high = (now - before).interval(0.999999)
    assert low < -447 < high


def test_answers_in_other_units_are_not_compared() -> None:
    asked = {"categories": ["a", "b"], **CENTRAL}
    with pytest.raises(hc.errors.Unsupported, match="same unit"):
        hc.histogram(["a"] * 50, fractions=True, **asked) - hc.histogram(["a"] * 50, **asked)
