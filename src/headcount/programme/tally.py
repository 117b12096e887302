"""The narrow waist: what the analyser keeps of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.common.plurals import counted
from headcount.programme.table import Ints
from headcount.questions.reading import distinct

HALF = 32  # bits: 2**31 numbers of 32 bits add up to less than 64 bits


@dataclass(frozen=True, eq=False)
class Batch:
    """A multiset of messages, as a shuffler hands it on.

    Parameters
    ----------
    reports : int
        How many people they come from.
    messages : ndarray
        One record each; their order means nothing.

    Examples
    --------
    >>> protocol = hc.protocol("zsum", n=1_000, gamma=0.04)
    >>> batch = protocol.randomise([1] * 300 + [0] * 700, hc.SeededCoins(1))
    >>> batch
    Batch: 1,261 messages of 1,000 reports
    """

    reports: int
    messages: npt.NDArray[Any]

    def shuffled(self) -> Batch:
        """The same messages, sorted: an order that depends on nothing but the multiset."""
        columns = [self.messages[name] for name in reversed(self.messages.dtype.names or ())]
        keys = [part for column in columns for part in (column.T[::-1] if column.ndim > 1 else [column])]
        return Batch(self.reports, self.messages[np.lexsort(keys)])

    def __repr__(self) -> str:
        return f"Batch: {counted(self.messages.size, 'message')} of {counted(self.reports, 'report')}"


@dataclass(frozen=True, eq=False)
class Tally:
    """Integer totals of a batch, which form a commutative monoid under addition.

    Parameters
    ----------
    reports : int
        How many people they come from.
    totals : ndarray
        An integer for each key; of any size (an array of objects) until it is released.
    keys : ndarray, optional
        What the totals are of; 0, 1, 2 … unless given.
    modulus : int
        If not 0, the totals are residues.
    released : bool
        Whether the trusted side has added its noise and let it go.

    Examples
    --------
    >>> protocol = hc.protocol("zsum", n=1_000, gamma=0.04)
    >>> tally = protocol.tally(protocol.randomise([1] * 300 + [0] * 700, hc.SeededCoins(1)))
    >>> tally + protocol.nobody() == tally
    True
    """

    reports: int
    totals: Ints
    keys: npt.NDArray[Any] | None = None
    modulus: int = 0
    released: bool = False

    def __post_init__(self) -> None:
        """64-bit integers, refused if they do not fit; larger ones stay objects until release."""
        totals = np.asarray(self.totals)
        if totals.dtype.kind == "O" or totals.dtype == np.uint64:
            totals = np.array([*map(index, totals.tolist())], dtype=object)
        if self.released or totals.dtype.kind != "O":
            totals = totals.astype(np.int64, copy=False)
        object.__setattr__(self, "totals", totals)

    @classmethod
    def by_key(cls, reports: int, keys: npt.NDArray[Any], totals: Ints | None = None) -> Tally:
        """Add up equal keys; each entry counts once unless totals are given.

        Parameters
        ----------
        reports : int
            How many people they come from.
        keys : ndarray
            With repetitions.
        totals : ndarray, optional
            An integer for each of them.
        """
        labels, place = distinct(keys)
        order = sorted(range(len(labels)), key=labels.__getitem__)
        different = np.fromiter((labels[at] for at in order), dtype=keys.dtype, count=len(labels))
        if totals is None:
            return cls(reports, np.bincount(place, minlength=len(labels))[order], different)
        summed = np.zeros(len(labels), dtype=totals.dtype)
        np.add.at(summed, place, totals)
        return cls(reports, summed[order], different)

    def __repr__(self) -> str:
        state = "released" if self.released else "not released"
        return f"Tally: {counted(self.totals.size, 'total')} of {counted(self.reports, 'report')}, {state}"

    def with_totals(self, totals: Ints) -> Tally:
        """The tally with other totals, not released.

        Parameters
        ----------
        totals : ndarray
            As many as before.
        """
        return Tally(self.reports, totals, self.keys, self.modulus)

    def without_keys(self) -> Tally:
        """The same totals, of 0, 1, 2 …, not released."""
        return Tally(self.reports, self.totals, None, self.modulus)

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
    """The sum as the only total, in high and low halves so that nothing overflows."""
    high, low = (int(half.sum(dtype=np.int64)) for half in (values >> HALF, values & ((1 << HALF) - 1)))
    return np.array([(high << HALF) + low], dtype=object)


def _added(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Exactly: a sum has wrapped around where its sign is neither of the two."""
    total: npt.NDArray[Any] = first + second
    wrapped = ((first ^ total) & (second ^ total)) < 0
    return first.astype(object) + second.astype(object) if wrapped.any() else total
