"""Options that several commands share: a dataclass with a field for each, as one parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from inspect import Parameter
from typing import Any, get_type_hints


class OptionGroup:
    """Base of such dataclasses: each field is an option, its type being typer's description."""


def flattened(act: Callable[..., Any]) -> Callable[..., Any]:
    """The command with each option of its groups as a parameter of its own, as typer wants them."""
    given = inspect.signature(act, eval_str=True).parameters.values()
    groups = {each.name: each.annotation for each in given if _is_group(each.annotation)}
    if not groups:
        return act

    def command(**typed: Any) -> Any:
        made = {
            name: kind(**{each.name: typed.pop(each.name) for each in fields(kind)}) for name, kind in groups.items()
        }
        return act(**typed, **made)

    options = (option for each in given for option in (_options(groups[each.name]) if each.name in groups else [each]))
    return with_options(command, options, act.__doc__)


def with_options(command: Callable[..., Any], options: Iterable[Parameter], words: str | None) -> Callable[..., Any]:
    """The command as a function with these parameters, from which typer reads options and help."""
    signature = inspect.Signature([each.replace(kind=Parameter.KEYWORD_ONLY) for each in options])
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    command.__doc__ = words
    return command


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, OptionGroup)


def _options(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(kind)
    ]
