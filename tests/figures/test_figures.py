"""The figures that the page of the catalogue states, from the code that it speaks of."""

import math
import re
from pathlib import Path

import pytest

import headcount as hc
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.share_distance import fewest_shares, published_shares
from headcount.protocols import named

PAGE = (Path(__file__).parents[2] / "docs" / "catalogue.md").read_text(encoding="utf-8")
BUDGET = Budget(1.0, 1e-6)
MANY = hc.Histogram(100)


def exactly(name, parameter, n, task=None, **given):
    protocol = hc.protocol(name, task, n=n, epsilon=1, delta=1e-6, **given)
    return protocol.parameters[parameter] * (n if parameter == "gamma" else 1)


def by_the_paper(name, parameter, n):
    return named(name).published(BUDGET, Crowd(n))[parameter] * (n if parameter == "gamma" else 1)


FIGURES = {
    "zsum": (by_the_paper("zsum", "gamma", 1_000), lambda: exactly("zsum", "gamma", 1_000)),
    "cheu-count": (by_the_paper("cheu-count", "lam", 6_000), lambda: exactly("cheu-count", "lam", 6_000)),
    "poisson-count": (by_the_paper("poisson-count", "mean", 10**4), lambda: exactly("poisson-count", "mean", 10**4)),
    "sample-threshold": (
        by_the_paper("sample-threshold", "rate", 10**4),
        lambda: exactly("sample-threshold", "rate", 10**4, threshold=17),
    ),
    "poisson-histogram": (None, lambda: exactly("poisson-histogram", "mean", 10**4, MANY)),
    "balcer-cheu-histogram": (
        by_the_paper("balcer-cheu-histogram", "gamma", 10**6),
        lambda: exactly("balcer-cheu-histogram", "gamma", 10**6, MANY),
    ),
    "stability-histogram": (
        by_the_paper("stability-histogram", "threshold", 10**4),
        lambda: exactly("stability-histogram", "threshold", 10**4, MANY),
    ),
    "almost-one-message-histogram": (
        by_the_paper("almost-one-message-histogram", "mean", 10**4),
        lambda: exactly("almost-one-message-histogram", "mean", 10**6, MANY, buckets=1_000, prime=1_009),
    ),
    "cheu-sum": (None, lambda: exactly("cheu-sum", "lam", 10**4, hc.Sum((0, 1)), levels=32)),
    "split-and-mix": (published_shares(10**4, 1 << 32, 2.0**-40), lambda: fewest_shares(10**4, 1 << 32, 2.0**-40)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_page_states_what_is_computed(name):
    row = re.search(rf"^\| `{name}`[^|]*\|[^|]*\| *([^|]*?) *\| *([^|]*?) *\|$", PAGE, re.MULTILINE)
    assert row is not None
    published, compute = FIGURES[name]
    for stated, found in ((row[1], published), (row[2], compute())):
        if found is not None:
            assert math.isclose(float(stated.replace(",", "")), found, rel_tol=0.01)


def test_near_central_histograms():
    central = hc.protocol("geometric", MANY, n=10**6, epsilon=1, delta=1e-6)
    shuffled = hc.protocol("correlated-histogram", MANY, n=10**6, epsilon=1, delta=1e-6)
    assert shuffled.rmse() <= 1.02 * central.rmse()
    assert shuffled.messages_per_person <= 1.3


def test_near_central_sums():
    task = hc.Sum((0, 1))
    central = hc.protocol("laplace", task, n=10**4, epsilon=1, delta=1e-6)
    mixed = hc.protocol("split-and-mix", task, n=10**4, epsilon=1, delta=1e-6)
    covered = hc.protocol("almost-central-sum", task, n=10**4, epsilon=1, delta=1e-6)
    assert mixed.rmse() <= 1.03 * central.rmse()
    assert covered.rmse() <= 1.15 * central.rmse()


def test_thresholds_where_people_come_and_go():
    protocol = hc.protocol("stability-histogram", MANY, n=10**4, epsilon=1, delta=1e-6, neighbours="add-remove")
    assert protocol.parameters["threshold"] == 15


def test_out_of_proportion_is_said():
    advice = hc.advise(hc.Histogram(5_000), n=10**5, epsilon=1, delta=1e-6, models="shuffle")
    option = next(option for option in advice.options if option.name == "balcer-cheu-histogram")
    assert option.figures()["messages_per_person"] > 4_000
    assert "out of proportion" in option.reason
    assert advice.feasible[0].name != option.name
