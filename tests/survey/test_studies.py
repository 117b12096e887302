"""Every study runs, says what it found, and finds the same again."""

import json
import re
from dataclasses import replace
from functools import cache

import pytest
from typer.testing import CliRunner

import headcount as hc
from headcount_survey.catalogue import STUDIES, study
from headcount_survey.cli.study import studies
from headcount_survey.report import page, write
from headcount_survey.study import Finding
from stress import some

RANDOM = ("error-and-ones", "survey-counts", "survey-table")  # and cheap, with nothing remembered of what was drawn
QUICK = (
    "error-and-ones",
    "survey-counts",
    "smallest-crowd",
    "why-five",
    "warner",
    "binary-theorem",
    "smooth-noise",
    "histogram-theorem",
)


@cache
def found_by(name: str) -> Finding:
    return study(name).run(quick=True)


@pytest.mark.parametrize("kind", some(STUDIES, lambda kind: kind.name in QUICK), ids=lambda kind: kind.name)
def test_a_study_answers_and_draws(kind, tmp_path):
    found = found_by(kind.name)
    assert found.answer.endswith(".")
    assert found.rows
    assert len(found.sheet.rows) > 0
    for path in write(kind(), found, tmp_path):
        assert path.stat().st_size > 0
        if path.suffix == ".svg":
            assert path.read_text().rstrip().endswith("</svg>")
    assert json.loads((tmp_path / f"{kind.name}.json").read_text())["rows"] == plain(found)
    assert kind.question in page(kind(), found)


@pytest.mark.parametrize("name", some(RANDOM, lambda name: name in QUICK))
def test_what_is_random_has_a_seed(name):
    assert plain(found_by(name)) == plain(study(name).run(quick=True))


def test_what_has_no_seed_is_noticed():
    found, again = (Finding("So.", [{"drawn": lot}], found_by("error-and-ones").sheet) for lot in (0.1, 0.2))
    assert plain(found) != plain(again)


def plain(found: Finding) -> list[dict[str, object]]:
    return json.loads(json.dumps([dict(row) for row in found.rows]))


def test_names_are_told_apart_and_found():
    assert len({kind.name for kind in STUDIES}) == len(STUDIES)
    with pytest.raises(hc.Refused, match="smallest-crowd"):
        study("moon")


def test_a_run_says_how_long_it_took_and_goes_on_to_the_end(tmp_path, monkeypatch):
    class Amiss(study("why-five").__class__):
        def run(self, quick=False, watch=iter):
            return replace(super().run(quick, watch), rows=[{"key": "S0.0", "supported": False}])

    def run(*kinds):
        monkeypatch.setattr("headcount_survey.catalogue.STUDIES", kinds)
        return CliRunner().invoke(studies, ["run", "all", "--quick", "--out", str(tmp_path)])

    plain, sound = study("why-five").__class__, run(study("why-five").__class__, study("smallest-crowd").__class__)
    assert sound.exit_code == 0
    assert re.search(r"smallest-crowd\.md, [\d.]+ s\n\n2 studies, [\d.]+ s", sound.output)
    amiss = run(Amiss, plain)
    assert amiss.exit_code == 1
    assert "2 studies" in amiss.output
    assert amiss.output.rstrip().endswith("not borne out: S0.0")


CAPTIONS = ("good-events", "lower-bounds", "sampling-rate", "survey-table", "too-sparse", "why-five")


@pytest.mark.parametrize("name", some(CAPTIONS, lambda name: name in QUICK))
def test_a_figure_has_its_caption_below_it_and_one_spelling_of_epsilon(name):
    found = found_by(name)
    text = page(study(name), found)
    assert f"({name}.svg)\n\n*{found.caption}*\n" in text
    assert "epsilon" not in found.caption


def test_a_source_that_asks_has_no_full_stop():
    assert "deceiving?*" in page(study("thresholding"), found_by("thresholding"))


def test_rounds_cross_where_they_were_found_to():
    """Poisson dummies overtake geometric correlated noise at ten rounds, at epsilon 1."""
    rounds = study("rounds")
    before, after = rounds.pair(1.0, 9), rounds.pair(1.0, 10)
    assert before[0] < before[1]
    assert after[1] < after[0]
