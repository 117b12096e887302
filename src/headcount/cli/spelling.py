"""Refusals and advice in the words of the command line."""

from __future__ import annotations

from typing import Any

from headcount.phrases import Spelling, shortly


class Flags(Spelling):
    """Arguments as the options of a command; one that it does not have as an option of another."""

    def __init__(self, command: Any) -> None:
        self._options = {option.name: option for option in command.params if option.param_type_name == "option"}

    def argument(self, name: str) -> str:
        return self._options[name].opts[0] if name in self._options else name.replace("_", " ")

    def setting(self, name: str, value: object = ...) -> str:
        on, off = f"--{name.replace('_', '-')}", [f"--no-{name.replace('_', '-')}"]
        if name in self._options:
            on, off = self._options[name].opts[0], self._options[name].secondary_opts
        if value is False:
            return off[0] if off else f"no {on}"
        return on if value is ... or value is True else f"{on} {_typed(value)}"

    def offers(self, name: str) -> bool:
        return name in self._options


def _typed(value: Any) -> str:
    """A value as typed: pairs with a space between, lists with commas, mappings as name=value."""
    match value:
        case str():
            return value
        case tuple():
            return " ".join(map(_typed, value))
        case list():
            return ",".join(map(_typed, value))
        case dict() if all(isinstance(key, str) for key in value):
            return " ".join(f"{key}={_typed(part)}" for key, part in value.items())
        case dict():
            return ",".join(f"{_typed(key)}:{_typed(part)}" for key, part in value.items())
        case _:
            return shortly(value)
