"""Which, how often? Categories, bins, whatever is in none of them, and labels that nobody knows beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np

from headcount.core.errors import BadArgument, BadData
from headcount.core.law import Floats
from headcount.core.quantity import quantity
from headcount.core.reading import Array, Mask, Read, declared_number, declared_text, numbers, texts
from headcount.core.task import Sum, Task

Label: TypeAlias = str | int | float

MOST_CATEGORIES = 1 << 24


@dataclass(frozen=True)
class Histogram(Task):
    """Which category, how often? Each person belongs to one.

    `categories` is a list of labels, or their number if they are called 0, 1, 2 …; with `edges` they are the intervals
    between them. With `other`, whoever belongs to none is counted apart instead of refused. Without categories the
    labels are whatever people hold, and only those that enough of them hold can be shown.
    """

    categories: Any = None
    edges: tuple[float, ...] = ()
    other: bool = False
    fractions: bool = False
    name: ClassVar[str] = "histogram"

    def __post_init__(self) -> None:
        if self.edges:
            object.__setattr__(self, "edges", _increasing(self.edges))
            object.__setattr__(self, "categories", tuple(_intervals(self.edges)))
        if self.categories is not None:
            object.__setattr__(self, "categories", _categories(self.categories))
        elif self.other:
            raise BadArgument("other", "needs categories", "name the categories that are not other")

    @classmethod
    def binned(cls, bins: Any, bounds: Any = None, *, other: bool = False, fractions: bool = False) -> Histogram:
        """Of numbers: `bins` is a list of edges, or how many equal bins there are between the `bounds`."""
        if isinstance(bins, int | np.integer):
            if bounds is None:
                raise BadArgument("bounds", "is missing", "a number of bins needs them, for example bounds=(0, 120)")
            task = Sum(bounds, clip=False)  # checks the bounds
            bins = np.linspace(*task.bounds, _positive("bins", int(bins)) + 1).tolist()
        return cls(edges=tuple(bins), other=other, fractions=fractions)

    @property
    def per_person(self) -> bool:
        return self.fractions

    @property
    def open(self) -> bool:
        """Whether any label may occur."""
        return self.categories is None

    @property
    def values(self) -> int:
        if self.open:
            raise BadArgument("categories", "are not known", "name them, or use a protocol for unknown keys")
        return len(self.categories) + self.other

    @property
    def cells(self) -> int:
        return self.values

    def encoded(self, data: Array) -> Array:
        self._column(data)
        if not data.size:  # of whatever type nothing is
            return np.zeros(0, dtype=np.str_ if self.open else np.min_scalar_type(self.values - 1))
        if self._plain(data):
            return data.astype(np.min_scalar_type(self.values - 1), copy=False)
        read = self._whole(texts(data) if self.textual else numbers(data))
        if self.open:
            if read.strange.any():
                raise BadData("data has values that are neither text nor numbers; turn them into text first")
            return read.values
        codes, known = self._binned(read.values) if self.edges else self._looked_up(read)
        known &= ~read.strange
        if self.other:
            codes = np.where(known, codes, len(self.categories))
        elif not np.all(known):
            outside = "outside the edges" if self.edges else "outside the categories"
            raise BadData(f"data has values {outside}; name them all, or use other=True to count the rest apart")
        return codes.astype(np.min_scalar_type(self.values - 1), copy=False)

    def _plain(self, data: Array) -> bool:
        """Whether they are the integers already."""
        if not isinstance(self.categories, range) or data.dtype.kind not in "iu" or np.ma.isMaskedArray(data):
            return False
        return bool(data.min() >= 0 and data.max() < len(self.categories))

    @property
    def textual(self) -> bool:
        """Whether what people hold is read as text; it is read as numbers otherwise."""
        return self.open or (not self.edges and isinstance(self.categories[0], str))

    def _binned(self, held: Floats) -> tuple[Array, Mask]:
        """Bins include their lower edge, the last one also its upper."""
        edges = np.array(self.edges)
        codes = np.searchsorted(edges, held, side="right") - 1
        codes = np.where(held == edges[-1], edges.size - 2, codes)
        return codes, (codes >= 0) & (codes < edges.size - 1)

    def _looked_up(self, read: Read) -> tuple[Array, Mask]:
        if isinstance(self.categories, range):
            held = read.values
            known: Mask = (held >= 0) & (held < len(self.categories)) & (held == np.floor(held))
            return np.where(known, held, 0).astype(np.int64), known
        if self.textual:
            codes = np.fromiter((self._places.get(label, -1) for label in read.values.tolist()), dtype=np.int64)
            return codes, codes >= 0
        labels, order = self._sorted
        at = np.minimum(np.searchsorted(labels, read.values), labels.size - 1)
        return order[at], labels[at] == read.values

    @cached_property
    def _places(self) -> dict[Label, int]:
        return {label: place for place, label in enumerate(self.categories)}

    @cached_property
    def _sorted(self) -> tuple[Array, Array]:
        labels = np.array(self.categories, dtype=np.float64)
        order = np.argsort(labels, kind="stable")
        return labels[order], order

    def truth(self, values: Array) -> Floats:
        return np.bincount(values, minlength=self.values).astype(np.float64)

    def to_json(self) -> dict[str, Any]:
        named = self.categories if self.categories is None or isinstance(self.categories, range) else None
        listed = None if self.open else len(named) if named is not None else [*self.categories]
        kept = {"edges": list(self.edges)} if self.edges else {"categories": listed}
        return {"name": self.name, **kept, "other": self.other, "fractions": self.fractions}


def _positive(argument: str, value: int) -> int:
    if not 1 <= value <= MOST_CATEGORIES:
        raise BadArgument(argument, f"is {value}", f"use a number from 1 to {MOST_CATEGORIES:,}")
    return value


def _increasing(edges: Any) -> tuple[float, ...]:
    works = "use at least two increasing numbers, for example bins=[0, 18, 65, 120]"
    numbers = tuple(quantity("bins", edge, works) for edge in edges)
    if len(numbers) < 2 or any(a >= b for a, b in pairwise(numbers)):
        raise BadArgument("bins", "are not increasing", works)
    return numbers


def _intervals(edges: tuple[float, ...]) -> list[str]:
    last = len(edges) - 2
    short = len({f"{edge:g}" for edge in edges}) == len(edges)
    names = [f"{edge:g}" if short else repr(edge) for edge in edges]
    return [f"[{a}, {b}{']' if i == last else ')'}" for i, (a, b) in enumerate(pairwise(names))]


def _categories(given: Any) -> range | tuple[Label, ...]:
    """Labels are all text or all numbers, and different."""
    works = "list the labels, for example categories=['a', 'b'], or say how many there are"
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return range(_positive("categories", int(given)))
    if isinstance(given, range):
        if given != range(len(given)):
            given = tuple(given)
        else:
            return range(_positive("categories", len(given)))
    if isinstance(given, str | bytes | dict) or not hasattr(given, "__iter__"):
        raise BadArgument("categories", f"is {given!r}", works)
    labels = tuple(item.item() if isinstance(item, np.generic) else item for item in given)
    if not labels or len(labels) > MOST_CATEGORIES:
        raise BadArgument("categories", f"are {len(labels)}", works)
    text = {isinstance(label, str) for label in labels}
    if len(text) > 1 or not all(isinstance(label, str | int | float) and label == label for label in labels):
        raise BadArgument("categories", "mix text, numbers or something else", works)
    if True in text:
        labels = tuple(declared_text("categories", label) for label in labels)
    for label in labels if False in text else ():
        declared_number("categories", label)
    if len(set(labels)) < len(labels):
        raise BadArgument("categories", "has duplicates", "name each category once")
    return labels
