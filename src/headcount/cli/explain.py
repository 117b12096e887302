"""The glossary on the command line."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from headcount.cli.commands import Commands
from headcount.cli.options import Formats
from headcount.cli.render import Format, show
from headcount.errors import BadArgument
from headcount.planner.glossary import Entry, entries, entry
from headcount.planner.glossary import explain as explained

glossary = Commands()


@glossary.command("explain", context_settings={"ignore_unknown_options": True})  # options are words, too
def explain(
    word: Annotated[
        list[str] | None, typer.Argument(help="A heading, a name in JSON, an option or a protocol; all if left out.")
    ] = None,
    how: Formats = Format.TABLE,
) -> None:
    """What a word means, or several, in a sentence or two each."""
    if not word:
        lines = (line.partition(": ") for line in explained().splitlines())
        topics = [(Text(topic, style="bold"), Padding(Text(words), (0, 0, 1, 2))) for topic, _, words in lines]
        show([one.to_json() for one in entries()], how, Group(*(part for topic in topics for part in topic)))
        return
    found = _found(word)
    rows = [one.to_json() for one in found]
    texts = [Text.assemble((one.word, "bold"), f": {one.meaning}") for one in found]
    show(rows[0] if len(rows) == 1 else rows, how, Group(*texts))


def _found(words: list[str]) -> list[Entry]:
    """Entries for these words, the longest phrases first: `95% interval` is one entry."""
    found: list[Entry] = []
    while words:
        for length in range(len(words), 0, -1):
            try:
                found.append(entry(" ".join(words[:length])))
            except BadArgument:
                if length == 1:
                    raise
            else:
                words = words[length:]
                break
    return found
