"""What becomes of a missing value: refused, counted as something declared, or its row left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.types import Missing

REFUSE, NO, AS_OTHER, CATEGORY, DROP = "refuse", "no", "other", "category", "drop"
WORDS = (REFUSE, NO, AS_OTHER, CATEGORY, DROP)
MISSING = "(missing)"  # the label of a category of its own


def require_listed(missing: Any, *, other: bool, labels: str) -> None:
    """Refuses an other of labels that nobody listed."""
    if other:
        raise BadArgument("other", "needs categories", f"name the {labels} that are not other")
    if missing == AS_OTHER:
        works = Phrase(
            f"list the {labels} in {{categories}}, or count missing values as one of their own: {{missing}}",
            categories=["DE", "FR"],
            missing=CATEGORY,
        )
        raise BadArgument("missing", f"is {AS_OTHER!r}, and nobody said which {labels} are not other", works)


@dataclass(frozen=True)
class Kind:
    """Which of the words a domain understands, and whether a number stands for a missing one."""

    words: frozenset[str]
    number: bool = False


BITS = Kind(frozenset({REFUSE, NO, DROP}))
LISTS = Kind(frozenset({REFUSE, AS_OTHER, CATEGORY, DROP}))
YES_OR_NO = Kind(LISTS.words | {NO})
AMOUNTS = Kind(frozenset({REFUSE, DROP}), number=True)
WITHOUT_NUMBER = Kind(frozenset({REFUSE, DROP}))


def told(missing: Missing | None, *kinds: Kind, names: Sequence[str] = ()) -> list[Any]:
    """What each of these domains does with a missing value: what was said of its column; or, where
    no columns are named, what was said, of several the one that it understands.

    Everything that is said must mean something to one of them.
    """
    if isinstance(missing, Mapping):
        return _by_column(missing, kinds, names)
    several = isinstance(missing, Iterable) and not isinstance(missing, str)
    given = [_word(each) for each in (missing if several else [] if missing is None else [missing])]  # type: ignore[union-attr]
    for word in given:
        if not any(_fits(word, kind) for kind in kinds):
            raise BadArgument("missing", f"is {word!r}, which means nothing here", _works(kinds))
    found = []
    for kind in kinds:
        fitting = [word for word in given if _fits(word, kind)]
        if len(fitting) > 1:
            raise BadArgument("missing", f"is both {fitting[0]!r} and {fitting[1]!r}", "say one of them")
        found.append(fitting[0] if fitting else None)
    return found


def _by_column(missing: Mapping[str, Any], kinds: Sequence[Kind], names: Sequence[str]) -> list[Any]:
    strangers = [name for name in missing if name not in names]
    if strangers or not names:
        raise BadArgument(
            "missing", f"names {strangers[0]!r}, which is not asked about", f"use one of {', '.join(names)}"
        )
    return [told(missing.get(name), kind)[0] for name, kind in zip(names, kinds, strict=True)]


def _word(given: Any) -> Any:
    if isinstance(given, str):
        if given not in WORDS:
            raise BadArgument("missing", f"is {given!r}", f"use one of {', '.join(WORDS)}, or for sums a number")
        return given
    return quantity("missing", given, "use one of the words, or for sums a number")


def _fits(word: Any, kind: Kind) -> bool:
    return word in kind.words if isinstance(word, str) else kind.number


def _works(kinds: Iterable[Kind]) -> str | Phrase:
    words = [word for word in WORDS if any(word in kind.words for kind in kinds)]
    number = ", or a number" if any(kind.number for kind in kinds) else ""
    return f"use one of {', '.join(words)}{number}"


def rule(missing: Any, *, of: str = "") -> list[str]:
    """What was said of missing values, in words."""
    what = f"a missing {of}" if of else "a missing value"
    if missing in (None, REFUSE):
        return []
    if not isinstance(missing, str):
        return [f"{what} counts as {missing:.15g}"]
    return [
        {
            NO: f"{what} counts as no",
            AS_OTHER: f"{what} counts as other",
            CATEGORY: f"{what} is a category of its own",
            DROP: f"rows with {what} are left out",
        }[missing]
    ]
