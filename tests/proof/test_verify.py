"""What is proved is true and what is refuted is false: honest certificates, weakened ones and forged ones."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from forged import (
    NOTHING,
    VALUE,
    WORD,
    certificate,
    chance,
    copies,
    emit,
    every,
    let,
    maybe,
    named,
    near,
    of,
    signed,
    table,
)

from headcount.audit.conformance.exact_loss import exact_delta
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.proof import verify
from headcount.protocols import CATALOGUE
from headcount.protocols.base.certificate import certify
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.central.stability_histogram import StabilityHistogram
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.correlated_histogram import CorrelatedHistogram
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum
from headcount_survey.mutants.catalogue import MUTATIONS
from headcount_survey.pages.certificates import TASKS, lowered, plans, with_the_noise_of
from stress import called, some

SLOW = {"piecewise", "hybrid", "shuffled-piecewise", "shuffled-hybrid"}  # with as many outcomes as a sum has
FEW, MANY = (4.0, 1e-5, 100), (1.0, 1e-6, 10_000)  # epsilon, delta and people
ASKED = [
    *((kind.name, FEW) for kind in CATALOGUE if kind.name not in SLOW and any(map(kind.answers, TASKS))),
    *((name, MANY) for name in ("zsum", "poisson-count", "geometric", "stability-histogram", "sample-threshold")),
]
LONG = {"almost-one-message-histogram", "almost-central-sum"}  # seconds, for all others together
TINIES = [tiny for protocol in CATALOGUE for tiny in protocol.tinies() if tiny.name != "correlated-histogram"]
ONE_OF_EACH = {id(tiny) for tiny in {tiny.name: tiny for tiny in TINIES if tiny.name != "poisson-histogram"}.values()}


@pytest.mark.parametrize(("name", "asked"), some(ASKED, lambda asked: asked[0] not in LONG), ids=str)
def test_plans_are_proved_and_refuted_with_less_noise(name: str, asked: tuple[float, float, int]) -> None:
    found = [*plans([asked], only=name)]
    assert found
    for plan in found:
        proved_and_refuted(plan)


@pytest.mark.parametrize(("kind", "task"), [(CorrelatedCount, Count()), (CorrelatedHistogram, Histogram(10))])
def test_what_rests_on_even_shares_is_proved_too(kind: type[Protocol], task: Question) -> None:
    budget = Budget(1.0, 1e-6)
    proved_and_refuted(Plan(calibrate(kind, task, Crowd(10_000), budget, even=True), budget))


def proved_and_refuted(plan: Plan) -> None:
    honest = certify(plan)
    verdict, weaker = verify(honest.to_json()), verify(with_the_noise_of(honest, lowered(plan.protocol)).to_json())
    if not plan.protocol.provable or plan.protocol.loss.kind == "bound":
        assert verdict.answer != "refuted"
        return
    assert (verdict.answer, weaker.answer) == ("proved", "refuted")
    witness = weaker.witness
    assert witness is not None
    likely, unlikely = witness.truth.chances
    assert float(likely) - math.exp(witness.epsilon) * float(unlikely) > float(witness.delta) * (1 - 1e-9)
    assert verify(json.dumps(honest.to_json())).answer == "proved"


@pytest.mark.parametrize("tiny", some(TINIES, lambda tiny: id(tiny) in ONE_OF_EACH), ids=called)
def test_on_either_side_of_the_enumerated_truth(tiny: Protocol) -> None:
    epsilons = [0.0, 0.7]
    # Where any number of people gets an answer, the worst of them may be more than were planned for.
    any_number = tiny.model is Model.THRESHOLD and tiny.neighbours is Neighbours.ADD_REMOVE
    people = 2 * tiny.crowd.size + 1 if any_number else tiny.crowd.size
    truth = [float(delta.high) for delta in exact_delta(tiny, people, epsilons)]
    for epsilon, delta in zip(epsilons, truth, strict=True):
        if delta > 1e-6:
            below, above = ([(Fraction(epsilon), Fraction(min(1.0, delta * share)))] for share in (0.999, 1.001))
            assert verify(of(tiny, below)).answer != "proved"
            assert verify(of(tiny, above)).answer != "refuted"


@pytest.mark.parametrize("change", [{"epsilon": "1/3"}, {"delta": "1/1000000000"}])
def test_a_budget_that_the_claim_does_not_meet_is_not_proved(change: dict[str, str]) -> None:
    content = certify(next(plans([(4.0, 1e-5, 100)], "zsum"))).to_json()
    verdict = verify(signed({**content, "budget": {**content["budget"], **change}}))
    assert (verdict.answer, verify(content).answer) == ("cannot prove", "proved")
    assert "budget" in verdict.because


def test_a_report_may_not_depend_on_a_value_of_which_there_is_one() -> None:
    content = certify(next(plans([(4.0, 1e-5, 100)], "zsum"))).to_json()
    assert verify(signed({**content, "values": 1})).answer == "cannot prove"


def test_only_what_is_proved_counts_as_true() -> None:
    plan = next(plans([(4.0, 1e-5, 100)], "zsum"))
    certificate = certify(plan)
    refuted = verify(with_the_noise_of(certificate, lowered(plan.protocol)).to_json())
    assert verify(certificate.to_json())
    assert not refuted
    assert not verify("{}")
    assert "an event has chance" in str(refuted)
    assert "at least 100 honest people" in refuted.of


def test_a_changed_certificate_is_not_read() -> None:
    content = certify(next(plans([MANY], only="zsum"))).to_json()
    for key in content:
        answer = verify({**content, key: "changed"}).answer
        assert answer == ("proved" if key == "versions" else "cannot prove")  # with which versions it was made
    assert verify({key: content[key] for key in content if key != "hash"}).answer == "cannot prove"


@pytest.mark.parametrize(
    ("key", "value"), [("least", 99), ("corrupt", 1), ("least", 0), ("corrupt", 100), ("size", 50)]
)
def test_fewer_people_than_the_noise_was_made_for(key: str, value: int) -> None:
    content = certify(next(plans([FEW], only="poisson-count"))).to_json()
    verdict = verify(signed({**content, "crowd": {**content["crowd"], key: value}}))
    assert verdict.answer == ("refuted" if key != "size" and 0 < value < 100 else "cannot prove")


# Claims that are false, and were once believed.


def _digit(i: Any, first: list[int], second: list[int]) -> Any:
    """The entry at i of the one list for value 0, of the other for value 1."""
    zero, one = (sum(digit << (4 * j) for j, digit in enumerate(digits)) for digits in (first, second))
    place: Any = 1
    for j in range(4):
        place = ["*", place, ["+", 1, ["*", str(16 ** (1 << j) - 1), ["%", ["//", i, 1 << j], 2]]]]
    return ["%", ["//", ["+", str(zero), ["*", VALUE, str(one - zero)]], place], 16]


def test_two_kinds_of_messages_with_the_same_sums_are_both_counted() -> None:
    """Two messages of 1/8 against 1/16, and one of 1/4 against 1/8."""
    first = [0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 5, 5, 6, 6, 6, 6]
    second = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6]
    report = let("i", {"below": 16}, emit(_digit(named("i"), first, second)))
    assert verify(certificate(report, [(0, Fraction(249, 1000))], model="local")).answer == "refuted"
    assert verify(certificate(report, [(0, Fraction(251, 1000))], model="local")).answer == "proved"


def test_a_drawn_name_does_not_hide_a_hash() -> None:
    """The message tells the hash whatever is drawn, under whichever name."""
    told = (["+", named("u"), 1], named("v"))
    message = emit(*told, ["%", ["+", ["*", told[0], VALUE], told[1]], 5])
    for name in ("residue", "the residue", "value", "u"):
        drawn = maybe(Fraction(1, 1024), message, let(name, {"below": 5}, message))
        report = let("u", {"below": 4}, let("v", {"below": 5}, drawn))
        assert verify(certificate(report, [(1, Fraction(1, 100))], model="local")).answer != "proved"


def _poisson(mean: int) -> dict[str, Any]:
    return near([round(Fraction(mean**k, math.factorial(k)) * (1 << 200)) for k in range(100)])


def _geometric(people: int) -> dict[str, Any]:
    """Of which as many as there are people sum up to a geometric law that falls to one half."""
    weights, weight = [], Fraction(1)
    for k in range(140):
        weights.append(round(weight * (1 << 200)))
        weight *= (k + Fraction(1, people)) / (k + 1) / 2
    return near(weights)


def test_two_messages_that_share_noise_are_not_taken_for_two_that_do_not() -> None:
    """Values 0 and 2 move one difference by two, values 0 and 1 two differences by one: 0.082 against 0.055."""
    people, drawn = 3, _geometric(3)
    own = emit(["+", ["+", 10, ["*", 10, ["%", VALUE, 2]]], ["//", VALUE, 2]])
    groups = [
        part
        for a in (10, 20)
        for part in (
            copies(drawn, emit(a)), copies(drawn, emit(a + 1)), copies(_poisson(8), every(emit(a), emit(a + 1)))
        )
    ]  # fmt: skip
    report = every(own, *groups)
    claim = [(Fraction(13, 10), Fraction(7, 100))]
    assert verify(certificate(report, claim, values=3, people=people)).answer != "proved"
    assert verify(certificate(report, claim, values=2, people=people)).answer == "proved"


def test_what_is_rarer_than_any_window_is_not_impossible() -> None:
    report = maybe(Fraction(1, WORD), emit(VALUE), NOTHING)
    what: dict[str, Any] = {"model": "shuffle-threshold", "values": 3, "people": 5, "release": {"threshold": 4}}
    assert verify(certificate(report, [(Fraction(1, 10), 0)], **what)).answer != "proved"


# What the trusted side does to a total before it adds noise.

ROUNDED = next(plan for plan in plans([FEW], only="laplace") if plan.protocol.task == Sum((0, 10)))
SOUND = certify(ROUNDED).to_json()
GEOMETRIC = {"add": {
    "centre": table(Fraction(1, 4), Fraction(1, 2), Fraction(1, 4), start=-1), "beyond": table(*[Fraction(1, 2)] * 2),
}}  # fmt: skip


@pytest.mark.parametrize(("change", "answer"), [
    ({}, "proved"),
    ({"levels": 2 * SOUND["release"]["levels"]}, "refuted"),  # finer than the noise is for
    ({"levels": SOUND["release"]["levels"] + 1}, "refuted"),
    ({"levels": SOUND["release"]["levels"] // 2}, "proved"),
    ({"steps": SOUND["release"]["steps"] // 2}, "refuted"),
    ({"steps": 2 * SOUND["release"]["steps"]}, "proved"),
    ({"steps": SOUND["release"]["steps"] - 1}, "cannot prove"),  # nobody's total is sure to move by a level more
    ({"steps": 0}, "cannot prove"),
    ({"levels": -64}, "cannot prove"),
    ({"levels": None}, "cannot prove"),
    ({"steps": True}, "cannot prove"),
])  # fmt: skip
def test_how_far_a_rounded_total_moves(change: dict[str, Any], answer: str) -> None:
    assert verify(signed({**SOUND, "release": {**SOUND["release"], **change}})).answer == answer


def test_steps_and_levels_go_together() -> None:
    added = {"add": SOUND["release"]["add"]}
    assert verify(signed({**SOUND, "release": added})).answer == "refuted"  # a person moves it by all steps
    for lone in ({"steps": 2}, {"levels": 2}):
        assert verify(signed({**SOUND, "release": {**added, **lone}})).answer == "cannot prove"
    for changed in ({"tally": "count"}, {"model": "shuffle-threshold"}, {"model": "shuffle"}):
        assert verify(signed({**SOUND, **changed})).answer == "cannot prove"


@pytest.mark.parametrize("protocol", [tiny for tiny in TINIES if tiny.name == "laplace"], ids=str)
def test_broken_releases_are_not_proved(protocol: Protocol) -> None:
    points = [(epsilon, Fraction(protocol.loss.delta(float(epsilon)))) for epsilon in (Fraction(0), Fraction(1, 2))]
    assert verify(of(protocol, points)).answer == "proved"
    finer, straight = (
        mutation.make(protocol) for mutation in MUTATIONS
        if mutation.name in ("levels finer than the noise is for", "never brought to levels")
    )  # fmt: skip
    assert isinstance(finer, Protocol)
    assert isinstance(straight, Protocol)
    assert verify(of(finer, points)).answer == "refuted"
    moves_further = protocol.released().scale < 1
    assert verify(of(straight, points)).answer == ("refuted" if moves_further else "proved")


def test_ends_between_two_levels_are_not_refuted() -> None:
    """Up to half a level is moved, which is less than the whole one that is proved."""
    what: dict[str, Any] = {"model": "central", "tally": "sum", "release": {**GEOMETRIC, "steps": 4, "levels": 1}}
    whole = verify(certificate(emit(VALUE), [(0, 1)], values=5, **what)).points[0].truth
    less = [(0, whole.low * Fraction(99, 100))]
    assert verify(certificate(emit(VALUE), less, values=5, **what)).answer == "refuted"
    assert verify(certificate(emit(VALUE), less, values=3, **what)).answer == "cannot prove"
    assert verify(certificate(emit(VALUE), [(0, whole.high)], values=3, **what)).answer == "proved"


# Claims that are true, and were once refuted.

LEVEL_TWICE = let("level", {"round": VALUE, "from": 1, "to": 2}, emit(["%", named("level"), 2]))
STABLE = {**GEOMETRIC, "threshold": 1, "empty": "untouched"}


@pytest.mark.parametrize("what", [
    {"report": LEVEL_TWICE, "model": "local"},
    {"report": LEVEL_TWICE, "model": "central", "tally": "sum", "release": GEOMETRIC},
    {"report": emit(VALUE), "values": 1, "model": "central", "release": GEOMETRIC},
    {"report": emit(VALUE), "values": 1, "model": "central", "release": STABLE},
    {"report": maybe(Fraction(1, 2), emit(VALUE), NOTHING), "values": 1, "model": "shuffle-threshold",
     "release": {"threshold": 2}},
    {"report": emit(7)},
])  # fmt: skip
def test_what_tells_nothing_is_not_refuted(what: dict[str, Any]) -> None:
    """Levels that nobody is at, and a choice of one."""
    assert verify(certificate(points=[(0, 0)], **what)).answer != "refuted"


@pytest.mark.parametrize("values", [2, 3])
def test_the_same_people_do_not_fill_two_bins(values: int) -> None:
    """Of four people there are not two others in either bin."""
    protocol = StabilityHistogram(task=Histogram(values), crowd=Crowd(4), scale=0.4, threshold=3)
    delta = float(exact_delta(protocol, 4, [0.5])[0].high)
    assert verify(of(protocol, [(Fraction(1, 2), Fraction(delta * 1.001))])).answer != "refuted"
    assert verify(of(protocol, [(Fraction(1, 2), Fraction(delta * 0.999))])).answer != "proved"


def test_more_noise_than_is_taken_into_account_is_not_refuted() -> None:
    """A third source on one of two messages: the two others alone would give more away."""
    drawn = _geometric(1)
    parts = [copies(drawn, emit(0)), copies(drawn, emit(1)), copies(_poisson(2), every(emit(0), emit(1)))]
    more = maybe(Fraction(1, 2), copies(2, emit(0)), NOTHING)
    report = every(copies(VALUE, emit(0)), *parts)
    low = verify(certificate(report, [(0, Fraction(1, 2))], people=1)).points[0].truth.low
    assert low > 0
    claim = [(0, low * Fraction(99, 100))]
    assert verify(certificate(report, claim, people=1)).answer == "refuted"
    assert verify(certificate(every(report, more), claim, people=1)).answer == "cannot prove"


# Claims that nothing is known about.


@pytest.mark.parametrize("changed", [
    {"neighbours": "add-remove"},
    {"values": None},
    {"values": 0},
    {"model": "telepathy"},
    {"tally": "median"},
    {"release": {"threshold": 3}},
    {"release": {"add": {"centre": table(Fraction(1)), "beyond": table(Fraction(1))}}, "model": "central"},
    {"crowd": {"size": 10**18, "least": 10**18, "corrupt": 0}},
    {"claim": {"epsilon": "1e999999999", "delta": "1/100", "curve": []}},
    {"claim": {"epsilon": "1", "delta": "-1/100", "curve": []}},
    {"claim": {"epsilon": "1", "delta": "1/0", "curve": []}},
    {"claim": {"epsilon": 1, "delta": 0.01, "curve": []}},
    {"report": {"row": 3, "here": VALUE, "off": chance(Fraction(0)), "on": chance(Fraction(1))}},
])  # fmt: skip
def test_what_is_not_known_is_not_answered(changed: dict[str, Any]) -> None:
    report = maybe(Fraction(1, 4), emit(["-", 1, VALUE]), emit(VALUE))
    honest = certificate(report, [(1, Fraction(1, 2))])
    assert verify(honest).answer == "proved"
    assert verify(signed({**honest, **changed}), effort=100_000).answer == "cannot prove"


def test_noise_that_falls_in_no_known_way_is_given_up() -> None:
    flat = {"add": {"centre": table(*[Fraction(1, 3)] * 3, start=-1), "beyond": table(*[Fraction(1, 2)] * 2)}}
    what: dict[str, Any] = {"model": "central", "tally": "sum", "release": flat}
    for values, epsilon in ((50, Fraction(1, 10**6)), (10**12, Fraction(1))):
        assert verify(certificate(emit(VALUE), [(epsilon, 0)], values=values, **what)).answer != "proved"
    assert verify(certificate(emit(VALUE), [(400, 0)], values=50, **what)).answer == "proved"  # no step is above 3
    what["release"] = GEOMETRIC
    assert verify(certificate(emit(VALUE), [(1, Fraction(1, 2))], values=10**18, **what)).answer == "cannot prove"
