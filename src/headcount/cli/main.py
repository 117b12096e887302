"""The command line. A refused request says why, on one line, and exits with code 2.

Whatever else goes wrong exits with code 70 and shows where, but no value: neither variables nor
what an exception says, either of which may be somebody's answer.
"""

from __future__ import annotations

import sys
from traceback import extract_tb
from typing import Annotated, Any, ClassVar

import typer

import headcount
from headcount.cli.commands import SERVICE, SURVEY, Commands, Elsewhere
from headcount.cli.spelling import Flags
from headcount.common.printable import printable
from headcount.errors import Refused

NEWLINE = "\n"
FAULT = 70  # as sysexits.h has it: an error of the programme's own


class Everything(Elsewhere):
    """All our own commands except questions, which come first; the module and name of each.

    The help shows them in panels, and in these also what our other packages contribute.
    """

    panels: ClassVar = {
        "Ask about data": {
            "series": "series.series",
            "compare": "compare.compare",
            "difference": "two_answers.difference",
            "ratio": "two_answers.ratio",
            "ledger": "ledger.ledgers",
            "web": SERVICE,
        },
        "Choose a protocol": {
            "advise": "advise.advisor",
            "run": "plans.run",
            "frontier": "frontier.frontiers",
            "map": "frontier.draw_map",
            "price": "price.price",
            "protocols": "catalogue.protocols",
            "explain": "explain.glossary",
        },
        "Prove and attack": {
            "certify": "proof.certify",
            "verify": "proof.verify",
            "audit": SURVEY,
            "study": SURVEY,
            "export": "plans.export",
        },
        "Collect from devices": dict.fromkeys(
            ("demo", "collection", "serve", "party", "desk", "keys", "tokens", "batch"), SERVICE
        ),
    }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] == "compare" and any(word.endswith(".json") for word in args[1:]):
            works = "use difference for how much more, and ratio for how many times as much"
            raise Refused("compare asks about the people in a file, and these are answers", works)
        return super().resolve_command(ctx, args)


app = Commands(cls=Everything, add_completion=True, help="Count people without learning about any one of them.")


def _version(asked: bool) -> None:
    if asked:
        print(headcount.__version__)
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="The installed version.")
    ] = False,
) -> None:
    """Count people without learning about any one of them."""


def main() -> None:
    try:
        app()
    except Refused as refusal:
        said = refusal.said(Flags(_command(sys.argv[1:])))
        print(f"headcount: {printable(said, keep=NEWLINE)}", file=sys.stderr)
        sys.exit(2)
    except Exception as fault:  # noqa: BLE001  # whatever it is, no value of it is shown
        print(f"headcount: {_told(fault)}", file=sys.stderr)
        sys.exit(FAULT)


def _told(fault: Exception) -> str:
    """The place and kind of an unexpected error, for a bug report."""
    places = [f"  {frame.filename}, line {frame.lineno}, in {frame.name}" for frame in extract_tb(fault.__traceback__)]
    kind = type(fault).__name__
    return "\n".join([f"an error of the programme's own ({kind}); please report it with these lines", *places])


def _command(words: list[str]) -> Any:
    """The command that the words begin with."""
    command: Any = typer.main.get_command(app)
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    return command
