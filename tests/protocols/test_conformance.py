"""Every check on every protocol of the catalogue; under stress on every instance of it, with no exception by name."""

from dataclasses import replace

import pytest

from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import CHECKS
from stress import ONE_EACH, STRESS, TINIES, called

SLOW = {("poisson-histogram", "noise_is_shared_among_the_honest")}  # five people, of whom two lie, in three buckets
EVERY = [
    pytest.param(
        tiny, check, id=f"{called(tiny)}-{check.__name__}",
        marks=() if id(tiny) in ONE_EACH and (tiny.name, check.__name__) not in SLOW else STRESS,
    )
    for tiny in TINIES for check in CHECKS
]  # fmt: skip


@pytest.mark.parametrize(("tiny", "check"), EVERY)
def test_conformance(tiny, check):
    check(tiny)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_zsum_with_the_notes_threshold_conforms_too(check):
    check(replace(Zsum.tiny(), thresholded=True))


@pytest.mark.parametrize("tiny", TINIES, ids=called)
def test_a_relation_given_as_text_is_the_relation(tiny):
    again = replace(tiny, neighbours=str(tiny.neighbours))
    assert again.neighbours is tiny.neighbours
