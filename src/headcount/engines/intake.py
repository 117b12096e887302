"""From whatever the user has (list, numpy, pandas, polars, Arrow) to one code per person."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from headcount.engines.columns import array_of
from headcount.engines.engine import Rows
from headcount.engines.merging import merged
from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.programme.coins import KeyedCoins
from headcount.programme.table import Ints
from headcount.questions.domains.domain import Codes, Domain
from headcount.questions.reading import EXACT, Array, distinct, texts

NO_ID = (
    "unit has missing person ids, or numbers that are not whole or too large for floats; use text, or drop those rows"
)


def codes_of(domain: Domain, rows: Rows) -> Codes:
    """The code of each person, or of each of the rows that are kept of them."""
    columns, ids = _columns(rows)
    if ids is None:
        return domain.joined([part.codes(column) for part, column in zip(domain.parts, columns, strict=True)])
    if ids.shape != columns[-1].shape:
        raise BadArgument("unit", "has another length than the data", "give one person id per row")
    person = _persons(ids)
    if rows.most is not None:
        kept = _kept(person, rows.most, rows.key)
        return domain.joined([part.codes(column)[kept] for part, column in zip(domain.parts, columns, strict=True)])
    return domain.joined([merged(part, column, person) for part, column in zip(domain.parts, columns, strict=True)])


def _columns(rows: Rows) -> tuple[list[Array], Array | None]:
    """A column for each part of the domain, groups first; and the person ids."""
    data, column, by, unit = rows.data, rows.column, rows.by, rows.unit
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise BadArgument("data", "is a frame that is not computed yet", "give what its collect() returns")
    if column is not None:
        values = _column(data, column, "column")
    else:
        if isinstance(unit, str):
            raise BadArgument(
                "unit", Phrase("names a column but {column} does not"), Phrase("give a frame, {column} and {unit}")
            )
        if hasattr(data, "columns") or hasattr(data, "column_names"):
            works = Phrase("name the column to count, for example {column}", column="clicked")
            raise BadArgument("column", "is missing for a frame", works)
        values = data
    columns = [array_of(values)]
    if by is not None:
        groups = array_of(_column(data, by, "by") if isinstance(by, str) else by)
        if groups.shape != columns[0].shape:
            raise BadArgument("by", "has another length than the data", "give one group per person")
        columns.insert(0, groups)
    ids = _column(data, unit, "unit") if isinstance(unit, str) else unit
    return columns, None if unit is None else array_of(ids)


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
    """Whether the numbers among them are whole, and the floats small enough to be the numbers that were written."""
    found = distinct(ids)[0]
    floats = [float(each) for each in found if isinstance(each, float | np.floating)]
    decimals = [each for each in found if isinstance(each, Decimal)]
    return all(each.is_integer() and abs(each) < EXACT for each in floats) and all(each % 1 == 0 for each in decimals)


def _kept(person: Ints, most: int, key: bytes) -> Ints:
    """The rows that count: of each person at most so many, by lot."""
    order = np.lexsort([KeyedCoins(key).words(person.size), person])
    begins = np.searchsorted(person[order], person[order])
    return np.sort(order[np.arange(order.size) - begins < most])
