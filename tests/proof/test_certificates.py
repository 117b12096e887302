"""Certificates through the public face: what may be certified, and what is refused."""

import json

import pytest
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from stress import STRESS

ANSWERS = [1] * 300 + [0] * 700


@pytest.fixture(scope="module")
def plan():
    return hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6, models=["shuffle"]).best


def test_a_plan_an_advice_an_answer_and_a_protocol_have_certificates(plan):
    advice = hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6, models=["shuffle"])
    answer = hc.count(ANSWERS, epsilon=1, delta=1e-6, model="shuffle")
    assert hc.certify(plan).hash == hc.certify(advice).hash == hc.certify(answer).hash
    assert hc.verify(hc.certify(plan.protocol, epsilon=2))


@pytest.mark.parametrize("what", ["zsum", None, hc.Count(), 3])
def test_nothing_else_has(what):
    with pytest.raises(hc.Refused, match="give a plan"):
        hc.certify(what)


def test_a_protocol_needs_an_epsilon(plan):
    with pytest.raises(hc.Refused, match="epsilon is missing"):
        hc.certify(plan.protocol)


@pytest.mark.parametrize("what", [3, None, "no such file.json"])
def test_what_is_no_certificate_is_refused(what):
    with pytest.raises(hc.Refused, match="give the file"):
        hc.verify(what)


def test_a_ledger_must_be_one():
    with pytest.raises(hc.Refused, match=r"Ledger\.open"):
        hc.count(ANSWERS, epsilon=1, delta=1e-6, ledger="crowd.ledger")


def test_the_command_line_certifies_and_verifies(tmp_path):
    path, run = tmp_path / "certificate.json", CliRunner()
    made = run.invoke(app, ["certify", "zsum", "--n", "100", "--epsilon", "4", "--delta", "1e-5", "--out", str(path)])
    assert made.exit_code == 0
    assert str(path) in made.output
    assert "[" not in json.loads(path.read_text())["claim"]["epsilon"]
    proved = run.invoke(app, ["verify", str(path)])
    assert (proved.exit_code, "PROVED" in proved.output) == (0, True)
    assert json.loads(run.invoke(app, ["verify", str(path), "--format", "json"]).output)["answer"] == "proved"
    path.write_text(path.read_text().replace('"least": 100', '"least": 90'))
    changed = run.invoke(app, ["verify", str(path)])
    assert (changed.exit_code, "was changed" in changed.output) == (2, True)


@pytest.mark.parametrize(
    ("name", "task", "n"),
    [("split-and-mix", hc.Sum((0, 1)), 300), ("recursive-sum", hc.Mean((0, 1)), 300),
     ("almost-central-sum", hc.Sum((0, 1)), 300), ("blanket-sum", hc.Sum((0, 1)), 300),
     pytest.param("almost-one-message-histogram", hc.Histogram(5), 300, marks=STRESS),
     ("count-min-shuffle", hc.Histogram(5), 3_000),
     ("sample-threshold", hc.Histogram(5), 300), ("sample-threshold", hc.Count(), 300),
     ("fake-users", hc.Histogram(5), 300), ("shuffled-subset-selection", hc.Histogram(5), 300)],
    ids=str,
)  # fmt: skip
def test_a_promise_that_cannot_be_proved_again_says_so(name, task, n):
    """Held against the proofs themselves: whoever says either of another protocol is found out."""
    advice = hc.advise(task, n=n, epsilon=1, delta=1e-6, protocols=name)
    proved = hc.verify(hc.certify(advice)).answer == "proved"
    assert advice.best.protocol.provable == proved
    assert ("`headcount verify` knows no proof of this promise" in advice.why()) == (not proved)
