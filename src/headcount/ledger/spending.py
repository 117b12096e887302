"""Composition of several questions, and whether a ledger accepts them.

Questions charged before any answer are not adaptive: by exact composition they may come to the
whole budget. They also fix the order of the Rényi rule. Later charges are accepted while all
charges together fit by basic composition, or by the Rényi rule; each has half of delta, so that the
budget holds whichever accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from headcount.ledger.allowance import Allowance, down
from headcount.ledger.prices import (
    Amount,
    Asked,
    Epsilon,
    best_order,
    plain_bound,
    plain_limit,
    plain_price,
    renyi_bound,
    renyi_limit,
    renyi_price,
)
from headcount.privacy.compose import compose


@dataclass(frozen=True, eq=False)
class Spending:
    """The questions so far, and their sums by either rule."""

    allowance: Allowance
    asked: tuple[Asked, ...] = ()
    order: Fraction | None = None  # none before the first charge, nor where delta is 0
    plain: Amount = field(default_factory=Amount)
    renyi: Amount = field(default_factory=Amount)

    def ordered(self, questions: Iterable[Asked]) -> Spending:
        """The same with the order that serves these questions best, unless there is one already."""
        if self.order is not None or not self.allowance.delta:
            return self
        return self.at(best_order(questions, self.allowance))

    def at(self, order: Fraction) -> Spending:
        """The same questions at this order."""
        prices = (renyi_price(asked, self.allowance, order) for asked in self.asked)
        return Spending(self.allowance, self.asked, order, self.plain, sum(prices, Amount()))

    def and_also(self, asked: Asked) -> Spending:
        """The same with one more question. The first one fixes the order, if nothing did before."""
        if self.order is None and self.allowance.delta:
            return self.ordered([asked]).and_also(asked)
        renyi = Amount() if self.order is None else renyi_price(asked, self.allowance, self.order)
        plain = plain_price(asked, self.allowance)
        return Spending(self.allowance, (*self.asked, asked), self.order, self.plain + plain, self.renyi + renyi)

    @property
    def share(self) -> Epsilon:
        """The share of the budget by the rule that needs less; more than 1 is too much."""
        plain = self.plain.share(plain_limit(self.allowance))
        if self.order is None:
            return plain
        return min(plain, self.renyi.share(renyi_limit(self.allowance, self.order)))

    @property
    def spent(self) -> Fraction:
        """The share of a ledger that accepted it: at most 1, where all were accepted together."""
        return Fraction(min(1, self.share))

    def accepted(self, before: Spending) -> bool:
        """Whether a ledger with the sums `before` accepts the charge that leads to these."""
        return self.share <= 1 or (not before.asked and fit_together(self.allowance, self.asked))

    def admits(self, questions: Sequence[Asked]) -> bool:
        """Whether other questions are accepted for sure that lose no more than these at the same
        budgets."""
        if not self.asked and len(questions) == 1 and fit_together(self.allowance, questions):
            return True
        plain = (plain_bound(asked, self.allowance) for asked in questions)
        if sum(plain, self.plain).share(plain_limit(self.allowance)) <= 1:
            return True
        if self.order is None or not self.asked:
            return False
        renyi = (renyi_bound(asked, self.allowance, self.order) for asked in questions)
        return sum(renyi, self.renyi).share(renyi_limit(self.allowance, self.order)) <= 1

    def affords(self, asked: Asked) -> float:
        """How many more such questions are accepted, one after the other."""
        ready = self.ordered([asked])
        fits = plain_price(asked, self.allowance).times(plain_limit(self.allowance), self.plain)
        if ready.order is not None:
            limit = renyi_limit(self.allowance, ready.order)
            fits = max(fits, renyi_price(asked, self.allowance, ready.order).times(limit, self.renyi))
        return fits or float(not self.asked and fit_together(self.allowance, [asked]))


def fit_together(allowance: Allowance, questions: Sequence[Asked]) -> bool:
    """Whether questions without any answer yet fit the budget by exact composition."""
    return compose(asked.loss for asked in questions).delta(down(allowance.epsilon)) <= allowance.delta
