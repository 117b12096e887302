"""How text is written in columns: synonyms, words for missing values, and a form of numbers.

A rule is about one value, and declared beforehand, as every other way to read it. Text is taken by
it to the text that is then read; what is no text stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.reading import SPACE, Array, declared_text, distinct

FORMS = {"1,234.50": (",", "."), "1.234,50": (".", ","), "1 234,50": (" \u00a0\u202f", ","), "1'234.50": ("'’", ".")}
SIGNS = "€$£¥₹₩₽₺"
NO_NUMBER = "?"  # what text is read as that is no number in the form that was declared
MOST_WORDS = 1_000
_GAP = "[ \u00a0\u202f]?"
_CURRENCY = f"(?:[{SIGNS}]|[A-Z]{{3}}|kr|zł|Kč|Ft)"
_WORDS = Phrase("name other words for the same, as in {synonyms}", synonyms={"Germany": ["germany", "Deutschland"]})
BLANKS = Phrase("list the text that means nothing, as in {blanks}", blanks=["NA", "-"])


@dataclass(frozen=True)
class InSQL:
    """How a database casts to text, strips white space, and matches a pattern in full."""

    text: Callable[[str], str]
    trimmed: Callable[[str], str]
    matching: Callable[[str, str], str]


@dataclass(frozen=True)
class TextRules:
    """The meaning of each word (None if it counts as missing), and how numbers are written."""

    words: tuple[tuple[str, str | None], ...] = ()
    numbers: str | None = None
    rules: tuple[str, ...] = field(default=(), compare=False)

    plain: ClassVar[TextRules]

    @classmethod
    def of(cls, synonyms: Mapping[str, Any] | None, blanks: Any, numbers: str | None) -> TextRules:
        """From what the asker says."""
        same, nothing = _synonyms(synonyms), _listed("blanks", blanks, BLANKS)
        words: dict[str, str | None] = {}
        for label, others in [*same.items(), (None, nothing)]:
            for word in others:
                if word in words:
                    raise BadArgument("synonyms" if word not in nothing else "blanks", f"names {word!r} twice", _WORDS)
                words[word] = label
        if len(words) > MOST_WORDS:
            raise BadArgument("synonyms", f"are {len(words):,}", f"use at most {MOST_WORDS:,}")
        if numbers is not None and numbers not in FORMS:
            works = Phrase("use one of {}: for example {numbers}", ", ".join(FORMS), numbers="1.234,50")
            raise BadArgument("numbers", f"is {numbers!r}", works)
        said = [
            f"{_and(others)} {'counts' if len(others) == 1 else 'count'} as {label}" for label, others in same.items()
        ]
        said += [f"{_and(nothing)} {'is' if len(nothing) == 1 else 'are'} missing"] if nothing else []
        said += [f"numbers are written as {numbers}"] if numbers is not None else []
        return cls(tuple(words.items()), numbers, tuple(said))

    def of_column(self, column: Array, *, numeric: bool) -> Array:
        """The entries as they are read; `numeric` if that is as numbers."""
        if not self._apply(numeric) or column.dtype.kind not in "OU":
            return column
        different, places = distinct(np.ma.getdata(column))
        taken = np.fromiter((self._taken(one, numeric) for one in different), dtype=object, count=len(different))
        read = taken[places]
        return np.ma.masked_array(read, np.ma.getmaskarray(column)) if np.ma.isMaskedArray(column) else read

    def in_sql(self, column: str, database: InSQL, *, numeric: bool) -> str:
        """The same of a column of text in SQL."""
        if not self._apply(numeric):
            return column
        said, read = database.trimmed(column), column
        if numeric and self.numbers is not None:
            drop, point = _dropped(self.numbers)
            number = f"translate({said}, {database.text(point + drop)}, '.')"
            fits = database.matching(said, _pattern(self.numbers))
            read = f"CASE WHEN {fits} THEN {number} WHEN coalesce({said}, '') = '' THEN NULL ELSE '{NO_NUMBER}' END"
        cases = (f"WHEN {database.text(w)} THEN {'NULL' if to is None else database.text(to)}" for w, to in self.words)
        return f"CASE {said} {' '.join(cases)} ELSE {read} END" if self.words else read

    def _apply(self, numeric: bool) -> bool:
        return bool(self.words) or (numeric and self.numbers is not None)

    def _taken(self, value: object, numeric: bool) -> object:
        if not isinstance(value, str):
            return value
        said, words = value.strip(SPACE), dict(self.words)
        if said in words:
            return words[said]
        if not numeric or self.numbers is None or not said:
            return value
        drop, point = _dropped(self.numbers)
        if not re.fullmatch(_pattern(self.numbers), said):
            return NO_NUMBER
        return said.translate({**dict.fromkeys(map(ord, drop)), ord(point): "."})


TextRules.plain = TextRules()


def _dropped(form: str) -> tuple[str, str]:
    """Which characters are no part of the numeral itself, and the decimal point."""
    group, point = FORMS[form]
    letters = "".join(map(chr, range(ord("A"), ord("Z") + 1)))
    return f"{group} \u00a0\u202f{SIGNS}{letters}krzłKčFt", point


def _pattern(form: str) -> str:
    """What numbers look like in this form: the same to Python, to RE2 and to Java."""
    group, point = FORMS[form]
    whole = f"(?:[0-9]+|[0-9]{{1,3}}(?:[{group}][0-9]{{3}})+)"
    return f"[+-]?(?:{_CURRENCY}{_GAP})?[+-]?{whole}(?:[{point}][0-9]*)?(?:{_GAP}{_CURRENCY})?"


def _synonyms(given: Any) -> dict[str, list[str]]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(label, str) for label in given):
        raise BadArgument("synonyms", f"are a {type(given).__name__}", _WORDS)
    return {declared_text("synonyms", label): _listed("synonyms", others, _WORDS) for label, others in given.items()}


def _listed(argument: str, given: Any, works: Phrase) -> list[str]:
    several = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(several, Iterable) or isinstance(several, Mapping):
        raise BadArgument(argument, f"is a {type(given).__name__}", works)
    words = [*several]
    if not all(isinstance(word, str) for word in words):
        raise BadArgument(argument, "names something that is no text", works)
    return [declared_text(argument, word) for word in words]


def _and(words: list[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
