"""Commands for every question, made from what questions say they have to be told."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer

from headcount.cli.option_groups import with_options
from headcount.cli.options import bins_of, categories_of, columns_of, groups_of, limits_of
from headcount.questions.argument import Argument, Told
from headcount.questions.question import Question

TYPED: dict[Told, Any] = {
    Told.LABELS: str,
    Told.GROUPS: list[str],
    Told.BOUNDS: tuple[float, float],
    Told.LIMITS: tuple[str, str],
    Told.EDGES: str,
    Told.NUMBER: float,
    Told.TEXT: str,
    Told.FLAG: bool,
    Told.COLUMNS: list[str],
}
OF_ONE_COLUMN = ("column", "where", "by")  # what is not asked where the question names its columns
SECTION = re.compile(r"\n\n\w+\n-{3,}\n")  # of a docstring, which tells programmers what the options tell here
READ: dict[Told, Callable[[Any], Any]] = {
    Told.LABELS: categories_of,
    Told.GROUPS: groups_of,
    Told.LIMITS: limits_of,
    Told.EDGES: bins_of,
    Told.COLUMNS: columns_of,
}


def posing(kind: type[Question], act: Callable[..., None]) -> Callable[..., None]:
    """The command that poses a question of this kind and passes it, with its options, to `act`."""

    _, *every = inspect.signature(act, eval_str=True).parameters.values()
    named = any(each.told is Told.COLUMNS for each in kind.arguments)
    own = [each for each in every if not (named and each.name in OF_ONE_COLUMN)]
    left = {each.name: None for each in every if each not in own}

    def command(**typed: Any) -> None:
        told = {each.name: READ.get(each.told, _as_it_is)(typed.pop(each.name)) for each in kind.arguments}
        act(kind.posed(**told), **typed, **left)

    options = [*map(_option, kind.arguments), *own]
    return with_options(command, options, SECTION.split(inspect.cleandoc(kind.__doc__ or ""), maxsplit=1)[0])


def _option(argument: Argument) -> inspect.Parameter:
    typed, missing = TYPED[argument.told], None if argument.told is not Told.FLAG else False
    typed = typed if argument.needed or argument.told is Told.FLAG else typed | None
    return inspect.Parameter(
        argument.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if argument.needed else missing,
        annotation=Annotated[typed, typer.Option(help=argument.help)],
    )


def _as_it_is(typed: Any) -> Any:
    return typed
