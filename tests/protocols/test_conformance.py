"""Every check on every protocol of the catalogue; under stress on every instance of it, with no exception by name."""

from dataclasses import replace

import pytest

from headcount.protocols import CATALOGUE
from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import CHECKS
from stress import LONG, ONE_EACH, STRESS, TINIES, TRUSTED_FAMILIES, called

EVERY = [
    pytest.param(
        tiny, check, id=f"{called(tiny)}-{check.__name__}",
        marks=() if id(tiny) in ONE_EACH | TRUSTED_FAMILIES else STRESS,
    )
    for tiny in TINIES for check in CHECKS
]  # fmt: skip


@pytest.mark.parametrize(("tiny", "check"), EVERY)
def test_conformance(tiny, check):
    check(tiny)


def test_every_protocol_is_put_through_most_checks_and_every_check_has_many_protocols():
    """Of what `long.txt` leaves to stress; families of totals are there besides."""
    names = [each.partition("test_conformance[")[2] for each in LONG]
    left = [name for name in names if name and "-distribution-" not in name]
    assert left
    for check in CHECKS:
        assert sum(check.__name__ in name for name in left) <= len(CATALOGUE) - 10
    for kind in CATALOGUE:
        assert 2 * sum(name.startswith(f"{kind.name}-{kind.tiny().task.name}-") for name in left) <= len(CHECKS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_zsum_with_the_notes_threshold_conforms_too(check):
    check(replace(Zsum.tiny(), thresholded=True))


@pytest.mark.parametrize("tiny", TINIES, ids=called)
def test_a_relation_given_as_text_is_the_relation(tiny):
    again = replace(tiny, neighbours=str(tiny.neighbours))
    assert again.neighbours is tiny.neighbours
