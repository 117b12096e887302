"""What several rounds tell, by enumeration of whole transcripts with adaptive streams, against the claim."""

import pytest
from transcripts import Transcripts, claimed_of, require_covered

from headcount.audit.conformance.check import Nonconforming
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


def test_own_noise_with_lighter_tails_is_covered():
    protocol = next(each for each in named("correlated-count").tinies() if each.own == 2)
    require_covered(protocol, PEOPLE, 1, claimed_of(protocol, PEOPLE, 1))


def test_streams_that_change_direction_tell_more_than_those_that_do_not():
    """A person who goes from 0 to 1 in one round and from 1 to 0 in the next."""
    transcripts = Transcripts(named("negative-binomial-count").tiny(), PEOPLE)
    every = transcripts.delta(0.7, 2)
    transcripts.pairs = transcripts.pairs[:1]
    assert transcripts.delta(0.7, 2) < every
