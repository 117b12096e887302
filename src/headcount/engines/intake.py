"""From whatever the user has (list, numpy, pandas, polars, Arrow) to one integer per person."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from headcount.core.coins import KeyedCoins
from headcount.core.errors import BadArgument, BadData
from headcount.core.field import Values
from headcount.core.reading import Array, distinct, texts
from headcount.core.table import Ints
from headcount.core.task import Sum, Task
from headcount.engines.columns import array_of
from headcount.engines.encoding import added_up
from headcount.engines.engine import Rows

NO_ID = "unit has missing person ids, or numbers that are not whole; drop those rows first"


def answers(task: Task, rows: Rows) -> Values:
    """The task's own integer for each person, or for each of the rows that are kept of them."""
    encoding = rows.encoding(task)
    values, groups, ids = _columns(rows)
    if ids is None:
        return encoding.person(encoding.row(values, groups))
    if ids.shape != values.shape:
        raise BadArgument("unit", "has another length than the data", "give one person id per row")
    person = _persons(ids)
    if isinstance(task, Sum) and rows.most is None:
        return task.encoded(added_up(task.held(values), person, mean=task.per_person))
    codes = encoding.row(values, groups)
    if rows.most is not None:
        return encoding.person(codes[_kept(person, rows.most, rows.key)])
    return encoding.person(encoding.merge(codes, person))


def _columns(rows: Rows) -> tuple[Array, Array | None, Array | None]:
    """The column, or the data themselves; the groups; and the person ids."""
    data, column, by, unit = rows.data, rows.column, rows.by, rows.unit
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise BadArgument("data", "is a frame that is not computed yet", "give what its collect() returns")
    if column is not None:
        values = _column(data, column, "column")
    else:
        if isinstance(unit, str):
            raise BadArgument("unit", "names a column but column= does not", "give a frame, column= and unit=")
        if hasattr(data, "columns") or hasattr(data, "column_names"):
            works = "name the column to count, for example column='clicked'"
            raise BadArgument("column", "is missing for a frame", works)
        values = data
    groups = _column(data, by, "by") if isinstance(by, str) else by
    ids = _column(data, unit, "unit") if isinstance(unit, str) else unit
    return array_of(values), None if by is None else array_of(groups), None if unit is None else array_of(ids)


def _column(frame: Any, name: str, argument: str) -> Any:
    names = [str(column) for column in getattr(frame, "column_names", getattr(frame, "columns", []))]
    if name not in names:
        if not names:
            raise BadArgument(argument, "was given but the data has no named columns", "leave it out or give a frame")
        raise BadArgument(argument, f"is {name!r}, which the data does not have", f"use one of {', '.join(names[:20])}")
    if names.count(name) > 1:
        raise BadArgument(argument, f"is {name!r}, which occurs twice", "rename one of the two")
    return frame[name]


def _persons(ids: Array) -> Ints:
    """The number of each row's person."""
    plain = ids.dtype.kind in "iu" and not np.ma.isMaskedArray(ids)
    return distinct(ids if plain else person_ids(ids))[1]


def person_ids(ids: Array) -> Array:
    """Person ids read as text."""
    read = texts(ids)
    if (read.missing | read.strange).any() or not _whole(ids):
        raise BadData(NO_ID)
    return read.values


def _whole(ids: Array) -> bool:
    """Whether the numbers among them are whole."""
    return all(float(each).is_integer() for each in distinct(ids)[0] if isinstance(each, float | np.floating | Decimal))


def _kept(person: Ints, most: int, key: bytes) -> Ints:
    """The rows that count: of each person at most so many, by lot."""
    order = np.lexsort([KeyedCoins(key).words(person.size), person])
    begins = np.searchsorted(person[order], person[order])
    return np.sort(order[np.arange(order.size) - begins < most])
