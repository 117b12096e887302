"""Crowds and events in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headcount.audit.enumerate import Held
from headcount.audit.watch import Sight
from headcount.programme.coins import Bools
from headcount.programme.table import Words

FEW = 3
AGREES = 0.98  # of what was seen, for a threshold to describe an event


def crowds_in_words(first: Held, second: Held) -> str:
    """What the others hold, and what the one person does."""
    others = [min(pair) for pair in zip(first, second, strict=True)]
    theirs = ", ".join(f"{times:,} hold{'s' * (times == 1)} {value}" for value, times in enumerate(others) if times)
    one, other = (_person(held, others) for held in (first, second))
    who = "one more" if theirs else "one person"
    if one and other:
        who += f" holds {one} rather than {other}"
    else:
        who += f", who holds {one or other}, is {'there' if one else 'missing'}"
    return f"{theirs}; {who}" if theirs else who


def _person(held: Held, others: list[int]) -> str:
    return "".join(str(value) for value, times in enumerate(held) if times > others[value])


def event_in_words(noun: str, sights: Sequence[Sight], event: Words) -> str:
    """A threshold where the sights are numbers and one describes them, otherwise the most frequent of them."""
    often = sorted(sights, key=lambda sight: -sight.times)
    inside = np.isin(np.array([sight.print for sight in often], dtype=np.uint64), event)
    shown = list(dict.fromkeys(_shown(sight) for sight, taken in zip(often, inside, strict=True) if taken))
    if not shown:
        return f"{noun} too rare to show"
    if len(shown) == event.size == 1:
        return f"{noun} {shown[0]}"
    return f"{noun} " + (_cut(often, inside) or f"one of {event.size:,}, above all {'; '.join(shown[:FEW])}")


def _cut(sights: Sequence[Sight], inside: Bools) -> str:
    """The best of all half-lines, if it is nearly the event."""
    if any(isinstance(sight.shown, str) for sight in sights):
        return ""
    order = sorted(range(len(sights)), key=lambda i: float(sights[i].shown))
    times = np.array([sights[i].times for i in order])
    upto = np.cumsum(np.where(inside[order], times, -times))
    lean = 2 * upto[:-1] - upto[-1]  # to be inside below, and outside above
    best = int(np.argmax(np.abs(lean)))
    missed = (int(times.sum()) - abs(int(lean[best]))) // 2
    if missed > (1.0 - AGREES) * int(times.sum()):
        return ""
    cut = f"{_shown(sights[order[best]])} or less" if lean[best] > 0 else f"{_shown(sights[order[best + 1]])} or more"
    return cut + (", but for rare exceptions" if missed else "")


def _shown(sight: Sight) -> str:
    return sight.shown if isinstance(sight.shown, str) else f"{sight.shown:,.6g}"
