"""Every view of a small crowd, from the report programme alone.

The exact law of one report is a multiset polynomial; a crowd's is the product of its people's, taken here by Fourier
transform in doubles. Nothing of a protocol's own accounting is used, so that the two can be held against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.brick import Brick, ExactLaw
from headcount.core.law import Floats, Law
from headcount.core.protocol import Model, Protocol
from headcount.core.table import Ints
from headcount.core.tally import Tally
from headcount.privacy.pair import Pair

ERROR = 1e-12  # what the transforms and sums of doubles may add up to
SMALLEST = 2.0**-90  # multisets less likely than this are left out of a report's law

Grid = npt.NDArray[np.float64]


def one_report(protocol: Protocol, value: int) -> ExactLaw:
    return protocol.programme.law(value)


def local_epsilon(protocol: Protocol) -> float:
    """The largest log-ratio of one report's probabilities between two values, infinite if one is impossible."""
    laws = [one_report(protocol, value) for value in range(protocol.task.values)]
    bits = max(law.bits for law in laws)
    first, second = (law.at_bits(bits) for law in laws)
    ratios = [(first.get(sent, 0), second.get(sent, 0)) for sent in first.keys() | second.keys()]
    if any(not a or not b for a, b in ratios):
        return float("inf")
    return max(abs(float(np.log(a / b))) for a, b in ratios)


@lru_cache(maxsize=256)
def _grid(programme: Brick, value: int, kinds: int) -> Grid:
    """One report's law on the grid of how often each kind of message occurs."""
    exact = programme.law(value)
    cells: dict[tuple[int, ...], float] = {}
    for multiset, mass in exact.masses.items():
        probability = mass / (1 << exact.bits)
        if probability > SMALLEST:
            counts = [0] * kinds
            for (kind, *_), times in multiset:
                if kind >= kinds:
                    raise ValueError(f"the programme sends a message of kind {kind}, and kinds says there are {kinds}")
                counts[kind] = times
            cells[tuple(counts)] = probability
    grid = np.zeros([1 + max(cell[axis] for cell in cells) for axis in range(kinds)])
    for cell, probability in cells.items():
        grid[cell] = probability
    return grid


@dataclass(frozen=True)
class Crowded:
    """What so many people with so many ones send, all messages together."""

    protocol: Protocol
    people: int
    ones: int

    def messages(self) -> Grid:
        kinds = self.protocol.kinds
        zero, one = (_grid(self.protocol.programme, value, kinds) for value in (0, 1))
        shape = [
            self.ones * (one.shape[axis] - 1) + (self.people - self.ones) * (zero.shape[axis] - 1) + 1
            for axis in range(kinds)
        ]
        axes = tuple(range(kinds))
        spectrum = (
            np.fft.rfftn(zero, shape, axes) ** (self.people - self.ones) * np.fft.rfftn(one, shape, axes) ** self.ones
        )
        return np.maximum(np.fft.irfftn(spectrum, shape, axes), 0.0)

    def released(self) -> Law:
        """The only total, after the trusted side has had its way."""
        release, totals = self.protocol.released(), self.messages()
        parts = [(float(mass), release.law(total)) for total, mass in enumerate(totals) if mass > 1e-18]
        start = min(law.start for _, law in parts)
        masses = np.zeros(max(law.start + law.masses.size for _, law in parts) - start)
        for mass, law in parts:
            masses[law.start - start : law.start - start + law.masses.size] += mass * law.masses
        return Law(start, masses)

    def outcomes(self) -> tuple[Ints, Floats]:
        """Every released tally's totals, with their probability."""
        if self.protocol.model in (Model.CENTRAL, Model.THRESHOLD):
            law = self.released()
            totals, masses = law.values[:, None], law.masses
        else:
            grid = self.messages()
            totals, masses = np.stack([axis.ravel() for axis in np.indices(grid.shape)], axis=1), grid.ravel()
        likely = masses > 1e-17
        return totals[likely], masses[likely]

    def estimates(self) -> tuple[Floats, Floats]:
        """Every value the estimator takes, with its probability."""
        totals, masses = self.outcomes()
        return np.array([self.protocol.point(Tally(self.people, row)) for row in totals]), masses

    def view(self) -> Any:
        """What crosses the trust line."""
        if self.protocol.model in (Model.CENTRAL, Model.THRESHOLD):
            return self.released()
        return self.messages()


def enumerated_delta(protocol: Protocol, people: int, epsilons: Sequence[float]) -> Floats:
    """The exact delta of the worst pair of neighbouring crowds of this size, for each epsilon."""
    if protocol.model is Model.LOCAL:
        people = 1
    views = [Crowded(protocol, people, ones).view() for ones in range(people + 1)]
    worst = np.zeros(len(epsilons))
    for first, second in pairwise(views):
        p, q = _aligned(first, second)
        for i, factor in enumerate(np.exp(np.asarray(epsilons, dtype=np.float64))):
            here = max(np.maximum(p - factor * q, 0.0).sum(), np.maximum(q - factor * p, 0.0).sum())
            worst[i] = max(worst[i], float(here))
    return worst


def _aligned(first: Any, second: Any) -> tuple[Grid, Grid]:
    """Both views on the same outcomes."""
    if isinstance(first, Law):
        pair = Pair.of(first, second)
        return pair.p, pair.q
    shape = np.maximum(first.shape, second.shape)
    p, q = (
        np.pad(grid, [(0, to - have) for to, have in zip(shape, grid.shape, strict=True)]) for grid in (first, second)
    )
    return p, q
