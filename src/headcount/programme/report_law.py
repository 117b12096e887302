"""The exact law of what one person sends, in integers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

Message: TypeAlias = tuple[int, ...]
Multiset: TypeAlias = tuple[tuple[Message, int], ...]
Weights: TypeAlias = list[tuple[int, int]]  # integers and how much each of them weighs
Parts: TypeAlias = dict[int, int]  # integers and their chances, in parts of WHOLE, rounded down


WHOLE: Final = 1 << 128  # a chance of one, in laws of crowds; what their parts leave of it is unknown, and charged
NEGLIGIBLE_BITS = 72  # what is less likely than 2**-72 is left out of a product, or tiny noise would fill the memory


@dataclass(frozen=True)
class ReportLaw:
    """The law of a multiset of messages, as integers that sum to `total` up to negligible mass."""

    masses: dict[Multiset, int]
    total: int

    @classmethod
    def surely(cls, *messages: Message) -> ReportLaw:
        return cls({tuple(sorted(Counter(messages).items())): 1}, 1)

    def of_total(self, total: int) -> dict[Multiset, int]:
        """The masses as parts of a multiple of the total."""
        return {multiset: mass * (total // self.total) for multiset, mass in self.masses.items()}

    def parts(self) -> dict[Multiset, int]:
        """The masses as whole parts of `WHOLE`, rounded down."""
        return {multiset: part for multiset, mass in self.masses.items() if (part := mass * WHOLE // self.total)}

    def __mul__(self, other: ReportLaw) -> ReportLaw:
        """The two sent together, independently."""
        if self.masses.keys() == {()}:
            return other
        together: Counter[Multiset] = Counter()
        total = self.total * other.total
        least = total >> NEGLIGIBLE_BITS
        likely_first = sorted(other.masses.items(), key=lambda item: -item[1])
        for mine, mass in self.masses.items():
            for theirs, other_mass in likely_first:
                if mass * other_mass < least:
                    break
                together[_merged(mine, theirs)] += mass * other_mass
        return ReportLaw(dict(together), total)

    @staticmethod
    def mixed(parts: Iterable[tuple[int, ReportLaw]]) -> ReportLaw:
        """One of the laws, each with its weight."""
        kept = [(weight, law) for weight, law in parts if weight]
        inner = math.lcm(*(law.total for _, law in kept))
        mixture: Counter[Multiset] = Counter()
        for weight, law in kept:
            for multiset, mass in law.of_total(inner).items():
                mixture[multiset] += weight * mass
        return ReportLaw(dict(mixture), sum(weight for weight, _ in kept) * inner)


def _merged(first: Multiset, second: Multiset) -> Multiset:
    if not first or not second:
        return first or second
    counts = dict(first)
    for message, times in second:
        counts[message] = counts.get(message, 0) + times
    return tuple(sorted(counts.items()))


NOTHING_SENT = ReportLaw({(): 1}, 1)
