"""Ledgers on the command line."""

import csv
import io
import json
import sys

import pytest

import headcount as hc
from headcount.cli.main import main


@pytest.fixture
def headcount(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder with some people, and gives its exit code, what it prints and what it complains."""
    (tmp_path / "people.csv").write_text("clicked,colour,age\n" + "1,red,30\n0,blue,40\n" * 200)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["headcount", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            main()
        said = capsys.readouterr()
        return done.value.code or 0, said.out, said.err

    return run


QUESTIONS = [
    ("count", "--column", "clicked"),
    ("fraction", "--column", "clicked"),
    ("histogram", "--column", "colour", "--categories", "red,blue"),
    ("sum", "--column", "age", "--bounds", "0", "100"),
    ("mean", "--column", "age", "--bounds", "0", "100"),
]


def asked(headcount, verb, *rest):
    return headcount(verb, "people.csv", *rest, "--epsilon", "0.4", "--model", "central", "--ledger", "crowd.ledger")


def test_every_question_can_be_charged(headcount):
    assert headcount("ledger", "create", "crowd.ledger", "--epsilon", "1.6")[0] == 0
    for question in QUESTIONS[:4]:
        code, _, complaint = asked(headcount, *question)
        assert code == 0, complaint
    code, out, complaint = asked(headcount, *QUESTIONS[4])
    assert (code, out) == (2, "")
    assert "0% is left. Nothing more can be asked" in complaint
    code, out, _ = headcount("ledger", "show", "crowd.ledger", "--format", "json")
    shown = json.loads(out)
    assert [charge["task"] for charge in shown["charges"]] == ["count", "fraction", "histogram", "sum"]
    assert (shown["epsilon"], shown["delta"], shown["neighbours"], shown["questions"]) == (1.6, 0.0, "replace", 4)
    assert shown["spent"] == 1 == shown["charges"][-1]["spent"]
    assert shown["spent"] + shown["remaining"] == 1


def test_a_mean_is_charged_too(headcount):
    headcount("ledger", "create", "crowd.ledger", "--epsilon", "1")
    assert asked(headcount, *QUESTIONS[4])[0] == 0
    assert hc.Ledger.open("crowd.ledger").questions == 1


def test_the_table_and_the_lines(headcount):
    headcount("ledger", "create", "crowd.ledger", "--epsilon", "1", "--delta", "1e-6")
    asked(headcount, *QUESTIONS[0])
    table = headcount("ledger", "show", "crowd.ledger")[1]
    assert "40% of (ε=1, δ=1e-06) spent on 1 question" in table
    assert "spent so far" in table
    (row,) = csv.DictReader(io.StringIO(headcount("ledger", "show", "crowd.ledger", "--format", "csv")[1]))
    assert (row["number"], row["task"], row["epsilon"]) == ("1", "count", "0.4")
    assert headcount("ledger", "create", "new", "--epsilon", "1", "--format", "csv")[:2] == (0, "\n")


def test_verify_says_whether_every_line_is_in_place(headcount, tmp_path):
    headcount("ledger", "create", "crowd.ledger", "--epsilon", "2", "--witness", "witness")
    for _ in range(2):
        assert asked(headcount, *QUESTIONS[0], "--witness", "witness")[0] == 0
    code, out, _ = headcount("ledger", "verify", "crowd.ledger", "--witness", "witness")
    assert code == 0
    assert "every line is in place, and none is missing. Ledger: 40% of (ε=2, δ=0) spent" in out
    checked = json.loads(headcount("ledger", "verify", "crowd.ledger", "--format", "json")[1])
    assert (checked["questions"], checked["witnessed"]) == (2, False)
    ledger = tmp_path / "crowd.ledger"
    whole = ledger.read_text()
    ledger.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    assert headcount("ledger", "verify", "crowd.ledger")[0] == 0
    code, out, complaint = headcount("ledger", "verify", "crowd.ledger", "--witness", "witness")
    assert (code, out) == (2, "")
    assert "has 1 charges and its witness" in complaint
    assert asked(headcount, *QUESTIONS[0], "--witness", "witness")[0] == 2
    ledger.write_text(whole.replace("2/1", "9/1"))
    assert headcount("ledger", "verify", "crowd.ledger")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ledger", "show", "nowhere"), "begin it with: headcount ledger create nowhere"),
        (("ledger", "verify", "nowhere"), "begin it with"),
        (("ledger", "create", "people.csv", "--epsilon", "1"), "exists already"),
        (("ledger", "create", "none/new", "--epsilon", "1"), "folder that does not exist"),
        (("ledger", "create", "new", "--epsilon", "-1"), "epsilon is -1"),
        (("ledger", "create", "new", "--epsilon", "1", "--neighbours", "some"), "neighbours is 'some'"),
        (("ledger", "show", "people.csv"), "not a line of JSON"),
        (("count", "people.csv", "--column", "clicked", "--epsilon", "1", "--ledger", "nowhere"), "begin it with"),
        (("count", "people.csv", "--column", "clicked", "--epsilon", "1", "--witness", "w"), "without --ledger"),
    ],
)
def test_refusals_say_what_would_work(headcount, arguments, words):
    code, out, complaint = headcount(*arguments)
    assert (code, out) == (2, "")
    assert words in complaint
    assert complaint.count("\n") == 1


def test_what_a_plan_would_cost_is_told_and_not_spent(headcount):
    headcount("ledger", "create", "crowd.ledger", "--epsilon", "1.5", "--delta", "1e-6")
    headcount("advise", "count", "--n", "400", "--epsilon", "1", "--model", "local", "--save", "plan.json")
    code, out, _ = headcount("ledger", "cost", "crowd.ledger", "plan.json", "--format", "json")
    told = json.loads(out)
    assert code == 0
    assert told == {"cost": pytest.approx(2 / 3, rel=1e-5), "spent": 0, "remaining": 1, "fits": True, "affords": 1}
    assert hc.Ledger.open("crowd.ledger").questions == 0
    asked(headcount, "count", "--column", "clicked")
    asked(headcount, "count", "--column", "clicked")
    assert "not enough" in headcount("ledger", "cost", "crowd.ledger", "plan.json")[1]
