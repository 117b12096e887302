"""Every check on every protocol of the catalogue, with no exception by name."""

from dataclasses import replace

import pytest

from headcount.protocols import CATALOGUE
from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import CHECKS

TINIES = [tiny for cls in CATALOGUE for tiny in cls.tinies()]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("tiny", TINIES, ids=lambda tiny: f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}")
def test_conformance(tiny, check):
    check(tiny)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_zsum_with_the_notes_threshold_conforms_too(check):
    check(replace(Zsum.tiny(), thresholded=True))


@pytest.mark.parametrize("tiny", TINIES, ids=lambda tiny: f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}")
def test_a_relation_given_as_text_is_the_relation(tiny):
    again = replace(tiny, neighbours=str(tiny.neighbours))
    assert again.neighbours is tiny.neighbours
