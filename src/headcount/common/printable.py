"""Words of others, as they may stand on a terminal."""

from __future__ import annotations

from unicodedata import category

REPLACED = "\N{REPLACEMENT CHARACTER}"
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, changes of direction, halves of letters, ends of lines


def is_control(letter: str) -> bool:
    """Whether a terminal might do what this character says instead of showing it."""
    return not letter.isprintable() and category(letter) in OBEYED


def printable(text: str, keep: str = "") -> str:
    """The text without escape codes and other characters that are obeyed, but for those to keep."""
    if text.isprintable():
        return text
    return "".join(REPLACED if is_control(letter) and letter not in keep else letter for letter in text)
