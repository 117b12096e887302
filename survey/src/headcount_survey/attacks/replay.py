"""The same coins on neighbouring crowds: only one person's messages, and their share, may change.

A tape of random words is run twice, on two crowds that differ in what one person holds. As many
words must be requested and the same lines of headcount executed, whatever the value; nobody else's
messages may change, the tally may change by that person's messages alone, and the noise of the
trusted side must be the same. Where as many words are divided otherwise among the steps of the
programme, the messages cannot be compared; such pairs are counted as incomparable.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import headcount.errors
from headcount.audit.attacks.observation import TRUSTED
from headcount.programme.coins import Bytes, Coins, SecretCoins, SeededCoins
from headcount.programme.field import Values
from headcount.programme.table import Ints
from headcount.programme.tally import Batch
from headcount.protocols.base.protocol import Protocol

HOME = str(Path(headcount.errors.__file__).parent) + os.sep  # and of no package whose name goes on
MOST_PEOPLE = 8

Lines = frozenset[tuple[str, int]]
Result = TypeVar("Result")


class RecordedCoins(Coins):
    """A whole word for every draw, from a numbered tape; every request is recorded."""

    secret = False

    def __init__(self, number: int) -> None:
        self.tape, self.asked = SeededCoins(number), list[int]()

    def stream(self, size: int) -> Bytes:
        self.asked.append(size)
        return self.tape.stream(size)


def traced(work: Callable[[], Result]) -> tuple[Result, Lines]:
    """The result, and the lines of headcount that were executed."""
    lines: set[tuple[str, int]] = set()

    def inside(frame: FrameType, _event: str, _argument: Any) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return inside

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        return inside(frame, event, argument) if frame.f_code.co_filename.startswith(HOME) else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        result = work()
    finally:
        sys.settrace(before)
    return result, frozenset(lines)


@dataclass(frozen=True, eq=False)
class TracedRun:
    """One crowd's run on a tape."""

    others: list[tuple[int, bytes]]  # everybody else's messages, with whose they are
    one: Ints  # what the person in question adds to the totals
    totals: Ints
    released: npt.NDArray[Any]
    asked: list[int]
    lines: Lines


def play(protocol: Protocol, values: Values, who: int, tape: int) -> TracedRun:
    """A whole run, traced, and the same messages once more with their owners."""
    coins = RecordedCoins(tape)

    def run() -> tuple[Ints, npt.NDArray[Any]]:
        tally = protocol.tally(protocol.reports(values, coins))
        return tally.totals, protocol.release(tally, coins).totals

    (totals, released), lines = traced(run)
    messages, owners = protocol.attributed(values, np.arange(values.size), RecordedCoins(tape))
    theirs = owners != who
    others = sorted(zip(owners[theirs].tolist(), (record.tobytes() for record in messages[theirs]), strict=True))
    one = protocol.tally(Batch(1, messages[~theirs])).totals - protocol.nobody().totals
    return TracedRun(others, one, totals, released, coins.asked, lines)


@dataclass
class Replay:
    """The result of several pairs of runs: how often each thing differed that must not."""

    protocol: Protocol
    pairs: int
    found: Counter[str] = field(default_factory=Counter)
    incomparable: int = 0

    @property
    def leaks(self) -> bool:
        return bool(self.found)

    def __str__(self) -> str:
        differed = ", ".join(f"{what} in {times:,}" for what, times in self.found.items())
        return f"{self.pairs:,} pairs of runs on the same coins: " + (differed or "nothing else changed")


def replay(protocol: Protocol, *, pairs: int = 200, coins: Coins | None = None) -> Replay:
    """Run tapes, each on two random crowds that differ in one person's value."""
    coins, found = coins or SecretCoins(), Replay(protocol, pairs)
    people, values = min(protocol.crowd.size, max(MOST_PEOPLE, protocol.crowd.least)), protocol.task.values
    kind = np.min_scalar_type(values)
    play(protocol, np.zeros(people, dtype=kind), 0, 0)  # tables are made only once
    for _ in range(pairs):
        held = coins.below(values, people).astype(kind)
        who, other, tape = (int(coins.below(bound, 1)[0]) for bound in (people, max(1, values - 1), 1 << 62))
        changed = held.copy()
        changed[who] = (int(held[who]) + 1 + other) % values
        first, second = (play(protocol, crowd, who, tape) for crowd in (held, changed))
        found.found.update(_in_work(first, second))
        if first.asked == second.asked:
            found.found.update(_in_outcome(protocol, first, second))
        else:
            found.incomparable += 1
    return found


def _in_work(first: TracedRun, second: TracedRun) -> set[str]:
    """Differences that an observer of the device's or the analyser's work could notice."""
    differences = {
        "the amount of randomness": sum(first.asked) != sum(second.asked),
        "the lines run": first.lines != second.lines,
    }
    return {what for what, differs in differences.items() if differs}


def _in_outcome(protocol: Protocol, first: TracedRun, second: TracedRun) -> set[str]:
    """Differences beyond that person's messages."""
    modulus = protocol.nobody().modulus
    moved, own = second.totals - first.totals, second.one - first.one
    if modulus:
        moved, own = moved % modulus, own % modulus
    differences = {
        "other people's messages": first.others != second.others,
        "more of the tally than that person's part": not np.array_equal(moved, own),
        "the noise": not _same_noise(protocol, first, second),
    }
    return {what for what, differs in differences.items() if differs}


def _same_noise(protocol: Protocol, first: TracedRun, second: TracedRun) -> bool:
    """Whether totals that both runs released had the same noise added; a total of 0 was suppressed.

    Where a total is rounded before, up or down by the same word, the difference of the two may be
    less than one.
    """
    if protocol.model not in TRUSTED:
        return np.array_equal(first.released, first.totals) and np.array_equal(second.released, second.totals)
    let_go = (first.released != 0) & (second.released != 0)
    times, parts = protocol.released().scale.as_integer_ratio()
    added = [np.asarray(run.released * parts - run.totals * times)[let_go] for run in (first, second)]
    return bool((np.abs(added[1] - added[0]) < parts).all())
