"""Options that several commands share are one parameter of each, and options of their own for people."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from headcount.cli.commands import Commands
from headcount.cli.option_groups import OptionGroup, flattened


@dataclass(frozen=True)
class Size(OptionGroup):
    width: Annotated[int, typer.Option(help="How wide it is.")]
    height: Annotated[int, typer.Option("--tall", help="How high it is.")] = 3


def draw(
    name: Annotated[str, typer.Argument()],
    colour: Annotated[str, typer.Option()] = "red",
    *,
    size: Size,
    thick: Annotated[bool, typer.Option()] = False,
) -> None:
    """Draws a box."""
    print(name, colour, size, thick)


def said(*words):
    commands = Commands()
    commands.command()(draw)
    return CliRunner().invoke(commands, words)


def test_a_group_arrives_in_one_piece():
    assert said("box", "--width", "2", "--thick").output == "box red Size(width=2, height=3) True\n"
    assert said("box", "--tall", "5", "--width", "2").output == "box red Size(width=2, height=5) False\n"


def test_an_option_without_a_default_is_needed():
    assert str(said("box").exception) == "width is missing; say how wide it is"


def test_help_shows_options_in_the_order_of_the_parameters():
    shown = said("--help").output
    places = [shown.index(word) for word in ("Draws a box", "--colour", "--width", "--tall", "--thick")]
    assert places == sorted(places)


def test_a_command_without_groups_stays_as_it_is():
    assert flattened(said) is said
