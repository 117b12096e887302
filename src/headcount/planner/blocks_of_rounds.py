"""Levels of blocks: rounds, and blocks of rounds counted once more, so that long sums err less.

If a person is in at most one round, they are in one node of each level: rounds, blocks of b rounds,
blocks of b² rounds. Each level costs as much as the others, and a sum over a prefix of rounds takes
as many nodes as the digits of its length in base b come to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MOST_LEVELS = 4
WORTH = 0.99  # of the error at the worst round: another level must bring it below this


@dataclass(frozen=True)
class BlockWidths:
    """The widths of all levels, in rounds, and the error of sums of rounds for this node error."""

    widths: tuple[int, ...]
    rounds: int
    node_error: float

    def nodes(self, last: int, first: int = 1) -> list[tuple[int, int]]:
        """The first round and the width of each node that a sum of these rounds takes."""
        found, at = [], first
        while at <= last:
            width = max(w for w in self.widths if (at - 1) % w == 0 and at + w - 1 <= last)
            found.append((at, width))
            at += width
        return found

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """All nodes."""
        for width in self.widths:
            yield from ((at, width) for at in range(1, self.rounds - width + 2, width))

    @property
    def worst(self) -> float:
        """The error of the sum of all rounds up to one, where it is largest."""
        return self.node_error * math.sqrt(max(self._sizes))

    @property
    def average(self) -> float:
        """The root mean square of these errors."""
        return self.node_error * math.sqrt(sum(self._sizes) / self.rounds)

    @property
    def _sizes(self) -> list[int]:
        return [len(self.nodes(last)) for last in range(1, self.rounds + 1)]


def best_levels(rounds: int, node_error: Callable[[int], float]) -> BlockWidths:
    """The levels with the least error at the worst round; `node_error` is a node's, by levels."""
    best = BlockWidths((1,), rounds, node_error(1))
    for levels in range(2, MOST_LEVELS + 1):
        likely = round(rounds ** (1.0 / levels))
        bases = range(max(2, likely - 4), likely + 5)
        if max(bases) ** (levels - 1) >= 2 * rounds:
            break
        error = node_error(levels)
        tried = [BlockWidths(tuple(base**level for level in range(levels)), rounds, error) for base in bases]
        found = min(tried, key=lambda each: (each.worst, each.average))
        if found.worst > WORTH * best.worst:
            return best
        best = found
    return best
