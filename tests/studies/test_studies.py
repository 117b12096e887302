"""Every study runs, says what it found, and finds the same again."""

import json

import pytest

import headcount as hc
from headcount.studies import STUDIES, study
from headcount.studies.report import page, write


@pytest.mark.parametrize("kind", STUDIES, ids=lambda kind: kind.name)
def test_a_study_answers_draws_and_finds_the_same_again(kind, tmp_path):
    found = kind().run(quick=True)
    assert found.answer.endswith(".")
    assert found.rows
    assert len(found.sheet.rows) > 0
    for path in write(kind(), found, tmp_path):
        assert path.stat().st_size > 0
        if path.suffix == ".svg":
            assert path.read_text().rstrip().endswith("</svg>")
    kept = json.loads((tmp_path / f"{kind.name}.json").read_text())
    assert kept["rows"] == json.loads(json.dumps([dict(row) for row in kind().run(quick=True).rows]))
    assert kind.question in page(kind(), found)


def test_names_are_told_apart_and_found():
    assert len({kind.name for kind in STUDIES}) == len(STUDIES)
    with pytest.raises(hc.Refused, match="smallest-crowd"):
        study("moon")
