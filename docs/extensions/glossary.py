"""The glossary, from the words that `headcount explain` knows."""

from __future__ import annotations

from itertools import groupby

from headcount.planner.glossary import PROTOCOLS, entries


def page() -> str:
    """By topic; the protocols have pages of their own."""
    lines = ["# Glossary", "", "What `headcount explain WORD` and `hc.explain(word)` say.", ""]
    for topic, words in groupby(entries(), key=lambda entry: entry.topic):
        if topic == PROTOCOLS:
            continue
        lines += [f"## {topic[0].upper()}{topic[1:]}", ""]
        for entry in words:
            lines += [f"{_named(entry.word)}\n: {_plain(entry.meaning)}\n"]
    return "\n".join(lines)


def _named(word: str) -> str:
    return f"`{word}`"


def _plain(text: str) -> str:
    """Nothing in it is markup."""
    for sign in "\\*_<>[]$`^{}":
        text = text.replace(sign, f"\\{sign}")
    return text
