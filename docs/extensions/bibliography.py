"""The bibliography: references.bib, and an entry for every other paper that a leaf cites, in the leaf's own words."""

from __future__ import annotations

import re

from leaf import leaves

from headcount.protocols import CATALOGUE

ENTRY = re.compile(r"@\w+\{([^,]+),")
REFERENCE = re.compile(r"(?P<authors>.*? and [^,]+|[^,]+), (?P<title>.+), (?P<where>[^,]+?) (?P<year>\d{4})\.")


def cited() -> dict[str, str]:
    """Every key that a leaf cites, and what it says of it."""
    return {key: words for kind in CATALOGUE for own in leaves(kind) for key, words in own.references.items()}


def entry(key: str, words: str) -> str:
    """Refuses a reference that is not written as "Authors and Authors, Title, Journal 2016."."""
    if (found := REFERENCE.fullmatch(words)) is None:
        raise ValueError(f"[{key}] is not of the form 'One, Two and Three, Title, Journal 2016.': {words}")
    fields = {**found.groupdict(), "authors": found["authors"].replace(", ", " and ")}
    names = {"authors": "author", "where": "journal"}
    lines = [f"  {names.get(name, name)} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@article{{{key},", *lines, "}\n"])


def completed(text: str) -> str:
    """The bibliography with all that is cited and not in it."""
    known = set(ENTRY.findall(text))
    return text + "".join(f"\n{entry(key, words)}" for key, words in sorted(cited().items()) if key not in known)
