"""The catalogue: one line per protocol, and those of other packages that are installed.

Another package adds protocols by an entry point of the group `headcount.protocols`, which names a
class:

    [project.entry-points."headcount.protocols"]
    dummy = "my_package:Dummy"

Internal but for `base`, from which protocols of other packages may import: docs/api.md lists what
is public.
"""

from __future__ import annotations

from difflib import get_close_matches

from headcount.common.plugins import with_installed
from headcount.errors import BadArgument
from headcount.figures.colours import enrol
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.central.discrete_gaussian import DiscreteGaussian
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.central.laplace_shares import LaplaceShares
from headcount.protocols.central.stability_histogram import StabilityHistogram
from headcount.protocols.central.staircase import Staircase
from headcount.protocols.local.basic_rappor import BasicRappor
from headcount.protocols.local.duchi import Duchi
from headcount.protocols.local.generalised_response import GeneralisedResponse
from headcount.protocols.local.hadamard_response import HadamardResponse
from headcount.protocols.local.hybrid import Hybrid
from headcount.protocols.local.local_hashing import LocalHashing
from headcount.protocols.local.matrix_response import MatrixResponse
from headcount.protocols.local.optimised_unary import OptimisedUnary
from headcount.protocols.local.oracle_by_lot import OracleByLot
from headcount.protocols.local.piecewise import Piecewise
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.local.subset_selection import SubsetSelection
from headcount.protocols.local.succinct_histogram import SuccinctHistogram
from headcount.protocols.shared.shuffled_local import shuffled
from headcount.protocols.shuffle.almost_central_sum import AlmostCentralSum
from headcount.protocols.shuffle.almost_one_message_histogram import AlmostOneMessageHistogram
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.blanket_histogram import BlanketHistogram
from headcount.protocols.shuffle.blanket_sum import BlanketSum
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.cheu_sum import CheuSum
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.correlated_histogram import CorrelatedHistogram
from headcount.protocols.shuffle.count_min_shuffle import CountMinShuffle
from headcount.protocols.shuffle.fake_users import FakeUsers
from headcount.protocols.shuffle.hadamard_shuffle import HadamardShuffle
from headcount.protocols.shuffle.hashed_histogram import HashedHistogram
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.one_sided_count import OneSidedCount
from headcount.protocols.shuffle.padded_count import PaddedCount
from headcount.protocols.shuffle.padded_histogram import PaddedHistogram
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.protocols.shuffle.recursive_sum import RecursiveSum
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.sampled_padded_histogram import SampledPaddedHistogram
from headcount.protocols.shuffle.split_and_mix import SplitAndMix
from headcount.protocols.shuffle.zsum import Zsum

OWN: tuple[type[Protocol], ...] = (
    Laplace,
    LaplaceShares,
    Geometric,
    Staircase,
    DiscreteGaussian,
    StabilityHistogram,
    RandomisedResponse,
    GeneralisedResponse,
    BasicRappor,
    OptimisedUnary,
    LocalHashing,
    HadamardResponse,
    SubsetSelection,
    SuccinctHistogram,
    OracleByLot,
    Duchi,
    Piecewise,
    Hybrid,
    CheuCount,
    OneSidedCount,
    Zsum,
    PoissonCount,
    NegativeBinomialCount,
    CorrelatedCount,
    CheuSum,
    BlanketSum,
    RecursiveSum,
    SplitAndMix,
    AlmostCentralSum,
    PoissonHistogram,
    CorrelatedHistogram,
    BalcerCheuHistogram,
    BlanketHistogram,
    FakeUsers,
    AlmostOneMessageHistogram,
    HadamardShuffle,
    CountMinShuffle,
    HashedHistogram,
    SampleThreshold,
    PaddedCount,
    PaddedHistogram,
    SampledPaddedHistogram,
    shuffled(BasicRappor),
    shuffled(OptimisedUnary),
    shuffled(LocalHashing),
    shuffled(HadamardResponse),
    shuffled(SubsetSelection),
    shuffled(SuccinctHistogram),
    shuffled(Duchi),
    shuffled(Piecewise),
    shuffled(Hybrid),
)
# One mechanism has one entry: these are read from old files, and what is the same with a sharper
# loss serves instead.
FORMER: dict[type[Protocol], type[Protocol]] = {
    shuffled(RandomisedResponse): CheuCount,
    shuffled(GeneralisedResponse): BlanketHistogram,
}
# These need a matrix, and are not ranked.
ON_REQUEST: tuple[type[Protocol], ...] = (MatrixResponse, shuffled(MatrixResponse))
GROUP = "headcount.protocols"
NEAREST = 5


def installed(own: tuple[type[Protocol], ...] = OWN) -> tuple[type[Protocol], ...]:
    """These protocols and those of other packages."""
    unranked = *ON_REQUEST, *FORMER
    every = with_installed({protocol.name: protocol for protocol in (*own, *unranked)}, GROUP, Protocol, "protocol")
    for protocol in every.values():
        enrol(protocol.name, protocol.model)
    return tuple(protocol for protocol in every.values() if protocol not in unranked)


CATALOGUE = installed()


def named(name: str, *, former: bool = False) -> type[Protocol]:
    """The protocol of this name; one that has left the catalogue only if `former`."""
    unranked = (*ON_REQUEST, *FORMER) if former else ON_REQUEST
    for protocol in (*CATALOGUE, *unranked):
        if protocol.name == name:
            return protocol
    for protocol, same in FORMER.items():
        if protocol.name == name:
            raise BadArgument(
                "protocol", f"is {name!r}, the same as {same.name}, which claims less", f"use {same.name}"
            )
    nearest = get_close_matches(str(name), [protocol.name for protocol in CATALOGUE], NEAREST, 0.0)
    works = f"the nearest of the {len(CATALOGUE)} protocols are {', '.join(nearest)}"
    raise BadArgument("protocol", f"is {name!r}", works)
