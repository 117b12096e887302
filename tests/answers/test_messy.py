"""A messy table answers what an analyst asks of it in a few lines each; intervals hold the truth as often as said."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from messy import COUNTRIES, FIRST, PLANS, WHERE, messy

import headcount as hc
from chances import fewest
from stress import STRESS

SMALL = {"people": 6_000, "copies": 180}
GROUPS = {"plan": PLANS, "country": COUNTRIES}


def held(found, truths):
    """Of the intervals how many hold the truth, and of how many."""
    rows = [(cell.interval95, truths[cell.category]) for cell in found if cell.category in truths]
    return sum(low <= truth <= high for (low, high), truth in rows), len(rows)


def often_enough(found):
    """At least 95% of the time, but for chance (one in a million)."""
    inside, of = (sum(part) for part in zip(*found, strict=True))
    return inside >= fewest(of)


@pytest.fixture(scope="module", params=[pytest.param(5, id="quick"), pytest.param(60, id="long", marks=STRESS)])
def data(request):
    return [messy(seed, **SMALL) for seed in range(request.param)]


def asked(data, ask, truths):
    return [held(ask(each), truths(each)) for each in data]


def test_the_table_is_as_messy_as_it_should_be():
    table = messy(1).table
    assert (len(table), table.customer.nunique()) == (51_500, 50_000)
    assert table.churned.nunique() > 10
    assert (table.spend == "").sum() > 100


def holds(interval, truth):
    low, high = interval
    return low <= truth <= high


def assert_of_one_number(data, ask, truth):
    """Its intervals hold the truth as often as they say, and those that are nearly sure always do."""
    found = [(ask(each), truth(each)) for each in data]
    assert all(holds(answer.interval(1 - 1e-9), true) for answer, true in found)
    assert often_enough([(holds(answer.interval(), true), 1) for answer, true in found])


def test_churned_customers(data):
    def ask(each):
        return hc.count(each.table, column="churned", where=WHERE, unit="customer", max_contributions=1, epsilon=1)

    assert_of_one_number(data, ask, lambda each: each.people.churned.sum())


def test_average_spend_with_clipping_said(data):
    def ask(each):
        answer = hc.mean(
            each.table, column="spend", bounds=(-50, 200), clip=True, missing=0, unit="customer", epsilon=1
        )
        assert "of values clipped to [-50, 200]" in str(answer)
        assert "a missing value counts as 0" in answer.rules
        return answer

    def truth(each):
        return np.where(each.people.blank, 0.0, each.people.spend.clip(-50, 200)).mean()

    assert_of_one_number(data, ask, truth)


def test_customers_by_country_known_and_unknown(data):
    def known(each):
        said = {"categories": COUNTRIES, "missing": "category", "unit": "customer"}
        return hc.histogram(each.table, column="country", epsilon=1, **said).cells

    def unknown(each):
        said = {"missing": "category", "unit": "customer", "delta": 1e-6}
        return hc.histogram(each.table, column="country", epsilon=1, **said).cells

    def truth(each):
        counts = each.people.country.value_counts().to_dict()
        return {label or "(missing)": many for label, many in counts.items()}

    assert often_enough(asked(data, known, truth))
    assert often_enough(asked(data, unknown, truth))


def by_group(each, column):
    """The mean of a column of the people of each plan and country, none of whom lacks one."""
    return each.people[each.people.country != ""].groupby(["plan", "country"])[column].mean().to_dict()


@pytest.mark.parametrize("known", [True, False])
def test_churn_rate_by_plan_and_country(data, known):
    said = {"categories": {**GROUPS, "country": [*COUNTRIES]}} if known else {"delta": 1e-6}

    def ask(each):
        answer = hc.fraction(
            each.table, column="churned", where=WHERE, by=["plan", "country"], missing="category",
            unit="customer", epsilon=1, **said,
        )  # fmt: skip
        return answer.cells

    assert often_enough(asked(data, ask, lambda each: by_group(each, "churned")))


def test_mean_spend_by_plan_and_country(data):
    def ask(each):
        answer = hc.mean(
            each.table, column="spend", bounds=(-50, 200), clip=True, by=["plan", "country"], categories=GROUPS,
            missing=[0, "category"], unit="customer", epsilon=1,
        )  # fmt: skip
        assert "too few people to tell" in str(answer)  # of the smallest groups
        return answer.cells

    def truth(each):
        each.people["clipped"] = np.where(each.people.blank, 0.0, each.people.spend.clip(-50, 200))
        return by_group(each, "clipped")

    assert often_enough(asked(data, ask, truth))


def test_top_products_with_several_rows_a_person(data):
    right = []
    for each in data:
        top = hc.histogram(
            each.orders, column="product", unit="customer", max_contributions=20, neighbours="add-remove",
            epsilon=8, delta=1e-6,
        ).top(20)  # fmt: skip
        counts = each.orders["product"].value_counts()
        right.append((int(true_ranks(top, counts.to_dict())), 1))
        assert len(top) == 20
    assert often_enough(right)


def true_ranks(top, counts):
    """Whether those who are surely among the largest are, and none of the largest is left out."""
    least = sorted(counts.values(), reverse=True)[top.k - 1]
    larger = {label for label, many in counts.items() if many > least}
    sure = all(counts[label] >= least for label in top.surely)
    return sure and (top.hidden or larger <= set(top.maybe))


def test_new_customers_by_week(data):
    def ask(each):
        answer = hc.histogram(
            each.table, column="joined", bins="week", bounds=("2025-01-01", "2025-06-30"), unit="customer", epsilon=1
        )
        assert "weeks begin on Monday" in answer.rules
        return answer.cells

    def truth(each):
        weeks = (each.people.joined.to_numpy() + FIRST.weekday()) // 7
        first = FIRST - timedelta(FIRST.weekday())
        return {str(first + timedelta(weeks=week)): int((weeks == week).sum()) for week in range(27)}

    assert often_enough(asked(data, ask, truth))


def test_the_difference_of_two_months(data):
    def ask(each):
        months = hc.histogram(
            each.table, column="joined", bins="month", bounds=("2025-01-01", "2025-06-30"), unit="customer", epsilon=1
        )
        return months.linear([-1, 1, 0, 0, 0, 0])

    def truth(each):
        joined = each.people.joined
        return joined.between(31, 58).sum() - (joined < 31).sum()

    assert_of_one_number(data, ask, truth)
