"""Prior knowledge of how many people hold a one, or are in a category."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from headcount.common.plurals import people
from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.programme.law import Noise
from headcount.protocols.base.protocol import Protocol
from headcount.types import Ones

SPREAD = 64  # steps from nobody to everybody where every number of ones is as likely as any other
WORKS = Phrase(
    "use a whole number from 0 to n, several of them, a table such as {ones} of how many hold how much, "
    "'uniform' or 'unknown'",
    ones={0: 90, 500: 10},
)


@dataclass(frozen=True)
class Expected:
    """Numbers of ones with weights that add up to one; none if unknown, when the worst case counts.

    In a histogram they are the numbers of people in its bins: its sparsity.
    """

    truths: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()

    @classmethod
    def parse(cls, ones: Ones | None, n: int) -> Expected:
        """`ones` as written: a number, several, a table of weights, "uniform", None, "unknown"."""
        if ones is None:
            return cls()
        if isinstance(ones, str) and ones in {"unknown", "uniform"}:
            return cls() if ones == "unknown" else cls._uniform(n)
        if isinstance(ones, Mapping):
            return cls._weighed(list(ones), list(ones.values()), n)
        if isinstance(ones, Sequence | np.ndarray) and not isinstance(ones, str):
            different, times = np.unique(np.array([_number(one, n) for one in ones]), return_counts=True)
            return cls._weighed(different.tolist(), times.tolist(), n)
        return cls((_number(ones, n),), (1.0,))

    @classmethod
    def _weighed(cls, truths: Collection[Any], weights: Collection[Any], n: int) -> Expected:
        parts = [quantity("ones", weight, WORKS) for weight in weights]
        if not parts or min(parts) < 0.0 or not math.fsum(parts) > 0.0:
            raise BadArgument("ones", "has no positive weights", WORKS)
        numbers = [_number(truth, n) for truth in truths]
        return cls(tuple(numbers), tuple(part / math.fsum(parts) for part in parts))

    @classmethod
    def _uniform(cls, n: int) -> Expected:
        """Evenly spread: each stands for the numbers nearest to it, the ends for half as many."""
        truths = np.unique(np.linspace(0, n, SPREAD + 1).round().astype(np.int64)).tolist()
        gaps = [0, *(b - a for a, b in pairwise(truths)), 0]
        return cls._weighed(truths, [a + b or 1 for a, b in pairwise(gaps)], n)

    def divided(self, parts: int) -> Expected:
        """The expectation for one of several equal parts of the crowd."""
        return replace(self, truths=tuple(truth // parts for truth in self.truths))

    @property
    def known(self) -> bool:
        return bool(self.truths)

    def mean_square(self, protocol: Protocol, error: Callable[[int], float]) -> float:
        """The root mean square of the error over these numbers."""
        if protocol.steady:
            return error(self.truths[0])
        squares = (w * error(truth) ** 2 for truth, w in zip(self.truths, self.weights, strict=True))
        return math.sqrt(math.fsum(squares))

    def noise(self, protocol: Protocol, people: int) -> Noise:
        """The law of the error when the truth is one of these."""
        if protocol.steady or len(self.truths) == 1:
            return protocol.noise(min(self.truths[0], people), people)
        laws = [protocol.noise(min(truth, people), people) for truth in self.truths]
        return Noise(
            np.concatenate([law.values for law in laws]),
            np.concatenate([w * law.masses for law, w in zip(laws, self.weights, strict=True)]),
            math.fsum(w * law.dropped for law, w in zip(laws, self.weights, strict=True)),
        )

    def to_json(self) -> Any:
        """As it was meant: None, a number, or pairs of a number and its weight."""
        if len(self.truths) <= 1:
            return self.truths[0] if self.truths else None
        return [[truth, weight] for truth, weight in zip(self.truths, self.weights, strict=True)]

    def __str__(self) -> str:
        if not self.known:
            return "any number of ones"
        if len(self.truths) == 1:
            return f"about {self.truths[0]:,} ones"
        return f"{min(self.truths):,} to {max(self.truths):,} ones"


UNKNOWN = Expected()


def _number(one: Any, n: int) -> int:
    number = quantity("ones", one, WORKS)
    if number != int(number) or not 0 <= number <= n:
        raise BadArgument("ones", f"is {number:,g}, of {people(n)}", WORKS)
    return int(number)
