"""Parts of the crowd are randomised and tallied apart, then added up: common to every engine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np

from headcount.privacy.model import Model
from headcount.programme.coins import Coins
from headcount.programme.field import Values
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol

PART = 1 << 18  # people with coins of their own: their messages stay in the processor's cache
BYTES = 1 << 26  # of messages at a time, about
MANY = 4  # cells of one person
WORKERS = os.cpu_count() or 1

_Part = TypeVar("_Part")


def tally_parts(protocol: Protocol, parts: Iterable[_Part], codes: Callable[[_Part], Values], coins: Coins) -> Tally:
    """The tally of all parts, on all cores. A part's coins are a function of its number alone."""
    tallies = _in_threads(lambda number, part: tally_arrays(protocol, [codes(part)], coins.part(number)), parts)
    first = next(tallies, None)
    return protocol.nobody() if first is None else reduce(add, tallies, first)


def tally_arrays(protocol: Protocol, arrays: Iterable[Values], coins: Coins) -> Tally:
    """The tally of people whose codes arrive in arrays, a few at a time to fit messages in memory.

    Which coins a person gets is a function of their place alone, whatever the sizes of the arrays.
    """
    if protocol.model is Model.CENTRAL and protocol.messages_per_person > MANY:  # people with the same code at once
        counted = (protocol.counted(*np.unique(array, return_counts=True)) for array in arrays)
        return reduce(add, counted, protocol.nobody())
    # A row of bits is drawn a byte to the bit before it is packed, and other messages a few words
    # at a time.
    heavy = max(protocol.bits_per_person, 8.0 * protocol.messages_per_person)
    pieces = _cut(arrays, max(1, min(PART, int(BYTES / heavy))))
    tallies = (protocol.tally(protocol.reports(piece, coins)) for piece in pieces)
    first = next(tallies, None)
    return protocol.nobody() if first is None else reduce(add, tallies, first)


def _cut(arrays: Iterable[Values], size: int) -> Iterator[Values]:
    """The same entries in the same order, `size` at a time."""
    waiting: list[Values] = []
    for array in arrays:
        start = 0
        while array.size - start >= (missing := size - sum(part.size for part in waiting)):
            piece = array[start : start + missing]
            yield np.concatenate([*waiting, piece]) if waiting else piece
            waiting, start = [], start + missing
        if start < array.size:
            waiting.append(array[start:])
    if waiting:
        yield np.concatenate(waiting) if len(waiting) > 1 else waiting[0]


def _in_threads(work: Callable[[int, _Part], Tally], parts: Iterable[_Part]) -> Iterator[Tally]:
    """The results in order; no more parts wait than there are cores to take them."""
    with ThreadPoolExecutor(WORKERS) as pool:
        running: deque[Future[Tally]] = deque()
        for number, part in enumerate(parts):
            running.append(pool.submit(work, number, part))
            if len(running) > 2 * WORKERS:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
