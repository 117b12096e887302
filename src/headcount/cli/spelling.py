"""Messages that speak of Python's arguments, in the spelling of the command line. This is the one place for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from headcount.errors import BadArgument, Refused

PHRASES = {
    "a pair such as (1_000, 5_000)": "a range as 1000..5000",
    "a table such as {0: 90, 500: 10}": "a table such as 0:90,500:10",
    "use (low, high) with low < high": "use the lower bound and then the upper",
    "use (low, high) with": "use the lower end and then the upper, with",
    "10**6": "1e6",
    "plan.save": "headcount advise … --save",
}
RENAMED = {"models": "model"}
FIGURES = ("epsilon", "delta")  # an argument only after "use"; elsewhere they tell what is
ADVICE = {"--least", "--delta", "--epsilon", "--max-messages", "--max-bytes", "--model"}  # of what an advice speaks
VALUE = r"\([^()]*\)|\[[^\[\]]*\]|'[^']*'|[\w.+-]*\w|"


def flags_of(command: Any) -> set[str]:
    """The options that a command has."""
    return {flag for part in command.params for flag in part.opts}


def as_typed(refusal: Refused, flags: Collection[str]) -> str:
    """A refusal, in terms of the options that the command has."""
    message = str(refusal)
    if isinstance(refusal, BadArgument) and (flag := _flag(refusal.argument)) in flags:
        message = message.replace(refusal.argument, flag, 1)
    return spelt(message, flags)


def spelt(message: str, flags: Collection[str] = ADVICE) -> str:
    for phrase, instead in PHRASES.items():
        message = message.replace(phrase, instead)

    def option(found: re.Match[str]) -> str:
        flag = _flag(found["name"])
        if flag not in flags or (found["name"] in FIGURES and not found["use"]):
            return found[0]
        shown = {"True": flag, "False": f"no {flag}"}.get(found["value"]) or f"{flag} {_typed(found['value'])}".rstrip()
        return f"{found['use'] or ''}{shown}"

    return re.sub(rf"(?P<use>\b[Uu]se (?:for example )?)?\b(?P<name>[a-z]\w*)=(?P<value>{VALUE})", option, message)


def _flag(argument: str) -> str:
    return f"--{RENAMED.get(argument, argument).replace('_', '-')}"


def _typed(value: str) -> str:
    """A pair is typed with a space between, a list with commas."""
    between = " " if value.startswith("(") else ","
    return between.join(part.strip().strip("'") for part in value.strip("()[]").split(","))
