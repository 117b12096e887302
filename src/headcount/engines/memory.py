"""The engine for data in memory: lists, arrays, columns and frames of pandas, polars and Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from decimal import Decimal
from typing import Any

import numpy as np

from headcount.engines.columns import from_arrow, from_pandas, from_polars
from headcount.engines.counts_by_round import Counts
from headcount.engines.engine import Rows
from headcount.engines.several_rows import merged
from headcount.engines.tallying import PART, tally_parts
from headcount.errors import BadArgument, BadData, without_cause
from headcount.phrases import Phrase
from headcount.programme.coins import Coins, KeyedCoins
from headcount.programme.field import Values
from headcount.programme.table import Ints
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.domains.missing import DROP
from headcount.questions.domains.product import Product
from headcount.questions.question import Question
from headcount.questions.reading import EXACT, ONE_EACH, Array, Mask, column, distinct, texts
from headcount.questions.text_rules import TextRules

NO_ID = (
    "unit has missing person ids, or numbers that are not whole or too large for floats; use text, or drop those rows"
)


class MemoryEngine:
    """An array of codes, or an iterable of arrays of values, any sizes; pieces bound the memory."""

    def answers(self, task: Question, rows: Rows) -> Values:
        """The code of each person, or of each of the rows that are kept of them."""
        domain = rows.domain(task)
        columns, person = _read(domain, rows)
        codes, kept = list[Codes](), None
        if person is not None and rows.most is not None:
            kept = np.flatnonzero(_drawn(person, rows.most, rows.key))
        for place, (part, held) in enumerate(zip(domain.parts, columns, strict=True)):
            plain = rows.columns == (None,) and rows.text is TextRules.plain  # a list has no name to tell
            with nullcontext() if plain else rows.of_part(place):
                if person is None or kept is not None:
                    codes.append(part.codes(held) if kept is None else part.codes(held)[kept])
                else:
                    codes.append(merged(part, held, person))
        return domain.joined(codes)

    def rounds(self, task: Question, rows: Rows) -> list[Counts]:
        """A person's rows of a round are merged, and the rounds drawn in which they count."""
        domain = rows.domain(task)
        times, *parts = domain.parts
        columns, person = _read(domain, rows)
        if rows.in_rounds is None or person is None:
            raise BadArgument("unit", "is missing", "name the column of person ids")
        with rows.of_part(0):
            number = times.codes(columns[0]).astype(np.int64)
        inside = np.flatnonzero(number < times.size - 1)
        pairs, who = np.unique(person[inside] * (times.size - 1) + number[inside], return_inverse=True)
        codes = []
        for place, (part, held) in enumerate(zip(parts, columns[1:], strict=True), 1):
            with rows.of_part(place):
                part.codes(held)  # refuses what does not fit, also of rows that do not count
                codes.append(merged(part, held[inside], who))
        owner, in_round = np.divmod(pairs, times.size - 1)
        counts = _drawn(owner, rows.in_rounds.most, rows.key)
        asked = np.ones(pairs.size, dtype=np.int64) if not parts else codes[0]
        if len(parts) > 1:
            asked = Product(tuple(parts)).joined(codes)
        asked, in_round = asked[counts], in_round[counts]
        amounts = bool(parts) and parts[-1].shape is Shape.AMOUNT
        return [_counted(asked[in_round == each], amounts=amounts) for each in range(times.size - 1)]

    def require(self, task: Question, answers: Values | Iterable[Array]) -> None:
        """Codes were looked at when they were made; what arrives only once cannot be."""
        if not isinstance(answers, np.ndarray | Iterator):
            for array in answers:
                task.domain.codes(column(array))

    def tally(self, plan: Plan, answers: Values | Iterable[Array], coins: Coins) -> Tally:
        """Arrays that arrive in turn have their own coins each; codes are cut into parts."""
        if isinstance(answers, np.ndarray):
            return tally_parts(plan.protocol, np.split(answers, range(PART, answers.size, PART)), np.asarray, coins)
        return tally_parts(plan.protocol, answers, lambda part: plan.protocol.task.domain.codes(column(part)), coins)


def _read(domain: Domain, rows: Rows) -> tuple[list[Array], Ints | None]:
    """The columns without rows that are to be dropped, and a number for whose each row is."""
    columns, ids = _columns(rows)
    if rows.text is not TextRules.plain:
        read = zip(domain.parts, columns, strict=True)
        columns = [rows.text.of_column(column, numeric=part.reads_numbers) for part, column in read]
    if ids is not None and ids.shape != columns[-1].shape:
        raise BadArgument("unit", "has another length than the data", "give one person id per row")
    if DROP in [part.missing for part in domain.parts]:
        whole = domain.kept(columns)
        columns, ids = [column[whole] for column in columns], None if ids is None else ids[whole]
    if ids is None:
        return columns, None
    plain = ids.dtype.kind in "iu" and not np.ma.isMaskedArray(ids)
    return columns, distinct(ids if plain else person_ids(ids))[1]


def _counted(codes: Values, *, amounts: bool) -> Counts:
    """How many people hold each code; of amounts, their sum."""
    if amounts:
        return Counts(codes[:0], np.array([codes.size]), sum(codes.tolist()))
    held, people = np.unique(codes, return_counts=True)
    return Counts(held, people)


def _columns(rows: Rows) -> tuple[list[Array], Array | None]:
    """A column for each part of the domain, groups first; and the person ids."""
    data, unit = rows.data, rows.unit
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise BadArgument("data", "is a frame that is not computed yet", "give what its collect() returns")
    everybody = rows.by is not None and rows.everybody
    if rows.columns == (None,) and isinstance(unit, str) and not everybody:
        problem = Phrase("names a column but {column} does not")
        raise BadArgument("unit", problem, Phrase("give a frame, {column} and {unit}"))
    if rows.columns == (None,) and not everybody and (hasattr(data, "columns") or hasattr(data, "column_names")):
        works = Phrase("name the column to count, for example {column}", column="clicked")
        raise BadArgument("column", "is missing for a frame", works)
    columns = (
        [] if everybody else [_array(data if name is None else _column(data, name, "column")) for name in rows.columns]
    )
    if any(column.shape != columns[0].shape for column in columns):
        raise BadArgument("data", "has columns of different lengths", "give one value per person in each")
    named = {} if rows.by is None else rows.groups
    groups = [_array(_column(data, by, "by") if isinstance(by, str) else by) for by in named.values()]
    columns = [*groups, *columns]
    if any(column.shape != columns[-1].shape for column in groups):
        raise BadArgument("by", "has another length than the data", "give one group per person")
    if unit is None:
        return columns, None
    return columns, _array(_column(data, unit, "unit") if isinstance(unit, str) else unit)


def _column(frame: Any, name: str, argument: str) -> Any:
    named = frame if isinstance(frame, Mapping) else getattr(frame, "columns", [])
    names = [str(each) for each in getattr(frame, "column_names", named)]
    if name not in names:
        if not names:
            raise BadArgument(argument, "was given but the data has no named columns", "leave it out or give a frame")
        raise BadArgument(argument, f"is {name!r}, which the data does not have", f"use one of {', '.join(names[:20])}")
    if names.count(name) > 1:
        raise BadArgument(argument, f"is {name!r}, which occurs twice", "rename one of the two")
    return frame[name]


def _array(data: Any) -> Array:
    """A one-dimensional array; where integers have gaps, a masked one."""
    try:
        if type(data).__module__.startswith("pyarrow"):
            return from_arrow(data)
        if type(data).__module__.startswith("polars"):
            return from_polars(data)
        if hasattr(data, "isna") and hasattr(data, "to_numpy"):
            return from_pandas(data)
        return column(data.to_numpy() if hasattr(data, "to_numpy") else data)
    except (ValueError, TypeError, AttributeError):
        without_cause(BadData(ONE_EACH))


def person_ids(ids: Array) -> Array:
    """Person ids read as text; numbers must be whole, and floats small enough to be exact."""
    read, found = texts(ids), distinct(ids)[0]
    floats = [float(each) for each in found if isinstance(each, float | np.floating)]
    exact = all(each.is_integer() and abs(each) < EXACT for each in floats)
    whole = all(each.is_finite() and each == each.to_integral_value() for each in found if isinstance(each, Decimal))
    if (read.missing | read.strange).any() or not (exact and whole):
        raise BadData(NO_ID)
    return read.values


def _drawn(owner: Ints, most: int, key: bytes) -> Mask:
    """The rows or rounds that count: at most that many of each person's, all with equal chance."""
    order = np.lexsort([KeyedCoins(key).words(owner.size), owner])
    place = np.arange(owner.size) - np.searchsorted(owner[order], owner[order])
    drawn = np.zeros(owner.size, dtype=np.bool_)
    drawn[order] = place < most
    return drawn
