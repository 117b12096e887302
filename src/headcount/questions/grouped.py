r"""Counts, fractions, sums and means in each of several groups, at the price of one question.

Of a group two cells are counted: its *ones*, and the *rest*. A person with a one is in the first, a
person with a zero in the second; a person who holds $x$ of at most $s$ is in the first with $x/s$
and in the second with $1 - x/s$. So the cells add up to the people of the group, their quotient is
the rate or the mean, and a sum is a linear combination of them: everybody is in two cells with a
part of themselves that adds up to one, and moves no more than a person who is counted in one cell
of a histogram.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.domains.bins import Bins
from headcount.questions.domains.bit import Bit
from headcount.questions.domains.categories import OTHER as OTHER_LABEL
from headcount.questions.domains.categories import Categories, Listed
from headcount.questions.domains.domain import Codes, Domain, Label, Merge, Shape
from headcount.questions.domains.filtered import NOBODY, Filtered
from headcount.questions.domains.keys import Keys
from headcount.questions.domains.levels import Levels
from headcount.questions.domains.missing import AS_OTHER, LISTS, MISSING, Kind, require_listed, told
from headcount.questions.domains.periods import Periods
from headcount.questions.domains.product import Product
from headcount.questions.question import Question
from headcount.questions.reading import Array
from headcount.questions.reading_options import ReadingOptions

PLAIN = Bit()
NONE = "(none)"  # the group that is listed where none was found


class Group(Categories):
    """The categories of a column of groups."""

    def codes(self, column: Array) -> Codes:
        try:
            return super().codes(column)
        except BadData as refusal:
            if "missing" in str(refusal):
                raise
            works = Phrase("name them all in {categories}, or use {other}", other=True)
            raise BadData("by has groups outside the categories", works) from None


def grouping(
    options: ReadingOptions, categories: Any, own: Kind, *, other: bool
) -> tuple[tuple[Listed | Keys, ...], Any]:
    """The domain of each column of groups, and what the answers do with a missing value."""
    given = _by_column(options.by, categories)
    *missing, of_answers = told(options.missing, *[LISTS] * len(options.by), own, names=[*options.by, options.column])
    groups: list[Listed | Keys] = []
    for labels, word in zip(given, missing, strict=True):
        if labels is None:
            require_listed(word, other=other, labels="groups")
            groups.append(Keys(word))
        elif isinstance(labels, Listed):
            groups.append(labels)
        else:
            groups.append(Group(labels, other or word == AS_OTHER, word))
    return tuple(groups), of_answers


def _listed(group: Listed | Keys, found: Sequence[Label]) -> Group:
    """The labels that were found, each once; or, if none, one that nobody need hold."""
    labels = sorted({str(label) for label in found} - {MISSING}) or [NONE]
    return Group(labels, True, group.missing)


def _by_column(by: Sequence[str], categories: Any) -> list[Any]:
    works = Phrase("name them by column, for example {categories}", categories={"plan": ["free", "pro"]})
    if isinstance(categories, Mapping):
        strangers = [name for name in categories if name not in by]
        if strangers:
            raise BadArgument("categories", f"names {strangers[0]!r}, which is no column of groups", works)
        return [categories.get(name) for name in by]
    if categories is not None and len(by) > 1:
        raise BadArgument("categories", "are one list for several columns of groups", works)
    return [categories] * len(by)


@dataclass(frozen=True, repr=False)
class ByGroup(Question):
    """What questions in groups share. `by` are the names of the groups' columns."""

    groups: tuple[Listed | Keys, ...]
    by: tuple[str, ...]

    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.KEY, Shape.SHARE})
    guess: ClassVar[str] = "to guess half of the people for every group"

    @cached_property
    def names(self) -> list[Label]:
        """The groups, where all of them are listed: a label, or of several columns one of each."""
        parts = [[*group.called, *([OTHER_LABEL] if group.other else [])] for group in self.groups]  # type: ignore[union-attr]
        return [found[0] if len(found) == 1 else found for found in product(*parts)]  # type: ignore[misc]

    def named(self, key: str) -> tuple[Any, int]:
        """The group that a key means, and its last part."""
        parts = json.loads(key)
        labels = [
            part if group.shape is Shape.KEY else [*group.called, OTHER_LABEL][part]  # type: ignore[union-attr]
            for group, part in zip(self.groups, parts, strict=False)
        ]
        return labels[0] if len(labels) == 1 else tuple(labels), parts[-1]

    def read_as(self, where: object, groups: int) -> Domain:
        if groups != len(self.groups):
            raise BadArgument("by", "is missing", "name the column of groups, or ask for a histogram")
        return self._read(where)

    def _read(self, where: object) -> Domain:
        raise NotImplementedError

    @property
    def called(self) -> str:
        return f"a {self.name} by group" if self.groups else f"a {self.name}"

    @property
    def each(self) -> str:
        return f"the {self.name} in each group" if self.groups else f"the {self.name}"

    def to_json(self) -> dict[str, Any]:
        parts = zip(self.by, self.groups, strict=True)
        return {"name": self.name, "by": [{"column": name, **group.to_json()} for name, group in parts]}


def groups_from_json(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The groups and their columns' names, as `to_json` wrote them."""
    groups: list[Listed | Keys] = []
    for each in fields:
        told = {name: value for name, value in each.items() if name != "column"}
        if "starts" in told:
            groups.append(Periods(tuple(told.pop("starts")), **told))
        elif "edges" in told:
            groups.append(Bins(tuple(told.pop("edges")), **told))
        elif told["categories"] is None:
            groups.append(Keys(told.get("missing")))
        else:
            groups.append(Group(told.pop("categories"), **told))
    return {"groups": tuple(groups), "by": tuple(each["column"] for each in fields)}


@dataclass(frozen=True, repr=False)
class CountByGroup(ByGroup):
    """How many people per group are a yes, others in `other`; with no `bit`, how many people."""

    bit: Bit | None = None
    name: ClassVar[str] = "count"
    asks: ClassVar[str] = "How many people there are in each group"
    unit_words: ClassVar[str] = "people"

    @cached_property
    def domain(self) -> Domain:
        groups = Product(self.groups)
        return groups if self.bit is None else Filtered(groups, self.bit)

    def _read(self, where: object) -> Domain:
        if self.bit is None:
            if where is not None:
                raise BadArgument("where", "needs column", "name the column that holds the value")
            return self.domain
        return Filtered(Product(self.groups), self.bit.told_by(where))

    @property
    def other(self) -> bool:
        return self.bit is not None

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        if keys is None:
            return [*self.names, *([OTHER_LABEL] if self.bit is not None else [])]
        return [OTHER_LABEL if key == NOBODY else self.named(str(key))[0] for key in keys]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "ones": None if self.bit is None else self.bit.to_json()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        ones = fields["ones"]
        return cls(**groups_from_json(fields["by"]), bit=None if ones is None else Bit(**ones))


class Paired(ByGroup):
    """A question that is answered from the two cells of each group."""

    paired = True
    answered: ClassVar[str] = "groups"
    low = 0.0
    width = 1.0

    @property
    def shape(self) -> Shape:
        return self.domain.shape if self.groups else Shape.SHARE

    @property
    def ends(self) -> tuple[float, float]:
        """What an answer weighs the rest and the ones of a group by."""
        return self.low, self.low + self.width

    @property
    def sets(self) -> int:
        """How many groups there are."""
        return len(self.names)

    @property
    def cells(self) -> int:
        return 1 if self.shape is Shape.KEY else 2 * self.sets

    def shares(self, held: Ints) -> Ints:
        """The steps of each cell, from how many people hold each code."""
        level = np.arange(self.steps + 1)
        held = held.reshape(-1, self.steps + 1)
        return np.stack([held @ (self.steps - level), held @ level], axis=1).ravel()

    def truth(self, codes: Codes) -> Floats:
        groups, level = np.divmod(np.asarray(codes, dtype=np.int64), self.steps + 1)
        ones = np.bincount(groups, weights=level / self.steps, minlength=self.sets)
        return np.stack([np.bincount(groups, minlength=self.sets) - ones, ones], axis=1).ravel()

    def unit(self, reports: int) -> float:
        """One person's part in an answer, with groups of the same size."""
        return (
            self.width * (self.sets if self.shape is not Shape.KEY else 1) / max(1, reports)
            if self.per_person
            else self.width
        )

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        return self.names if keys is None else [*self.places([str(key) for key in keys])]

    def places(self, keys: Sequence[str]) -> dict[Label, list[int]]:
        """For each group where its rest and its ones are among the keys; -1 if absent."""
        found: dict[Label, list[int]] = {}
        for place, key in enumerate(keys):
            label, one = self.named(key)
            found.setdefault(label, [-1, -1])[one] = place
        return found

    def answers(self, people: Floats, reports: int, *, private: bool = False) -> Floats:
        """Rates and means lie within the range of values; none where a group seems empty."""
        rest, ones = people.reshape(-1, 2).T
        low, high = self.ends
        if not self.per_person:
            return low * rest + high * ones + 0.0
        everybody = rest + ones
        share = np.clip(ones, 0.0, everybody) / np.where(everybody > 0.0, everybody, np.nan)
        return low + (high - low) * share

    def spans(self, cells: Callable[[float], Floats], confidence: float, reports: int, *, private: bool) -> Floats:
        """Both cells of a group lie within their intervals at once, the answer between corners."""
        ends = cells((1.0 + confidence) / 2.0).reshape(-1, 2, 2)
        low, high = self.ends
        rest, ones = ends[:, 0], ends[:, 1]
        if not self.per_person:
            parts = [np.sort(weight * part, axis=1) for weight, part in ((low, rest), (high, ones))]
            return parts[0] + parts[1]
        rest, ones = rest.clip(0.0), ones.clip(0.0)
        with np.errstate(invalid="ignore"):
            least, most = ones[:, 0] / (ones[:, 0] + rest[:, 1]), ones[:, 1] / (ones[:, 1] + rest[:, 0])
        shares = np.stack([np.nan_to_num(least, nan=0.0), np.nan_to_num(most, nan=1.0)], axis=1)
        return low + (high - low) * shares


@dataclass(frozen=True, repr=False)
class FractionByGroup(Paired):
    """Which fraction of the people in each group are a yes?"""

    bit: Bit = PLAIN
    name: ClassVar[str] = "fraction"
    asks: ClassVar[str] = "Which fraction of the people in each group are a yes"
    percent: ClassVar[bool] = True
    per_person = True

    @cached_property
    def domain(self) -> Product:
        return Product((*self.groups, self.bit))

    def _read(self, where: object) -> Domain:
        return Product((*self.groups, self.bit.told_by(where)))

    def counted_from_zero(self) -> Self:
        return self

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "ones": self.bit.to_json()}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        return cls(**groups_from_json(fields["by"]), bit=Bit(**fields["ones"]))


@dataclass(frozen=True, repr=False)
class SumByGroup(Paired):
    """How much do the people in each group hold together?"""

    levels: Levels
    name: ClassVar[str] = "sum"
    asks: ClassVar[str] = "How much the people in each group hold together"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.SHARE, Shape.SHARES})

    @cached_property
    def domain(self) -> Product:
        return Product((*self.groups, self.levels))

    @property
    def shape(self) -> Shape:
        """An unlisted group is not a label with an amount: groups are found, and listed, first."""
        if self.finding is not None:
            works = f"list the groups, or ask for the {self.name} of data, where they are found first"
            raise BadArgument("categories", "is missing", works)
        return super().shape

    @property
    def finding(self) -> Question | None:
        unlisted = any(group.shape is Shape.KEY for group in self.groups)
        return CountByGroup(self.groups, self.by) if unlisted else None

    def among(self, labels: Sequence[Any]) -> Self:
        rows = [label if isinstance(label, tuple) else (label,) for label in labels]
        found = zip(*rows, strict=True) if rows else [()] * len(self.groups)
        groups = (
            _listed(group, names) if group.shape is Shape.KEY else group
            for group, names in zip(self.groups, found, strict=True)
        )
        return replace(self, groups=tuple(groups))

    def _read(self, where: object) -> Domain:
        if where is not None:
            raise BadArgument("where", f"is for counts, and this is a {self.name}", "leave it out")
        return self.domain

    @property
    def low(self) -> float:  # type: ignore[override]
        return self.levels.bounds[0]

    @property
    def width(self) -> float:  # type: ignore[override]
        return self.levels.width

    @property
    def steps(self) -> int:  # type: ignore[override]
        """How many steps there are from the smallest amount to the largest."""
        return self.levels.count

    @property
    def clipped_to(self) -> tuple[float, float] | None:  # type: ignore[override]
        return self.levels.limits if self.levels.clip else None

    def counted_from_zero(self) -> Self:
        return self

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "amount": {**self.levels.to_json(), "merge": str(self.levels.merge)}}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Self:
        told = dict(fields["amount"])
        bounds, steps, merge = tuple(told.pop("bounds")), told.pop("steps"), Merge(told.pop("merge"))
        return cls(**groups_from_json(fields["by"]), levels=Levels(bounds, steps, merge=merge, **told))


@dataclass(frozen=True, repr=False)
class MeanByGroup(SumByGroup):
    """How much do the people in each group hold on average?"""

    name: ClassVar[str] = "mean"
    asks: ClassVar[str] = "How much the people in each group hold on average"
    per_person = True
