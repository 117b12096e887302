"""What does this word mean? Headings, names in JSON, options of the command line, and every
protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from headcount.common.calls import checked
from headcount.errors import BadArgument
from headcount.planner.glossary_basics import ALSO, ASKED, TOPICS
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.shared.shuffled_local import ShuffledLocal
from headcount.questions import QUESTIONS

PROTOCOLS = "protocols"
NEAREST = 5


@dataclass(frozen=True)
class Entry:
    """A word and what it means."""

    topic: str
    word: str
    meaning: str

    def to_json(self) -> dict[str, Any]:
        return {"topic": self.topic, "word": self.word, "meaning": self.meaning}

    def __str__(self) -> str:
        return f"{self.word}: {self.meaning}"


class Explanation(str):
    """Text that a prompt shows as it is."""

    __repr__ = str.__str__


@checked
def explain(word: str | None = None) -> Explanation:
    """The meaning of a word that headcount prints.

    Parameters
    ----------
    word : str, optional
        A heading, a name in JSON, an option of the command line or a protocol: "rmse", "95%
        interval", "--least", "zsum". Without one, all words are listed.

    Returns
    -------
    str
        A sentence or two.

    Raises
    ------
    errors.BadArgument
        If the word is not explained; it names the nearest that are.

    Examples
    --------
    >>> hc.explain("rmse")
    rmse: ...
    """
    if word is not None:
        return Explanation(entry(word))
    topics = {one.topic: [other.word for other in entries() if other.topic == one.topic] for one in entries()}
    return Explanation("\n".join(f"{topic}: {', '.join(words)}" for topic, words in topics.items()))


def entry(word: str) -> Entry:
    """The entry of a word, or of what it is another name for."""
    if not isinstance(word, str):
        raise BadArgument("word", f"is a {type(word).__name__}", "give the word as text")
    known = _known()
    if (found := known.get(_key(word))) is not None:
        return found
    names = sorted({one.word for key, one in known.items() if len(_key(word)) > 2 and _key(word) in key})
    close = [known[key].word for key in get_close_matches(_key(word), known, NEAREST, 0.6)]
    nearest = list(dict.fromkeys([*close, *names]))[:NEAREST]
    works = f"the nearest are {', '.join(nearest)}" if nearest else "without a word, all of them are listed"
    raise BadArgument("word", f"{word!r} is not explained", works)


@cache
def entries() -> tuple[Entry, ...]:
    return tuple(_written())


def _written() -> Iterator[Entry]:
    for topic, words in TOPICS.items():
        if topic == ASKED:
            yield Entry(topic, "task", f"What is asked: {', '.join(QUESTIONS)}.")
            yield from (Entry(topic, name, kind.meaning or f"{kind.asks}.") for name, kind in QUESTIONS.items())
        yield from (Entry(topic, word, meaning) for word, meaning in words.items())
    for protocol in CATALOGUE:
        yield Entry(PROTOCOLS, protocol.name, _described(protocol))


@cache
def _known() -> dict[str, Entry]:
    """Every word and synonym, as they are looked up."""
    known = {_key(one.word): one for one in entries()}
    return {**known, **{_key(other): known[_key(word)] for other, word in ALSO.items()}}


def _key(word: str) -> str:
    """However it is spelt: option, JSON name, capitals; an interval of any confidence is one."""
    plain = re.sub(r"[\s_-]+", " ", word.lower()).strip()
    return re.sub(r"^[\d.]+% interval$", "95% interval", plain)


def _described(protocol: type[Protocol]) -> str:
    title = (protocol.__doc__ or "").splitlines()[0]
    if issubclass(protocol, ShuffledLocal):
        title = f"The reports of {protocol.local.name}, mixed with those of everybody else."
    answers = ", ".join(protocol.question_names())
    trusted = protocol.model.trusted
    return f"{title} Answers {answers}. Trusted: {trusted}. From {protocol.reference}."
