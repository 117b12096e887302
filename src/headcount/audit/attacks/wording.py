"""Neighbouring crowds and distinguishing events, as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headcount.audit.attacks.observation import Observation
from headcount.audit.enumeration import Held
from headcount.programme.coins import Bools
from headcount.programme.table import Words

FEW = 3
AGREES = 0.98  # of the observations, for a threshold to describe an event


def crowds_in_words(first: Held, second: Held) -> str:
    """The values of the others, and of the one person who differs."""
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


def event_in_words(noun: str, observations: Sequence[Observation], event: Words) -> str:
    """A threshold if observations are numbers and one fits the event, else the most frequent."""
    often = sorted(observations, key=lambda observation: -observation.times)
    inside = np.isin(np.array([observation.fingerprint for observation in often], dtype=np.uint64), event)
    shown = list(dict.fromkeys(_shown(observation) for observation, taken in zip(often, inside, strict=True) if taken))
    if not shown:
        return f"{noun} too rare to show"
    if len(shown) == event.size == 1:
        return f"{noun} {shown[0]}"
    return f"{noun} " + (_cut(often, inside) or f"one of {event.size:,}, above all {'; '.join(shown[:FEW])}")


def _cut(observations: Sequence[Observation], inside: Bools) -> str:
    """The half-line that agrees best with the event, if it nearly is the event."""
    if any(isinstance(observation.shown, str) for observation in observations):
        return ""
    order = sorted(range(len(observations)), key=lambda i: float(observations[i].shown))
    times = np.array([observations[i].times for i in order])
    upto = np.cumsum(np.where(inside[order], times, -times))
    lean = 2 * upto[:-1] - upto[-1]  # to be inside below, and outside above
    best = int(np.argmax(np.abs(lean)))
    missed = (int(times.sum()) - abs(int(lean[best]))) // 2
    if missed > (1.0 - AGREES) * int(times.sum()):
        return ""
    cut = (
        f"{_shown(observations[order[best]])} or less"
        if lean[best] > 0
        else f"{_shown(observations[order[best + 1]])} or more"
    )
    return cut + (", but for rare exceptions" if missed else "")


def _shown(observation: Observation) -> str:
    return observation.shown if isinstance(observation.shown, str) else f"{observation.shown:,.6g}"
