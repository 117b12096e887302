"""The types of what users pass, for annotations.

Nothing here imports pandas, polars, Arrow or Spark: their columns and frames are known by the
methods they have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

__all__ = [
    "Bounds",
    "Column",
    "Data",
    "Edges",
    "Groupings",
    "Groups",
    "Label",
    "Labels",
    "Lengths",
    "Limits",
    "Missing",
    "ModelName",
    "Ones",
    "People",
    "PersonIds",
    "Relation",
    "Table",
    "Where",
]


class HasArray(Protocol):
    """A column or a frame of pandas or polars, an array of Arrow."""

    def to_numpy(self) -> Any: ...


class HasStream(Protocol):
    """Anything with the Arrow stream interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class HasSession(Protocol):
    """A frame of Spark."""

    @property
    def sparkSession(self) -> Any: ...  # noqa: N802 - Spark's own name


Column: TypeAlias = Iterable[object] | HasArray
"""One value per person: a list, an array, a column of pandas, polars or Arrow."""

Table: TypeAlias = str | Path | HasArray | HasStream | HasSession
"""Named columns: a frame, a stream, or Parquet, CSV or Arrow files by path, folder or glob."""

Data: TypeAlias = Column | Table
"""What people hold: a column, or a table of which `column=` names one."""

Groups: TypeAlias = str | Column | Sequence[str] | Mapping[str, Column]
"""The group of each person: the names of one or several columns, or one group per person."""

PersonIds: TypeAlias = str | Column
"""Whose each row is: the name of a column, or one person id per row."""

Label: TypeAlias = str | int | float
"""A category."""

Labels: TypeAlias = int | Iterable[Label]
"""The categories, all text or all numbers; or how many there are, called 0, 1, 2 …"""

Groupings: TypeAlias = Labels | Mapping[str, Iterable[Label] | None]
"""The groups of one column as a list of labels, or of several as a mapping from the columns' names
to such lists, or to `None` where any label may occur."""

People: TypeAlias = int | tuple[int, int]
"""How many people will report, or the fewest and the most."""

Ones: TypeAlias = int | Sequence[int] | Mapping[int, float] | Literal["uniform", "unknown"] | str
"""The people expected to hold a one: a number, several, a table of weights, or one of these."""

Missing: TypeAlias = (
    Literal["refuse", "no", "other", "category", "drop"]
    | float
    | str
    | Sequence[float | str]
    | Mapping[str, float | str]
)
"""What becomes of missing values: one of these words or, for sums, a number; or several, for
several columns, perhaps by their names."""

Bounds: TypeAlias = tuple[float, float]
"""The smallest and the largest possible value, stated without looking at the data."""

Limits: TypeAlias = Bounds | tuple[str, str] | tuple[date, date] | tuple[timedelta, timedelta]
"""The same, of numbers, of days and moments, or of durations."""

Lengths: TypeAlias = int | Literal["week", "day", "hour", "minute", "second"] | str
"""How many equal bins there are, or how long each is."""

Edges: TypeAlias = int | Literal["day", "week", "month", "quarter", "year"] | str | Sequence[float | str]
"""Edges of bins, increasing, numbers or days; or a number of equal bins, or of periods."""

Where: TypeAlias = bool | float | str | Sequence[bool | float | str]
"""The value that counts as a one, or several: truth values, numbers and text, each as it is."""

ModelName: TypeAlias = Literal["central", "shuffle-threshold", "shuffle-dummies", "shuffle", "local"] | str
"""Whom people trust, one of these words or of `hc.Model`; others are refused when it is called."""

Relation: TypeAlias = Literal["replace", "add-remove"] | str
"""The adjacency, as a word or `hc.Neighbours`: a value is replaced, or a person comes or goes."""
