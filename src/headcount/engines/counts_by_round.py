"""Rows with a time, counted round by round: a person's rounds, and what an engine makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headcount.programme.table import Ints
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.calendar_rounds import Rounds
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.domains.product import Product


@dataclass(frozen=True)
class InRounds:
    """The column of times, the rounds, and how many count per person: drawn by lot if in more."""

    time: str
    rounds: Rounds
    most: int


@dataclass(frozen=True)
class Counts:
    """How many people have each code or, of amounts, how many there are and their total."""

    codes: Codes
    people: Ints
    total: int | None = None

    def tally(self, protocol: Protocol) -> Tally:
        if self.total is None:
            return protocol.counted(self.codes, self.people)
        return protocol.totalled(int(self.people.sum()), self.total)


def added(counts: Sequence[Counts]) -> Counts:
    """Several rounds as one: who is in more than one of them counts more than once."""
    codes, people = (np.concatenate([getattr(each, name) for each in counts]) for name in ("codes", "people"))
    total = None if counts[0].total is None else sum(each.total or 0 for each in counts)
    return Counts(codes, people, total)


def counts_of(domain: Domain, codes: Codes, people: Ints, totals: Sequence[int] | None) -> list[Counts]:
    """The counts of each round, from codes of which the first part is the round."""
    return [*_split(domain, codes, people, totals)]


def _split(domain: Domain, codes: Codes, people: Ints, totals: Sequence[int] | None) -> Iterator[Counts]:
    rounds, *parts = domain.parts
    number, held = codes, np.ones(codes.size, dtype=np.int64)  # who has a row counts, where nothing else is read
    if domain.shape is Shape.KEY:
        number, held = _of_keys(codes, len(parts))
    elif parts and totals is None:
        number, held = np.divmod(codes, Product(tuple(parts)).size)
    for each in range(rounds.size - 1):
        here = np.flatnonzero(number == each)
        total = None if totals is None else sum(totals[at] for at in here.tolist())
        yield Counts(held[here], people[here], total)


def _of_keys(codes: Codes, parts: int) -> tuple[Ints, Codes]:
    read = [json.loads(code) for code in codes]
    labels = [label[0] if parts == 1 else json.dumps(label, ensure_ascii=False) for _, *label in read]
    return np.array([row[0] for row in read], dtype=np.int64), np.array([*labels, None], dtype=object)[:-1]
