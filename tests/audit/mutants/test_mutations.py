"""Broken twins of any protocol: all of them are caught, and no sound protocol is."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from headcount.audit.rewriting import rewritten
from headcount.programme.brick import All, Emit, Maybe, Outbox
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.programme.field import People
from headcount.programme.release import Release, Unchanged
from headcount.programme.report_law import WHOLE
from headcount.programme.table import Table
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.central.staircase import Staircase
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
from headcount.testing import (
    CHECKS,
    Nonconforming,
    the_certificate_says_what_is_released,
    what_is_drawn_is_what_is_claimed,
)
from headcount_survey.mutants.broken_parts import AveragedNoise, ChangedNoise, ShrunkNoise, SometimesNoNoise
from headcount_survey.mutants.catalogue import MUTATIONS
from headcount_survey.mutants.detection import TWIN_CHECKS, caught_by, try_mutation, unchanged
from headcount_survey.mutants.mutation import Mutation, twin
from headcount_survey.mutants.programme_changes import flagged, quieter, thinned
from stress import FAMILIES, TINIES, called, some

FEW = [
    Geometric.tiny(),
    list(Geometric.tinies())[2],
    list(Laplace.tinies())[1],
    RandomisedResponse.tiny(),
    GeneralisedResponse.tiny(),
    BasicRappor.tiny(),
    Zsum.tiny(),
    PoissonCount.tiny(),
    NegativeBinomialCount.tiny(),
    BalcerCheuHistogram.tiny(),
    BlanketHistogram.tiny(),
    SplitAndMix.tiny(),
    *SampleThreshold.tinies(),
    *list(Geometric.tinies())[3:],
]
QUICK = ("geometric", "randomised-response", "generalised-response", "zsum", "negative-binomial-count")
few = pytest.mark.parametrize("tiny", some(FEW, lambda tiny: tiny.name in QUICK and tiny not in FAMILIES), ids=called)
once = cache(try_mutation)


@few
def test_every_twin_is_caught(tiny):
    """The whole catalogue's are, by the command."""
    rows = [once(tiny, mutation) for mutation in MUTATIONS]
    assert len(rows) == len(MUTATIONS)
    assert [(row.protocol, row.mutation) for row in rows if not row.fine] == []


@pytest.mark.parametrize(
    "tiny", [Zsum.tiny(), RandomisedResponse.tiny(), Geometric.tiny(), GeneralisedResponse.tiny(), PoissonCount.tiny()]
)
def test_a_sound_protocol_in_the_same_wrapping_is_not_accused(tiny):
    assert caught_by(twin(tiny)) == ("", "")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mutation_breaks_something_and_the_check_it_is_meant_for_notices(mutation):
    assert any(once(tiny, mutation).check == mutation.seen for tiny in FEW)


def test_a_check_that_notices_nothing_is_no_check():
    """Some mutation is meant for each, but for those about errors of large crowds, parties, liars, certificates and
    shortcuts, which have twins of their own."""
    assert {check.__name__ for check in TWIN_CHECKS} - {mutation.seen for mutation in MUTATIONS} == {
        "intervals_cover_at_size",
        "large_counts_are_unbiased",
        "no_party_learns_more_than_is_stated",
        "nobody_reaches_further_than_is_stated",
        "reports_are_drawn_from_their_law",
        "several_reports_are_covered",
        "the_certificate_says_what_is_released",
        "the_shortcut_is_the_protocol",
        "what_is_drawn_at_size_is_what_is_stated",
    }
    assert len(TWIN_CHECKS) == len(CHECKS) - 2


@pytest.mark.parametrize("tiny", TINIES, ids=called)
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
    outbox = Outbox(message)
    marked.draw(People(1000, {"value": np.zeros(1000, dtype=np.int64)}), SeededCoins(1), outbox)
    sent = outbox.messages()
    assert set(sent.tolist()) == {(1, 1), (0, 1)}  # neither looks at the value
    assert set(marked.law({"value": 0}).masses) == {(((1, 1), 1),), (((0, 1), 1), ((1, 1), 1))}
    assert marked.mean({"value": 0}) == 1.5


@dataclass(frozen=True)
class Uniform(Release):
    """Noise of a kind that nobody has heard of."""

    def apply(self, tally, coins):
        return tally.with_totals(tally.totals + coins.below(3, tally.totals.size) - 1)

    def law(self, total):
        return dict.fromkeys((total - 1, total, total + 1), WHOLE // 3)

    def encode(self):
        return {"uniform": 1}


def test_noise_of_any_kind_is_broken():
    strange = twin(Geometric.tiny(), released=lambda _: Uniform())
    for mutation in MUTATIONS:
        if mutation.name in {
            "noise times 0.9",
            "one-sided noise",
            "noise dropped for one in a hundred",
            "fresh noise when asked again",
        }:
            made = mutation.make(strange)
            assert isinstance(made.released(), ChangedNoise), mutation.name
            assert made.released().law(5) != strange.released().law(5)
            assert sum(made.released().law(5).values()) == pytest.approx(WHOLE)


def test_what_a_broken_release_draws_is_its_law():
    for kind in (lambda step: ShrunkNoise(step, Fraction(1, 2)), SometimesNoNoise, AveragedNoise):
        made = twin(Geometric.tiny(), released=lambda _, kind=kind: kind(Uniform()))
        what_is_drawn_is_what_is_claimed(made)


def test_a_mutation_that_changes_nothing_is_not_missed():
    nothing = Mutation("nothing", twin)
    assert try_mutation(Zsum.tiny(), nothing).unfit.startswith("nothing that is sent, released, answered or claimed")
    little = Mutation("a little", lambda protocol: replace(protocol, gamma=protocol.gamma + 2.0**-53))
    assert unchanged(Zsum.tiny(), twin(Zsum.tiny()))
    assert not unchanged(Zsum.tiny(), little.make(Zsum.tiny()))


def test_why_a_mutation_does_not_apply_is_said_of_everything_that_was_tried():
    noiseless = twin(Geometric.tiny(), released=lambda _: Unchanged())
    quieter = next(mutation for mutation in MUTATIONS if mutation.name == "noise times 0.9")
    assert quieter.make(noiseless) == "nobody trusted adds noise, and people send nothing random"


def test_a_bound_is_broken_as_well():
    """Overrated crowds are refuted whether or not the claim is called exact."""
    overrated = next(mutation for mutation in MUTATIONS if mutation.name == "large crowds overrated")
    assert BlanketHistogram.tiny().loss.kind == "bound"
    assert try_mutation(BlanketHistogram.tiny(), overrated).check == "the_claim_holds_at_size"


def test_a_certificate_of_other_noise_is_noticed():
    """What is drawn is broken, and the certificate is still about the sound one."""
    for tiny in (Geometric.tiny(), list(Laplace.tinies())[1], Staircase.tiny()):
        the_certificate_says_what_is_released(tiny)
        quieter = next(mutation for mutation in MUTATIONS if mutation.name == "noise times 0.9")
        with pytest.raises(Nonconforming, match="in a certificate"):
            the_certificate_says_what_is_released(quieter.make(tiny))
