"""Rates, means and sums in groups: intervals from the exact law, groups that are too small, totals that agree."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from chances import fewest
from headcount.answers import grouped
from headcount.answers.linear import cell_errors
from headcount.answers.shares import SHARES, share_intervals, share_widths
from headcount.privacy.laws import discrete_laplace
from headcount.programme.coins import SeededCoins
from headcount.programme.tally import Tally
from headcount.protocols.central.laplace_shares import LaplaceShares
from headcount.questions import question_from_json
from headcount.questions.domains.categories import Categories
from headcount.questions.domains.levels import Levels
from headcount.questions.grouped import SumByGroup
from stress import lengths

RUNS = 20_000
LEAST = 0.95 - 4.8 * np.sqrt(0.95 * 0.05 / RUNS)  # a false alarm in a million
N = 2_000
ROWS = pd.DataFrame(
    {
        "plan": ["free", "pro"] * (N // 2),
        "country": ["DE", "DE", "FR", "NL"] * (N // 4),
        "churned": [True, False, False, False, False] * (N // 5),
        "spend": [float(place % 40) for place in range(N)],
    }
)
BY = {"by": ["plan", "country"], "categories": {"plan": ["free", "pro"], "country": ["DE", "FR", "NL"]}}


def covered(people, share, epsilon, widen=1.0):
    """How often an interval holds the share of so many people, whom noise of such a budget counts."""
    protocol = hc.protocol("geometric", hc.Histogram(4), n=1_000, epsilon=epsilon)
    noise = discrete_laplace(float(protocol.rate)).sample(SeededCoins(people), 2 * RUNS).reshape(2, RUNS)
    ones = round(people * share)
    found = share_intervals(
        people - ones + noise[0].astype(float), ones + noise[1].astype(float),
        share_widths(cell_errors(protocol, 1_000), 1, 0.95) * widen,
    )  # fmt: skip
    return float(((found[:, 0] <= ones / people) & (ones / people <= found[:, 1])).mean())


@pytest.mark.parametrize("people", [3, 12, 50, 1_000])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0, 10.0])
def test_intervals_of_shares_cover_as_often_as_they_say(people, share, epsilon):
    assert covered(people, share, epsilon) >= LEAST


def test_narrower_ones_do_not():
    assert covered(1_000, 0.3, 0.3, widen=0.9) < LEAST


def test_they_are_no_wider_than_they_need_to_be():
    assert covered(10_000, 0.3, 0.3) < 0.96


def test_no_interval_is_empty_and_the_widths_are_those_of_one_count_at_the_ends():
    protocol = hc.protocol("geometric", hc.Histogram(4), n=1_000, epsilon=1)
    widths = share_widths(cell_errors(protocol, 1_000), 1, 0.95)
    assert widths[0] == widths[-1] == pytest.approx(protocol.noise(0, 1_000).half_width(0.95))
    assert widths[SHARES.size // 2] < 0.8 * widths[0]
    cells = np.array([-40.0, -3.0, 0.0, 5.0, 700.0])
    found = share_intervals(np.repeat(cells, 5), np.tile(cells, 5), widths)
    assert (found[:, 0] <= found[:, 1]).all()
    assert np.isfinite(found).all()


REACH, THRESHOLD = 24, 9  # of the noise that is gone through


@pytest.fixture(scope="module")
def every_outcome():
    """A group for each pair of noisy counts that may be released, hidden ones last, and the law of the noise."""
    plain = hc.fraction({"g": ["a", "b"] * 300, "x": [1, 0, 0] * 200}, column="x", by="g", epsilon=1, delta=1e-6)
    protocol = replace(plain.protocol, scale=2.0, threshold=THRESHOLD)
    shown = np.arange(THRESHOLD, THRESHOLD + 3 * REACH)
    totals = {}
    for at, pair in enumerate(product([*shown, 0], repeat=2)):
        totals |= {json.dumps([f"{at:05}", bit]): total for bit, total in enumerate(pair) if total}
    keys, counts = np.array([*totals], dtype=object), np.array([*totals.values()])
    estimate = protocol.estimate(Tally(600, counts, keys, released=True))
    noise = discrete_laplace(float(protocol.rate))
    masses = np.append(noise.masses, 0.0)[np.arange(-REACH, REACH + 1) - noise.start]
    return estimate, {name: at for at, name in enumerate(estimate.categories)}, shown, masses


def missed(every_outcome, truth, spans):
    """The exact chance that the interval of the share misses it, of so many others and so many ones; noise beyond what
    is gone through counts as a miss."""
    _, at, shown, masses = every_outcome
    laws = []
    for people in truth:
        law = np.zeros(shown.size + 1)
        noisy = people + np.arange(-REACH, REACH + 1)
        np.add.at(law, np.where(noisy >= THRESHOLD, noisy - THRESHOLD, shown.size), masses)
        laws.append(law if people else np.append(np.zeros(shown.size), 1.0))
    share, chances = truth[1] / sum(truth), np.multiply.outer(*laws).ravel()
    names = map("{:05}".format, range(chances.size))
    found = np.array([spans[at[name]] if name in at else (0.0, 1.0) for name in names])
    covers = (found[:, 0] <= share + 1e-12) & (share - 1e-12 <= found[:, 1])
    return 1.0 - float(chances[covers].sum())


TRUTHS = [(rest, ones) for rest in (1, 6, 12, 15, 20, 30, 45) for ones in (0, 1, 5, 9, 12, 14, 18, 25, 45)]


def test_shares_in_groups_that_nobody_listed_are_covered_whatever_is_hidden(every_outcome):
    spans = every_outcome[0].intervals(0.8)
    found = {truth: missed(every_outcome, truth, spans) for truth in TRUTHS}
    assert max(found.values()) <= 0.2
    assert found[45, 25] > 0.18 > 2 * missed(every_outcome, (45, 25), every_outcome[0]._spans(0.9))  # by cells alone


def test_widths_of_another_chance_do_not_cover_them(every_outcome, monkeypatch):
    estimate = every_outcome[0]
    monkeypatch.setattr(grouped, "HIDDEN", -0.4)
    monkeypatch.setattr(type(estimate), "_spans", lambda self, _: np.tile([0.0, 1.0], (self._answers, 1)))
    spans = estimate.intervals(0.8)
    assert max(missed(every_outcome, truth, spans) for truth in TRUTHS) > 0.2


def test_a_group_with_too_few_people_says_so():
    rows = pd.concat([ROWS, pd.DataFrame({"plan": ["team"] * 3, "churned": [True] * 3})])
    said = {"column": "churned", "by": "plan", "categories": ["free", "pro", "team"]}
    answers = [hc.fraction(rows, **said, epsilon=0.5) for _ in range(20)]  # of which noise may make a group or two
    silent = [answer for answer in answers if np.isnan(answer["team"].value)]
    assert len(silent) >= 10
    answer, cell = silent[0], silent[0]["team"]
    assert cell.interval95 == (0.0, 1.0)
    assert "too few people to tell" in str(answer)
    assert answer.to_json()["cells"][2]["value"] is None


def test_every_group_has_an_interval_of_its_own_and_one_with_the_others():
    answer = hc.fraction(ROWS, column="churned", epsilon=4, **BY)
    for cell in answer.cells:
        assert cell.simultaneous95[0] <= cell.interval95[0] <= cell.interval95[1] <= cell.simultaneous95[1]
        assert cell.category in {(plan, country) for plan in ("free", "pro") for country in ("DE", "FR", "NL")}


@pytest.mark.parametrize("ask", ["fraction", "mean", "sum"])
def test_totals_agree_with_their_parts(ask):
    told = {"column": "churned"} if ask == "fraction" else {"column": "spend", "bounds": (-10, 50)}
    answer = getattr(hc, ask)(ROWS, epsilon=20, **told, **BY)
    truth = ROWS["churned" if ask == "fraction" else "spend"]
    plans = {cell.category: cell for cell in answer.totals("plan")}
    (everybody,) = answer.totals()
    sums = {name: [cell for cell in answer.cells if cell.category[0] == name] for name in ("free", "pro")}
    for name, parts in sums.items():
        if ask == "sum":
            assert plans[name].value == pytest.approx(sum(part.value for part in parts))
        else:
            weighed = [part.value * part.people for part in parts if part.value == part.value]
            assert plans[name].value == pytest.approx(sum(weighed) / plans[name].people, abs=0.02 * 50)
        assert plans[name].people == pytest.approx(sum(part.people for part in parts))
    aim = truth.sum() if ask == "sum" else truth.mean()
    low, high = everybody.interval95
    assert low - (high - low) <= aim <= high + (high - low)
    with pytest.raises(hc.Refused, match="no column 'age'"):
        answer.totals("age")


def test_the_cost_is_that_of_one_question():
    ledger = hc.Ledger(epsilon=1)
    hc.mean(ROWS, column="spend", bounds=(0, 50), epsilon=1, ledger=ledger, **BY)
    with pytest.raises(hc.Refused):
        hc.count(ROWS, by="plan", categories=["free", "pro"], epsilon=0.1, ledger=ledger)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("steps", [1, 2, 5, 7])
@pytest.mark.parametrize("levels", [1, 2, 3, 4, 5])
def test_whoever_is_replaced_moves_the_totals_by_no_more_than_is_paid_for(neighbours, steps, levels):
    """Whatever is drawn for rounding, and whichever group and amount change: by enumeration."""
    task = SumByGroup((Categories(("a", "b")),), ("group",), Levels((0.0, 1.0), steps))
    protocol = LaplaceShares(task=task, crowd=hc.Crowd(9), scale=1.0, levels=levels, neighbours=neighbours)
    paid = float(protocol.loss.rate * protocol.loss.shift / protocol.rate)
    one = [task.shares(np.eye(task.values, dtype=np.int64)[code]) for code in range(task.values)]
    pairs = (
        [(first, second) for first in one for second in one]
        if neighbours == "replace"
        else [(0 * one[0], x) for x in one]
    )
    others = [sum(one[code] for code in codes) for codes in ([0], [1, 2 * steps], [steps, 0, 1])]
    furthest = 0
    for base in others:
        for first, second in pairs:
            moved = 0
            for cell in range(4):
                ends = [(base + each)[cell] * levels for each in (first, second)]
                moved += max(abs((ends[0] + u) // steps - (ends[1] + u) // steps) for u in range(steps))
            furthest = max(furthest, moved)
    assert furthest <= paid
    if levels % steps == 0:
        assert furthest == paid


def test_questions_in_groups_survive_json():
    for question in (
        hc.Count(["a"]), hc.Fraction(["a"], True), hc.Sum.posed(bounds=(0, 9), categories=["a"]),
        hc.Mean.posed(bounds=(0, 9), whole=True, categories=["a", "b"]),
    ):  # fmt: skip
        from headcount.questions.reading_options import ReadingOptions

        asked = question.declared(ReadingOptions(by=("g",), missing="category"))
        again = question_from_json(asked.to_json())
        assert again.to_json() == asked.to_json()
        assert again.labels() == asked.labels()


def test_means_where_people_come_and_go_are_one_question():
    answer = hc.mean(ROWS, column="spend", bounds=(0, 50), neighbours="add-remove", epsilon=1)
    low, high = answer.interval()
    assert high - low < 0.5
    assert low - 1 < ROWS.spend.mean() < high + 1
    assert answer.n is None
    assert str(N) not in str(answer).replace(",", "")


@pytest.mark.parametrize("ask", ["fraction", "sum"])
def test_groups_that_agree_add_up_to_everybody_and_cover_as_often(ask):
    """The intervals of parts and of totals, from the exact covariance of the errors."""
    told = {"column": "churned"} if ask == "fraction" else {"column": "spend", "bounds": (0, 50)}
    truth = ROWS.groupby("plan")["churned" if ask == "fraction" else "spend"].agg(
        "mean" if ask == "fraction" else "sum"
    )
    inside, widths, runs = dict.fromkeys(truth.index, 0), [], 40
    for _ in range(runs):
        answer = getattr(hc, ask)(ROWS, epsilon=0.5, **told, **BY)
        agreed = answer.consistent()
        assert agreed.group_sizes.sum() == pytest.approx(N)
        for cell in agreed.totals("plan"):
            inside[cell.category] += cell.interval95[0] <= truth[cell.category] <= cell.interval95[1]
        widths.append([np.ptp(each.totals()[0].interval95) for each in (answer, agreed)])
    assert min(inside.values()) >= fewest(runs)
    assert np.mean(widths, axis=0)[1] < np.mean(widths, axis=0)[0]


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@lengths("runs", 150, 3_000)
def test_means_in_groups_are_covered_as_often_as_they_say(neighbours, runs):
    """Of clipped amounts, each group for itself; and no wider than that takes."""
    asked = {"column": "spend", "bounds": (0, 30), "clip": True, "epsilon": 0.8, "neighbours": neighbours}
    truth = ROWS.assign(spend=ROWS.spend.clip(upper=30.0)).groupby(["plan", "country"]).spend.mean()
    inside, narrower = dict.fromkeys(truth.index, 0), dict.fromkeys(truth.index, 0)
    for _ in range(runs):
        for cell in hc.mean(ROWS, **asked, **BY):
            if cell.category in truth:
                low, high = cell.interval95
                away = abs(truth[cell.category] - (low + high) / 2.0)
                inside[cell.category] += low <= truth[cell.category] <= high
                narrower[cell.category] += away <= 0.3 * (high - low)
    assert min(inside.values()) >= fewest(runs)
    assert min(narrower.values()) < fewest(runs)


def test_of_a_rate_that_is_hidden_it_is_said_which_count_is():
    """Of groups that nobody listed each count has a threshold of its own."""
    groups = ["both"] * 2_000 + ["few ones"] * 1_003 + ["few others"] * 1_003
    bits = [0, 1] * 1_000 + [1] * 3 + [0] * 1_000 + [0] * 3 + [1] * 1_000
    answer = hc.fraction(pd.DataFrame({"g": groups, "y": bits}), column="y", by="g", epsilon=1, delta=1e-6)
    told = dict(zip(answer.categories, answer.shown(), strict=True))
    assert 0.4 < float(told["both"][0]) < 0.6
    assert told["few ones"][0] == "too few of them to be shown"
    assert told["few others"][0] == "too few others to be shown"
    assert answer["few ones"].interval95[1] < 0.1
    assert answer["few others"].interval95[0] > 0.9
