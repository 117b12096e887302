"""Coins that read chosen words off a tape, and the meaning of a word spelled out in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.special import chdtri

from headcount.programme.chance import WORD
from headcount.programme.coins import Coins, _KeystreamCoins
from headcount.programme.table import Table

LAST = WORD - 1
LOW_BITS = (1 << 48) - 1
FALSE_ALARM = 1e-6


class TapeRanOut(Exception):
    pass


class Tape(Coins):
    """The chosen words, in order."""

    secret = False

    def __init__(self, words: Iterable[int]) -> None:
        self.left = list(words)

    def stream(self, size: int) -> np.ndarray:
        count = size // 8
        if count > len(self.left):
            raise TapeRanOut
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype="<u8").view(np.uint8)


class SplitTape(_KeystreamCoins):
    """Everybody gets the same words; the first comes as its 16 leading bits, and its other 48 when asked for."""

    secret = False

    def __init__(self, word: int, *following: int) -> None:
        self.leading = [word >> 48]
        self.words_left = [(word & LOW_BITS) << 16 | 0xFFFF, *following]

    def stream(self, size: int) -> np.ndarray:
        if self.leading:
            return np.full(size // 2, self.leading.pop(), dtype="<u2").view(np.uint8)
        return np.full(size // 8, self.words_left.pop(0), dtype="<u8").view(np.uint8)


class MixedTape(_KeystreamCoins):
    """Everybody gets a word of their own; the other 48 bits go to those whose 16 leading bits leave it open."""

    secret = False

    def __init__(self, words: Sequence[int], edges: Iterable[int]) -> None:
        inside = {edge >> 48 for edge in edges if edge & LOW_BITS}
        open_ = [(word & LOW_BITS) << 16 for word in words if word >> 48 in inside]
        self.parts = [
            np.array([word >> 48 for word in words], dtype="<u2"),
            np.array(open_, dtype="<u8"),
        ]

    def stream(self, size: int) -> np.ndarray:
        part = self.parts.pop(0).view(np.uint8)
        assert part.size == size
        return part


def cumulative(masses: Sequence[int]) -> list[int]:
    return [sum(masses[: i + 1]) for i in range(len(masses))]


def cell_of(masses: Sequence[int], word: int) -> int | None:
    """The first cell whose cumulative mass lies above the word; None in the spill."""
    return next((i for i, edge in enumerate(cumulative(masses)) if word < edge), None)


def meaning(table: Table, *words: int) -> int:
    """What a table makes of a first word and those that follow where it spills."""
    cell = cell_of(table.coarse, words[0])
    again = table.fine or table.coarse
    for word in words[1:]:
        cell = cell_of(again, word) if cell is None else cell
    assert cell is not None
    return table.start + cell


def around(edges: Iterable[int]) -> list[int]:
    near = {edge + step for edge in edges for step in (-1, 0, 1)} | {0, LAST}
    return sorted(word for word in near if 0 <= word < WORD)


def chi_square_rejects(observed: np.ndarray, expected: np.ndarray) -> bool:
    """Pearson's test with a false-alarm rate of 1e-6; cells that expect fewer than 10 are pooled."""
    if observed[expected == 0.0].any():
        return True
    order = np.argsort(expected)
    pooled = int(np.searchsorted(np.cumsum(expected[order]), 10.0)) + 1
    pooled = max(pooled, int(np.count_nonzero(expected < 10.0)))
    observed, expected = (np.append(side[order[:pooled]].sum(), side[order[pooled:]]) for side in (observed, expected))
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return statistic > float(chdtri(observed.size - 1, FALSE_ALARM))
