"""The observations of an attacker in many runs of one small crowd.

A crowd of n people, run s times, is n·s people who report at once; which run each message belongs
to is recorded. What was observed of a run, be it a multiset of messages, a released tally or a
number, becomes a 64-bit fingerprint. Two observations with the same fingerprint are taken for one,
which can only make an attack weaker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.audit.enumeration import Held, as_integers
from headcount.errors import BadArgument, Unsupported
from headcount.phrases import Phrase
from headcount.privacy.model import Model
from headcount.programme.coins import Bools, Coins
from headcount.programme.table import Ints, Words
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.predicted import FEW_VALUES
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape

PEOPLE = 1 << 19  # who report at once
TRUSTED = tuple(model for model in Model if model.releases)  # where nobody outside sees a message


class Vantage(StrEnum):
    """Observations that an attacker may have."""

    VIEW = "view"  # everything that untrusted parties see
    MESSAGE = "message"  # everything that one device sends
    RELEASED = "released"  # the answer
    SHUFFLER = "shuffler"  # the answer, less what the shuffler added

    @classmethod
    def parse(cls, text: str) -> Vantage:
        try:
            return cls(text)
        except ValueError:
            raise BadArgument("seen", f"is {text!r}", f"use one of {', '.join(cls)}") from None


@dataclass(frozen=True)
class Observation:
    """One outcome: its fingerprint, how often it was observed, and how it is written."""

    fingerprint: int
    times: int
    shown: str | float


@dataclass(frozen=True, eq=False)
class Observer:
    """An attacker who observes runs of a protocol."""

    protocol: Protocol
    seen: Vantage = Vantage.VIEW
    _tallied: dict[int, Tally] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        task = self.protocol.task
        if task.shape is Shape.KEY:
            raise Unsupported("labels that nobody knows cannot be tried out", "name some categories")
        if task.values > FEW_VALUES:
            raise Unsupported(
                f"a {task.name} of {task.values:,} different values has too many to try", "use fewer steps"
            )
        if self.seen is Vantage.MESSAGE and self.protocol.model in TRUSTED:
            raise Unsupported(
                "promises nothing about a single message",
                Phrase("use {seen}", seen="view"),
                protocol=self.protocol.name,
            )
        if self.seen is Vantage.SHUFFLER and self.protocol.model is not Model.DUMMIES:
            raise Unsupported(
                "has no shuffler that adds messages", Phrase("use {seen}", seen="view"), protocol=self.protocol.name
            )

    @property
    def noun(self) -> str:
        """The name of an observation, to begin a sentence with."""
        several = self.protocol.task.cells > 1
        if self.seen is Vantage.RELEASED:
            return "the answers are" if several else "the answer is"
        if not self._sees_messages:
            return "the released totals are" if several else "the released total is"
        return "the number of messages is" if self.protocol.kinds == 1 else "the messages are"

    def fingerprints(self, held: Held, runs: int, coins: Coins) -> Words:
        """The observations of this many runs of a crowd with these numbers of people per value."""
        parts = (self._printed(held, size, coins) for size in _pieces(sum(held), runs))
        return np.concatenate(list(parts))

    def observations(self, held: Held, runs: int, coins: Coins) -> list[Observation]:
        """The same, each different thing once and as a person would write it down."""
        messages, owners = self._reported(held, runs, coins)
        if self._sees_messages:
            fingerprints = multisets(messages, owners, runs)
            shown = {fingerprint: self._listed(sent) for fingerprint, sent in examples(fingerprints, messages, owners)}
        else:
            rows = self._rows(messages, owners, runs, coins)
            fingerprints = _fingerprints(rows)
            shown = dict(zip(fingerprints.tolist(), map(_row, rows.tolist()), strict=True))
        different, times = np.unique(fingerprints, return_counts=True)
        counted = zip(different.tolist(), times.tolist(), strict=True)
        return [Observation(fingerprint, n, shown[fingerprint]) for fingerprint, n in counted]

    @property
    def _sees_messages(self) -> bool:
        return self.seen is Vantage.MESSAGE or (self.seen is Vantage.VIEW and self.protocol.model not in TRUSTED)

    def _printed(self, held: Held, runs: int, coins: Coins) -> Words:
        messages, owners = self._reported(held, runs, coins)
        if self._sees_messages:
            return multisets(messages, owners, runs)
        return _fingerprints(self._rows(messages, owners, runs, coins))

    def _reported(self, held: Held, runs: int, coins: Coins) -> tuple[npt.NDArray[Any], Ints]:
        """All messages, and the run of each. A protocol overriding `reports` runs by crowd."""
        crowd = np.repeat(np.arange(len(held)), held).astype(np.min_scalar_type(len(held)))
        if type(self.protocol).reports is Protocol.reports:
            return self.protocol.attributed(np.tile(crowd, runs), np.repeat(np.arange(runs), crowd.size), coins)
        batches = [self.protocol.reports(crowd, coins).messages for _ in range(runs)]
        return np.concatenate(batches), np.repeat(np.arange(runs), [batch.size for batch in batches])

    def _rows(self, messages: npt.NDArray[Any], owners: Ints, runs: int, coins: Coins) -> npt.NDArray[Any]:
        """The totals of every run that the attacker sees, or the answer made of them.

        Equal multisets have equal tallies, so each is tallied once; totals are released all at
        once, because each is released independently. The number of reports is not observed.
        """
        protocol, fingerprints = self.protocol, multisets(messages, owners, runs)
        known = np.fromiter(self._tallied, dtype=np.uint64, count=len(self._tallied))
        for fingerprint, sent in examples(fingerprints, messages, owners, ~np.isin(fingerprints, known)):
            self._tallied[fingerprint] = protocol.tally(Batch(protocol.crowd.least, sent))
        different, place = np.unique(fingerprints, return_inverse=True)
        tallies = [self._tallied[fingerprint] for fingerprint in different.tolist()]
        totals = np.array([tally.totals for tally in tallies])[place]
        together = replace(tallies[0], totals=totals.ravel())
        rows = self._seen(together, coins).totals.reshape(totals.shape)
        return self._answers(rows, together) if self.seen is Vantage.RELEASED else rows

    def _seen(self, tally: Tally, coins: Coins) -> Tally:
        """The attacker's view of a tally. The shuffler subtracts its messages from an answer."""
        match self.seen:
            case Vantage.SHUFFLER:
                return self.protocol.by_analyser().apply(tally, coins)
            case Vantage.VIEW if self.protocol.model is Model.DUMMIES:
                return self.protocol.released().apply(tally, coins)
            case _:
                return self.protocol.release(tally, coins)

    def _answers(self, rows: npt.NDArray[Any], tally: Tally) -> npt.NDArray[Any]:
        different, place = np.unique(rows, axis=0, return_inverse=True)
        released = (replace(tally, totals=row, released=True) for row in different)
        return np.array([self.protocol.estimate(one).values for one in released])[place.ravel()]

    def _listed(self, sent: npt.NDArray[Any]) -> str | float:
        """A multiset of messages as text; its size, where all messages are alike."""
        if self.protocol.kinds == 1:
            return int(sent.size)
        counts = Counter(as_integers(record) for record in sent.tolist())
        names = {message: str(message[0]) if len(message) == 1 else str(message) for message in counts}
        return ", ".join(f"{times}×{names[message]}" for message, times in sorted(counts.items())) or "empty"


def _pieces(people: int, runs: int) -> Iterator[int]:
    most = max(1, PEOPLE // max(1, people))
    return (min(most, runs - start) for start in range(0, runs, most))


def multisets(messages: npt.NDArray[Any], owners: Ints, runs: int) -> Words:
    """The fingerprint of each run's multiset: the sum of its messages' fingerprints."""
    fingerprints = np.zeros(runs, dtype=np.uint64)
    np.add.at(fingerprints, owners, _fingerprints(messages))
    return fingerprints


def _fingerprints(rows: npt.NDArray[Any]) -> Words:
    """A fingerprint of each row, from its bytes."""
    size = len(rows)
    raw = np.ascontiguousarray(rows).view(np.uint8).reshape(size, -1) if size else np.empty((0, 1), dtype=np.uint8)
    if raw.shape[1] == 1:
        return _stirred(np.arange(256, dtype=np.uint64))[raw[:, 0]]
    padded = np.zeros((size, -(-raw.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : raw.shape[1]] = raw
    fingerprints = np.zeros(size, dtype=np.uint64)
    for column in padded.view("<u8").T:
        fingerprints = _stirred(fingerprints ^ column)
    return fingerprints


def _stirred(words: Words) -> Words:
    """A one-to-one mixing of words, after which sums of different words hardly ever collide."""
    for odd in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F):
        words = (words + np.uint64(odd)) * np.uint64(odd)
        words = words ^ (words >> np.uint64(29))
    return words


def examples(
    fingerprints: Words, messages: npt.NDArray[Any], owners: Ints, among: Bools | None = None
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Every different fingerprint, with the messages of one run that has it."""
    runs = np.arange(fingerprints.size) if among is None else np.flatnonzero(among)
    different, first = np.unique(fingerprints[runs], return_index=True)
    place = np.full(fingerprints.size, -1)
    place[runs[first]] = np.arange(first.size)
    kept = np.flatnonzero(place[owners] >= 0)
    kept = kept[np.argsort(place[owners[kept]], kind="stable")]
    ends = np.searchsorted(place[owners[kept]], np.arange(first.size + 1))
    for i, fingerprint in enumerate(different.tolist()):
        yield fingerprint, messages[kept[ends[i] : ends[i + 1]]]


def _row(numbers: list[Any]) -> str | float:
    return numbers[0] if len(numbers) == 1 else f"({', '.join(f'{number:,.6g}' for number in numbers)})"
