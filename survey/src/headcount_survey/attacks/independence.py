"""Tests of independence: bits of one report, messages of one person, people, and calls.

A report may have every bit right on average and still give its owner away, if two bits were flipped
by the same coin. Many people hold the same value here, so that only coins tell their reports apart.
Chi-square tests compare the bits of a row in pairs and, where they are few, in threes; one person's
whole report with its exact law, where that is small; and reports, and noise, at various distances
from each other, within a call and between two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from headcount.audit.attacks.observation import TRUSTED, examples, multisets
from headcount.audit.enumeration import as_integers, one_report
from headcount.errors import Unsupported
from headcount.programme.coins import Coins, SecretCoins
from headcount.programme.law import Floats
from headcount.programme.rows import Row
from headcount.programme.table import Ints, Words
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol

FEWEST = 10_000
EXPECTED = 1_000.0  # in every cell of a test: chi-square must be right far out, where a false alarm is one in 1e6
MOST_CLASSES = 12
MOST_THREES = 24  # bits, in a row of which threes are looked at
SKEWED = 0.011  # how skewed, in roots of the reports, a product of bits may be
TINY = 8  # people, for whom a report's law is small


@dataclass(frozen=True)
class DependenceTest:
    """One test: what was compared, and its p-value under independence."""

    what: str
    p_value: float


@dataclass(frozen=True)
class IndependenceResult:
    """The smallest p-value of several tests; together they raise a false alarm with a probability
    of at most `error`."""

    protocol: Protocol
    tests: int
    worst: DependenceTest
    error: float

    @property
    def dependent(self) -> bool:
        return self.worst.p_value * self.tests < self.error

    def __str__(self) -> str:
        if self.dependent:
            return f"{self.worst.what}: a chance of {self.worst.p_value:.1g}, the smallest of {self.tests:,}"
        return f"{self.tests:,} tests of independence: nothing depends on what it should not"


def find_dependence(
    protocol: Protocol, *, reports: int = 100_000, coins: Coins | None = None, error: float = 1e-6
) -> IndependenceResult:
    """Test reports of people who all hold the same value, as many as `reports`."""
    found = list(_tests(protocol, max(FEWEST, int(reports)), coins or SecretCoins()))
    return IndependenceResult(protocol, len(found), min(found, key=lambda test: test.p_value), error)


def _tests(protocol: Protocol, reports: int, coins: Coins) -> Iterator[DependenceTest]:
    if protocol.model in TRUSTED:
        yield from _apart("the noise of totals", [_noise(protocol, reports, coins) for _ in range(2)])
    value = protocol.task.values - 1
    calls = [_reported(protocol, value, reports, coins) for _ in range(2)]
    yield from _apart("reports of people", [multisets(*call, reports) for call in calls])
    messages, owners = calls[0]
    if isinstance(protocol.programme, Row):
        packed = messages.view(np.uint8).reshape(messages.size, -1)
        yield from bits_of_a_row(np.unpackbits(packed, axis=1, count=protocol.programme.width, bitorder="little"))
    if protocol.crowd.size <= TINY:
        yield _against_the_law(protocol, value, messages, owners, reports)


def _reported(protocol: Protocol, value: int, reports: int, coins: Coins) -> tuple[npt.NDArray[np.void], Ints]:
    held, owners = np.full(reports, value, dtype=np.min_scalar_type(value)), np.arange(reports)
    if type(protocol).reports is Protocol.reports:
        return protocol.attributed(held, owners, coins)
    messages = protocol.reports(held, coins).messages
    if messages.size != reports:
        raise Unsupported("does not say whose its messages are", protocol=protocol.name)
    return messages, owners


def _noise(protocol: Protocol, totals: int, coins: Coins) -> Words:
    people = protocol.crowd.size
    return protocol.release(Tally(people, np.full(totals, people)), coins).totals.view(np.uint64)


def _apart(what: str, calls: list[Words]) -> Iterator[DependenceTest]:
    """Tests of each item against its successor's same place, and against others of its call."""
    first, second = map(classes, calls)
    yield DependenceTest(f"{what} in successive calls", independence_p_value(first, second))
    for far in _distances(first.size):
        yield DependenceTest(f"{what} {far:,} apart", independence_p_value(first[:-far], first[far:]))


def _distances(size: int) -> list[int]:
    """Distances at which items are compared: small ones, and the powers of two of blocks."""
    return [far for far in (*range(1, 17), *(1 << power for power in range(5, 40))) if far <= size // 2]


def classes(fingerprints: Words) -> Ints:
    """The class of each fingerprint: the most frequent ones by number, then all others as one."""
    different, place, times = np.unique(fingerprints, return_inverse=True, return_counts=True)
    kept = np.argsort(-times, kind="stable")[: MOST_CLASSES - 1]
    number = np.full(different.size, kept.size)
    number[kept] = np.arange(kept.size)
    return number[place]


def independence_p_value(first: Ints, second: Ints) -> float:
    """The chi-square p-value of the two's contingency table, with rare rows and columns merged."""
    width = int(second.max()) + 1
    table = np.bincount(first * width + second, minlength=(int(first.max()) + 1) * width).reshape(-1, width)
    while min(table.shape) > 1:
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        if rows.min() * columns.min() >= EXPECTED * table.sum():
            expected = np.outer(rows, columns) / table.sum()
            return float(chdtrc((rows.size - 1) * (columns.size - 1), ((table - expected) ** 2 / expected).sum()))
        table = _merged(table) if rows.min() <= columns.min() else _merged(table.T).T
    return 1.0


def _merged(table: Ints) -> Ints:
    """The table with its two rarest rows merged."""
    order = np.argsort(table.sum(axis=1))
    return np.vstack([table[order[2:]], table[order[:2]].sum(axis=0)])


def bits_of_a_row(bits: npt.NDArray[np.uint8]) -> Iterator[DependenceTest]:
    """Tests of all pairs of columns, and of all threes where columns are few; bits that are too
    rare for the normal limit are left out."""
    reports, width = bits.shape
    mean = bits.mean(axis=0)
    varied = np.flatnonzero((mean > 0.0) & (mean < 1.0))
    spread = np.sqrt(mean * (1.0 - mean))[varied]
    deviations: Floats = (bits.T[varied] - mean[varied, None]) / spread[:, None]
    skew = np.abs(1.0 - 2.0 * mean[varied]) / spread
    most = SKEWED * np.sqrt(reports)
    for i, j in combinations(range(varied.size), 2):
        product = deviations[i] * deviations[j]
        pair = f"bits {varied[i]} and {varied[j]}"
        if skew[i] * skew[j] <= most:
            yield DependenceTest(f"{pair} of a row", float(chdtrc(1, product.sum() ** 2 / reports)))
        further = range(j + 1, varied.size) if width <= MOST_THREES else range(0)
        threes = [k for k in further if skew[i] * skew[j] * skew[k] <= most]
        for k, score in zip(threes, deviations[threes] @ product, strict=True):
            yield DependenceTest(f"{pair} and {varied[k]} of a row", float(chdtrc(1, score**2 / reports)))


def _against_the_law(
    protocol: Protocol, value: int, messages: npt.NDArray[np.void], owners: Ints, reports: int
) -> DependenceTest:
    """One person's messages jointly: how often each multiset was sent, against its exact law."""
    law = one_report(protocol, value)
    fingerprints = multisets(messages, owners, reports)
    times = dict(zip(*(side.tolist() for side in np.unique(fingerprints, return_counts=True)), strict=True))
    sent = {
        tuple(sorted(as_integers(record) for record in records.tolist())): times[fingerprint]
        for fingerprint, records in examples(fingerprints, messages, owners)
    }
    seen, expected = [], []
    for multiset, mass in law.masses.items():
        if mass / law.total * reports >= EXPECTED:
            listed = tuple(message for message, often in multiset for _ in range(often))
            seen.append(sent.get(listed, 0))
            expected.append(mass / law.total * reports)
    if (rest := reports - sum(expected)) >= EXPECTED:
        seen.append(reports - sum(seen))
        expected.append(rest)
    far = sum((a - b) ** 2 / b for a, b in zip(seen, expected, strict=True))
    return DependenceTest("the messages of one person", float(chdtrc(max(1, len(seen) - 1), far)) if expected else 1.0)
