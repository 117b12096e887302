"""What has been spent on one crowd. A question that would exceed the budget is refused before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, Self, TypeAlias

from headcount.core.budget import Budget
from headcount.core.counted import counted
from headcount.core.errors import BadArgument, OverBudget, Unsupported
from headcount.core.loss import PrivacyLoss
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.ledger.book import Book, Memory, Page
from headcount.ledger.charge import Charge
from headcount.ledger.files import AlreadyThere
from headcount.ledger.journal import Journal
from headcount.ledger.spending import Allowance, Epsilon, down, up
from headcount.privacy.any_mechanism import AnyMechanism

Rational: TypeAlias = float | Fraction


class Ledger:
    """The budget of one crowd for all the questions it is asked.

    Made like this it lives in memory, for the threads of one process. `Ledger.open` keeps it in a file, for as many
    processes as there are.
    """

    def __init__(self, *, epsilon: Rational, delta: Rational = 0.0, neighbours: str = "replace") -> None:
        self._book: Book = Memory(Allowance.of(epsilon, delta, neighbours))

    @classmethod
    def create(
        cls, path: str | Path, *, epsilon: Rational, delta: Rational = 0.0,
        neighbours: str = "replace", witness: str | Path | None = None,
    ) -> Self:  # fmt: skip
        """A ledger in a new file; refused if there is one already."""
        Journal.create(Path(path), Allowance.of(epsilon, delta, neighbours))
        return cls.open(path, witness=witness)

    @classmethod
    def open(
        cls, path: str | Path, *, epsilon: Rational | None = None, delta: Rational | None = None,
        neighbours: str | None = None, witness: str | Path | None = None,
    ) -> Self:  # fmt: skip
        """The ledger in this file, which is created if there is none and a budget is given.

        A budget given again must be the file's. Of every charge the `witness`, a second file in another place, keeps
        its number and hash; a ledger that has fewer charges than its witness has seen is refused. Open the file in
        every process that asks questions; it locks itself.
        """
        if epsilon is not None and not Path(path).exists():
            allowance = Allowance.of(epsilon, 0.0 if delta is None else delta, neighbours or "replace")
            with suppress(AlreadyThere):  # somebody else was faster
                Journal.create(Path(path), allowance)
        journal = Journal(Path(path), Path(witness) if witness is not None else None)
        _same(journal.allowance, epsilon, delta, neighbours)
        journal.show_witness()
        return cls.of(journal)

    @classmethod
    def verify(cls, path: str | Path, *, witness: str | Path | None = None) -> Self:
        """The ledger in this file, after every line and its witness have been checked; nothing is written."""
        if witness is not None and not Path(witness).exists():
            raise BadArgument("witness", f"{witness} does not exist", "give the file that the ledger was opened with")
        return cls.of(Journal(Path(path), Path(witness) if witness is not None else None))

    @classmethod
    def of(cls, book: Book) -> Self:
        """The ledger that is kept in this book."""
        ledger = cls.__new__(cls)
        ledger._book = book
        return ledger

    @property
    def allowance(self) -> Allowance:
        """The budget in exact rationals."""
        return self._book.allowance

    @property
    def budget(self) -> Budget:
        return self.allowance.budget

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What was asked, in order."""
        return self._book.page().charges

    @property
    def questions(self) -> int:
        return len(self.charges)

    @property
    def spent_exactly(self) -> Epsilon:
        """The epsilon of all answers so far together, at the ledger's delta."""
        return self._book.page().spending.total

    @property
    def spent(self) -> float:
        """The same as a float, rounded up."""
        return up(self.spent_exactly)

    @property
    def remaining(self) -> float:
        """What is left of epsilon, rounded down."""
        return down(max(Fraction(0), self.allowance.epsilon - self.spent_exactly))

    def would_cost(
        self, question: Plan | Protocol | None = None, *, epsilon: float | None = None, delta: float = 0.0
    ) -> float:
        """How much `spent` would grow by this question, or by any mechanism with this (epsilon, delta)."""
        if question is None:
            if epsilon is None:
                raise BadArgument("question", "is missing", "give a plan, a protocol, or epsilon= and delta=")
            loss: PrivacyLoss = AnyMechanism(Budget(epsilon, delta, self.allowance.neighbours))
        else:
            loss = self._loss(question)
        now = self._book.page().spending
        return up(now.and_also(loss, _asked(question) if question else epsilon).total - now.total)

    def charge(self, *questions: Plan | Protocol) -> None:
        """Spends what the questions cost together, or refuses and spends nothing.

        On return the charges are there to stay.
        """
        self._book.turn(self.charged(*questions))

    def require(self, *questions: Plan | Protocol, promised: Sequence[Plan | Protocol] = ()) -> None:
        """Refuses questions that would be too much beside those promised, as `charge` does, and spends nothing."""
        self.charged(*promised, *questions, promised=len(promised))(self._book.page())

    def charged(self, *questions: Plan | Protocol, promised: int = 0) -> Callable[[Page], Page]:
        """What makes the next page of this one, or refuses: for a book that is kept together with other things.

        A refusal tells apart the first questions, which are `promised`, and the others.
        """
        losses = [self._loss(question) for question in questions]

        def turned(page: Page) -> Page:
            spendings = [page.spending]
            for question, loss in zip(questions, losses, strict=True):
                spendings.append(spendings[-1].and_also(loss, _asked(question)))
            if spendings[-1].total > self.allowance.epsilon:
                raise self._too_much([spending.total for spending in spendings], promised)
            for question, after in zip(questions, spendings[1:], strict=True):
                page = page.and_also(Charge.of(question, len(page.charges) + 1, after), after)
            return page

        return turned

    def _too_much(self, totals: Sequence[Epsilon], promised: int) -> OverBudget:
        """Before the first question, and after each of them."""
        before, between, after = totals[0], totals[promised], totals[-1]
        digits = 4 if after > self.allowance.epsilon * Fraction(1001, 1000) else 17
        asked = len(totals) - 1 - promised
        these = "this question" if asked == 1 else f"these {asked} questions together"
        spent, advice = f"{up(before):.4g} is spent", "Ask with a smaller epsilon"
        if up(after) == math.inf:
            advice = "Its delta is too small for that: ask with a smaller delta, or of a ledger that has a larger one"
        elif promised:
            spent += f", {up(between - before):.4g} is promised to collections that are not paid for yet"
            spent += f", and {up(after - between):.4g} is asked for"
            advice += ", or destroy a collection that is not needed"
        return OverBudget(
            f"{these} would bring the ledger to epsilon={up(after):.{digits}g} at delta={self.budget.delta:g}, over "
            f"its {self.budget.epsilon:.{digits}g}; {spent}. {advice}"
        )

    def _loss(self, question: Plan | Protocol) -> PrivacyLoss:
        protocol, wire = (question.protocol, question.wire) if isinstance(question, Plan) else (question, None)
        if protocol.neighbours is not self.allowance.neighbours:
            raise Unsupported(
                f"the ledger counts in neighbours='{self.allowance.neighbours}' and the question in "
                f"'{protocol.neighbours}'; use one relation for both"
            )
        return self._book.loss(protocol, wire)

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Unsupported(
            "a ledger cannot be copied or pickled, because the copy would spend the same budget again; "
            "keep it in a file and open that where it is needed: Ledger.open(path)"
        )

    def __repr__(self) -> str:
        asked = counted(self.questions, "question")
        return f"Ledger: {self.spent:.4g} of {self.budget} spent on {asked}, {self.allowance.neighbours}"


def _asked(question: Plan | Protocol) -> float | None:
    return question.budget.epsilon if isinstance(question, Plan) else None


def _same(kept: Allowance, epsilon: Rational | None, delta: Rational | None, neighbours: str | None) -> None:
    """Refuses a budget that is given again and is another one."""
    given = Allowance.of(
        kept.epsilon if epsilon is None else epsilon,
        kept.delta if delta is None else delta,
        neighbours or kept.neighbours,
    )
    for name in ("epsilon", "delta", "neighbours"):
        mine, theirs = getattr(kept, name), getattr(given, name)
        if mine != theirs:
            has = str(mine) if name == "neighbours" else f"{float(mine):g}"
            raise BadArgument(name, f"is {theirs}, and the ledger has {has}", "leave it out, or begin another ledger")
