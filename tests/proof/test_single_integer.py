"""Views that are one integer, and noise that one person moves far: proved above the truth, refuted below it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from brute import truth
from forged import NOTHING, VALUE, certificate, copies, emit, every, let, maybe, named, signed, table

from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.proof import verify
from headcount.protocols.base.certificate import certify
from headcount.protocols.base.plan import Plan
from headcount.protocols.central.staircase import Staircase
from headcount.questions.sum_and_mean import Sum

QUARTER, EIGHTH = Fraction(1, 4), Fraction(1, 8)
ONE, ZERO = maybe(EIGHTH, emit(0), emit(1)), maybe(QUARTER, emit(1), emit(0))
NOT = ["-", 1, VALUE]
REPORTS: dict[str, tuple[Any, int]] = {
    "asymmetric bits": (every(copies(VALUE, ONE), copies(NOT, ZERO)), 2),
    "two bits of different laws": (every(copies(["*", 2, VALUE], ONE), copies(["*", 2, NOT], ZERO)), 2),
    "a number of messages": (
        every(
            copies(VALUE, copies(table(EIGHTH, QUARTER, Fraction(5, 8)), emit(0))),
            copies(NOT, copies(table(Fraction(1, 2), Fraction(3, 8), EIGHTH), emit(0))),
        ),
        2,
    ),
    "one message or none": (maybe(QUARTER, copies(NOT, emit(3)), copies(VALUE, emit(3))), 2),
    "a rounded value": (
        let("bit", {"round": VALUE, "from": 2, "to": 1}, every(
            copies(named("bit"), ONE), copies(["-", 1, named("bit")], ZERO))),
        3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("people", [1, 2, 4])
@pytest.mark.parametrize("name", REPORTS)
def test_either_side_of_the_truth(name: str, people: int) -> None:
    report, values = REPORTS[name]
    epsilons = [Fraction(0), Fraction(1, 4), Fraction(1)]
    exact = truth(report, values, people, epsilons)

    def judged(share: float) -> str:
        points = [(e, Fraction(min(1.0, share * delta))) for e, delta in zip(epsilons, exact, strict=True)]
        verdict = verify(certificate(report, points, people=people, values=values))
        assert "one integer is seen" in verdict.because or verdict.answer != "proved"
        return verdict.answer

    assert judged(1.0001) == "proved"
    assert judged(0.9999) == "refuted"


@pytest.mark.parametrize(
    ("report", "values"),
    [
        (every(copies(VALUE, ONE), copies(NOT, ZERO), maybe(QUARTER, emit(0), NOTHING)), 2),  # two numbers are seen
        (maybe(QUARTER, emit(2), emit(VALUE)), 2),  # three kinds
        (copies(["*", VALUE, VALUE], emit(0)), 3),  # no mixture of the first and the last
    ],
)
def test_what_is_more_than_one_integer_is_left_to_others(report: Any, values: int) -> None:
    verdict = verify(certificate(report, [(Fraction(1), Fraction(1, 2))], people=3, values=values))
    assert "one integer" not in verdict.because


STAIRS = [
    calibrate(Staircase, task, Crowd(100), Budget(epsilon, 0.0, relation))
    for task, epsilon, relation in (
        (Sum((0, 10), steps=10), 1.0, "replace"), (Sum((0, 10), steps=10), 5.0, "replace"),
        (Sum((-5, 5), steps=10), 2.0, "add-remove"),
    )
]  # fmt: skip


@pytest.mark.parametrize("stairs", STAIRS, ids=lambda stairs: f"{stairs.task}-{stairs.scale:.2f}")
def test_noise_in_steps_as_wide_as_a_person_moves_it_is_pure(stairs: Staircase) -> None:
    """Neighbouring masses are further apart than their share of epsilon: those a person's width apart are compared."""
    budget = Budget(1.0 / stairs.scale * (1 + 1e-9), 0.0, stairs.neighbours)
    honest = certify(Plan(stairs, budget))
    assert verify(honest.to_json()).answer == "proved"
    louder = replace(stairs, scale=stairs.scale * 1.001)
    forged = {**honest.to_json(), "release": replace(stairs, scale=stairs.scale / 1.001).released().encode()}
    assert verify(signed(forged)).answer == "refuted"
    assert verify(signed({**forged, "release": louder.released().encode()})).answer == "proved"


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_stairs_below_their_own_epsilon(share: float) -> None:
    stairs = STAIRS[0]
    delta = stairs.loss.delta(0.5)
    content = certify(Plan(stairs, Budget(1.0, 0.0))).to_json()
    claimed = {"epsilon": "1/2", "delta": str(Fraction(delta * share)), "curve": []}
    verdict = verify(signed({**content, "claim": claimed, "budget": {"epsilon": "1/2", "delta": "1"}}))
    assert verdict.answer == ("proved" if share > 1 else "refuted")
