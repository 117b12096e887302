"""Every view of a small crowd, from the report programme alone.

The exact law of one report is a polynomial in the different messages; a crowd's is the product of its people's. How
often each message occurs is written as the digits of one integer, with places wide enough that nothing is ever carried,
so that the product is a convolution of vectors: by Fourier transform where they are short, term by term where they are
long and sparse. Nothing of a protocol's own accounting is used, so that the two can be held against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, pairwise, permutations

import numpy as np
import numpy.typing as npt

from headcount.core.budget import Neighbours
from headcount.core.exact import ExactLaw, Message
from headcount.core.law import Floats, Law, weighed
from headcount.core.model import Model
from headcount.core.protocol import Protocol
from headcount.core.table import Ints
from headcount.core.tally import Batch

ERROR = 1e-12  # what the transforms and sums of doubles may add up to
SMALLEST = 2.0**-90  # multisets less likely than this are left out of a report's law
LIKELY = 1e-17
DENSE = 1 << 23

Held = tuple[int, ...]  # how many people hold each value
Outcomes = tuple[Ints, Floats]


def one_report(protocol: Protocol, value: int) -> ExactLaw:
    return protocol.programme.law({"value": value})


def local_epsilon(protocol: Protocol) -> float:
    """The largest log-ratio of one report's probabilities between two values, infinite if one is impossible."""
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
    """Every way in which so many people can hold so many values."""
    for bars in combinations(range(people + values - 1), values - 1):
        edges = (-1, *bars, people + values - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


@dataclass(frozen=True)
class Enumerated:
    """A protocol among at most so many people."""

    protocol: Protocol
    people: int

    @cached_property
    def _reports(self) -> list[dict[tuple[tuple[Message, int], ...], float]]:
        laws = [one_report(self.protocol, value) for value in range(self.protocol.task.values)]
        chances = ({sent: mass / law.total for sent, mass in law.masses.items()} for law in laws)
        return [{sent: chance for sent, chance in law.items() if chance > SMALLEST} for law in chances]

    @cached_property
    def _alphabet(self) -> list[Message]:
        return sorted({message for law in self._reports for sent in law for message, _ in sent})

    @cached_property
    def _radices(self) -> list[int]:
        most = dict.fromkeys(self._alphabet, 0)
        for law in self._reports:
            for sent in law:
                for message, times in sent:
                    most[message] = max(most[message], times)
        return [1 + self.people * most[message] for message in self._alphabet]

    @cached_property
    def _places(self) -> dict[Message, int]:
        places = [math.prod(self._radices[:i]) for i in range(len(self._radices))]
        if math.prod(self._radices) >= 1 << 62:
            raise ValueError(f"{self.protocol.name}: too many different views; a tiny instance must be smaller")
        return dict(zip(self._alphabet, places, strict=True))

    @cached_property
    def _sparse(self) -> list[tuple[Ints, Floats]]:
        """One report's law for each value: the integers that stand for multisets, and their chances."""
        found = []
        for law in self._reports:
            keys = [sum(self._places[message] * times for message, times in sent) for sent in law]
            found.append((np.array(keys, dtype=np.int64), np.array(list(law.values()))))
        return found

    @cached_property
    def messages(self) -> Callable[[Held], Outcomes]:
        """Every multiset of messages that a crowd may send, with its chance; remembered."""
        return cache(self._messages)

    def _messages(self, held: Held) -> Outcomes:
        size = math.prod(self._radices)
        return self._dense(held, size) if size <= DENSE else self._term_by_term(held)

    def _dense(self, held: Held, size: int) -> Outcomes:
        spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
        for (keys, chances), times in zip(self._sparse, held, strict=True):
            if times:
                spectrum = spectrum * np.fft.rfft(weighed(keys, chances, size)) ** times
        masses = np.fft.irfft(spectrum, size)
        keys = np.flatnonzero(masses > 1e-18)
        return keys, masses[keys]

    def _term_by_term(self, held: Held) -> Outcomes:
        keys: Ints = np.zeros(1, dtype=np.int64)
        masses: Floats = np.ones(1)
        for (one, chances), times in zip(self._sparse, held, strict=True):
            for _ in range(times):
                keys, place = np.unique((keys[:, None] + one).ravel(), return_inverse=True)
                masses = weighed(place, np.outer(masses, chances).ravel())
        return keys, masses

    @cached_property
    def _tallied(self) -> tuple[Ints, Ints]:
        """What nobody and what each message adds to the totals: a tally is a sum over messages."""
        protocol = self.protocol
        nobody = protocol.nobody().totals
        rows = [protocol.tally(Batch(0, _record(protocol, message))).totals - nobody for message in self._alphabet]
        return nobody, np.array(rows).reshape(len(rows), nobody.size)

    def totals(self, held: Held) -> Outcomes:
        """Every tally before its release, with its chance."""
        keys, masses = self.messages(held)
        nobody, each = self._tallied
        totals = np.broadcast_to(nobody, (keys.size, nobody.size)).copy()
        left = keys.copy()
        for radix, row in zip(self._radices, each, strict=True):
            left, digit = np.divmod(left, radix)
            totals += digit[:, None] * row
        if modulus := self.protocol.nobody().modulus:
            totals %= modulus
        different, place = np.unique(totals, axis=0, return_inverse=True)
        return different, weighed(place.ravel(), masses)

    @cached_property
    def released(self) -> Callable[[Held], Outcomes]:
        """Every tally as the trusted side lets it go, with its chance; remembered."""
        return cache(self._released)

    def _released(self, held: Held) -> Outcomes:
        totals, masses = self.totals(held)
        if self.protocol.model not in (Model.CENTRAL, Model.THRESHOLD):
            return totals[masses > LIKELY], masses[masses > LIKELY]
        release = self.protocol.released()
        laws = {total: release.law(total) for total in np.unique(totals).tolist()}
        starts = [min(laws[total].start for total in column) for column in totals.T.tolist()]
        ends = [max(laws[t].start + laws[t].masses.size for t in column) for column in totals.T.tolist()]
        grid = np.zeros([end - start for start, end in zip(starts, ends, strict=True)])
        for row, mass in zip(totals.tolist(), masses.tolist(), strict=True):
            window = tuple(
                slice(laws[t].start - start, laws[t].start - start + laws[t].masses.size)
                for t, start in zip(row, starts, strict=True)
            )
            grid[window] += mass * _outer([laws[t] for t in row])
        likely = np.nonzero(grid > LIKELY)
        return np.stack(likely, axis=1) + np.array(starts), grid[likely]

    def view(self, held: Held) -> Outcomes:
        """What crosses the trust line."""
        if self.protocol.model in (Model.CENTRAL, Model.THRESHOLD):
            return self.released(held)
        return self.messages(held)

    def estimates(self, held: Held) -> tuple[Floats, Floats]:
        """Every estimate, a row of cells each, with its chance."""
        totals, masses = self.released(held)
        tally = self.protocol.nobody()
        points = [self.protocol.point(type(tally)(sum(held), row, None, tally.modulus)) for row in totals]
        return np.array(points), masses


def _record(protocol: Protocol, message: Message) -> npt.NDArray[np.void]:
    """The message as it travels; a row of bits is one integer in a law."""
    record = np.zeros(1, dtype=protocol.message)
    for name, part in zip(protocol.message.names or (), message, strict=True):
        width = record[name].shape[1:]
        record[name] = np.frombuffer(part.to_bytes(width[0], "little"), dtype=np.uint8) if width else part
    return record


def _outer(laws: list[Law]) -> Floats:
    grid: Floats = np.ones(())
    for law in laws:
        grid = np.multiply.outer(grid, law.masses)
    return grid


def neighbours(protocol: Protocol, people: int) -> Iterator[tuple[Held, Held]]:
    """Every two crowds that must look alike, either way round."""
    values = protocol.task.values
    for others in crowds(values, people - 1):
        with_one = [tuple(k + (i == value) for i, k in enumerate(others)) for value in range(values)]
        if protocol.neighbours is Neighbours.ADD_REMOVE:
            yield from ((others, more) for more in with_one)
        else:
            yield from permutations(with_one, 2)


def enumerated_delta(protocol: Protocol, people: int, epsilons: Sequence[float]) -> Floats:
    """The exact delta of the worst pair of neighbouring crowds of this size, for each epsilon."""
    people = 1 if protocol.model is Model.LOCAL else people
    enumerated = Enumerated(protocol, people)
    factors = np.exp(np.asarray(epsilons, dtype=np.float64))
    worst = np.zeros(len(epsilons))
    for first, second in neighbours(protocol, people):
        p, q = _aligned(enumerated.view(first), enumerated.view(second))
        here = [max(np.maximum(p - f * q, 0.0).sum(), np.maximum(q - f * p, 0.0).sum()) for f in factors]
        worst = np.maximum(worst, here)
    return worst


def _aligned(first: Outcomes, second: Outcomes) -> tuple[Floats, Floats]:
    """Both views on the same outcomes."""
    outcomes = np.concatenate([first[0], second[0]])
    different, place = np.unique(outcomes, axis=0, return_inverse=True)
    size, split = len(different), len(first[0])
    place = place.ravel()
    return weighed(place[:split], first[1], size), weighed(place[split:], second[1], size)
