"""Answers that are read from JSON: whoever wrote it may have written anything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import headcount as hc
from cli.shell import headcount
from headcount.protocols.base.plan import Plan


def asked(protocol: str = "geometric") -> hc.Estimate:
    return hc.count([1] * 300 + [0] * 700, epsilon=1, delta=1e-6, protocol=protocol)


@pytest.mark.parametrize("protocol", ["geometric", "correlated-count", "randomised-response"])
def test_an_answer_that_claims_less_than_it_cost_is_refused(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consistent in itself, as whoever has the library can write it."""
    honest, forged = tmp_path / "honest.json", tmp_path / "forged.json"
    honest.write_text(json.dumps(asked(protocol).to_json()))
    forged.write_text(json.dumps(replace(asked(protocol), budget=hc.Budget(0.01)).to_json()))
    assert "ε=1" in str(hc.load_answer(honest))
    with pytest.raises(hc.errors.OverBudget, match=r"delta at epsilon=0\.01"):
        hc.load_answer(forged)
    monkeypatch.setattr(Plan, "__post_init__", lambda _: None)  # the twin
    assert "ε=0.01" in str(hc.load_answer(forged))


def test_the_command_line_compares_no_answer_that_claims_less_than_it_cost(tmp_path: Path) -> None:
    for name, answer in (("honest", asked()), ("forged", replace(asked(), budget=hc.Budget(0.01)))):
        (tmp_path / f"{name}.json").write_text(json.dumps(answer.to_json()))
    told = headcount("difference", "honest.json", "forged.json", where=tmp_path)
    assert told.returncode == 2
    assert "over the budget" in told.stderr
    assert told.stdout == ""


@pytest.mark.parametrize("protocol", ["geometric", "correlated-count"])
@pytest.mark.parametrize(
    ("name", "nonsense"),
    [("reports", 0), ("reports", "x"), ("totals", 5), ("totals", [[]]), ("totals", None)],
)
def test_nonsense_is_refused(protocol: str, name: str, nonsense: object, tmp_path: Path) -> None:
    told, kept = asked(protocol).to_json(), tmp_path / "nonsense.json"
    told["released"][name] = nonsense
    kept.write_text(json.dumps(told))
    with pytest.raises(hc.errors.Refused):
        hc.load_answer(kept)
