"""What several rounds tell, by enumeration of whole transcripts with adaptive streams, against the claim."""

import pytest
from transcripts import AGREES, Transcripts, claimed_of, require_covered

import headcount as hc
from headcount.audit.conformance.check import Nonconforming
from headcount.audit.conformance.exact_loss import EPSILONS
from headcount.protocols import named

SMALL = [
    pytest.param("geometric", marks=pytest.mark.stress),  # whose views take long to enumerate
    pytest.param("poisson-count", marks=pytest.mark.stress),
    "discrete-gaussian",
    "randomised-response",
    "cheu-count",
    "negative-binomial-count",
]
PEOPLE = 2


@pytest.mark.parametrize("name", SMALL)
def test_no_transcript_of_two_rounds_tells_more_than_is_claimed(name):
    protocol = named(name).tiny()
    require_covered(protocol, PEOPLE, 2, claimed_of(protocol, PEOPLE, 2))


@pytest.mark.parametrize("name", ["randomised-response", "cheu-count"])
def test_no_transcript_of_three_rounds_tells_more_than_is_claimed(name):
    protocol = named(name).tiny()
    require_covered(protocol, PEOPLE, 3, claimed_of(protocol, PEOPLE, 3))


@pytest.mark.parametrize("name", SMALL)
def test_a_claim_that_forgets_a_round_is_caught(name):
    protocol = named(name).tiny()
    with pytest.raises(Nonconforming, match="2 rounds"):
        require_covered(protocol, PEOPLE, 2, claimed_of(protocol, PEOPLE, 1))


LIGHTER = next(each for each in named("correlated-count").tinies() if each.own == 2)


@pytest.fixture(scope="module")
def lighter():
    """Of noise of one's own with lighter tails."""
    return Transcripts(LIGHTER, PEOPLE)


@pytest.mark.parametrize("rounds", [1, 2])
def test_own_noise_with_lighter_tails_is_covered(lighter, rounds):
    claimed = claimed_of(LIGHTER, PEOPLE, rounds)
    for epsilon in EPSILONS:
        assert lighter.delta(epsilon, rounds) <= claimed.delta(epsilon) + AGREES


def test_own_noise_that_forgets_a_round_is_caught(lighter):
    claimed = claimed_of(LIGHTER, PEOPLE, 1)
    assert any(lighter.delta(epsilon, 2) > claimed.delta(epsilon) + AGREES for epsilon in EPSILONS)


@pytest.mark.parametrize("rounds", [2, 3, 5])
@pytest.mark.parametrize("name", ["randomised-response", "generalised-response"])
def test_panels_tell_what_is_claimed_of_one_report(name, rounds):
    """Whatever streams people hold, each answers once; the twin asks everybody twice."""
    question = hc.Count() if name == "randomised-response" else hc.Histogram(3)
    plan = hc.advise(question, n=1_000, epsilon=1, delta=1e-6, rounds=rounds, protocols=name).best
    assert plan.panels == rounds
    transcripts = Transcripts(plan.protocol, 1)
    for epsilon in EPSILONS:
        found, claimed = transcripts.delta_by_panels(epsilon, rounds), plan.protocol.loss.delta(epsilon)
        assert found <= claimed + AGREES
        assert found == pytest.approx(transcripts.delta(epsilon, 1), abs=AGREES), "the lot tells nothing"
    assert transcripts.delta_by_panels(1.0, rounds) <= AGREES
    assert transcripts.delta_by_panels(1.0, rounds, asked=2) > 0.01


def test_streams_that_change_direction_tell_more_than_those_that_do_not():
    """A person who goes from 0 to 1 in one round and from 1 to 0 in the next."""
    transcripts = Transcripts(named("negative-binomial-count").tiny(), PEOPLE)
    every = transcripts.delta(0.7, 2)
    transcripts.pairs = transcripts.pairs[:1]
    assert transcripts.delta(0.7, 2) < every
