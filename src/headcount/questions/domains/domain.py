"""The base class of domains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from headcount.phrases import Aside, Phrase
from headcount.questions.domains.missing import DROP
from headcount.questions.reading import Array, Mask, absent
from headcount.types import Label as Label

Codes: TypeAlias = npt.NDArray[Any]
Persons: TypeAlias = npt.NDArray[np.int64]

DIFFERENT = (
    "a person has rows of different categories",
    Phrase(
        "keep one row per person, for example with {max_contributions}{}",
        Aside("; with {neighbours} several may count", neighbours="add-remove"),
        max_contributions=1,
    ),
)


class Shape(StrEnum):
    """The kind of a domain's codes. A protocol declares the shapes that it serves."""

    BIT = "bit", False  # 0 or 1: a single cell counts the ones
    ONE_OF = "one of d", True  # an index below d: a cell for each
    K_OF = "k of d", True  # a cell in each of several families, which a strategy makes of an index: their errors
    # are independent and have one law
    WEIGHTED = "weights in cells", True  # several cells, each as often as a strategy says: the same, and the noise is
    # compared with the length of what one person changes
    KEY = "key", True  # a label that nobody listed beforehand: a cell for each that occurs
    AMOUNT = "amount", False  # from 0 to d - 1, in steps: a single cell adds them up
    SHARE = "share", False  # an amount in two cells: what people hold, and what they lack of the largest amount
    SHARES = "shares", True  # an amount in one of several groups, each with two such cells

    several: bool  # whether there is an answer for each of several labels

    def __new__(cls, value: str, several: bool = False) -> Shape:
        shape = str.__new__(cls, value)
        shape._value_, shape.several = value, several
        return shape


REBUILT = frozenset({Shape.K_OF, Shape.WEIGHTED})  # answers are made of cells by a strategy


class Merge(StrEnum):
    """How the rows of one person become one answer, whatever their order."""

    ANY = "any"  # a one if any row is
    SAME = "same"  # all rows must agree
    ADD = "add"  # numbers are added up
    AVERAGE = "average"  # numbers are averaged

    @property
    def numeric(self) -> bool:
        """Whether numbers are merged before they become codes; codes are merged otherwise."""
        return self in (Merge.ADD, Merge.AVERAGE)


@dataclass(frozen=True)
class SqlDialect:
    """How a database writes a named parameter, and the whole number nearest to an expression."""

    parameter: Callable[[str], str]
    nearest: Callable[[str], str]


@dataclass(frozen=True)
class Steps:
    """In SQL: a row's code less `origin`, whether it is within the domain, and the parameters."""

    code: str
    fits: str
    given: Mapping[str, float]
    origin: int = 0


class Domain(ABC):
    """A set of possible answers and their codes, the integers below `size`.

    A domain of one column is its own only part. A domain of several columns joins the codes of its
    parts: engines read, and merge a person's rows, part by part.
    """

    where: Any = None  # of declared values, those whose code is 1, where all others have 0
    by_minute: ClassVar[bool] = False  # whether the minute of a moment decides its code
    missing: Any = None  # what becomes of a missing value, see `missing.py`; None for the usual way

    @property
    @abstractmethod
    def size(self) -> int:
        """How many codes there are."""

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """What kind its codes are of."""

    @property
    def merge(self) -> Merge:
        """How the rows of one person become one answer."""
        return Merge.SAME

    @property
    def reads_numbers(self) -> bool:
        """Whether text is read as a number."""
        return False

    @property
    def parts(self) -> tuple[Domain, ...]:
        """One domain for each column that is read."""
        return (self,)

    def joined(self, codes: Sequence[Codes]) -> Codes:
        """The codes of people from those of the parts."""
        return codes[0]

    @abstractmethod
    def codes(self, column: Array) -> Codes:
        """The code of each entry of a column. Refuses entries outside the domain, quoting none."""

    def numbers(self, column: Array) -> npt.NDArray[np.float64]:
        """The entries as numbers, where numbers are what is merged."""
        raise NotImplementedError

    @property
    def grouped(self) -> bool:
        """Whether people may hold few enough different values to group by value before reading."""
        return True

    @property
    def drops(self) -> bool:
        """Whether rows are left out in which the value is missing."""
        return any(part.missing == DROP for part in self.parts)

    def kept(self, columns: Sequence[Array]) -> Mask | None:
        """Which rows are not left out, from the columns of the parts; None where all are kept."""
        dropping = [column for part, column in zip(self.parts, columns, strict=True) if part.missing == DROP]
        return ~np.logical_or.reduce([absent(column) for column in dropping]) if dropping else None

    @property
    def about(self) -> str:
        """The words for its values, where these are not the data themselves."""
        return ""

    @property
    def rules(self) -> list[str]:
        """What was declared of values that are not plain, in words: told with every answer, and
        never to how many rows it applied."""
        return [*dict.fromkeys(rule for part in self.parts if part is not self for rule in part.rules)]

    def compared(self, place: int) -> Domain:
        """The same where a database has already compared this part's column with its `where`."""
        return self

    def steps(self, number: str, dialect: SqlDialect, *, integer: bool = False) -> Steps:
        """The codes of an amount in SQL, of an expression for a row's number: double or integer."""
        raise NotImplementedError

    @property
    def line(self) -> str:
        """What its codes count the steps of, if a database can: "numbers", "moments" or nothing."""
        return ""

    @property
    def outside_code(self) -> int | None:
        """The code of what lies elsewhere, or is none; None where that is refused."""
        return None

    @property
    def missing_code(self) -> int | None:
        """The code of what is missing; None where that is refused."""
        return None

    def counted(self, value: str, dialect: SqlDialect) -> Steps:
        """The codes in SQL of an expression for the number or microseconds that a row holds."""
        raise NotImplementedError

    def near(self, value: str, dialect: SqlDialect) -> Steps | None:
        """The same but for rounding, which is faster: numbers between two of the same code have it,
        too. None where it is not."""
        return None

    def label(self, code: int) -> Any:
        """An answer that has this code."""
        return code

    @property
    @abstractmethod
    def described(self) -> str:
        """What a person holds, as a sentence."""

    @property
    @abstractmethod
    def accepted(self) -> str:
        """All answers that a device takes, to follow "answer with"."""

    def to_json(self) -> dict[str, Any]:
        """The fields from which clients in other languages compute the code of an answer."""
        return {}
