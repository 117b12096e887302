"""Neighbouring crowds that an attack may tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from headcount.audit.enumeration import Held, crowds
from headcount.errors import BadArgument
from headcount.privacy.budget import Neighbours
from headcount.protocols.base.protocol import Protocol

MOST_PAIRS = 200
FEW = 5  # values that stand for many

Pair = tuple[Held, Held]


def neighbouring(protocol: Protocol, pair: Pair) -> Pair:
    """The pair, if its crowds differ in one person."""
    works = "give twice how many people hold each value, for example ((6, 0), (5, 1))"
    try:
        first, second = (tuple(int(times) for times in held) for held in pair)
    except (TypeError, ValueError, OverflowError):
        raise BadArgument("pair", f"is {pair!r}", works) from None
    moved = sorted(b - a for a, b in zip(first, second, strict=False) if a != b)
    fits = {Neighbours.REPLACE: ([-1, 1],), Neighbours.ADD_REMOVE: ([-1], [1])}[protocol.neighbours]
    if not len(first) == len(second) == protocol.task.values or min(*first, *second) < 0 or moved not in fits:
        raise BadArgument("pair", "is not of two neighbouring crowds", works)
    return first, second


def pairs(protocol: Protocol, people: int) -> list[Pair]:
    """Neighbouring crowds: all if there are few, otherwise those with few kinds of other people."""
    values = protocol.task.values
    every = list(islice(_differing(protocol, crowds(values, people - 1), range(values)), MOST_PAIRS + 1))
    if len(every) <= MOST_PAIRS:
        return every
    few = np.unique(np.linspace(0, values - 1, FEW).astype(int)).tolist()
    alike = [tuple((people - 1) * (i == value) for i in range(values)) for value in few]
    mixed = tuple((people - 1) // values + (i < (people - 1) % values) for i in range(values))
    return list(_differing(protocol, [*alike, mixed], few))


def _differing(protocol: Protocol, others: Iterable[Held], values: Sequence[int]) -> Iterator[Pair]:
    for rest in others:
        with_one = [tuple(k + (i == value) for i, k in enumerate(rest)) for value in values]
        if protocol.neighbours is Neighbours.ADD_REMOVE:
            yield from ((rest, more) for more in with_one)
        else:
            yield from combinations(with_one, 2)
