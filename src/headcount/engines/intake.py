"""From whatever the user has (list, numpy, pandas, polars, Arrow) to one array with one entry per person."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from headcount.core.coins import SeededCoins
from headcount.core.errors import BadArgument, BadData, without_cause
from headcount.core.histogram import Histogram
from headcount.core.table import Ints
from headcount.core.task import Count, Task
from headcount.engines.engine import Rows

ONE_EACH = "data must be a list, an array or a column with one value per person"
MISSING = "data has missing values; drop them, or fill them in, first"
FULL = 2.0**63  # what an integer does not hold
DIFFERENT = "a person has rows of different categories; keep one row per person, for example with max_contributions=1"


def answers(task: Task, rows: Rows) -> npt.NDArray[Any]:
    """One value per person, in the way that the task's own question takes them in."""
    rows.require(task)
    if rows.by is not None:
        return grouped(task, rows)
    if isinstance(task, Count):
        return people(rows)
    merge: dict[str, Literal["sum", "mean"]] = {"sum": "sum", "mean": "mean"}
    return persons(rows, merge.get(task.name, "same"))


def people(rows: Rows) -> npt.NDArray[Any]:
    """A truth value per person: the column, compared with `where` if given.

    With `unit` a person counts once, as a one if any of their rows is.
    """
    values, ids = _values(rows)
    if rows.where is not None:
        values = equals(values, rows.where)
    if ids is None:
        return values
    first, person = _persons(values, ids)
    if rows.most is not None:
        return values[_kept(person, rows.most, rows.key)]
    return np.bincount(person, weights=Count().encoded(values), minlength=first.size) > 0


def persons(rows: Rows, merge: Literal["sum", "mean", "same"]) -> npt.NDArray[Any]:
    """One value per person; with `unit`, the sum or the mean of a person's rows, or what they all have in common."""
    values, ids = _values(rows)
    if ids is None:
        return values
    first, person = _persons(values, ids)
    if rows.most is not None:
        return values[_kept(person, rows.most, rows.key)]
    if merge == "same":
        if not bool((values == values[first][person]).all()):
            raise BadData(DIFFERENT)
        return values[first]
    if values.dtype.kind not in "biuf":
        raise BadData("data must be numbers")
    largest = float(np.abs(values.astype(np.float64)).max(initial=0.0)) * float(np.bincount(person).max(initial=0))
    totals = np.zeros(first.size, dtype=np.int64 if values.dtype.kind != "f" and largest < FULL else np.float64)
    np.add.at(totals, person, values)
    return totals if merge == "sum" else totals / np.bincount(person)


def grouped(task: Task, rows: Rows) -> npt.NDArray[Any]:
    """Each person's group if they hold a one, and otherwise something that is no group at all."""
    ids = _column(rows.data, rows.unit, "unit") if isinstance(rows.unit, str) else rows.unit
    named, of = (rows.data, rows.by) if isinstance(rows.by, str) else (rows.by, None)
    names = persons(replace(rows, data=named, column=of, unit=ids, by=None, where=None), "same")
    return in_groups(task, people(rows), names)


def in_groups(task: Task, ones: npt.NDArray[Any], names: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The group of whoever holds a one; whoever does not is in none, and must name one of the groups all the same."""
    assert isinstance(task, Histogram)  # noqa: S101
    groups = Histogram(task.categories)
    names = names.astype(np.int64) if names.dtype.kind in "bu" else names
    if names.shape != ones.shape:
        raise BadArgument("by", "has another length than the data", "give one group per person")
    if not names.size:
        return names
    try:
        groups.encoded(names)
    except BadData:
        raise BadData(
            "by has groups outside the categories, or of another type; name them all in categories="
        ) from None
    return np.where(Count().encoded(ones) == 1, names, _no_group(groups, names.dtype))


def _no_group(groups: Histogram, dtype: np.dtype[Any]) -> Any:
    """Something of the same type that is none of the groups."""
    if dtype.kind in "UO":
        return "\x01"
    least = min(groups.categories)
    return np.nextafter(least, -np.inf) if dtype.kind == "f" else np.int64(least - 1)


def _values(rows: Rows) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
    """The column, or the data themselves, and the person ids."""
    data, column, unit = rows.data, rows.column, rows.unit
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise BadArgument("data", "is a frame that is not computed yet", "give what its collect() returns")
    if column is not None:
        ids = _column(data, unit, "unit") if isinstance(unit, str) else unit
        values = _array(_column(data, column, "column"))
    else:
        if isinstance(unit, str):
            raise BadArgument("unit", "names a column but column= does not", "give a frame, column= and unit=")
        if hasattr(data, "columns") or hasattr(data, "column_names"):
            raise BadArgument(
                "column", "is missing for a frame", "name the column to count, for example column='clicked'"
            )
        ids, values = unit, _array(data)
    return values, None if ids is None else _array(ids)


def _column(frame: Any, name: str, argument: str) -> Any:
    names = [str(column) for column in getattr(frame, "column_names", getattr(frame, "columns", []))]
    if name not in names:
        if not names:
            raise BadArgument(argument, "was given but the data has no named columns", "leave it out or give a frame")
        raise BadArgument(argument, f"is {name!r}, which the data does not have", f"use one of {', '.join(names[:20])}")
    if names.count(name) > 1:
        raise BadArgument(argument, f"is {name!r}, which occurs twice", "rename one of the two")
    return frame[name]


def _array(data: Any) -> npt.NDArray[Any]:
    """A one-dimensional array, by the container's own conversion; missing entries become NaN or None."""
    if np.ma.isMaskedArray(data) and np.ma.is_masked(data):
        raise BadData("data has masked values; drop them, or fill them with 0 or 1, first")
    if isinstance(data, Iterator):
        data = list(data)
    if isinstance(data, list | tuple) and len({isinstance(item, str) for item in data}) == 2:
        data = np.array([*data, None], dtype=object)[:-1]  # numpy would turn the numbers among text into text
    if str(getattr(data, "type", "")).startswith("dictionary"):
        data = data.cast(data.type.value_type)  # which knows what is missing
    if isinstance(data, str | bytes | dict | set) or not (hasattr(data, "__len__") or hasattr(data, "to_numpy")):
        raise BadData(ONE_EACH)
    try:
        array = np.asarray(data.to_numpy() if hasattr(data, "to_numpy") else data)
    except (ValueError, TypeError):
        try:
            array = np.asarray(data.to_numpy(zero_copy_only=False))  # an Arrow array of bits, or with gaps
        except (AttributeError, ValueError, TypeError):
            without_cause(BadData(ONE_EACH))
    if array.ndim != 1:
        raise BadData(ONE_EACH)
    return _plain(array) if array.dtype == object else array


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Python objects as numbers or truth values where they all are; missing ones as NaN."""
    kinds = {type(item) for item in array.tolist()}
    missing = {kind for kind in kinds if kind is type(None) or kind.__name__ in {"NAType", "NaTType"}}
    if not missing and kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        with suppress(OverflowError):
            return array.astype(np.int64)
    if kinds - missing and all(issubclass(kind, int | float | np.number | np.bool_) for kind in kinds - missing):
        return np.array([math.nan if type(item) in missing else float(item) for item in array.tolist()])
    return array


def equals(values: npt.NDArray[Any], where: object) -> npt.NDArray[np.bool_]:
    """Which entries equal `where`, as values or as text; a value that never occurs counts nobody, and says nothing."""
    where = comparable(where, values.dtype if values.size else np.dtype(object))
    if not values.size:
        return np.zeros(0, dtype=np.bool_)
    same = np.asarray(values == where, dtype=np.bool_)
    return same | np.asarray(values == str(where), dtype=np.bool_) if values.dtype == object else same


def comparable(where: object, dtype: np.dtype[Any]) -> Any:
    """What counts as a one, as something that a column of this type can be compared with."""
    if not isinstance(where, str | bool | int | float | np.generic) or where != where:
        raise BadArgument("where", "is not a single value", "use the value that counts as a one, as in where='yes'")
    if dtype.kind in "biuf" and isinstance(where, str):
        try:
            where = {"true": True, "false": False}.get(where.lower()) if dtype == np.bool_ else _number(where)
        except ValueError:
            where = None
        if where is None:
            raise BadArgument("where", "is text but the column holds numbers", "use a number, for example where=1")
    return str(where) if dtype.kind == "U" else where


def _number(text: str) -> int | float:
    """Whole where it is written so: a float would take neighbours for the same."""
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)


def _persons(values: npt.NDArray[Any], ids: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Each person's first row, and each row's person."""
    if ids.shape != values.shape:
        raise BadArgument("unit", "has another length than the data", "give one person id per row")
    if ids.dtype == object:
        if any(item is None or item != item for item in ids.tolist()):
            raise BadData("unit has missing person ids; drop those rows first")
        ids = ids.astype(str)
    elif ids.dtype.kind == "f" and np.isnan(ids).any():
        raise BadData("unit has missing person ids; drop those rows first")
    _, first, person = np.unique(ids, return_index=True, return_inverse=True)
    return first, person


def _kept(person: Ints, most: int, key: int) -> Ints:
    """The rows that count: of each person at most so many, by lot."""
    order = np.lexsort([SeededCoins(key).words(person.size), person])
    begins = np.searchsorted(person[order], person[order])
    return np.sort(order[np.arange(order.size) - begins < most])
