"""The audit on the command line: what it prints, its JSON, its exit codes."""

import json
from fractions import Fraction

import pytest
from shell import headcount
from typer.testing import CliRunner

from headcount.cli.main import app
from headcount.privacy.two_sided_noise import AddDiscreteLaplace
from headcount.protocols import named
from headcount.protocols.central.geometric import Geometric

QUICK = ("--samples", "2e4")


class TooLittleNoise(Geometric):
    def released(self):
        return AddDiscreteLaplace(self.rate / Fraction(1, 2))


def audit(*arguments):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def test_a_sound_protocol_stands():
    done = audit("geometric", *QUICK)
    assert done.exit_code == 0, done.output
    for words in ("claimed", "proved", "one more holds", "the released total is", "The claim stands."):
        assert words in done.output


def test_a_broken_one_is_violated(monkeypatch):
    monkeypatch.setattr("headcount_survey.cli.audit.named", lambda _: TooLittleNoise)
    done = audit("geometric", *QUICK)
    assert done.exit_code == 1
    assert "VIOLATED: epsilon is at least" in done.output
    told = json.loads(audit("geometric", *QUICK, "--format", "json").stdout)
    assert told["violated"]
    assert not told["stands"]
    assert told["epsilon_at_least"] > told["epsilon_claimed"]


@pytest.mark.parametrize(
    "arguments",
    [("zsum", "--n", 8, "--param", "gamma=0.4"), ("zsum", "--n", 12, "--epsilon", 1, "--delta", 0.05),
     ("geometric", "--neighbours", "add-remove"), ("randomised-response", "--delta", 0.01),
     ("blanket-histogram", "--seen", "message"), ("cheu-sum", "--seen", "released"),
     ("laplace", "--epsilon", 1, "--bounds", 0, 10, "--n", 3), ("geometric", "--epsilon", 1, "--categories", "a,b")],
    ids=lambda arguments: " ".join(map(str, arguments)),
)  # fmt: skip
def test_instances_of_all_kinds(arguments):
    done = audit(*arguments, *QUICK, "--format", "json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["protocol"] == arguments[0]
    assert told["stands"]
    assert told["samples"] == 20_000
    assert told["replay"]["found"] == {}
    assert told["joint"]["tests"] > 20


def test_all_of_them_line_by_line(monkeypatch):
    few = tuple(named(name) for name in ("geometric", "randomised-response", "zsum"))
    monkeypatch.setattr("headcount_survey.cli.audit.CATALOGUE", few)
    done = audit("all", *QUICK)
    assert done.exit_code == 0, done.output
    names = [cls.name for cls in few for _ in cls.tinies()]
    assert [line.split()[0] for line in done.output.splitlines()[1 : len(names) + 1]] == names
    assert f"All {len(names)} claims stand." in done.output
    monkeypatch.setattr("headcount_survey.cli.audit.CATALOGUE", few[1:2])
    assert len(json.loads(audit("all", *QUICK, "--format", "json").stdout)) == 1
    monkeypatch.setattr("headcount_survey.cli.audit.CATALOGUE", (TooLittleNoise,))
    done = audit("all", *QUICK)
    assert done.exit_code == 1
    assert "VIOLATED: geometric" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("nobody",), "the nearest"), (("zsum", "--samples", "7"), "samples"), (("zsum", "--samples", "1500.5"), "whole"),
     (("zsum", "--seen", "all"), "view"), (("zsum", "--neighbours", "add-remove"), "--neighbours replace"),
     (("geometric", "--categories", "4"), "--epsilon"), (("all", "--n", "4"), "name one"),
     (("laplace", "--seen", "message"), "--seen view"), (("zsum", "--n", "0"), "from 1 to")],
    ids=lambda case: " ".join(case) if isinstance(case, tuple) else None,
)  # fmt: skip
def test_what_makes_no_sense_is_refused(arguments, words):
    done = headcount("audit", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert not done.stdout
