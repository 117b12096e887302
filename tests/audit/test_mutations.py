"""Broken twins of any protocol: all of them are caught, and no sound protocol is."""

from functools import cache

import numpy as np
import pytest

from headcount.audit.checks import CHECKS
from headcount.audit.mutation import twin
from headcount.audit.mutations import MUTATIONS
from headcount.audit.rewrite import flagged, quieter, rewritten, thinned
from headcount.audit.twins import TWIN_CHECKS, caught, caught_by
from headcount.core.brick import All, Emit, Maybe, drawn
from headcount.core.chance import Chance
from headcount.core.coins import SeededCoins
from headcount.core.table import Table
from headcount.protocols import CATALOGUE
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.local.basic_rappor import BasicRappor
from headcount.protocols.local.generalised_response import GeneralisedResponse
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.blanket_histogram import BlanketHistogram
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.split_and_mix import SplitAndMix
from headcount.protocols.shuffle.zsum import Zsum

TINIES = [tiny for cls in CATALOGUE for tiny in cls.tinies()]
FEW = [
    Geometric.tiny(), list(Geometric.tinies())[-1], list(Laplace.tinies())[1], RandomisedResponse.tiny(),
    GeneralisedResponse.tiny(), BasicRappor.tiny(), Zsum.tiny(), PoissonCount.tiny(), NegativeBinomialCount.tiny(),
    BalcerCheuHistogram.tiny(), BlanketHistogram.tiny(), SplitAndMix.tiny(), *SampleThreshold.tinies(),
]  # fmt: skip
few = pytest.mark.parametrize("tiny", FEW, ids=lambda tiny: f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}")


@cache
def every_twin(tiny):
    return list(caught(tiny))


@few
def test_every_twin_is_caught(tiny):
    """The whole catalogue's are, by the command."""
    rows = every_twin(tiny)
    assert len(rows) == len(MUTATIONS)
    assert [row.row() for row in rows if not row.fine] == []


@pytest.mark.parametrize(
    "tiny", [Zsum.tiny(), RandomisedResponse.tiny(), Geometric.tiny(), GeneralisedResponse.tiny(), PoissonCount.tiny()]
)
def test_a_sound_protocol_in_the_same_wrapping_is_not_accused(tiny):
    assert caught_by(twin(tiny)) == ("", "")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mutation_breaks_something_and_the_check_it_is_meant_for_notices(mutation):
    found = [row for tiny in FEW for row in every_twin(tiny) if row.mutation == mutation.name]
    assert any(row.check == mutation.seen for row in found)


def test_a_check_that_notices_nothing_is_no_check():
    """But for those about large crowds and shortcuts, which have twins of their own."""
    noticed = {row.check for tiny in FEW for row in every_twin(tiny)}
    assert {check.__name__ for check in TWIN_CHECKS} - noticed <= {
        "large_counts_are_unbiased",
        "the_shortcut_is_the_protocol",
    }
    assert len(TWIN_CHECKS) == len(CHECKS) - 2


@pytest.mark.parametrize("tiny", TINIES, ids=lambda tiny: f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}")
def test_a_programme_that_nothing_is_changed_in_stays_as_it_is(tiny):
    assert rewritten(tiny.programme, lambda brick, _: brick).encode() == tiny.programme.encode()


def test_without_noise_everybody_tells():
    loud = rewritten(Zsum.tiny().programme, quieter(0.0))
    assert [set(loud.law({"value": value}).masses) for value in (0, 1)] == [{()}, {(((0,), 1),)}]


def test_a_thinned_number_has_a_smaller_mean():
    table = Table.of([1, 2, 3, 4])
    assert thinned(table, 0.75).mean == pytest.approx(0.75 * table.mean)
    assert thinned(table, 1.0).masses == table.masses


def test_flags_are_drawn_as_the_law_says():
    programme = All(Emit(1), Maybe(Chance(0.5), Emit(0)))
    marked = rewritten(programme, flagged)
    message = np.dtype([("kind", np.uint8), ("dummy", np.uint8)])
    sent = drawn(marked, np.zeros(1000, dtype=np.int64), SeededCoins(1), message)
    assert set(sent.tolist()) == {(1, 1), (0, 1)}  # neither looks at the value
    assert set(marked.law({"value": 0}).masses) == {(((1, 1), 1),), (((0, 1), 1), ((1, 1), 1))}
    assert marked.mean({"value": 0}) == 1.5
