"""What has been spent on one crowd. A question that would exceed the budget is refused before
anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, NoReturn, Self, TypeAlias

from headcount.common.calls import checked
from headcount.errors import AlreadyThere, BadArgument, Unsupported
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.ledger.allowance import Allowance, down, up
from headcount.ledger.book import Book, MemoryBook, Page
from headcount.ledger.charge import Charge
from headcount.ledger.journal import Journal
from headcount.ledger.prices import Asked, alone, any_mechanism
from headcount.ledger.refusals import over_budget
from headcount.ledger.spending import Spending, fit_together
from headcount.ledger.words import charge_table, described, outlook
from headcount.phrases import Phrase
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol

Rational: TypeAlias = float | Fraction


class Ledger(Tabular, Pictured):
    """A privacy filter: the budget of one crowd for all the questions it is asked.

    The budget holds although later questions are chosen because of earlier answers (fully adaptive
    composition), and whenever one stops. Made like this a ledger lives in memory, for the threads
    of one process; `Ledger.open` keeps it in a file, for any number of processes.

    Parameters
    ----------
    epsilon : float or Fraction
        Bound on the privacy loss of all answers together.
    delta : float or Fraction
        Mass of outcomes that may exceed it.
    neighbours : str
        The adjacency: "replace" or "add-remove".

    Raises
    ------
    errors.BadArgument
        If one of them is out of range.

    Examples
    --------
    >>> ledger = hc.Ledger(epsilon=1.5, delta=1e-6)
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=1, delta=1e-7, ledger=ledger)
    >>> ledger.questions, f"{ledger.spent:.0%}"
    (1, '67%')
    """

    @checked
    def __init__(self, *, epsilon: Rational, delta: Rational = 0.0, neighbours: str = "replace") -> None:
        self._book: Book = MemoryBook(Allowance.of(epsilon, delta, neighbours))

    @classmethod
    @checked
    def create(
        cls,
        path: str | Path,
        *,
        epsilon: Rational,
        delta: Rational = 0.0,
        neighbours: str = "replace",
        witness: str | Path | None = None,
    ) -> Self:
        """A ledger in a new file.

        Parameters
        ----------
        path : str or Path
            Name of the file.
        epsilon, delta, neighbours
            The budget.
        witness : str or Path, optional
            A second file, in another place: see `open`.

        Raises
        ------
        errors.AlreadyThere
            If there is such a file.
        """
        Journal.create(Path(path), Allowance.of(epsilon, delta, neighbours))
        return cls.open(path, witness=witness)

    @classmethod
    @checked
    def open(
        cls,
        path: str | Path,
        *,
        epsilon: Rational | None = None,
        delta: Rational | None = None,
        neighbours: str | None = None,
        witness: str | Path | None = None,
    ) -> Self:
        """The ledger in this file, which is created if there is none and a budget is given.

        Open the file in every process that asks questions; it locks itself.

        Parameters
        ----------
        path : str or Path
            Name of the file.
        epsilon, delta, neighbours
            The budget; given again, it must be the file's.
        witness : str or Path, optional
            A second file, in another place, that keeps the number and hash of every charge. A
            ledger that has fewer charges than its witness has seen is refused.

        Raises
        ------
        errors.Damaged
            If a line was edited, removed or moved, or an old copy was put back.
        errors.BadArgument
            If there is no such file and no budget, or another budget.
        """
        if epsilon is not None and not Path(path).exists():
            allowance = Allowance.of(epsilon, 0.0 if delta is None else delta, neighbours or "replace")
            with suppress(AlreadyThere):  # another process created it first
                Journal.create(Path(path), allowance)
        journal = Journal(Path(path), Path(witness) if witness is not None else None)
        _same(journal.allowance, epsilon, delta, neighbours)
        journal.show_witness()
        return cls.of(journal)

    @classmethod
    @checked
    def verify(cls, path: str | Path, *, witness: str | Path | None = None) -> Self:
        """The ledger in this file, every line and its witness checked. Nothing is written.

        Parameters
        ----------
        path : str or Path
            Name of the file.
        witness : str or Path, optional
            The second file that it was opened with.

        Raises
        ------
        errors.Damaged
            If the file is not what was written there.
        """
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
        """The budget as floats."""
        return self.allowance.budget

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What was asked, in order."""
        return self._book.page().charges

    @property
    def reserved(self) -> tuple[int, ...]:
        """The numbers of charges whose answer has not been told yet. They count all the same."""
        return self._book.page().reserved

    @property
    def questions(self) -> int:
        """How many questions were charged."""
        return len(self.charges)

    @property
    def spent_exactly(self) -> Fraction:
        """The share of the budget that is spent, from 0 to 1."""
        return self._book.page().spending.spent

    @property
    def spent(self) -> float:
        """The same as a float, rounded up."""
        return up(self.spent_exactly)

    @property
    def remaining(self) -> float:
        """How much of the budget is left, from 1 to 0, rounded down."""
        return down(1 - self.spent_exactly)

    @property
    def order(self) -> Fraction | None:
        """The order of the added Rényi divergences: set by the first charge; none if delta is 0."""
        return self._book.page().spending.order

    @property
    def inherited(self) -> int:
        """How many charges were made by the rule of an earlier version.

        For them the budget holds if they were not chosen because of earlier answers.
        """
        charges = self.charges if self.allowance.delta else ()
        return next((at for at, charge in enumerate(charges) if charge.order is not None), len(charges))

    @checked
    def would_cost(
        self, question: Plan | Protocol | None = None, *, epsilon: float | None = None, delta: float = 0.0
    ) -> float:
        """How much `spent` would grow by a question.

        Parameters
        ----------
        question : Plan or Protocol, optional
            The question; or else any mechanism with this epsilon and delta.
        epsilon, delta : float
            Its guarantee.

        Returns
        -------
        float
            A share of the budget; more than `remaining` if the question would be refused.
        """
        asked, now = self._asked_or_any(question, epsilon, delta), self._book.page().spending
        after = now.ordered([asked]).and_also(asked)
        return up((after.spent if after.accepted(now) else after.share) - now.spent)

    @checked
    def affords(
        self, question: Plan | Protocol | None = None, *, epsilon: float | None = None, delta: float = 0.0
    ) -> float:
        """How many more such questions would be accepted, one after the other.

        Parameters
        ----------
        question : Plan or Protocol, optional
            The question; or else any mechanism with this epsilon and delta.
        epsilon, delta : float
            Its guarantee.

        Returns
        -------
        float
            Infinite if they cost nothing.

        Examples
        --------
        >>> hc.Ledger(epsilon=3, delta=1e-5).affords(epsilon=1, delta=1e-6)
        3
        """
        return self._book.page().spending.affords(self._asked_or_any(question, epsilon, delta))

    @checked
    def charge(self, *questions: Plan | Protocol, column: str | None = None) -> None:
        """Spend what the questions cost together, or refuse and spend nothing.

        The first charge may be of a whole schedule: as nobody has an answer yet, it is composed
        exactly. Later charges add up by a rule that holds for adaptively chosen questions. On
        return the charges are there to stay.

        Parameters
        ----------
        *questions : Plan or Protocol
            What is going to be asked.
        column : str, optional
            The column they are asked of, which the ledger's lines name.

        Raises
        ------
        errors.OverBudget
            If they do not fit.

        Examples
        --------
        >>> ledger = hc.Ledger(epsilon=3, delta=1e-5)
        >>> ledger.charge(*[hc.protocol("zsum", n=1_000, epsilon=0.5, delta=1e-7)] * 4)
        >>> ledger.questions
        4
        """
        self._book.turn(self.charged(*questions, column=column))

    def require(self, *questions: Plan | Protocol) -> None:
        """Refuse questions that would be too much, as `charge` does, and spend nothing.

        Parameters
        ----------
        *questions : Plan or Protocol
            What would be asked.

        Raises
        ------
        errors.OverBudget
            If they do not fit.
        """
        self.charged(*questions)(self._book.page())

    def require_later(self, *questions: Plan | Protocol, promised: Sequence[Plan | Protocol] = ()) -> None:
        """Refuses questions that could not be charged in turn, beside those `promised`."""
        self.require_later_of(self._book.page(), *questions, promised=promised)

    def require_later_of(
        self, page: Page, *questions: Plan | Protocol, promised: Sequence[Plan | Protocol] = ()
    ) -> None:
        """`require_later` on a page that was read under the book's lock."""
        ahead, asked = ([self._asked(question) for question in part] for part in (promised, questions))
        now = page.spending.ordered([*ahead, *asked])
        between = reduce(Spending.and_also, ahead, now)
        after = reduce(Spending.and_also, asked, between)
        single = not now.asked and len(ahead) + len(asked) == 1
        if after.share > 1 and not (single and fit_together(self.allowance, asked)):
            raise over_budget(now, between, after)

    def promising(self, *questions: Plan | Protocol) -> float:
        """The growth of `spent` by these questions, if charged one after the other; rounded up."""
        asked, now = [self._asked(question) for question in questions], self._book.page().spending
        return up(reduce(Spending.and_also, asked, now.ordered(asked)).spent - now.spent)

    def charged(
        self,
        *questions: Plan | Protocol,
        promised: Sequence[Plan | Protocol] = (),
        column: str | None = None,
        reserved: bool = False,
    ) -> Callable[[Page], Page]:
        """A function from a page to the page with these charges; it refuses to exceed the budget.

        For a book that shares a transaction with other tables. If this is the first charge, the
        order is chosen with a view to what is `promised` beside it. A charge may be `reserved` for
        an answer that is told later: it counts at once, and telling the answer only settles it.
        """
        asked, ahead = ([self._asked(question) for question in part] for part in (questions, promised))

        def turned(page: Page) -> Page:
            before = page.spending.ordered([*asked, *ahead])
            after = reduce(Spending.and_also, asked, before)
            if not after.accepted(before):
                raise over_budget(before, before, after)
            fixed, spending = any(charge.order is not None for charge in page.charges), before
            for question, each in zip(questions, asked, strict=True):
                spending = spending.and_also(each)
                price, order = alone(each, self.allowance), None if fixed else spending.order
                number = len(page.charges) + 1
                charge = Charge.of(question, number, price, spending.spent, order, column=column, reserved=reserved)
                page, fixed = page.and_also(charge, spending), True
            return page

        return turned

    def _asked(self, question: Plan | Protocol) -> Asked:
        if not isinstance(question, Plan | Protocol):
            raise BadArgument("question", f"is a {type(question).__name__}", "give a plan, as hc.advise(…).best")
        if isinstance(question, Plan):
            return Asked(self._book.loss(question.protocol, question.wire, question.budget), question.budget)
        return Asked(self._book.loss(question, None))

    def _asked_or_any(self, question: Plan | Protocol | None, epsilon: float | None, delta: float) -> Asked:
        if question is not None:
            return self._asked(question)
        if epsilon is None:
            raise BadArgument("question", "is missing", Phrase("give a plan, a protocol, or {epsilon} and {delta}"))
        budget = Budget(epsilon, delta, self.allowance.neighbours)
        return Asked(any_mechanism(budget), budget)

    def records(self) -> list[dict[str, Any]]:
        """A row for each charge."""
        return [charge.record() for charge in self.charges]

    def outlook(self) -> str:
        """What would still be possible, as a sentence: "another 14 counts at epsilon 0.2"."""
        return outlook(self._book.page().spending, self.charges)

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.ledger.picture import draw

        return draw(self, target, theme, title)

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Unsupported(
            "a ledger cannot be copied or pickled, because the copy would spend the same budget again",
            "keep it in a file and open that where it is needed: Ledger.open(path)",
        )

    def __repr__(self) -> str:
        page = self._book.page()
        return described(page.spending, self.inherited)

    def _repr_html_(self) -> str:
        return charge_table(self.charges, repr(self)).html()


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
