"""The decision tree of a sampler: every outcome of its draws with its exact probability.

Scripted coins run the sampler once for each path; where the script ends they say what may come
next. Likely paths are explored first, and the probability that is left unexplored is known exactly.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import count, pairwise
from typing import Generic, TypeVar

import numpy as np

from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Bools, Bytes, Coins
from headcount.programme.report_law import WHOLE
from headcount.programme.table import Ints, Table

FAINT = WHOLE >> 104  # ways that are less likely are not gone through
PARTS = 4  # in which many outcomes of an even draw are taken together, where the one that is drawn does not matter

Outcome = TypeVar("Outcome", bound=Hashable)
Choices = list[tuple[int, int]]  # outcomes and their weights


class RawWords(Exception):
    """A sampler reads random words itself, so that the alternatives to what it drew are unknown."""


class _Undecided(Exception):
    """The script has ended: these outcomes may come next."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices


class _ScriptedCoins(Coins):
    """Coins that answer each draw, one person's at a time, with the next outcome of the script."""

    secret = False

    def __init__(self, script: tuple[int, ...], few: float) -> None:
        self._left, self._few = iter(script), few

    def stream(self, size: int) -> Bytes:
        raise RawWords

    def _next(self, choices: Iterable[tuple[int, int]], size: int) -> Ints:
        drawn = np.empty(size, dtype=np.int64)
        for at in range(size):
            outcome = next(self._left, None)
            if outcome is None:
                raise _Undecided([choice for choice in choices if choice[1]])
            drawn[at] = outcome
        return drawn

    def bernoulli(self, chance: Chance, size: int) -> Bools:
        yes: Bools = self._next(((1, chance.threshold), (0, WORD - chance.threshold)), size) == 1
        return yes

    def draw(self, table: Table, size: int) -> Ints:
        return self._next(enumerate(table.masses, table.start), size)

    def below(self, bound: int, size: int) -> Ints:
        parts = bound if bound <= self._few else PARTS
        edges = [part * bound // parts for part in range(parts + 1)]
        return self._next(((low, high - low) for low, high in pairwise(edges)), size)


@dataclass(frozen=True)
class ExploredLaw(Generic[Outcome]):
    """Probabilities of outcomes, in parts of `WHOLE`, rounded down; and the unexplored rest."""

    parts: dict[Outcome, int]

    @cached_property
    def rest(self) -> int:
        return WHOLE - sum(self.parts.values())


def explored(run: Callable[[Coins], Outcome], most: int, few: float = math.inf) -> ExploredLaw[Outcome]:
    """The law of the outcome along the likeliest paths, within `most` draws over all runs.

    A uniform draw with more than `few` outcomes is taken in a few equal parts.
    """
    parts: defaultdict[Outcome, int] = defaultdict(int)
    order = count()  # ways that are as likely are gone through in turn
    waiting: list[tuple[int, int, tuple[int, ...]]] = [(-WHOLE, next(order), ())]
    while waiting and most > 0:
        falling, _, script = heapq.heappop(waiting)
        most -= 1 + len(script)
        try:
            parts[run(_ScriptedCoins(script, few))] -= falling
        except _Undecided as end:
            whole = sum(weight for _, weight in end.choices)
            for outcome, weight in end.choices:
                if (part := -falling * weight // whole) > FAINT:
                    heapq.heappush(waiting, (-part, next(order), (*script, outcome)))
    return ExploredLaw(dict(parts))
