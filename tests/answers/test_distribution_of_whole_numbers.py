"""Distributions of whole numbers: a bin for each, ranges that end before the number that is named."""

import json

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.errors import BadArgument, BadData
from headcount.questions import question_from_json
from headcount.questions.domains.whole_numbers import WholeNumbers
from headcount.questions.reading import column

SURE = 1 - 1e-9
AGES = 18 + np.arange(4_000) ** 2 % 97 % 73
ANSWER = hc.distribution(AGES, bounds=(18, 90), whole=True, epsilon=1, model="central")


def covered(interval: tuple[float, float], truth: float) -> bool:
    low, high = interval
    return low <= truth <= high


def test_a_range_is_as_accurate_as_its_noise() -> None:
    found, true = ANSWER.between(20, 30), np.sum((AGES >= 20) & (AGES < 30))
    assert covered(found.interval(SURE), true)
    low, high = found.interval()
    assert high - low == pytest.approx(2 * 1.96 * found.std_error, rel=0.05)
    between_whole_numbers = hc.distribution(AGES, bounds=(18, 90), epsilon=1, model="central").between(20, 30)
    assert np.ptp(between_whole_numbers.interval()) > 3 * (high - low)


def test_a_range_ends_before_the_number_that_is_named() -> None:
    assert covered(ANSWER.between(30, 31).interval(SURE), np.sum(AGES == 30))
    assert covered(ANSWER.below(18).interval(SURE), 0)
    assert ANSWER.below(91).interval() == (AGES.size, AGES.size)
    assert covered(ANSWER.between(18, 90).interval(SURE), np.sum(AGES < 90))
    assert covered(ANSWER["90"].interval95, ANSWER.between(90, 91).value)
    assert [cell.category for cell in ANSWER.histogram([18, 30, 91])] == ["[18, 30)", "[30, 91)"]


def test_quantiles_are_whole_numbers_and_so_are_their_intervals() -> None:
    for part in (0.1, 0.5, 0.9):
        found = ANSWER.quantile(part)
        ends = found.interval(SURE)
        assert all(isinstance(each, int) for each in (found.value, *ends))
        assert covered(ends, np.quantile(AGES, part, method="inverted_cdf"))
    said = str(hc.median([44] * 2_000, bounds=(0, 120), whole=True, epsilon=1, model="central"))
    assert said.startswith("44  (95% interval 44 to 44)")
    assert "," in str(hc.median([50_000] * 2_000, bounds=(49_990, 50_010), whole=True, epsilon=1, model="central"))
    assert json.loads(json.dumps(ANSWER.to_json()))["quantiles"][2]["value"] == ANSWER.median.value


def test_the_mean_has_no_error_of_rounding() -> None:
    assert ANSWER.mean.std_error * 2 * 1.97 > np.ptp(ANSWER.mean.interval())
    assert covered(ANSWER.mean.interval(SURE), AGES.mean())


@pytest.mark.parametrize("model", ["central", "shuffle", "local"])
def test_in_every_model(model: str) -> None:
    answer = hc.distribution(AGES, bounds=(18, 90), whole=True, epsilon=2, delta=1e-6, model=model)
    assert covered(answer.between(30, 60).interval(SURE), np.sum((AGES >= 30) & (AGES < 60)))
    assert covered(answer.median.interval(SURE), np.median(AGES))


def test_values_are_read_as_a_sum_of_whole_numbers_reads_them() -> None:
    question, added = hc.Distribution((-3, 11), whole=True), hc.Sum.whole((-3, 11))
    held = column([-3, "4", 11.0, True, 6.0000001, " 7 "])
    assert question.domain.codes(held).tolist() == added.domain.codes(held).tolist() == [0, 7, 14, 4, 9, 10]
    assert question.domain.codes(column([])).size == 0
    clipped = hc.Distribution((-3, 11), whole=True, clip=True).domain
    assert clipped.codes(column([-9, 1e300, 0])).tolist() == [0, 14, 3]
    for domain in (question.domain, clipped):
        assert [domain.label(code) for code in range(domain.size)] == [int(each) for each in domain.labels]
        with pytest.raises(BadData, match="between whole numbers") as refused:
            domain.codes(column([1, 2.75]))
        assert "2.75" not in str(refused.value)


@pytest.mark.parametrize("value", [-4, 12, "12"])
def test_what_is_outside_is_refused(value: object) -> None:
    with pytest.raises(BadData, match="outside the bounds, -3 to 11"):
        hc.Distribution((-3, 11), whole=True).domain.codes(column([value]))


def test_a_missing_value_may_count_as_a_number() -> None:
    held = pd.Series([1, None, 3])
    answer = hc.distribution(held, bounds=(0, 5), whole=True, epsilon=50, model="central", missing=2)
    assert covered(answer.between(2, 3).interval(SURE), 1)


def test_the_question_is_written_and_read() -> None:
    question = hc.Quantile((0, 120), whole=True, clip=True, at=0.9)
    assert question_from_json(json.loads(json.dumps(question.to_json()))) == question
    assert "bins" not in question.to_json()
    assert question.bins == question.domain.size == 121
    assert all(each.domain == question.domain for each in question.variants())


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: hc.Distribution((0, 5.5), whole=True), "use two whole numbers"),
        (lambda: hc.Distribution((0, 1 << 21), whole=True), "2,097,153 whole numbers, too many"),
        (lambda: hc.Distribution((2**53, 2**53 + 8), whole=True), "doubles cannot tell apart"),
        (lambda: hc.Distribution(("2026-01-01", "2026-12-31"), whole=True), "whole is for numbers"),
        (lambda: hc.Distribution((0, 5), 5, whole=True), "bins is given"),
        (lambda: hc.Distribution((0, 5), dates="%d.%m.%Y", whole=True), "dates is given"),
        (lambda: hc.Distribution((0, 5), missing=7, whole=True), "outside the bounds"),
        (lambda: ANSWER.between(20.5, 30), "use a whole number from 18 to 91"),
        (lambda: ANSWER.below(92), "use a whole number from 18 to 91"),
    ],
)
def test_refusals_say_what_would_work(ask, words: str) -> None:
    with pytest.raises(BadArgument) as refused:
        ask()
    assert words in str(refused.value)


def test_the_upper_bound_is_within() -> None:
    domain = WholeNumbers.between((0, 1))
    assert domain.labels == ("0", "1")
    assert domain.ends == (0.0, 2.0)
