"""Numbers as people type them: whole ones as 10000, 10,000, 10_000 or 1e4, others as 0.2."""

from __future__ import annotations

import re
from typing import Any

import typer

from headcount.errors import BadArgument

DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
WORKS = "write a whole number, as 10000, 10,000 or 1e4"


def looks_whole(text: str) -> bool:
    try:
        whole("", text)
    except BadArgument:
        return False
    return True


def whole(argument: str, text: str, works: str = WORKS) -> int:
    """The number; what may be a fraction is refused, also 10.000, which is ten or ten thousand."""
    digits = text.strip().replace("_", "")
    digits = digits.replace(",", "") if THOUSANDS.fullmatch(digits) else digits
    if re.fullmatch(r"[-+]?\d+", digits):
        return int(digits)
    if re.fullmatch(r"\d+(\.\d+)?[eE]\+?\d{1,2}", digits) and float(digits).is_integer():
        return int(float(digits))
    raise BadArgument(argument, f"is {text!r}", works)


def typed(text: Any) -> int:
    """The parser of options that take a whole number."""
    try:
        return whole("", str(text))
    except BadArgument:
        raise typer.BadParameter(f"{text!r} is not clear; {WORKS}") from None


def decimal(text: Any) -> float:
    """The parser of number options, in which a comma may stand for the point or part thousands."""
    try:
        return float(text)
    except ValueError:
        written = str(text).strip().replace(",", ".")
        works = f"write {written}" if DECIMAL_COMMA.fullmatch(str(text).strip()) else "write a number, as 0.2"
        raise typer.BadParameter(f"{text!r} is no number; {works}") from None


WHOLE: dict[str, Any] = {"parser": typed, "metavar": "NUMBER"}  # the arguments of such an option
DECIMAL: dict[str, Any] = {"parser": decimal, "metavar": "NUMBER"}
