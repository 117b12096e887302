"""The failure that checks raise, and a goodness-of-fit test of draws against a law."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from headcount.protocols.base.protocol import Protocol

Check = Callable[[Protocol], None]

PILES = 31


class Nonconforming(AssertionError):
    """A protocol is not what it states."""


def require(condition: bool, problem: str) -> None:
    if not condition:
        raise Nonconforming(problem)


def goodness_of_fit(protocol: Protocol, seen: Counter[Any], law: dict[Any, float], who: str) -> None:
    """Pearson's chi-square test, rare outcomes pooled, with the Wilson-Hilferty threshold."""
    runs = sum(seen.values())
    hits: Counter[Any] = Counter()
    pooled: defaultdict[Any, float] = defaultdict(float)
    for outcome in law.keys() | seen.keys():
        pile = outcome if law.get(outcome, 0.0) * runs >= 10 else ("rare", hash(outcome) % PILES)
        hits[pile] += seen[outcome]
        pooled[pile] += law.get(outcome, 0.0) * runs
    likely = {pile: mass for pile, mass in pooled.items() if mass >= 10}
    rest = runs - sum(likely.values())
    observed = [hits[pile] for pile in likely] + [runs - sum(hits[pile] for pile in likely)]
    expected = [*likely.values(), max(rest, 1e-9)]
    if expected[-1] < 1.0:
        require(observed[-1] <= 12, f"{protocol.name}: {who} draws outcomes that the law all but excludes")
        observed, expected = observed[:-1], expected[:-1]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    freedom = max(1, len(expected) - 1)
    limit = freedom * (1 - 2 / (9 * freedom) + 4.9 * math.sqrt(2 / (9 * freedom))) ** 3
    require(
        statistic <= limit,
        f"{protocol.name}: {who} strays from the law (chi-square {statistic:.1f}, limit {limit:.1f})",
    )
