"""The price of trust on somebody's own data, and what all the answers cost."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import headcount as hc
from headcount import comparing, running
from headcount.cli.main import app
from headcount.engines.memory import MemoryEngine
from headcount.errors import MissingExtra
from headcount.privacy.compose import compose

CLICKED = [1] * 120 + [0] * 880
BUDGET = {"epsilon": 1, "delta": 1e-6}


@pytest.fixture(scope="module")
def counts():
    return hc.compare(CLICKED, **BUDGET)


@pytest.fixture
def undrawn(monkeypatch):
    """Fails as soon as anything is drawn."""

    def draw(*_, **__):
        raise AssertionError("drawn")

    monkeypatch.setattr(MemoryEngine, "tally", draw)


def test_every_model_answers(counts):
    assert [side.model for side in counts.sides] == list(hc.Model)
    for side in counts.sides:
        low, high = side.answer.interval(1 - 1e-9)
        assert low <= 120 <= high
        assert side.answer.secret
        best = hc.advise(hc.Count(), n=1_000, models=[side.model], **BUDGET).feasible[0]
        assert side.answer.protocol == best.protocol
        assert side.error == pytest.approx(best.rmse)
        assert counts[side.model] is side.answer
    assert counts.price_of_trust(counts.sides[0]) == 1.0
    assert counts.price_of_trust(counts.sides[-1]) == pytest.approx(counts.sides[-1].error / counts.sides[0].error)


def test_all_answers_together_cost_what_they_compose_to(counts):
    losses = [answer.protocol.loss for answer in counts.served]
    truth = compose(losses).epsilon(5e-6)
    assert truth <= counts.together.epsilon <= truth + 1e-3
    assert (counts.together.delta, counts.together.neighbours) == (5e-6, hc.Neighbours.REPLACE)
    assert counts.budget.epsilon < counts.together.epsilon < 5
    assert f"together they cost {counts.together}." in str(counts)
    assert counts.to_json()["together"] == counts.together.to_json()


def test_without_the_accountant_budgets_are_added_up(monkeypatch):
    def missing(_):
        raise MissingExtra("composing several questions", "account")

    monkeypatch.setattr(comparing, "compose", missing)
    plans = [hc.advise(hc.Count(), n=100, epsilon=0.1, models=[model]).best for model in ("central", "local", "local")]
    total = comparing.together(plans).epsilon
    assert Fraction(total) >= 3 * Fraction(0.1)
    assert total == pytest.approx(0.3, rel=1e-15)
    assert comparing.together(plans).delta == 0


def test_a_total_that_is_that_of_one_answer_would_be_noticed(counts):
    """The twin: what one costs is less than the composition, so that the check above fails for it."""
    assert counts.budget.epsilon < compose([answer.protocol.loss for answer in counts.served]).epsilon(5e-6)


def test_a_ledger_pays_for_all_or_for_none(undrawn):
    ledger = hc.Ledger(epsilon=2, delta=1e-5)
    with pytest.raises(hc.Refused, match="these 5 questions together"):
        hc.compare(CLICKED, **BUDGET, ledger=ledger)
    assert (ledger.spent, ledger.questions) == (0, 0)
    with pytest.raises(hc.Refused, match=r"Ledger\.open"):
        hc.compare(CLICKED, **BUDGET, ledger="crowd.ledger")


def test_a_ledger_is_charged_before_anything_is_shown(monkeypatch, tmp_path):
    ledger, seen = hc.Ledger.create(tmp_path / "crowd.ledger", epsilon=5, delta=1e-5), []
    shown = running.release_answer
    monkeypatch.setattr(running, "release_answer", lambda *given: (seen.append(ledger.questions), shown(*given))[1])
    found = hc.compare(CLICKED, **BUDGET, ledger=ledger)
    assert seen == [5] * 5
    assert [charge.protocol for charge in ledger.charges] == [answer.protocol for answer in found.served]
    assert hc.Ledger.verify(tmp_path / "crowd.ledger").spent == ledger.spent > 0.5


def test_models_that_cannot_serve_say_why():
    pure = hc.compare(CLICKED, epsilon=1)
    assert [side.answer is not None for side in pure.sides] == [True, False, False, False, True]
    assert "shuffle: delta is 0, which the shuffle model cannot give" in str(pure)
    assert pure.together == hc.Budget(2)
    means = hc.compare([3, 4, 5] * 50, hc.Mean((0, 9)), epsilon=1)
    assert means.to_json()["models"][1]["reason"] == "no protocol of the shuffle-threshold model answers a mean"
    with pytest.raises(KeyError):
        pure["shuffle"]


def test_a_number_of_people_that_is_private_stays_so():
    found = hc.compare(CLICKED, **BUDGET, neighbours="add-remove")
    assert found.n is None
    assert "1,000" not in str(found) + json.dumps(found.to_json())
    assert [side.answer is not None for side in found.sides] == [True, False, True, False, False]
    assert found.together == hc.Budget(2, 2e-6, "add-remove")
    means = hc.compare(CLICKED, hc.Mean((0, 1)), **BUDGET, neighbours="add-remove")
    assert [side.model for side in means.sides if side.answer is not None] == ["central"]
    assert "1,000" not in str(means) + json.dumps(means.to_json())


def test_histograms_show_the_largest_categories():
    labels = np.repeat(np.arange(12), np.arange(12) * 40 + 1)
    found = hc.compare(labels, hc.Histogram(12), epsilon=2)
    assert [row[0] for row in found.cells.rows] == [str(label) for label in range(11, 1, -1)]
    assert "the largest 10 of 12 categories" in str(found)
    assert found.cells.headings == ("category", "central", "shuffle-dummies", "local")
    answer = found.to_json()["models"][0]["answer"]
    assert abs(answer["cells"][11]["value"] - 441) < 40
    widest = found["local"].simultaneous95
    assert f"± {widest:.0f}" in found.sheet.rows[-1]


def test_unknown_labels_and_worthless_models():
    found = hc.compare(["<b>", "y"] * 300, hc.Histogram(), epsilon=4, delta=1e-3)
    assert {row[0] for row in found.cells.rows} == {"<b>", "y"}
    assert "categories is missing" in found.sides[2].reason
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"bounds": (0, 1), "categories": 2}, "categories is given together with bounds"),
        ({"task": hc.Count(), "bounds": (0, 1)}, "leave one of them out"),
        ({"task": "count"}, "Mean"),
        ({"where": "x", "bounds": (0, 1)}, "where is for counts"),
        ({"epsilon": -1}, "epsilon"),
        ({"categories": ["a"]}, "outside the categories"),
    ],
)
def test_refusals_come_before_anything_is_drawn(given, match, undrawn):
    ledger = hc.Ledger(epsilon=9, delta=1e-5)
    with pytest.raises(hc.Refused, match=match):
        hc.compare(CLICKED, **{**BUDGET, **given}, ledger=ledger)
    assert ledger.questions == 0


def test_frames_rows_and_conveniences():
    frame = pd.DataFrame({"person": np.arange(600) // 2, "colour": ["red", "blue"] * 300, "age": 30.0})
    reds = hc.compare(frame, column="colour", where="red", unit="person", epsilon=2)
    assert (reds.n, reds.task) == (300, hc.Count())
    assert hc.compare(frame, column="age", bounds=(0, 60), epsilon=1).task == hc.Sum((0, 60))
    assert hc.compare(frame, column="colour", categories=["red", "blue"], epsilon=1).task == hc.Histogram(
        ["red", "blue"]
    )


def test_the_command_line_compares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("clicked,age,colour\n" + "1,30,red\n0,40,blue\n" * 200)
    run = CliRunner()
    shown = run.invoke(app, ["compare", "people.csv", "--column", "clicked", "--epsilon", "1"]).output
    assert all(word in shown for word in ("price of trust", "randomised-response", "together they cost (ε=2, δ=0)"))
    asked = ["compare", "people.csv", "--column", "age", "--bounds", "0", "99", "--mean", "--epsilon", "1"]
    assert json.loads(run.invoke(app, [*asked, "--format", "json"]).output)["task"] == "mean"
    lines = run.invoke(app, [*asked, "--format", "csv"]).output.splitlines()
    assert (len(lines), lines[0][:13]) == (6, "model,trusted")
    asked = ["compare", "people.csv", "--column", "colour", "--categories", "red,blue", "--epsilon", "1", "--format"]
    assert len(run.invoke(app, [*asked, "csv"]).output.splitlines()) == 9
    assert run.invoke(app, [*asked, "markdown"]).output.count("| red |") == 1
    refused = run.invoke(app, ["compare", "people.csv", "--column", "age", "--mean", "--epsilon", "1"])
    assert "--mean needs --bounds" in str(refused.exception)


def test_what_a_refusal_advises_can_be_done():
    ages = [5, 70, 40] * 300
    with pytest.raises(hc.Refused, match="use clip=True"):
        hc.compare(ages, bounds=(0, 60), **BUDGET)
    assert abs(hc.compare(ages, bounds=(0, 60), clip=True, **BUDGET)["central"].value - 31_500) < 900
    with pytest.raises(hc.Refused, match="use other=True"):
        hc.compare(["a", "b", "c"] * 300, categories=["a", "b"], **BUDGET)
    assert (
        abs(
            hc.compare(["a", "b", "c"] * 300, categories=["a", "b"], other=True, epsilon=1)["central"].other.value - 300
        )
        < 30
    )
    for wish in ({"clip": True}, {"other": True}):
        with pytest.raises(hc.Refused, match="needs"):
            hc.compare(CLICKED, **wish, **BUDGET)
