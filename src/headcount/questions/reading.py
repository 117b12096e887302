"""The meaning of a value: a function of it and what is declared, never of another person's value.

There are five readings: as a truth value, as a number (a double), as text and, in `times`, as a
moment or a duration. Which of them is taken follows from the question alone (docs/reading.md); of
what type an array is decides nothing but how fast it is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from headcount.errors import BadArgument, BadData
from headcount.phrases import Aside, Phrase, setting

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]
Declared: TypeAlias = bool | float | str

AS_NUMBERS = Aside(
    "say how text writes numbers, as in {numbers}, and which text means nothing, as in {blanks}",
    numbers="1,234.50",
    blanks=["NA", "-"],
)
ONE_EACH = "data must be a list, an array or a column with one value per person"
SPACE = " \t\n\r\v\f"
NUMERAL = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
EXACT = 1 << 53  # from here on, neighbouring whole numbers may be the same double
_NUMERAL = re.compile(NUMERAL)
_TRUTHS = {"true": True, "false": False}
YES, NO = ("1", "on", "t", "true", "y", "yes"), ("0", "f", "false", "n", "no", "off")
_SPELLED = {**dict.fromkeys(YES, True), **dict.fromkeys(NO, False)}
_STORED = "biuf"  # the kinds of arrays whose entries are truth values and numbers already


@dataclass(frozen=True, eq=False)
class Read:
    """Values in one reading, with masks of the meaningless ones and of the missing ones."""

    values: Array
    strange: Mask
    missing: Mask

    def at(self, places: Array) -> Read:
        return Read(self.values[places], self.strange[places], self.missing[places])

    def filled(self, missing: float | str | None) -> Read:
        """With this number where values are missing; they stay missing where it is none."""
        if missing is None or isinstance(missing, str):
            return self
        return Read(np.where(self.missing, missing, self.values), self.strange, np.zeros_like(self.missing))

    def require(self, problem: str = "", works: str = "", *, counts_as: str = "") -> Read:
        """Refuses missing values, which might be declared to count as this, and, where a problem is
        named, values without a meaning."""
        if self.missing.any():
            raise missing_values(counts_as)
        if problem and self.strange.any():
            raise BadData(problem, works)
        return self


def missing_values(counts_as: str) -> BadData:
    """The refusal of missing values, which might be declared to count as one of these."""
    works = Phrase("use {missing} to say what they count as: {}", counts_as)
    return BadData("data has missing values", works if counts_as else "leave out their rows")


# One value


def is_missing(value: object) -> bool:
    """None, NaN, masked values and pandas' gaps; and blank text, which in a CSV is the same."""
    if isinstance(value, str):
        return not value.strip(SPACE)
    if isinstance(value, float | np.floating | Decimal | np.datetime64):
        return bool(value != value)
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


def truth(value: object) -> bool | None:
    """Truth values, 1 and 0, and text for true or false (in any ASCII case) or for 1 or 0."""
    if isinstance(value, str) and (said := value.strip(SPACE)).isascii() and said.lower() in _TRUTHS:
        return _TRUTHS[said.lower()]
    found = number(value)
    return found == 1.0 if found in (0.0, 1.0) else None


def spelled_truth(value: object) -> bool | None:
    """A truth value in any spelling: as in `truth`, or yes and no, y and n, t and f, on and off."""
    if isinstance(value, str) and (said := value.strip(SPACE)).isascii() and said.lower() in _SPELLED:
        return _SPELLED[said.lower()]
    return truth(value)


def number(value: object) -> float | None:
    """The nearest double of a number, a truth value (1 or 0) or text that is a decimal numeral."""
    if isinstance(value, str):
        said = value.strip(SPACE)
        return float(said) if _NUMERAL.fullmatch(said) else None
    if not isinstance(value, bool | np.bool_ | int | np.integer | float | np.floating | Decimal):
        return None
    if _is_a_stretch(value):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def text(value: object) -> str | None:
    """Text without outer white space; a number as decimal digits; a day or a moment by ISO 8601."""
    if isinstance(value, str):
        return value.strip(SPACE)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.datetime64):
        return _moments(np.array([value]))[0]
    if isinstance(value, datetime):
        aware = value.tzinfo is not None
        try:
            said = (value.astimezone(UTC) if aware else value).isoformat().removesuffix("+00:00")
        except OverflowError:  # it has no year there
            return None
        return _moment(said, "Z" if aware else "")
    if isinstance(value, date):
        return value.isoformat()
    return _digits(value)


def _is_a_stretch(value: object) -> bool:
    """Whether it is one of numpy's stretches of time, which numpy calls integers."""
    return isinstance(value, np.generic) and value.dtype.kind == "m"


def _digits(value: object) -> str | None:
    """The shortest decimal that reads as the float, without exponent; whole ones as integers."""
    if isinstance(value, int | np.integer):
        value = None if _is_a_stretch(value) else Decimal(int(value))
    if isinstance(value, float | np.floating):
        value = float(value)
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        value = Decimal(int(value) if value.is_integer() else repr(value))
    if not isinstance(value, Decimal):
        return None
    said = format(value, "f")
    said = said.rstrip("0").rstrip(".") if "." in said else said
    return "0" if said == "-0" else said


def _moment(said: str, zone: str = "") -> str:
    """Seconds with the digits they need; midnight is the day itself, unless it has a zone."""
    day, _, time = said.partition("T")
    clock, _, parts = time.partition(".")
    if not zone and not f"{clock}{parts}".strip("0:"):
        return day
    parts = parts.rstrip("0")
    return f"{day}T{clock}{'.' if parts else ''}{parts}{zone}"


def _moments(data: Array, zone: str = "") -> list[str]:
    unit = np.datetime_data(data.dtype)[0]
    fine = data.astype("M8[D]") if unit in "YMWD" else data.astype("M8[s]") if unit in "hm" else data
    return [_moment(said, zone) for said in np.datetime_as_string(fine).tolist()]


# Many values


def truths(data: Array, *, spelled: bool = False) -> Read:
    """Truth values as 0 and 1."""
    if data.dtype.kind not in _STORED:
        return each_of(data, spelled_truth if spelled else truth, np.uint8)
    values = np.ma.getdata(data)
    missing = gaps(data)
    if data.dtype.kind == "b":
        return Read(values.view(np.uint8), np.zeros(data.size, dtype=np.bool_), missing)
    ones: Mask = values == 1
    return Read(ones.view(np.uint8), ~(ones | (values == 0) | missing), missing)


def numbers(data: Array) -> Read:
    """Numbers as doubles."""
    if data.dtype.kind not in _STORED:
        return each_of(data, number, np.float64)
    with np.errstate(over="ignore"):  # a warning would tell that somebody holds more than a double does
        values = np.ma.getdata(data).astype(np.float64, copy=False)
    return Read(values, np.zeros(data.size, dtype=np.bool_), gaps(data))


def texts(data: Array) -> Read:
    """Text as Python strings: numpy's drop a final NUL, and are all as long as the longest."""
    return each_of(data, text, object)


def in_utc(data: Array) -> Array:
    """Moments with a zone, as text: numpy has none, and Python's own end with the year 9999."""
    gaps = np.isnat(data)
    said = np.array(_moments(np.where(gaps, np.zeros_like(data), data), "Z"), dtype=object)
    said[gaps] = None
    return said


def absent(data: Array) -> Mask:
    """Which entries are missing, whatever they are read as."""
    return gaps(data) if data.dtype.kind in _STORED else each_of(data, lambda _: None, np.uint8).missing


def equal_any(data: Array, declared: Iterable[Declared]) -> Mask:
    """Who holds one of the declared values."""
    found: Mask = np.logical_or.reduce([equal(data, each) for each in declared])
    return found


def equal(data: Array, declared: Declared) -> Mask:
    """A mask of the entries that equal the declared value; missing entries never do."""
    if data.dtype.kind in "iu" and isinstance(declared, float) and declared.is_integer():
        return np.asarray(np.ma.getdata(data) == int(declared), dtype=np.bool_) & ~gaps(data)  # the same, but faster
    read = (truths if isinstance(declared, bool) else texts if isinstance(declared, str) else numbers)(data)
    same: Mask = np.asarray(read.values == declared, dtype=np.bool_)
    return same & ~read.missing & ~read.strange


def gaps(data: Array) -> Mask:
    """A mask of the missing entries of an array of truth values or numbers."""
    values = np.ma.getdata(data)
    missing: Mask = np.isnan(values) if data.dtype.kind == "f" else np.zeros(data.size, dtype=np.bool_)
    return missing | np.ma.getmaskarray(data) if np.ma.isMaskedArray(data) else missing


def each_of(data: Array, reading: Callable[[object], Any], kind: npt.DTypeLike) -> Read:
    """Every different value is read once."""
    different, places = distinct(np.ma.getdata(data))
    missing = np.fromiter(map(is_missing, different), dtype=np.bool_, count=len(different))
    found = [None if gap else reading(value) for value, gap in zip(different, missing.tolist(), strict=True)]
    strange = np.fromiter((one is None for one in found), dtype=np.bool_, count=len(found)) & ~missing
    values = np.zeros(len(found), dtype=kind)
    for place, one in enumerate(found):
        if one is not None:
            values[place] = one
    read = Read(values, strange, missing).at(places)
    if np.ma.isMaskedArray(data):
        mask = np.ma.getmaskarray(data)
        return Read(read.values, read.strange & ~mask, read.missing | mask)
    return read


def distinct(data: Array) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The distinct values, and the one of each entry; what cannot be compared counts as one."""
    if data.dtype.kind in _STORED:
        different, places = np.unique(data, return_inverse=True)
        return different.tolist(), places
    if data.dtype.kind == "M":
        different, places = np.unique(data, return_inverse=True)
        gaps = np.isnat(different)
        said: list[Any] = _moments(np.where(gaps, np.datetime64(0, "s").astype(different.dtype), different))
        return [None if gap else one for one, gap in zip(said, gaps.tolist(), strict=True)], places
    if data.dtype.kind not in "OU":
        return [...], np.zeros(data.size, dtype=np.int64)
    items = data.tolist()
    try:
        return _told_apart(items)
    except TypeError:
        return _told_apart(_comparable(item) for item in items)


def _told_apart(items: Iterable[Any]) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """By type too: to Python 1, 1.0 and True are the same."""
    seen: dict[tuple[type, Any], int] = {}
    places = np.fromiter((seen.setdefault((item.__class__, item), len(seen)) for item in items), dtype=np.int64)
    return [item for _, item in seen], places


def _comparable(item: object) -> object:
    try:
        hash(item)
    except TypeError:
        return None if item is np.ma.masked else ...
    return item


def column(data: Any) -> Array:
    """One value per person as an array. The values of a list keep their own types."""
    if isinstance(data, str | bytes | Mapping | Set) or not (isinstance(data, Iterable) or hasattr(data, "__array__")):
        raise BadData(ONE_EACH)
    if hasattr(data, "__array__"):
        array = data if isinstance(data, np.ndarray) else np.asarray(data)
        if array.ndim != 1:
            raise BadData(f"data must be one value per person, not {array.ndim}-dimensional", "try one column of it")
        return array
    items = list(data)
    kinds = {type(item) for item in items}
    if kinds <= {bool} or kinds <= {float}:
        return np.array(items, dtype=kinds.pop() if kinds else object)
    if kinds == {int} and min(items) >= -(1 << 63) and max(items) < 1 << 63:
        return np.array(items, dtype=np.int64)
    return np.fromiter(items, dtype=object, count=len(items))


# What the asker declares


def all_declared(value: object) -> tuple[Declared, ...]:
    """What `where=` says: one value, or a list of several of which each counts as a one."""
    if isinstance(value, str) or not isinstance(value, Iterable) or isinstance(value, np.generic | Mapping):
        return (declared(value),)
    found = tuple({(type(each), each): each for each in map(declared, value)}.values())
    if not found:
        raise BadArgument("where", "is an empty list", Phrase("name a value, as in {where}", where="yes"))
    return found


def declared(value: object) -> Declared:
    """The meaning of `where=`: truth values, numbers or text, each compared in its own reading."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return declared_text("where", value)
    if isinstance(value, int | float):
        return declared_number("where", value)
    works = Phrase("use text, a number or a truth value, as in {where}", where="yes")
    raise BadArgument("where", f"is a {type(value).__name__}", works)


def declared_text(argument: str, value: str) -> str:
    if is_missing(value):
        raise BadArgument(argument, "is blank, which reads as missing", "use text that people hold")
    return value.strip(SPACE)


def declared_number(argument: str, value: float) -> float:
    """Refused where doubles would take its neighbours for it."""
    if not abs(value) < EXACT:
        works = Phrase("use numbers below 2**53, or text, which is exact: {}", setting(argument, "…"))
        raise BadArgument(argument, "names a number that doubles cannot tell from its neighbours", works)
    return float(value)
