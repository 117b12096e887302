"""A randomiser of one's own as a protocol: drawn, tallied, estimated, planned, saved, certified and attacked."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

import headcount as hc
from headcount.audit.conformance.exact_draw_checks import reports_are_drawn_from_their_law
from headcount.audit.conformance.loss_checks import the_claimed_loss_covers_every_view
from headcount.errors import BadArgument, OverBudget
from headcount.privacy.amplified import MessageLaws
from headcount.programme.field import VALUE
from headcount.protocols import CATALOGUE, ON_REQUEST, named
from headcount.protocols.local.matrix_response import MatrixResponse
from headcount.protocols.shared.chance_matrix import FINEST, matrix_rows, matrix_text
from headcount.protocols.shared.shuffled_local import shuffled
from headcount.questions import Count, Histogram
from headcount.testing import CHECKS, Nonconforming
from stress import STRESS

TEXT = "5/8 1/8 1/4; 1/8 3/4 1/8; 1/4 1/4 1/2"
WIDE = "1/2 1/3 1/6 0; 1/6 1/6 1/3 1/3"
A_BIT = 2  # which of the tiny instances has two values
SLOW = {"what_is_drawn_at_size_is_what_is_stated", "the_claim_holds_at_size", "collusion_is_stated"}


@pytest.mark.parametrize(
    ("tiny", "check"),
    [
        pytest.param(
            tiny, check, id=f"{kind.name}-{number}-{check.__name__}",
            marks=() if number == (A_BIT if check.__name__ in SLOW else 0) else STRESS,
        )
        for kind in ON_REQUEST for number, tiny in enumerate(kind.tinies()) for check in CHECKS
    ],
)  # fmt: skip
def test_conformance(tiny, check):
    check(tiny)


@pytest.mark.parametrize("text", [TEXT, WIDE, "1 0; 0 1", "0.1 0.2 0.7; 0.3 0.3 0.4"])
@pytest.mark.parametrize("lie", [0.0, 0.25])
def test_a_report_has_exactly_the_chances_of_the_matrix(text, lie):
    rows = matrix_rows(text)
    protocol = MatrixResponse(task=Histogram(len(rows)), crowd=hc.Crowd(5), matrix=text, lie=lie)
    for value, (drawn, row) in enumerate(zip(protocol.drawn, rows, strict=True)):
        law = protocol.report(VALUE).law({"value": value})
        found = {multiset[0][0][0]: Fraction(mass, law.total) for multiset, mass in law.masses.items()}
        assert found == {message: chance for message, chance in enumerate(drawn) if chance}
        assert lie or drawn == row


@dataclass(frozen=True, kw_only=True)
class OneCellOff(MatrixResponse):
    """Draws the matrix that it does not account for: rows are exchanged."""

    def report(self, value):
        return super().report((value + 1) % self.task.values)


@dataclass(frozen=True, kw_only=True)
class Boastful(shuffled(MatrixResponse)):
    """Claims the loss of a matrix with twice the lies."""

    name = "boastful"

    @property
    def message_laws(self):
        return MessageLaws.of(replace(self, lie=2.0 * self.lie).chances)


def test_a_randomiser_that_draws_or_claims_something_else_is_caught():
    tiny = MatrixResponse.tiny()
    given = {name: getattr(tiny, name) for name in ("task", "crowd", "matrix", "lie")}
    with pytest.raises(Nonconforming):
        next(check for check in CHECKS if check.__name__ == "the_error_is_as_stated")(OneCellOff(**given))
    with pytest.raises(Nonconforming):
        the_claimed_loss_covers_every_view(Boastful(**given))
    reports_are_drawn_from_their_law(tiny)


def test_least_squares_agree_with_the_estimates_of_the_protocols_that_it_generalises():
    own = hc.protocol("matrix-response", Histogram(4), n=1_000, epsilon=1)  # of everybody who says what they hold
    same = hc.protocol("generalised-response", Histogram(4), n=1_000, epsilon=1)
    assert own.rmse(250) == pytest.approx(same.rmse(250), rel=2e-3)
    among = hc.protocol("shuffled-matrix-response", Histogram(4), n=1_000, epsilon=1, delta=1e-6)
    assert among.lie == pytest.approx(
        hc.protocol("blanket-histogram", Histogram(4), n=1_000, epsilon=1, delta=1e-6).lie, rel=2e-3
    )


def test_estimates_of_all_values_add_up_to_the_people():
    protocol = hc.protocol("matrix-response", Histogram(3), n=200, matrix=TEXT)
    values = [0] * 120 + [1] * 50 + [2] * 30
    tally = protocol.tally(protocol.randomise(values, hc.SeededCoins(3)))
    assert protocol.point(tally).sum() == pytest.approx(200, rel=1e-12)
    error = protocol.simulate(values, runs=400).values - np.bincount(values)
    assert (np.abs(error.mean(axis=0)) < 5 * error.std(axis=0) / 20).all()
    assert (error.std(axis=0) < 1.15 * protocol.rmse()).all()


@pytest.mark.parametrize("name", ["matrix-response", "shuffled-matrix-response"])
def test_it_is_planned_run_saved_certified_and_attacked(name, tmp_path):
    mine = hc.randomiser([["5/8", "1/8", "1/4"], ["1/8", "3/4", "1/8"], ["1/4", "1/4", "1/2"]])
    plan = hc.Plan(hc.protocol(name, hc.Histogram(list("abc")), n=50, matrix=mine), hc.Budget(2, 1e-6))
    assert hc.load_plan(plan.save(tmp_path / "plan.json"), hash=plan.hash) == plan
    answer = hc.run(plan, ["a"] * 30 + ["b"] * 15 + ["c"] * 5)
    assert sum(answer.values) == pytest.approx(50)
    assert hc.verify(hc.certify(plan)).answer == "proved"
    found = hc.attack(plan.protocol.among(hc.Crowd(4)), delta=0.01, samples=20_000)
    assert 0.1 < found.epsilon <= found.claim
    assert plan.reach.up > 1
    priced = hc.histogram(
        [0, 1, 2] * 20, categories=3, epsilon=0.5, delta=1e-4, protocol=name, parameters={"matrix": TEXT}
    )
    assert priced.protocol.lie > 0.01
    assert priced.protocol.loss.delta(0.5) <= 1e-4


def test_a_matrix_that_loses_less_than_the_budget_is_used_as_it_is():
    calm = "0.4 0.3 0.3; 0.3 0.4 0.3; 0.3 0.3 0.4"
    assert hc.protocol("matrix-response", Histogram(3), n=50, matrix=calm, epsilon=1).lie == 0.0
    bound = hc.protocol("matrix-response", Histogram(3), n=50, matrix=calm).local_epsilon
    assert bound == pytest.approx(math.log(4 / 3), rel=1e-15)
    with pytest.raises(OverBudget):
        hc.protocol("matrix-response", Histogram(3), n=50, matrix=calm, lie=0.0, epsilon=0.2)


def test_a_flipped_bit_is_accounted_for_exactly_and_proved():
    plan = hc.Plan(
        hc.protocol("shuffled-matrix-response", Count(), n=1_000, matrix="3/4 1/4; 1/4 3/4"), hc.Budget(1, 1e-6)
    )
    assert plan.loss.kind == "exact"
    assert hc.verify(hc.certify(plan)).answer == "proved"


@pytest.mark.parametrize("matrix", ["2/3 1/3; 1/3 2/3", "1/3 2/3; 2/3 1/3", "1/2 1/2; 1/4 3/4"])
@pytest.mark.parametrize("people", [60, 300])
def test_what_is_private_alone_is_proved_among_others_at_every_point(matrix, people):
    protocol = hc.protocol("shuffled-matrix-response", Histogram(2), n=people, matrix=matrix)
    assert protocol.loss.kind == ("exact" if "/3" in matrix else "bound")
    verdict = hc.verify(hc.certify(hc.Plan(protocol, hc.Budget(1, 1e-6))))
    assert verdict.answer == "proved"
    assert [point.truth.high for point in verdict.points if point.epsilon >= 0.75] == [0, 0]


@pytest.mark.filterwarnings("error")
def test_a_matrix_of_next_to_nothing_but_the_truth_warns_of_nothing():
    honest = hc.randomiser([[1e-300, 1 - 1e-300], [1 - 1e-300, 1e-300]])
    assert 38 < honest.lower(1_000).epsilon(1e-6) <= honest.shuffled(1_000).epsilon(1e-6) < 39


def test_chances_are_read_exactly_or_rounded_with_small_ones_up():
    assert matrix_text([[1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25]]).endswith("; 1/2 1/4 1/4")
    rows = matrix_rows([[1e-20, 1 - 1e-20], ["1/3", "2/3"]])
    assert rows[0] == (Fraction(1, FINEST), 1 - Fraction(1, FINEST))
    assert rows[1][0] - Fraction(1, 3) < Fraction(1, FINEST)
    assert all(sum(row) == 1 for row in rows)
    assert matrix_rows(matrix_text(rows)) == rows


def test_crowds_that_look_the_same_are_not_estimated_but_priced():
    alike = "0.5 0.5 0; 0.5 0 0.5; 0.5 0.25 0.25"
    protocol = hc.protocol("shuffled-matrix-response", Histogram(3), n=100, matrix=alike)
    assert protocol.loss.delta(1) < 1
    with pytest.raises(BadArgument, match="same messages for different crowds"):
        protocol.rmse()
    with pytest.raises(BadArgument, match="has 3 rows"):
        hc.protocol("matrix-response", Histogram(4), n=100, matrix=alike)


def test_it_is_found_by_name_and_never_ranked():
    assert [named(kind.name) for kind in ON_REQUEST] == [*ON_REQUEST]
    assert not {*ON_REQUEST} & {*CATALOGUE}
