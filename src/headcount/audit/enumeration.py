"""The exact law of every view of a small crowd, from the report programme alone, in integers.

The exact law of one report is a polynomial in the different messages; a crowd's is the product of
its people's. The count of each message is a digit of one integer, with places wide enough that
nothing is ever carried, so that a product is a sum over pairs of terms. Probabilities are whole
parts of 2**-128, always rounded down, and what is less likely than 2**-80 is left out: every mass
is at most the true one, and the missing mass is known exactly. `conformance.exact_loss` charges it.
No float is used before the statistics at the end, and nothing of a protocol's own accounting, so
that the two can be compared.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.privacy.budget import Neighbours
from headcount.privacy.model import Party
from headcount.programme.law import Floats
from headcount.programme.report_law import WHOLE, Message, Parts, ReportLaw
from headcount.programme.table import Ints
from headcount.programme.tally import Batch
from headcount.protocols.base.protocol import Protocol

PLACE = 32  # bits for how often a message occurs, or for a total
LEAST = WHOLE * WHOLE >> 80  # products of two chances that are smaller are left out
LIKELY = 1e-17  # in statistics, which are about doubles

Held = tuple[int, ...]  # how many people hold each value
Outcomes = tuple[Ints, Floats]
Terms = Sequence[tuple[int, int]]  # a law, likely outcomes first


@lru_cache(maxsize=64)
def one_report(protocol: Protocol, value: int) -> ReportLaw:
    """The exact law of the report of a person with this value, cached for the many checks."""
    return protocol.programme.law({"value": value})


def local_epsilon(protocol: Protocol) -> float:
    """The largest log-ratio of report probabilities between two values, infinite if one is 0."""
    laws = [one_report(protocol, value) for value in range(protocol.task.values)]
    total = math.lcm(*(law.total for law in laws))
    every = [law.of_total(total) for law in laws]
    worst = 0.0
    for first, second in combinations(every, 2):
        for sent in first.keys() | second.keys():
            a, b = first.get(sent, 0), second.get(sent, 0)
            if bool(a) != bool(b):
                return math.inf
            if a:
                worst = max(worst, abs(float(np.log(a / b))))
    return worst


def crowds(values: int, people: int) -> Iterator[Held]:
    """Every crowd of this many people, by how many of them hold each value."""
    for bars in combinations(range(people + values - 1), values - 1):
        edges = (-1, *bars, people + values - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


def neighbouring_crowds(protocol: Protocol, people: int) -> Iterator[tuple[Held, Held]]:
    """Every ordered pair of neighbouring crowds with this many reports: one person's reports are
    replaced, or missing."""
    values, each = protocol.task.values, min(protocol.crowd.each, people)
    if protocol.neighbours is Neighbours.ADD_REMOVE:
        for own in range(1, each + 1):
            for others in crowds(values, people - own):
                for more in _joined(others, own):
                    yield from ((others, more), (more, others))
    else:
        for others in crowds(values, people - each):
            yield from permutations(_joined(others, each), 2)


def _joined(others: Held, own: int) -> list[Held]:
    """The crowds with these others and one person's `own` reports."""
    return [tuple(map(sum, zip(others, more, strict=True))) for more in crowds(len(others), own)]


def sorted_terms(parts: Parts) -> Terms:
    return sorted(parts.items(), key=lambda term: -term[1])


def convolved(first: Parts, second: Terms) -> Parts:
    """The law of the sum of two independent integers."""
    sums: defaultdict[int, int] = defaultdict(int)
    for mine, part in first.items():
        for theirs, other_part in second:
            mass = part * other_part
            if mass < LEAST:
                break
            sums[mine + theirs] += mass
    return {outcome: mass // WHOLE for outcome, mass in sums.items()}


def packed(row: Iterable[int]) -> int:
    """A row of integers, of either sign, packed into one that can be added to others."""
    return sum(part << PLACE * i for i, part in enumerate(row))


def unpacked(number: int, size: int) -> list[int]:
    """The row of integers that `packed` packed."""
    row, half = [], 1 << (PLACE - 1)
    for _ in range(size):
        part = ((number + half) & ((1 << PLACE) - 1)) - half
        row.append(part)
        number = (number - part) >> PLACE
    return row


class CrowdLaws:
    """The law of the sum over a crowd, from the law of one contribution for each value. Cached."""

    def __init__(self, reports: Iterable[Parts]) -> None:
        self._reports = [sorted_terms(report) for report in reports]
        self._known: dict[Held, Parts] = {}

    def law(self, held: Held) -> Parts:
        if not any(held):
            return {0: WHOLE}
        if held not in self._known:
            last = max(value for value, people in enumerate(held) if people)
            fewer = tuple(people - (value == last) for value, people in enumerate(held))
            self._known[held] = convolved(self.law(fewer), self._reports[last])
        return self._known[held]

    def forget(self, people: int) -> None:
        """Drop the laws of crowds with fewer people."""
        self._known = {held: law for held, law in self._known.items() if sum(held) >= people}

    @property
    def outcomes(self) -> int:
        """The number of cached outcomes."""
        return sum(map(len, self._known.values()))


@dataclass(frozen=True)
class Enumerated:
    """The exact laws of a protocol among few people, as the analyser sees them or another party."""

    protocol: Protocol
    party: Party = Party.ANALYSER

    @cached_property
    def _reports(self) -> list[dict[tuple[tuple[Message, int], ...], int]]:
        return [one_report(self.protocol, value).parts() for value in range(self.protocol.task.values)]

    @cached_property
    def alphabet(self) -> list[Message]:
        return sorted({message for law in self._reports for sent in law for message, _ in sent})

    def _summed(self, numbers: Iterable[int]) -> CrowdLaws:
        """The laws of sums, with a number for each message of the alphabet."""
        number = dict(zip(self.alphabet, numbers, strict=True))
        reports = []
        for law in self._reports:
            report: Counter[int] = Counter()
            for sent, part in law.items():
                report[sum(number[message] * times for message, times in sent)] += part
            reports.append(report)
        return CrowdLaws(reports)

    @cached_property
    def messages(self) -> CrowdLaws:
        """Laws of multisets of messages: each message has a digit of its own."""
        return self._summed(1 << PLACE * i for i in range(len(self.alphabet)))

    @cached_property
    def _tallied(self) -> list[int]:
        """The numbers that each message adds to the totals."""
        protocol, nobody = self.protocol, self.protocol.nobody().totals
        batches = [Batch(0, _record(protocol, message)) for message in self.alphabet]
        return [packed((protocol.tally(batch).totals - nobody).tolist()) for batch in batches]

    def adds_to(self, cell: int) -> Callable[[Message], int]:
        """The number that a message adds to one total."""
        size = self.protocol.nobody().totals.size
        added = {m: unpacked(sent, size)[cell] for m, sent in zip(self.alphabet, self._tallied, strict=True)}
        return added.__getitem__

    @cached_property
    def tallies(self) -> CrowdLaws:
        return self._summed(self._tallied)

    def view(self, held: Held, help_sent: int = 0) -> Parts:
        """The law of the view: messages, or a released tally with `help_sent` already added."""
        return self._let_go(held, help_sent) if self.protocol.model.releases else self.messages.law(held)

    @property
    def seen(self) -> CrowdLaws:
        """The laws that a view is made from."""
        return self.tallies if self.protocol.model.releases else self.messages

    def helps(self, people: int, corrupt: int) -> list[int]:
        """All these corrupt people can add to a tally: any messages, as many as others may send.

        They know what they send. A mixture of choices is no worse than the worst of them, because
        the divergence is convex. Where messages are in the view, known ones can be subtracted and
        do not matter; nor do known numbers where a tally of this many honest people, or one less,
        is released in the same way with them as without.
        """
        if not (self.protocol.model.releases and corrupt):
            return [0]
        most = max(sum(times for _, times in sent) for law in self._reports for sent in law)
        reached = {0}
        for _ in range(corrupt * most):
            reached |= {before + more for before in reached for more in self._tallied}
        every = [held for size in (people - 1, people) for held in crowds(self.protocol.task.values, size)]
        totals = {number for held in every for number in self.tallies.law(held)}
        return [0, *(more for more in reached - {0} if any(self._matters(more, number) for number in totals))]

    def _matters(self, more: int, number: int) -> bool:
        release, rows = self.protocol.released(), zip(self._totals(number), self._totals(number + more), strict=True)
        law, moved = release.law, [(a, b, release.scale * (b - a)) for a, b in rows]
        return any(
            by.denominator > 1 or law(b) != {int(by) + out: p for out, p in law(a).items()} for a, b, by in moved
        )

    def totals(self, held: Held) -> list[list[int]]:
        """Every row of totals that a crowd may have, before anything is released."""
        return [self._totals(number) for number in self.tallies.law(held)]

    def _totals(self, number: int) -> list[int]:
        nobody = self.protocol.nobody()
        row = [t + more for t, more in zip(nobody.totals.tolist(), unpacked(number, nobody.totals.size), strict=True)]
        return [t % nobody.modulus for t in row] if nobody.modulus else row

    @cached_property
    def _cells(self) -> dict[tuple[int, int], Terms]:
        return {}

    def _cell(self, place: int, total: int) -> Terms:
        """The law of one released total, in its place."""
        if (place, total) not in self._cells:
            law = self._seen_law(total)
            self._cells[place, total] = sorted_terms({out << PLACE * place: part for out, part in law.items()})
        return self._cells[place, total]

    def _seen_law(self, total: int) -> Parts:
        """The law of what the party sees of a total. The shuffler subtracts its own part."""
        match self.party:
            case Party.ANALYSER:
                return self.protocol.released().law(total)
            case Party.SHUFFLER:
                return self.protocol.by_analyser().law(total)
            case Party.PUBLIC:
                return self.protocol.shown_law(total)

    def _let_go(self, held: Held, help_sent: int) -> Parts:
        released: Counter[int] = Counter()
        for number, part in self.tallies.law(held).items():
            law = {0: part}
            for place, total in enumerate(self._totals(number + help_sent)):
                law = convolved(law, self._cell(place, total))
            for outcome, mass in law.items():
                released[outcome] += mass
        return released

    @cached_property
    def _public(self) -> Enumerated:
        return replace(self, party=Party.PUBLIC)

    def released(self, held: Held) -> Outcomes:
        """Every tally that the public is shown, a row each, with its probability as a double."""
        size = self.protocol.nobody().totals.size
        masses: Counter[tuple[int, ...]] = Counter()
        if self.protocol.model.releases:
            shown = self if self.party is Party.PUBLIC else self._public
            masses.update({tuple(unpacked(number, size)): part for number, part in shown.view(held).items()})
        else:
            for number, part in self.tallies.law(held).items():
                masses[tuple(self._totals(number))] += part
        likely = {row: part / WHOLE for row, part in sorted(masses.items()) if part > LIKELY * WHOLE}
        return np.array(list(likely)).reshape(len(likely), size), np.array(list(likely.values()))

    def estimates(self, held: Held) -> tuple[Floats, Floats]:
        """Every estimate, a row of cells each, with its probability."""
        totals, masses = self.released(held)
        tally = self.protocol.nobody()
        points = [self.protocol.point(type(tally)(sum(held), row, None, tally.modulus)) for row in totals]
        return np.array(points), masses


def _record(protocol: Protocol, message: Message) -> npt.NDArray[np.void]:
    """The message as it is sent; a row of bits is one integer in a law."""
    record = np.zeros(1, dtype=protocol.message)
    for name, part in zip(protocol.message.names or (), message, strict=True):
        width = record[name].shape[1:]
        record[name] = np.frombuffer(part.to_bytes(width[0], "little"), dtype=np.uint8) if width else part
    return record


def in_order(sent: npt.NDArray[Any]) -> tuple[Message, ...]:
    """Messages in the form of a law, sorted."""
    return tuple(sorted(as_integers(record) for record in sent.tolist()))


def as_integers(record: tuple[Any, ...]) -> Message:
    """A message in the form of a law: a row of bits is one integer."""
    return tuple(part if isinstance(part, int) else int.from_bytes(bytes(part), "little") for part in record)
