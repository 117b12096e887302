"""Columns in DuckDB: each type read as numbers, moments, codes and truth values, in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headcount.engines.file_formats import literal
from headcount.questions.domains.domain import Domain, SqlDialect
from headcount.questions.domains.missing import REFUSE
from headcount.questions.reading import NUMERAL, SPACE
from headcount.questions.times import MINUTE

WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
REAL = {"FLOAT", "DOUBLE"}
STORED = WHOLE | REAL | {"BOOLEAN"}
WIDE = {"DECIMAL", "HUGEINT", "UHUGEINT"}
TEXT = {"VARCHAR", "ENUM"}
ZONED = {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"}
MOMENTS = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"} | ZONED
NANOSECONDS = {"TIMESTAMP_NS", "TIMESTAMPTZ_NS"}
NANOS = 1_000 * MINUTE  # nanoseconds of a minute
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800_000_000, 253_402_300_799_999_999  # of the years 1 to 9999
NOTHING = '"NULL"'  # the type of a column in which everything is missing
PLAIN_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z?"
DIALECT = SqlDialect("$given_{}".format, "TRY_CAST({} AS BIGINT)".format)


@dataclass(frozen=True)
class Column:
    """A part's column: its name within a source, and its type."""

    name: str
    kind: str

    @property
    def number(self) -> str:
        """Its value as a number, as `headcount.questions.reading` does; NULL if none or missing."""
        if self.kind in STORED:
            return f"CAST({self.name} AS DOUBLE)"
        if self.kind in WIDE:
            return f"CAST(CAST({self.name} AS VARCHAR) AS DOUBLE)"
        if self.kind not in TEXT:
            return "CAST(NULL AS DOUBLE)"
        said = f"trim({self.name}, {literal(SPACE)})"
        return f"CASE WHEN regexp_full_match({said}, {literal(NUMERAL)}) THEN TRY_CAST({said} AS DOUBLE) END"

    @property
    def absent(self) -> str:
        """Whether what it holds is missing."""
        if self.kind in TEXT:
            return f"coalesce(trim({self.name}, {literal(SPACE)}) = '', true)"
        return f"coalesce(isnan({self.name}), true)" if self.kind in REAL else f"{self.name} IS NULL"

    def held(self, part: Domain) -> str:
        """The number that a row holds, or that a missing one counts as."""
        filled = isinstance(part.missing, float | int)
        return (
            f"CASE WHEN {self.absent} THEN {part.missing!r}::DOUBLE ELSE {self.number} END" if filled else self.number
        )

    @property
    def moment(self) -> str:
        """The microseconds of the moment that it holds, as `headcount.questions.times` has them."""
        return f"CASE WHEN isfinite({self.name}) THEN CAST(epoch_us({self.name}) AS DOUBLE) END"

    def counted(self, part: Domain) -> tuple[str, Mapping[str, Any]] | None:
        """The code of its values, NULL if refused, and parameters; None where Python finds it."""
        if part.line == "numbers" and self.kind != NOTHING:
            value, fits = self.held(part), ""
        elif part.line == "moments" and self.kind in MOMENTS - NANOSECONDS:
            value, fits = self.moment, f"{FIRST_MOMENT} <= {self.moment} AND {self.moment} <= {LAST_MOMENT} AND "
        else:
            return None
        steps = part.counted(value, self.dialect)
        code, fits = f"CAST({steps.code} AS BIGINT)", f"{fits}{steps.fits}"
        missing, outside = ("NULL" if code is None else str(code) for code in (part.missing_code, part.outside_code))
        lacking = "FALSE" if isinstance(part.missing, float | int) else self.absent
        if missing == outside == "NULL":  # which is faster, as DuckDB works expressions of several cases out twice
            code = f"{code} + CASE WHEN {fits} AND NOT {lacking} THEN 0 END"
        else:
            code = f"CASE WHEN {lacking} THEN {missing} WHEN {fits} THEN {code} ELSE {outside} END"
        return code, self.named(steps.given)

    @property
    def dialect(self) -> SqlDialect:
        """Parameters of its own."""
        return SqlDialect(f"$given_{self.name}_{{}}".format, DIALECT.nearest)

    def named(self, given: Mapping[str, float]) -> dict[str, Any]:
        """Parameters by the names that they have there."""
        return {f"{self.name}_{name}": value for name, value in given.items()}

    def told(self, part: Domain, table: str = "") -> str:
        """The input of a code: of a moment the minute, where that is enough, to keep inputs few."""
        name = f"{table}{self.name}"
        if not part.by_minute:
            return name
        if self.kind in TEXT:
            return f"CASE WHEN regexp_full_match({name}, {literal(PLAIN_MOMENT)}) THEN left({name}, 16) ELSE {name} END"
        if self.kind in NANOSECONDS:  # which DuckDB would round to microseconds first, perhaps into the next minute
            held = f"epoch_ns({name})"
            minute = f"({held} - CASE WHEN {held} < 0 THEN {NANOS - 1} ELSE 0 END) // {NANOS}"
            return f"CASE WHEN isfinite({name}) THEN make_timestamp({minute} * {MINUTE}) ELSE {name} END"
        return f"date_trunc('minute', {name})" if self.kind in MOMENTS - {"DATE"} else name

    def matches(self, part: Domain) -> str | None:
        """Whether its value counts as a one, where DuckDB compares as Python; missing is none."""
        if part.where is None or part.missing == REFUSE:
            return None
        same = []
        for place, value in enumerate(part.where):
            if isinstance(value, float) and self.kind in STORED:
                same.append(f"{self.number} = $given_{self.name}_{place}")
            elif isinstance(value, str) and self.kind in TEXT:
                same.append(f"trim({self.name}, {literal(SPACE)}) = $given_{self.name}_{place}")
            else:
                return None
        return f"coalesce({' OR '.join(same)}, false)"
