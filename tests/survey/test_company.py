"""The findings of the page about company A, and what its prose hangs on."""

from dataclasses import replace

import pytest

from headcount.programme.law import Noise
from headcount.protocols.shuffle.zsum import Zsum
from headcount_survey.pages import company_cases as company
from headcount_survey.pages.company import page
from headcount_survey.pages.company_cases import CASES, LIMIT

FEW, SPARSE, BETWEEN = (replace(case, runs=4_000) for case in CASES)
ALL = pytest.mark.parametrize("case", [FEW, SPARSE, BETWEEN], ids=["few", "sparse", "between"])


@ALL
def test_every_prediction_is_confirmed(case):
    assert case.confirmed
    assert len(list(case.answers)) == 8


@ALL
def test_the_papers_constants_advise_something_else_or_something_worse(case):
    assert case.paper.predicted > 4 * case.better.predicted
    assert case.shrinks > 15
    assert case.best.name != case.paper.name
    assert case.best.predicted <= min(answer.predicted for answer in case.exact)
    assert case.paper.spent < 0.25


def test_the_papers_rule_one_out_for_few_people_and_it_is_the_better_one():
    assert FEW.papers[0].protocol is None
    assert FEW.papers[0].why == "needs 1,451 people"
    assert (FEW.paper.name, FEW.better.name) == ("sample-threshold", "zsum")
    assert company.published_need() == 1_451


def test_dropping_small_counts_loses_sparse_ones():
    assert SPARSE.papers[1].predicted == pytest.approx(60, abs=0.01)
    assert SPARSE.better.name == "zsum"


def test_the_two_are_roughly_equal_in_between():
    zsum, sampled = BETWEEN.exact
    assert 0.8 < zsum.predicted / sampled.predicted < 1.25


def test_the_page_says_so():
    written = page((FEW, SPARSE, BETWEEN))
    assert "nan" not in written.replace("thousand", "")
    assert " inf" not in written
    assert written.count("**What we recommend.**") == 3
    assert all(
        answer.why[:60] in " ".join(written.split()) for case in (FEW, SPARSE) for answer in case.advised.values()
    )
    assert "| 1,000 | 400 | sample-threshold |" in written
    assert " ".join(written.split()).count("takes a threshold that is tuned to the count") == 3


def test_an_understated_error_is_not_confirmed(monkeypatch):
    def modest(self, truth, reports, exact=Zsum.noise):
        law = exact(self, truth, reports)
        return Noise(law.values * 0.9, law.masses, law.dropped)

    monkeypatch.setattr(Zsum, "noise", modest)
    fresh = replace(BETWEEN, runs=4_001)
    assert any(abs(answer.z) > LIMIT for answer in fresh.exact)
    assert not fresh.confirmed
