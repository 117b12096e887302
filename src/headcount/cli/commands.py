"""Commands of which every option counts: one that takes a single value is refused if it is given twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from headcount.core.errors import BadArgument


def _refuse_repeated(command: Any, context: Any, words: list[str]) -> None:
    """Options are counted as they are parsed, so that --n 3 --n=4 and --clip --no-clip are found, too."""
    _, _, order = command.make_parser(context).parse_args(args=list(words))
    for option, times in Counter(order).items():
        if times > 1 and option.param_type_name == "option" and not (option.multiple or option.count):
            raise BadArgument(option.opts[0], f"is given {times} times", "give it once: only one of them could count")


class Command(TyperCommand):
    """A command without options that are given and not used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


class Group(TyperGroup):
    """The same for what stands before the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


class Commands(typer.Typer):
    """A group of such commands, which shows its help when nothing is asked of it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=Group, no_args_is_help=True, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, cls=Command, **settings)
