"""Commands of which every option counts: one that takes a single value is refused if it is given twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar

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


class Elsewhere(Group):
    """A group whose commands are imported when they are asked for: importing all takes as long as an answer."""

    places: ClassVar[Mapping[str, str]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Imported(self.places)

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands]


class Imported(Mapping[str, Any]):
    """The commands by name, each built from what is found in its module."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places, self._found = places, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            module, _, attribute = self._places[name].rpartition(".")
            self._found[name] = _built(name, getattr(import_module(f"headcount.cli.{module}"), attribute))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _built(name: str, found: Any) -> Any:
    """A command, or a group of them. Typer makes a group of one command the command itself."""
    if not isinstance(found, Commands):
        alone = Commands()
        alone.command(name)(found)
        found = alone
    built = typer.main.get_command(found)
    built.name = name
    return built


class Commands(typer.Typer):
    """A group of such commands, which shows its help when nothing is asked of it.

    Typer's own tracebacks are off: they print the variables of every frame, and an answer may be among them.
    """

    def __init__(self, cls: type[Group] = Group, **settings: Any) -> None:
        super().__init__(
            cls=cls, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, **settings
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, cls=Command, **settings)
