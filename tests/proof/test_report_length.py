"""What is cut from reports that are too long, proved apart from the code that counts it."""

import json

import pytest
from flint import ctx

import headcount as hc
from headcount.proof import programme
from headcount.proof.claim import digest
from headcount.proof.report_length import too_many
from headcount.proof.verify import PRECISION
from headcount.protocols import CATALOGUE
from headcount.protocols.base.certificate import certify
from headcount.protocols.base.report_size import Wire
from headcount.protocols.base.report_size import too_many as counted

TINIES = [tiny for cls in CATALOGUE if cls.collectable() for tiny in cls.tinies()]


def proved(protocol, messages):
    with ctx.workprec(PRECISION):
        return float(too_many(programme.read(protocol.programme.encode()), protocol.task.values, messages))


@pytest.mark.parametrize("protocol", TINIES, ids=lambda protocol: protocol.name)
@pytest.mark.parametrize("messages", [1, 4, 20])
def test_both_count_alike(protocol, messages):
    assert proved(protocol, messages) == pytest.approx(counted(protocol, messages), rel=1e-8, abs=1e-40)


@pytest.fixture(scope="module", params=["correlated-count", "poisson-count", "negative-binomial-count"])
def plan(request):
    advice = hc.advise(hc.Count(), n=10_000, epsilon=1, delta=1e-6, collected=True, models=["shuffle"], max_messages=64)
    return next(option.plan for option in advice.options if option.name == request.param)


def test_a_collected_plan_is_proved_with_what_it_cuts(plan):
    verdict = hc.verify(certify(plan))
    assert verdict.answer == "proved", verdict.because
    assert f"sends {plan.wire.messages:,} messages" in verdict.of
    bare = hc.verify(certify(hc.Plan(plan.protocol, plan.budget)))
    assert verdict.points[0].truth.high > bare.points[0].truth.high


def changed(certificate, **parts):
    content = json.loads(json.dumps(certificate.to_json())) | parts
    return {**content, "hash": digest(content)}


def test_a_claim_that_forgets_the_cut_is_not_proved(plan):
    """The twin: the same claim, where everybody sends fewer messages than it was made for."""
    fewer = changed(certify(plan), wire={**plan.wire.to_json(), "messages": plan.wire.messages - 2})
    assert hc.verify(fewer).answer != "proved"


def test_the_messages_of_everybody_are_a_number_that_makes_sense(plan):
    for messages in (0, -1, 10**6, "five", 1.5):
        assert hc.verify(changed(certify(plan), wire={"messages": messages})).answer == "cannot prove"


def test_what_is_never_too_long_costs_nothing():
    budget = hc.Budget(1, 1e-6)
    protocol = hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6)
    assert Wire.of(protocol, budget).messages == 2
    assert proved(protocol, 2) < 1e-70
    assert proved(protocol, 1) > 0.0
