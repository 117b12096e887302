"""A YAML writer for JSON values that people read and edit; there is no reader.

Whatever could be taken for something else is put in quotes, so that every reader finds the very
same values.
"""

from __future__ import annotations

import math
import re
from typing import Any

from headcount.errors import BadArgument

PHRASE = re.compile(r"[A-Za-z]([A-Za-z0-9 _-]*[A-Za-z0-9])?")
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})  # which mean something by themselves
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def as_yaml(value: Any) -> str:
    """The value as a document of YAML."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        return [line for name, part in value.items() for line in _under(f"{_scalar(name)}:", part)]
    if isinstance(value, list) and value:
        return [line for part in value for line in _item(part)]
    if _is_block(value):
        return ["|" if value.endswith("\n") else "|-", *(f"  {line}".rstrip(" ") for line in _rows(value))]
    return [_scalar(value)]


def _under(head: str, part: Any) -> list[str]:
    """What a name stands for: beside it, or indented below."""
    if isinstance(part, dict | list) and part:
        return [head, *_indented(_lines(part))]
    first, *rest = _lines(part)
    return [f"{head} {first}", *rest]


def _item(part: Any) -> list[str]:
    first, *rest = _lines(part)
    return [f"- {first}", *(rest if _is_block(part) else _indented(rest))]


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def _rows(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _is_block(value: Any) -> bool:
    """Whether the text has several lines that can stand there as they are."""
    if not isinstance(value, str) or "\n" not in value.removesuffix("\n"):
        return False
    rows = _rows(value)
    plain = all(row.isprintable() and row == row.rstrip() for row in rows)
    return plain and bool(rows[0]) and bool(rows[-1]) and not rows[0].startswith(" ")


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return value if PHRASE.fullmatch(value) and value.lower() not in WORDS else _quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        digits = repr(value)  # a number with an exponent needs its point, or it is text to many readers
        return digits.replace("e", ".0e") if "e" in digits and "." not in digits else digits
    if value in ({}, []):
        return "{}" if isinstance(value, dict) else "[]"
    raise BadArgument("value", f"is a {type(value).__name__}", "use text, finite numbers, lists and dicts")


def _quoted(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(letter: str) -> str:
    if letter in ESCAPES:
        return ESCAPES[letter]
    code = ord(letter)
    return letter if letter.isprintable() else f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"
