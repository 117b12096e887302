"""The glossary on the command line."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from headcount.cli.options import Formats
from headcount.cli.render import Format, show
from headcount.planner.glossary import entries, entry
from headcount.planner.glossary import explain as explained


def explain(
    word: Annotated[
        list[str] | None, typer.Argument(help="A heading, a name in JSON, an option or a protocol; all if left out.")
    ] = None,
    how: Formats = Format.TABLE,
) -> None:
    """What a word means, in a sentence or two."""
    if not word:
        lines = (line.partition(": ") for line in explained().splitlines())
        topics = [(Text(topic, style="bold"), Padding(Text(words), (0, 0, 1, 2))) for topic, _, words in lines]
        show([one.to_json() for one in entries()], how, Group(*(part for topic in topics for part in topic)))
        return
    found = entry(" ".join(word))
    show(found.to_json(), how, Text.assemble((found.word, "bold"), f": {found.meaning}"))
