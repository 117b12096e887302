"""Bins: intervals between declared edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.domains.categories import Listed, positive
from headcount.questions.domains.domain import Codes, SqlDialect, Steps
from headcount.questions.domains.levels import bounded
from headcount.questions.reading import Array, numbers

MOST_COMPARED = 64  # edges that a database compares with


@dataclass(frozen=True)
class Bins(Listed):
    """Bins include their lower edge, the last one also its upper."""

    edges: tuple[float, ...]
    other: bool = False
    missing: str | None = None
    outside = "outside the edges"
    reads_numbers = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _increasing(self.edges))
        self._require_other()

    @classmethod
    def of(cls, bins: Any, bounds: Any = None, *, other: bool = False) -> Bins:
        """From a list of edges, or from a number of equal bins between the `bounds`."""
        if isinstance(bins, int | np.integer):
            if bounds is None:
                works = Phrase("a number of bins needs them, for example {bounds}", bounds=(0, 120))
                raise BadArgument("bounds", "is missing", works)
            bins = np.linspace(*bounded(bounds), positive("bins", int(bins)) + 1).tolist()
        return cls(tuple(bins), other)

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The intervals, with as few digits as tell their edges apart."""
        short = len({f"{edge:g}" for edge in self.edges}) == len(self.edges)
        names = [f"{edge:g}" if short else repr(edge) for edge in self.edges]
        *others, last = (f"[{low}, {high})" for low, high in pairwise(names))
        return *others, f"{last[:-1]}]"

    def codes(self, column: Array) -> Codes:
        if not column.size:
            return np.zeros(0, dtype=self.narrow)
        read, edges = numbers(column), np.array(self.edges)
        codes = np.searchsorted(edges, read.values, side="right") - 1
        codes = np.where(read.values == edges[-1], edges.size - 2, codes)
        return self.placed(codes, read, (codes >= 0) & (codes < edges.size - 1))

    def shares(self, told: Any) -> Floats:
        """Of a pair of numbers, the bins from the first up to the second; one between in part."""
        return between(np.array(self.edges), told, self.size) if is_pair(told) else super().shares(told)

    @property
    def line(self) -> str:
        return "numbers" if len(self.edges) <= MOST_COMPARED else ""

    def counted(self, value: str, dialect: SqlDialect) -> Steps:
        return between_edges(self.edges, value, dialect, closed=True)

    @property
    def grouped(self) -> bool:
        return False

    def label(self, code: int) -> float:
        if self.apart and code == len(self.labels):
            return float("nan")
        return self.edges[code] if code < len(self.labels) else self.edges[-1] + 1.0

    @property
    def described(self) -> str:
        return self._described("bins")

    @property
    def accepted(self) -> str:
        return f"a number from {self.edges[0]:g} to {self.edges[-1]:g}"

    def to_json(self) -> dict[str, Any]:
        return {"edges": list(self.edges), **self._placing()}


def between_edges(edges: Sequence[float], value: str, dialect: SqlDialect, *, closed: bool) -> Steps:
    """How many edges are beneath, less the first; a closed last bin includes the last edge."""
    given = {f"edge{place}": edge for place, edge in enumerate(edges)}
    first, *inner, last = (dialect.parameter(name) for name in given)
    code = " + ".join(["0", *(f"CAST({value} >= {edge} AS INTEGER)" for edge in inner)])
    return Steps(code, f"{value} >= {first} AND {value} {'<=' if closed else '<'} {last}", given)


def is_pair(told: Any) -> bool:
    """Whether it is two numbers, rather than labels."""
    ends = told if isinstance(told, tuple | list) else ()
    return len(ends) == 2 and all(isinstance(end, int | float | np.number) for end in ends)


def between(edges: Floats, told: Sequence[float], size: int) -> Floats:
    """Which part of each bin lies from one number on and below another."""
    works = f"use two numbers from {edges[0]:g} to {edges[-1]:g}, the smaller first"
    low, high = (quantity("bounds", end, works) for end in told)
    if not edges[0] <= low <= high <= edges[-1]:
        raise BadArgument("bounds", f"is ({low:g}, {high:g})", works)
    inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    shares = np.clip(inside / np.diff(edges), 0.0, 1.0)
    return np.append(shares, np.zeros(size - shares.size))


def _increasing(edges: Any) -> tuple[float, ...]:
    works = Phrase("use at least two increasing numbers, for example {bins}", bins=[0, 18, 65, 120])
    found = tuple(quantity("bins", edge, works) for edge in edges)
    if len(found) < 2 or any(low >= high for low, high in pairwise(found)):
        raise BadArgument("bins", "are not increasing", works)
    return found
