"""Text that names arguments, and how they are written: in Python, on the command line, on the page.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any, Self


class Spelling:
    """How arguments are written: as in Python. Surfaces with other names override these methods."""

    def argument(self, name: str) -> str:
        return name

    def setting(self, name: str, value: object = ...) -> str:
        """An argument with its value, which is left open if it is `...`."""
        return f"{name}={'' if value is ... else shortly(value)}"

    def offers(self, name: str) -> bool:
        """Whether there is such an argument."""
        return True


PYTHON = Spelling()


def shortly(value: object) -> str:
    """The repr, without zeros that pad an exponent: 1e-6."""
    digits, e, exponent = repr(value).partition("e") if isinstance(value, float) else (repr(value), "", "")
    return f"{digits}e{int(exponent)}" if e else digits


class Phrase(str):
    """Text that names arguments: as a string in Python's spelling, and by `said` in any other.

    Braces with a name stand for an argument and its value, or for the argument alone if no value is
    given: of `Phrase("use {clip}", clip=True)` Python makes "use clip=True", and the command line
    "use --clip". Braces without a name hold other text, which may be a phrase itself.
    """

    _template: str
    _parts: tuple[object, ...]
    _settings: dict[str, object]

    def __new__(cls, template: str, *parts: object, **settings: object) -> Self:
        made = super().__new__(cls, _filled(template, parts, settings, PYTHON))
        made._template, made._parts, made._settings = template, parts, settings
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[object, ...], dict[str, object]]:
        return (self._template, *self._parts), self._settings

    @classmethod
    def joined(cls, separator: str, parts: Iterable[str]) -> Self:
        every = list(parts)
        return cls(separator.join(["{}"] * len(every)), *every)

    def said(self, spelling: Spelling) -> str:
        return _filled(self._template, self._parts, self._settings, spelling)

    @property
    def arguments(self) -> set[str]:
        """The arguments that it names."""
        return {name for _, name, _, _ in Formatter().parse(self._template) if name}


class Aside(Phrase):
    """A remark that is left out where one of its arguments is not offered."""

    def said(self, spelling: Spelling) -> str:
        return super().said(spelling) if all(map(spelling.offers, self.arguments)) else ""


class ArgumentName(Phrase):
    """The name of an argument by itself."""

    def said(self, spelling: Spelling) -> str:
        return spelling.argument(self._template)


def setting(name: str, value: object = ...) -> Phrase:
    """The argument of this name with its value, or alone."""
    return Phrase(f"{{{name}}}", **{name: value})


def packed(text: str) -> str:
    """The text as a literal that `unpacked` reads, to be sent as a string."""
    return repr(_pack(text))


def unpacked(literal: str) -> str:
    text: str = _unpack(literal_eval(literal))
    return text


def _pack(text: object) -> object:
    if not isinstance(text, Phrase):
        return text
    return type(text).__name__, text._template, tuple(map(_pack, text._parts)), text._settings


def _unpack(packed: Any) -> Any:
    if not isinstance(packed, tuple):
        return packed
    kind, template, parts, settings = packed
    return KINDS[kind](template, *map(_unpack, parts), **settings)


KINDS = {kind.__name__: kind for kind in (Phrase, Aside, ArgumentName)}


def said(text: object, spelling: Spelling) -> str:
    """The text in this spelling."""
    return text.said(spelling) if isinstance(text, Phrase) else str(text)


def _filled(template: str, parts: Iterable[object], settings: Mapping[str, object], spelling: Spelling) -> str:
    rest, words = iter(parts), list[str]()
    for literal, name, _, _ in Formatter().parse(template):
        words.append(literal)
        if name is not None:
            words.append(spelling.setting(name, settings.get(name, ...)) if name else said(next(rest), spelling))
    return "".join(words)
