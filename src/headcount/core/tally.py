"""The narrow waist: what the analyser keeps of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.reading import distinct
from headcount.core.table import Ints

HALF = 32  # bits: so many of up to 2**31 numbers add up to less than 64


@dataclass(frozen=True, eq=False)
class Batch:
    """All messages of some reports, as the shuffler hands them on: their order means nothing."""

    reports: int
    messages: npt.NDArray[Any]

    def shuffled(self) -> Batch:
        """The same messages in an order of their own, from which nothing can be learnt."""
        columns = [self.messages[name] for name in reversed(self.messages.dtype.names or ())]
        keys = [part for column in columns for part in (column.T[::-1] if column.ndim > 1 else [column])]
        return Batch(self.reports, self.messages[np.lexsort(keys)])


@dataclass(frozen=True, eq=False)
class Tally:
    """A map from keys to integers; added pointwise, in any order, by any number of workers.

    Without `keys` they are 0 .. len - 1. With a `modulus` the totals are residues, otherwise plain integers. `released`
    says that the trusted side has let it go. Until then totals may be integers of any size (an array of objects).
    """

    reports: int
    totals: Ints
    keys: npt.NDArray[Any] | None = None
    modulus: int = 0
    released: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "totals", _integers(self.totals, any_size=not self.released))

    @classmethod
    def by_key(cls, reports: int, keys: npt.NDArray[Any], totals: Ints | None = None) -> Tally:
        """Equal keys added up; each entry counts once where no totals are given."""
        labels, place = distinct(keys)
        order = sorted(range(len(labels)), key=labels.__getitem__)
        different = np.fromiter((labels[at] for at in order), dtype=keys.dtype, count=len(labels))
        if totals is None:
            return cls(reports, np.bincount(place, minlength=len(labels))[order], different)
        summed = np.zeros(len(labels), dtype=totals.dtype)
        np.add.at(summed, place, totals)
        return cls(reports, summed[order], different)

    def with_totals(self, totals: Ints) -> Tally:
        return Tally(self.reports, totals, self.keys, self.modulus)

    def __add__(self, other: Tally) -> Tally:
        reports = self.reports + other.reports
        if self.keys is not None and other.keys is not None:
            keys = np.concatenate([self.keys, other.keys])
            return Tally.by_key(reports, keys, np.concatenate([self.totals, other.totals]))
        totals = _added(self.totals, other.totals)
        return Tally(reports, totals % self.modulus if self.modulus else totals, None, self.modulus)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        same_keys = (self.keys is None) == (other.keys is None)
        if same_keys and self.keys is not None and other.keys is not None:
            same_keys = np.array_equal(self.keys, other.keys)
        mine, theirs = (self.reports, self.modulus), (other.reports, other.modulus)
        return same_keys and mine == theirs and np.array_equal(self.totals, other.totals)

    def __hash__(self) -> int:
        return hash((self.reports, self.modulus, *self.totals.tolist()))


def exactly_summed(values: Ints) -> npt.NDArray[Any]:
    """The sum, as the only total: high and low halves are added up apart, so that nothing wraps around."""
    high, low = (int(half.sum(dtype=np.int64)) for half in (values >> HALF, values & ((1 << HALF) - 1)))
    return np.array([(high << HALF) + low], dtype=object)


def _integers(totals: npt.NDArray[Any], *, any_size: bool) -> npt.NDArray[Any]:
    """Of 64 bits, and refused where they do not fit; where any size will do, objects stay objects."""
    totals = np.asarray(totals)
    if totals.dtype.kind == "O" or totals.dtype == np.uint64:
        totals = np.array([*map(index, totals.tolist())], dtype=object)
        return totals if any_size else totals.astype(np.int64)
    return totals.astype(np.int64, copy=False)


def _added(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Exactly: a sum has wrapped around where its sign is neither of the two."""
    total: npt.NDArray[Any] = first + second
    wrapped = ((first ^ total) & (second ^ total)) < 0
    return first.astype(object) + second.astype(object) if wrapped.any() else total
