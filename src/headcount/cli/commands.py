"""Commands in which every option counts: a single-valued option given twice is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from headcount.cli.option_groups import flattened
from headcount.common.calls import left_out
from headcount.common.plugins import entry_points_of
from headcount.errors import BadArgument, Refused

CONTRIBUTED = "headcount.commands"  # the entry points by which other packages add commands
PARTS = "headcount.parts"  # those of what our own commands need of the service
OTHERWISE = {  # what is called otherwise elsewhere
    "median": "quantile, which tells the median unless --at says otherwise",
    "percentile": "quantile, as in quantile --at 0.9",
    "average": "mean",
    "top": "histogram, as in histogram --top 20",
}
SERVICE, SURVEY = "service", "survey"  # our packages that contribute commands


def _refuse_repeated(command: Any, context: Any, words: list[str]) -> Mapping[str, Any]:
    """The options as they are typed.

    They are counted as they are parsed, so that --n 3 --n=4 and --clip --no-clip are found, too.
    """
    typed, _, order = command.make_parser(context).parse_args(args=list(words))
    for option, times in Counter(order).items():
        if times > 1 and option.param_type_name == "option" and not (option.multiple or option.count):
            raise BadArgument(option.opts[0], f"is given {times} times", "give it once: only one of them could count")
    return cast(Mapping[str, Any], typed)


def _refuse_incomplete(command: Any, typed: Mapping[str, Any]) -> None:
    """An option that is left out is refused with what it is for."""
    if any(option.is_eager and option.name in typed for option in command.params) or "help" in typed:
        return
    for option in command.params:
        if option.required and option.param_type_name == "option" and option.name not in typed:
            told = option.help or "what it is."
            raise left_out(option.name, f"say {told[0].lower()}{told[1:].rstrip('.')}")


def _pairs_apart(command: Any, words: list[str]) -> list[str]:
    """The two values of an option may be separated by a comma, as in lists: --bounds 0,120."""
    pairs = {name for option in command.params if option.nargs == 2 for name in option.opts}
    apart: list[str] = []
    for before, word in zip([None, *words], words, strict=False):
        apart += word.split(",") if before in pairs and word.count(",") == 1 else [word]
    return apart


class Command(TyperCommand):
    """A command without options that are given and not used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = _pairs_apart(self, args)
        typed = _refuse_repeated(self, ctx, args)
        if not ctx.resilient_parsing:
            _refuse_incomplete(self, typed)
        return super().parse_args(ctx, args)


class CommandGroup(TyperGroup):
    """The same for what stands before the name of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)


class Elsewhere(CommandGroup):
    """A group that imports commands when asked for them: importing all takes as long as an answer.

    Another package adds a command, a function or a group of `Commands`, by an entry point:

        [project.entry-points."headcount.commands"]
        study = "headcount_survey.cli.study:studies"
    """

    panels: ClassVar[Mapping[str, Mapping[str, str]]]  # of names with places: a module and a name, or a package

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Imported(self.panels)

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in OTHERWISE:
            raise Refused(f"{cmd_name} is no command", f"use {OTHERWISE[cmd_name]}")
        package = self.commands.places.get(cmd_name)
        if package in (SERVICE, SURVEY) and cmd_name not in self.commands:
            raise _not_installed(cmd_name, package)
        return super().get_command(ctx, cmd_name)


class Imported(Mapping[str, Any]):
    """The commands by name: questions, those found in their modules, and those of other packages.

    No package takes the place of a command of headcount's own.
    """

    def __init__(self, panels: Mapping[str, Mapping[str, str]]) -> None:
        self.places = {name: place for part in panels.values() for name, place in part.items()}
        self._panels = {name: panel for panel, part in panels.items() for name in part}
        self._first, self._found = next(iter(panels)), dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            built = self._found[name] = _built(name, self._imported(name))
            built.rich_help_panel = self._panels.get(name, None if name in _contributed() else self._first)
        return self._found[name]

    def _imported(self, name: str) -> Any:
        module, _, attribute = self.places.get(name, "").rpartition(".")
        if module:
            return getattr(import_module(f"headcount.cli.{module}"), attribute)
        from headcount.cli.questions import COMMANDS

        return COMMANDS[name] if name in COMMANDS else _contributed()[name].load()

    def __iter__(self) -> Iterator[str]:
        from headcount.questions import QUESTIONS

        contributed = _contributed()
        own = (name for name, place in self.places.items() if "." in place or name in contributed)
        return iter({**QUESTIONS, **dict.fromkeys(own), **contributed})

    def __len__(self) -> int:
        return sum(1 for _ in self)


def part_of_service(name: str, purpose: str) -> Any:
    """The part of the service with this name, or a refusal that says how to install it."""
    for point in entry_points_of(PARTS):
        if point.name == name:
            return point.load()
    raise _not_installed(purpose, "service")


def _not_installed(purpose: str, package: str) -> Refused:
    problem = f"{purpose} needs the {package}, which is not installed"
    return Refused(problem, f"in a clone of headcount, run pip install ./{package}")


def _contributed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points_of(CONTRIBUTED)}


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

    Typer's own tracebacks are off: they print the variables of every frame, and an answer may be
    among them.
    """

    def __init__(self, cls: type[CommandGroup] = CommandGroup, add_completion: bool = False, **settings: Any) -> None:
        settings |= {"add_completion": add_completion, "no_args_is_help": True, "pretty_exceptions_enable": False}
        super().__init__(cls=cls, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        add = super().command(name, cls=Command, **settings)
        return lambda act: add(flattened(act))
