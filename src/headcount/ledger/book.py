"""Storage of charges: one writer at a time, and every change atomic."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from headcount.errors import Unsupported
from headcount.ledger.allowance import Allowance
from headcount.ledger.charge import Charge
from headcount.ledger.prices import counted_in
from headcount.ledger.spending import Spending
from headcount.privacy.budget import Budget
from headcount.privacy.loss import PrivacyLoss
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import Wire


@dataclass(frozen=True, eq=False)
class Page:
    """The state of a book."""

    spending: Spending
    charges: tuple[Charge, ...] = ()
    settled: tuple[int, ...] = ()  # the numbers of charges that were reserved and whose answer was then told

    def and_also(self, charge: Charge, after: Spending) -> Page:
        """The page with one more charge."""
        return Page(after, (*self.charges, charge), self.settled)

    def settle(self, number: int) -> Page:
        """The page with this charge no longer reserved; idempotent."""
        if number in self.settled or number not in self.reserved:
            return self
        return Page(self.spending, self.charges, (*self.settled, number))

    @property
    def reserved(self) -> tuple[int, ...]:
        """Numbers of charges whose answer has not been told yet."""
        return tuple(charge.number for charge in self.charges if charge.reserved and charge.number not in self.settled)


class Book(ABC):
    """The charges against one allowance."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self._losses: dict[tuple[Protocol, Wire | None, int], PrivacyLoss] = {}

    @abstractmethod
    def page(self) -> Page:
        """The current state."""

    @abstractmethod
    def turn(self, turned: Callable[[Page], Page]) -> None:
        """Replace the state by the function's result, atomically and durably, or not if it raises.

        Nobody else reads or writes in between.
        """

    def loss(self, protocol: Protocol, wire: Wire | None = None, budget: Budget | None = None) -> PrivacyLoss:
        """The loss of a question in all its rounds, in the ledger's adjacency: the same object for
        the same question, in every thread, so that repetitions compose as such."""
        rounds = 1 if budget is None else budget.rounds
        known = self._losses.get((protocol, wire, rounds))
        if known is None:
            loss = protocol.loss if wire is None else wire.loss(protocol)
            loss = loss if budget is None else budget.together(loss)
            loss = counted_in(self.allowance, loss, protocol.neighbours)
            known = self._losses.setdefault((protocol, wire, rounds), loss)
        return known

    def blank(self) -> Page:
        return Page(Spending(self.allowance))


class MemoryBook(Book):
    """A book in memory, for one process."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__(allowance)
        self._page, self._lock, self._process = self.blank(), Lock(), os.getpid()

    def page(self) -> Page:
        return self._page

    def turn(self, turned: Callable[[Page], Page]) -> None:
        if os.getpid() != self._process:
            raise Unsupported(
                "this ledger is a copy that a fork made of another process's, and both would spend the same budget",
                "keep it in a file that both open: Ledger.open(path, epsilon=…)",
            )
        with self._lock:
            self._page = turned(self._page)
