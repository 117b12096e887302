"""Every verdict is borne out by its check, and checks notice a wrong verdict or a wrong form."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from headcount.cli.main import app
from headcount.errors import BadArgument
from headcount_survey import statements
from headcount_survey.answers import ANSWERS
from headcount_survey.catalogue import STUDIES
from headcount_survey.cli.statements import plain
from headcount_survey.notes import (
    TITLES,
    additive,
    binomial,
    counts,
    events,
    five,
    histograms,
    laws,
    local,
    pure,
    sampling,
    several,
    shuffling,
    smooth,
)
from headcount_survey.pages import statements as survey
from headcount_survey.statement import (
    INSTANCE,
    Known,
    Seen,
    Severity,
    Statement,
    certified,
    corrected,
    look,
    proved,
    supported,
    tell,
)
from headcount_survey.statements import PAPERS, STATEMENTS, anchor, found
from headcount_survey.study import Verdict

EVERY = [*STATEMENTS, *PAPERS]
BY_KEY = {one.key: one for one in EVERY}


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.key)
def test_what_is_computed_bears_the_verdict_out_and_no_other(one):
    assert supported(one), look(one.check)
    for verdict in set(Verdict) - {one.verdict}:
        ought, severity = ("", None) if verdict is Verdict.HOLDS else ("something else", Severity.WORDING)
        assert not supported(replace(one, verdict=verdict, ought=ought, severity=severity))


def test_a_study_that_shows_more_is_in_the_catalogue():
    names = {found.name for found in STUDIES}
    assert {one.more for one in (*EVERY, *ANSWERS)} <= {"", *names}


@pytest.mark.parametrize("one", ANSWERS, ids=lambda one: one.key)
def test_an_answer_is_borne_out_by_its_figures(one):
    assert tell(one.reply).sound


def test_the_same_is_seen_again():
    for one in EVERY[::7]:
        assert one.check() == look(one.check)


# Broken twins: the notes' wrong form put in the place of the right one, and the other way round.

TWINS = [
    ("S1.7", binomial, "mended", binomial.printed),
    ("S1.7", binomial, "printed", binomial.mended),
    ("P1.1", binomial, "mended", binomial.printed),
    ("S1.1", binomial, "tails", lambda *_: 1e-40),
    ("S1.5", binomial, "interval", lambda n, g, a, _: ((1 - a / 4) * n * g, (1 + a / 4) * n * g)),
    ("S1.9", five, "tails", lambda *_: 1e-9),
    ("S1.6", binomial, "mass_ratio", lambda n, g, y, shift: laws.mass_ratio(n, g, y, shift) * 2),
    ("S2.1", counts, "accuracy", lambda e, d, _: five.noise(e, d) / 100),
    ("S2.10", counts, "noise", lambda e, d: five.noise(e, d) / 100),
    ("S2.3", histograms, "accuracy", lambda *_: 1.0),
    ("S3.6", pure, "worst", lambda *_: 0.0),
    ("S4.8", local, "beyond", lambda *_: 1.0),
    ("S6.7", events, "threshold", lambda d: 0.3 + np.log(1 / d) / 10),
    ("S6.6", sampling, "threshold", lambda d: 20.0 + np.log(1 / d)),
    ("S6.24", sampling, "binomial_above", lambda *_: np.array(0.9)),
    ("S1.3", smooth, "ratios", lambda law, _: np.ones_like(law)),
    ("S1.24", smooth, "smoothness", lambda *_: 0.05),  # so that twice it is too little as well
    ("S2.7", histograms, "least_local_histogram", lambda _n, bins, _e: 900.0 - bins / 1e5),  # above what is achieved
    ("S3.4", several, "gap_laws", lambda: [pure.random_laws(1, 2)[0][0]] * 2),
    ("S5.2", shuffling, "left_out", lambda _: (50.0, None)),
    ("S6.9", events, "from_noise", lambda _: 0.4),
    ("S6.13", sampling, "largest_rate", lambda _: 0.3),  # the same at every threshold
    ("S6.19", additive, "rmse", lambda *_: 10.0),  # reals that do not grow either
]


@pytest.mark.parametrize(("key", "module", "name", "twin"), TWINS, ids=[f"{key}-{name}" for key, _, name, _ in TWINS])
def test_a_wrong_form_is_noticed(key, module, name, twin, monkeypatch):
    one = BY_KEY[key]
    assert one.check().verdict is one.verdict
    monkeypatch.setattr(module, name, twin)
    assert one.check().verdict is not one.verdict


def test_what_was_seen_decides():
    assert Seen(True, "").verdict is Verdict.HOLDS
    assert Seen(False, "", mended=True).verdict is Verdict.CORRECTED
    assert Seen(False, "", instead=True).verdict is Verdict.FALSE
    assert (
        Seen(False, "").verdict
        is Seen(False, "", mended=False).verdict
        is Seen(False, "", instead=False).verdict
        is None
    )
    with pytest.raises(ValueError, match="right form"):
        Statement("S0", "", "", "", "", Verdict.FALSE, "", "", lambda: corrected(False, True, ""), INSTANCE)


def test_a_verdict_says_how_it_is_known_and_an_erratum_how_much_it_matters():
    assert str(proved("by S1")) == "proved: by S1"
    assert str(certified("all n")) == "certified over all n"
    assert str(INSTANCE) == "an instance"
    for wrong in (proved, certified):
        with pytest.raises(ValueError, match="range"):
            wrong("")
    for ought, severity in (("", Severity.PRIVACY), ("so", None)):
        with pytest.raises(ValueError, match="severity"):
            replace(BY_KEY["S1.8"], ought=ought, severity=severity)
    for one in EVERY:
        assert one.basis.known in Known
        assert (one.severity is None) is (one.verdict is Verdict.HOLDS)
        cited = set(re.findall(r"\b[SQP]\d+(?:\.\d+)?\b", one.basis.text))
        assert one.key not in cited, one.key
        assert cited <= {other.key for other in (*EVERY, *ANSWERS)}, one.key


# The documents.


CONSTANTS = {"S2.1": {"120.72"}, "S2.14": {"120.72"}, "P4.1": {"9.6"}}  # which the check holds to, rounded


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.key)
def test_every_figure_of_a_correction_is_computed(one):
    """Decimal fractions of the right form stand in what was computed, or in what is said."""
    text = re.sub(r"\b[SQP]\d+\.\d+\b|\b\d{4}\.\d{4,5}\b|\^\{[^}]*\}", "", one.ought.replace(",", ""))
    seen = (look(one.check).figure + one.says).replace(",", "")
    stated = {number for number in re.findall(r"(?<![\w.])\d+\.\d+", text) if number not in seen}
    assert stated == CONSTANTS.get(one.key, set())


def test_keys_are_told_apart_and_found():
    keys = [one.key for one in (*EVERY, *ANSWERS)]
    assert len(set(keys)) == len(keys)
    groups = {1: 24, 2: 16, 3: 13, 4: 17, 5: 8, 6: 28}
    assert {one.key for one in STATEMENTS} == {
        f"S{group}.{i}" for group, last in groups.items() for i in range(1, last + 1)
    }
    assert [one.key for one in found("S5")] == [f"S5.{i}" for i in range(1, 9)]
    assert [one.key for one in found("S1.1")] == ["S1.1"]
    assert len(found("all")) == len(keys)
    with pytest.raises(BadArgument, match=r"S1\.7"):
        found("S9")


def test_no_text_breaks_a_table_or_a_formula():
    for one in (*EVERY, *ANSWERS):
        said = [one.says, one.ought, one.basis.text] if isinstance(one, Statement) else [one.question]
        texts = [one.title, one.place, *said]
        texts.append(look(one.check).figure if isinstance(one, Statement) else tell(one.reply).text)
        for text in texts:
            assert "|" not in text, one.key
            assert text.count("$") % 2 == 0, one.key
            for formula in text.split("$")[1::2]:
                assert formula.count("{") == formula.count("}"), one.key
                assert "\\" not in plain(f"${formula}$"), one.key
        assert re.fullmatch(r"[\w ,.:%()'\-]+", one.title), one.key
        if isinstance(one, Statement) and one in STATEMENTS:
            assert one.note in TITLES


def test_the_documents_have_every_row_and_no_dead_link(tmp_path):
    assert survey.main(["--out", str(tmp_path)]) == 0
    pages = {
        name: (tmp_path / f"{name}.md").read_text(encoding="utf-8") for name in ("statements", "errata", "answers")
    }
    for one in STATEMENTS:
        assert f"`headcount study check {one.key}`" in pages["statements"]
        assert f"*Known:* {one.basis}." in pages["statements"]
        assert (f"### {one.heading}\n" in pages["errata"]) == (one.verdict is not Verdict.HOLDS)
    for one in PAPERS:
        assert f"### {one.heading}\n" in pages["errata"]
    wrong = [one for one in EVERY if one.severity]
    assert pages["errata"].count("Severity: ") == len(wrong)
    assert len({one.severity for one in wrong}) == len(Severity)
    anchors = {
        name: {anchor(line.lstrip("# ")) for line in text.splitlines() if line.startswith("#")}
        for name, text in pages.items()
    }
    for text in pages.values():
        for name, place in re.findall(r"\]\((\w+)\.md(?:#([\w\-]+))?\)", text):
            assert not place or place in anchors[name], place


def test_a_row_that_is_not_borne_out_fails_the_command_and_the_documents(monkeypatch, tmp_path, capsys):
    lost = replace(BY_KEY["S1.8"], verdict=Verdict.HOLDS, ought="", severity=None)
    monkeypatch.setattr(statements, "STATEMENTS", (lost,))
    failed = CliRunner().invoke(app, ["study", "check", "S1.8"])
    assert failed.exit_code == 1
    assert "does not bear this out" in failed.output
    assert CliRunner().invoke(app, ["study", "run", "statements", "--out", str(tmp_path)]).exit_code == 1
    assert survey.main(["--out", str(tmp_path)]) == 1
    assert "S1.8" in capsys.readouterr().err


def test_the_command_prints_the_statement_the_verdict_and_the_evidence():
    shown = CliRunner().invoke(app, ["study", "check", "S1.7"])
    assert shown.exit_code == 0
    assert "holds with correction; severity: proof" in shown.output
    assert "proved: Q6" in shown.output
    assert "2.94 > 1.5" in shown.output
    assert "(1+α)/(1-α)" in shown.output
    rows = json.loads(CliRunner().invoke(app, ["study", "check", "Q4", "--format", "json"]).output)
    assert [row["key"] for row in rows] == ["Q4"]
    assert rows[0]["supported"] is True


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"$\frac{50}{\epsilon^2 n}\ln\frac2\delta$", "(50/(ε^2 n)) ln(2/δ)"),
        (r"$8e^{-0.03n^{1/4}}$", "8e^(-0.03n^(1/4))"),
        (r"$\lvert k'\rvert \le k$", "|k'| ≤ k"),
        (r"*so* $c^* > 1$", "so c^* > 1"),
    ],
)
def test_formulas_can_be_read_on_a_terminal(formula, shown):
    assert plain(formula) == shown
