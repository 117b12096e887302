"""Every check on every protocol of the catalogue; under stress on every instance of it, with no exception by name."""

from dataclasses import replace

import pytest

from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import CHECKS
from stress import ONE_EACH, STRESS, TINIES, called

SLOW = {  # two seconds and more of a processor; others of the same check or protocol take less
    "calibration_meets_the_budget_and_no_more": {"blanket-sum"},
    "intervals_cover": {"correlated-histogram", "count-min-shuffle", "poisson-histogram"},
    "noise_is_shared_among_the_honest": {"almost-central-sum", "correlated-histogram", "poisson-histogram"},
    "people_draw_apart": {"correlated-histogram"},
    "the_claim_holds_at_size": {
        "almost-central-sum",
        "almost-one-message-histogram",
        "blanket-histogram",
        "blanket-sum",
        "cheu-sum",
        "recursive-sum",
        "split-and-mix",
    },
    "the_claimed_loss_covers_every_view": {"almost-central-sum", "correlated-histogram", "poisson-histogram"},
    "the_error_is_as_stated": {"correlated-histogram", "poisson-histogram"},
    "the_sampler_follows_the_programme": {
        "almost-central-sum",
        "blanket-sum",
        "count-min-shuffle",
        "local-hashing",
        "shuffled-local-hashing",
        "shuffled-subset-selection",
        "subset-selection",
    },
    "the_shortcut_is_the_protocol": {"correlated-histogram"},
    "what_is_drawn_is_what_is_claimed": {"correlated-histogram", "count-min-shuffle"},
}


def quick(tiny, check):
    return id(tiny) in ONE_EACH and tiny.name not in SLOW.get(check.__name__, ())


EVERY = [
    pytest.param(
        tiny, check, id=f"{called(tiny)}-{check.__name__}",
        marks=() if quick(tiny, check) else STRESS,
    )
    for tiny in TINIES for check in CHECKS
]  # fmt: skip


@pytest.mark.parametrize(("tiny", "check"), EVERY)
def test_conformance(tiny, check):
    check(tiny)


def test_what_is_left_to_stress_is_little():
    """Every protocol is put through most of the checks, and every check to most of the protocols."""
    names = {tiny.name for tiny in TINIES}
    assert all(2 * len(slow & names) < len(names) for slow in SLOW.values())
    assert set().union(*SLOW.values()) <= names
    assert set(SLOW) <= {check.__name__ for check in CHECKS}
    for name in names:
        assert 2 * sum(name in slow for slow in SLOW.values()) < len(CHECKS)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_zsum_with_the_notes_threshold_conforms_too(check):
    check(replace(Zsum.tiny(), thresholded=True))


@pytest.mark.parametrize("tiny", TINIES, ids=called)
def test_a_relation_given_as_text_is_the_relation(tiny):
    again = replace(tiny, neighbours=str(tiny.neighbours))
    assert again.neighbours is tiny.neighbours
