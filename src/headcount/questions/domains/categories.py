"""Categories: one of a list of labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.domains.bit import SPELLED
from headcount.questions.domains.domain import Codes, Domain, Label, Shape
from headcount.questions.domains.missing import (
    AS_OTHER,
    CATEGORY,
    DROP,
    LISTS,
    MISSING,
    NO,
    REFUSE,
    YES_OR_NO,
    Kind,
    rule,
)
from headcount.questions.reading import (
    Array,
    Declared,
    Mask,
    Read,
    declared_number,
    declared_text,
    numbers,
    texts,
    truths,
)
from headcount.types import Labels

MOST_CATEGORIES = 1 << 24
OTHER = "(other)"  # what the people in none of the categories are called
LISTED = 20  # labels that are named in a sentence
YES = "yes"


class Listed(Domain):
    """Base of categories and bins: a code per label, one for `other`, perhaps one for missing."""

    labels: Sequence[Label]
    remedy: ClassVar[Phrase] = Phrase("name them all, or use {other} to count the rest apart", other=True)
    shape = Shape.ONE_OF

    @property
    @abstractmethod
    def other(self) -> bool:
        """Whether people with none of the labels are counted."""

    @property
    @abstractmethod
    def outside(self) -> str:
        """Where values without a label lie, as the end of a sentence."""

    @property
    def takes(self) -> Kind:
        """What may become of a missing value."""
        return LISTS

    @property
    def size(self) -> int:
        return len(self.labels) + self.apart + self.other

    @property
    def apart(self) -> bool:
        """Whether missing values are a category of their own."""
        return bool(self.missing == CATEGORY)

    @property
    def called(self) -> list[Label]:
        """The labels, and what missing values are called where they are one of them."""
        return [*self.labels, *([MISSING] if self.apart else [])]

    @property
    def outside_code(self) -> int | None:
        return self.size - 1 if self.other else None

    @property
    def missing_code(self) -> int | None:
        if self.missing == NO:
            return self.labels.index(NO)
        return {CATEGORY: len(self.labels), AS_OTHER: self.size - 1}.get(self.missing or "")

    def placed(self, codes: Codes, read: Read, known: Mask) -> Codes:
        """Missing values as declared, and entries that are not `known` in `other`; or refused."""
        if self.missing in (None, REFUSE, DROP):  # rows that are left out are gone already
            read.require(counts_as="no, other or category" if self.yes_or_no else "other or category")
        codes = np.asarray(codes)
        if self.other:
            codes = np.where(known & ~read.missing & ~read.strange, codes, self.size - 1)
        elif not np.all((known & ~read.strange) | read.missing):
            raise BadData(f"data has values {self.outside}", self.remedy)
        if self.apart:
            codes = np.where(read.missing, len(self.labels), codes)
        if self.missing == NO:
            codes = np.where(read.missing, self.labels.index(NO), codes)
        return codes.astype(self.narrow, copy=False)

    @property
    def yes_or_no(self) -> bool:
        """Whether its labels are yes and no."""
        return False

    def told(self, missing: Any, *, spelled: bool) -> Self:
        """The same where something was said of missing values, if it was, and that yes and no may
        be in any spelling."""
        said = self if missing is None else self.with_missing(missing)
        return replace(said, spelled=True) if spelled and self.yes_or_no else said  # type: ignore[type-var]

    def with_missing(self, said: float | str) -> Self:
        """The same where this was said of missing values."""
        other = {"other": True} if said == AS_OTHER else {}
        return replace(self, missing=said, **other)  # type: ignore[type-var]

    @property
    def narrow(self) -> np.dtype[Any]:
        """The smallest type that holds every code."""
        return np.dtype(np.min_scalar_type(self.size - 1))

    def label(self, code: int) -> Any:
        return self.labels[code] if code < len(self.labels) else None if self.apart and code == len(self.labels) else -1

    @property
    def rules(self) -> list[str]:
        return rule(self.missing)

    def _placing(self) -> dict[str, Any]:
        """What its JSON says of values that have no label."""
        return {"other": self.other, **({} if self.missing is None else {"missing": self.missing})}

    def _require_other(self) -> None:
        if self.missing == AS_OTHER and not self.other:
            raise BadArgument("missing", "is 'other' and nothing else is", Phrase("use {other}, too", other=True))

    def shares(self, told: Any) -> Floats:
        """Which part of each code somebody means who names a label, or several."""
        labels = [*self.labels, *([OTHER] if self.other else [])]
        named = [told] if isinstance(told, str) or not isinstance(told, Iterable) else [*told]
        found = np.zeros(self.size)
        for label in named:
            if label not in labels:
                raise KeyError(label)
            found[labels.index(label)] = 1.0
        return found

    def _described(self, kind: str) -> str:
        names, more = [str(label) for label in self.labels[:LISTED]], ", ..." if len(self.labels) > LISTED else ""
        other = ", or none of them" if self.other else ""
        return f"One of {len(self.labels):,} {kind} for each person{other}: {', '.join(names)}{more}."


@dataclass(frozen=True)
class Categories(Listed):
    """Labels that are all text or all numbers; a number of categories means the labels 0, 1, 2 …

    Where they are yes and no, a missing value may count as no, and with `spelled` both may be
    written as in a count.
    """

    labels: Sequence[Label]
    other: bool = False
    missing: str | None = None
    spelled: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _checked(self.labels))
        self._require_other()
        if (self.spelled or self.missing == NO) and not self.yes_or_no:
            argument, problem = ("spelled", "is") if self.spelled else ("missing", f"is {NO!r}, which is")
            works = Phrase("call the categories so, as in {categories}", categories=[YES, NO])
            raise BadArgument(argument, f"{problem} for yes and no, and these are other categories", works)

    @property
    def yes_or_no(self) -> bool:
        """Whether its labels are yes and no."""
        return len(self.labels) == 2 and {*self.labels} == {YES, NO}

    @property
    def outside(self) -> str:
        return "that say neither yes nor no" if self.spelled else "outside the categories"

    @property
    def remedy(self) -> Phrase:  # type: ignore[override]
        if not self.yes_or_no or self.spelled:
            return super().remedy
        return Phrase(
            "use {spelled} to read yes and no in any spelling, or {other} for the rest", spelled=True, other=True
        )

    @property
    def takes(self) -> Kind:
        return YES_OR_NO if self.yes_or_no else LISTS

    def codes(self, column: Array) -> Codes:
        if not column.size:  # an empty column has no type to judge by
            return np.zeros(0, dtype=self.narrow)
        if self._are_codes(column):
            return column.astype(self.narrow, copy=False)
        if self.spelled:
            read = truths(column, spelled=True)
            return self.placed(np.where(read.values, self._places[YES], self._places[NO]), read, ~read.strange)
        read = (texts if self._textual else numbers)(column)
        return self.placed(*self._looked_up(read))

    def _are_codes(self, column: Array) -> bool:
        if not isinstance(self.labels, range) or column.dtype.kind not in "iu" or np.ma.isMaskedArray(column):
            return False
        return bool(column.min() >= 0 and column.max() < len(self.labels))

    @property
    def reads_numbers(self) -> bool:
        return not self._textual

    @property
    def rules(self) -> list[str]:
        return [*([SPELLED] if self.spelled else []), *super().rules]

    @property
    def _textual(self) -> bool:
        """Whether entries are read as text; they are read as numbers otherwise."""
        return isinstance(self.labels[0], str)

    def _looked_up(self, read: Read) -> tuple[Codes, Read, Mask]:
        if isinstance(self.labels, range):
            held = read.values
            known: Mask = (held >= 0) & (held < len(self.labels)) & (held == np.floor(held))
            return np.where(known, held, 0).astype(np.int64), read, known
        if self._textual:
            codes = np.fromiter((self._places.get(label, -1) for label in read.values.tolist()), dtype=np.int64)
            return codes, read, codes >= 0
        labels, order = self._sorted
        at = np.minimum(np.searchsorted(labels, read.values), labels.size - 1)
        return order[at], read, labels[at] == read.values

    @cached_property
    def _places(self) -> dict[Label, int]:
        return {label: place for place, label in enumerate(self.labels)}

    @cached_property
    def _sorted(self) -> tuple[Array, Array]:
        labels = np.array(self.labels, dtype=np.float64)
        order = np.argsort(labels, kind="stable")
        return labels[order], order

    @property
    def described(self) -> str:
        return self._described("categories")

    @property
    def accepted(self) -> str:
        if isinstance(self.labels, range):
            return f"a whole number from 0 to {len(self.labels) - 1:,}"
        named = [str(label) for label in self.labels]
        more = f" or one of {len(named) - LISTED:,} others" if len(named) > LISTED else ""
        return f"one of: {', '.join(named[:LISTED])}{more}"

    def to_json(self) -> dict[str, Any]:
        listed = len(self.labels) if isinstance(self.labels, range) else [*self.labels]
        return {"categories": listed, **self._placing(), **({"spelled": True} if self.spelled else {})}


def positive(argument: str, number: int) -> int:
    if not 1 <= number <= MOST_CATEGORIES:
        raise BadArgument(argument, f"is {number}", f"use a number from 1 to {MOST_CATEGORIES:,}")
    return number


def _checked(given: Labels) -> range | tuple[Label, ...]:
    """Different labels, all of them text or all of them numbers."""
    works = Phrase("list the labels, for example {categories}, or say how many there are", categories=["a", "b"])
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return range(positive("categories", int(given)))
    if isinstance(given, range) and given == range(len(given)):
        return range(positive("categories", len(given)))
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable):
        raise BadArgument("categories", f"is {given!r}", works)
    labels = tuple(item.item() if isinstance(item, np.generic) else item for item in given)
    if not labels or len(labels) > MOST_CATEGORIES:
        raise BadArgument("categories", f"are {len(labels)}", works)
    text = {isinstance(label, str) for label in labels}
    if len(text) > 1 or not all(isinstance(label, str | int | float) and label == label for label in labels):
        raise BadArgument("categories", "mix text, numbers or something else", works)
    labels = tuple(_declared(label) for label in labels)
    if len(set(labels)) < len(labels):
        raise BadArgument("categories", "has duplicates", "name each category once")
    return labels


def _declared(label: Declared) -> Label:
    if isinstance(label, str):
        return declared_text("categories", label)
    declared_number("categories", label)
    return label
