"""All words are tried where they are few, and random ones where they are too many."""

import pytest

from headcount.audit.conformance.all_tapes import TooManyTapes, coarsened, fitting_base, law_over_all_tapes
from headcount.audit.rewriting import rewritten
from headcount.programme.brick import All, Copies, Emit, Maybe
from headcount.programme.chance import Chance
from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import Nonconforming, the_sampler_follows_the_programme
from headcount_survey.mutants.mutation import twin
from headcount_survey.mutants.programme_changes import misdrawn

BITS = All(*(Maybe(Chance(0.25), Emit(0)) for _ in range(24)))


def long(change=lambda brick: brick):
    """A count whose report draws 24 words: too many tapes, and few outcomes."""
    return twin(Zsum.tiny(), report=lambda _, value: change(All(Copies(value, Emit(0)), BITS)))


def test_a_programme_with_too_many_words_is_not_exhausted():
    protocol = long()
    base = fitting_base(protocol.programme)
    with pytest.raises(TooManyTapes):
        law_over_all_tapes(protocol, coarsened(protocol.programme, base), 0, base)


def test_random_words_are_compared_with_the_law_instead():
    the_sampler_follows_the_programme(long())
    with pytest.raises(Nonconforming, match="strays from the law"):
        the_sampler_follows_the_programme(long(lambda brick: rewritten(brick, misdrawn)))
