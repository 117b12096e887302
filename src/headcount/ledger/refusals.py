"""The refusal of questions that a ledger has no room for, and what it would accept instead.

The advice is a promise: what asks the same with no more than the budget advised is accepted,
whatever its protocol.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from headcount.errors import OverBudget
from headcount.ledger.allowance import Allowance, down, rounded_down, up
from headcount.ledger.prices import Asked, counted_in, plain_limit, smallest_question
from headcount.ledger.spending import Spending
from headcount.ledger.words import percent
from headcount.phrases import Phrase
from headcount.privacy.approximate_dp import ApproximateDP
from headcount.privacy.budget import SMALLEST_DELTA, SMALLEST_EPSILON, Budget
from headcount.privacy.compose import compose

ROUNDED = 1.0 + 1e-12  # proportions of several budgets, in doubles
OTHER = Phrase(
    "this ledger hides a changed answer (replace), and the question hides a person (add-remove), which costs twice its "
    "epsilon or more here; for such questions begin a ledger with {neighbours}",
    neighbours="add-remove",
)
HAIR = 1.001  # within that of a limit, sums are shown to the last digit
DELTAS = (0.1, 0.01, 1e-3, 1e-4)  # of the delta that was asked for: a smaller one is advised
WORTH = 2.0  # where it leaves room for an epsilon that is so many times larger
GRID = [float(f"{digits}e{power}") for power in range(-4, 1) for digits in range(10, 100)]  # of epsilons, two digits


def over_budget(before: Spending, between: Spending, after: Spending) -> OverBudget:
    """The refusal of questions: the shares before them, `between` with those that are promised, and
    `after` all."""
    asked = after.asked[len(between.asked) :]
    these = "this question" if len(asked) == 1 else f"these {len(asked)} questions together"
    if not between.asked:
        return OverBudget(_first(these, after))
    needed, left = percent(after.share - between.spent), percent(1 - between.spent, spent=False)
    promised = len(between.asked) - len(before.asked)
    text = f"{these} would need {needed} of the budget and {left} is left{_epsilon_left(between)}"
    if promised:
        text += f" beside the {percent(between.spent - before.spent)} promised to collections that are not paid for yet"
    works = _advice(between, asked)
    if promised:
        works = Phrase("{}, or destroy a collection that is not needed", works)
    return OverBudget(Phrase("{}{}. {}", text, _reason(after), works))


def _first(these: str, after: Spending) -> Phrase:
    """The first questions, which are composed exactly."""
    budget = after.allowance.budget
    works = _advice(Spending(after.allowance), after.asked) if len(after.asked) == 1 else "Ask with smaller epsilons"
    epsilon = compose(asked.loss for asked in after.asked).epsilon(budget.delta)
    plain = after.plain.divergence if not after.plain.delta else math.inf
    epsilon = min(epsilon, up(plain))
    if epsilon == math.inf:
        if after.asked[0].budget is None or len(after.asked) > 1:
            works = "Ask with a smaller delta, or of a ledger that has a larger one"
        return Phrase("{} would come to more than any epsilon at delta={}. {}", these, f"{budget.delta:g}", works)
    digits = 4 if epsilon > HAIR * budget.epsilon else 17
    text = (
        f"{these} would come to epsilon={epsilon:.{digits}g} at delta={budget.delta:g}, over the ledger's "
        f"{budget.epsilon:.{digits}g}"
    )
    return Phrase("{}. {}", text, works)


def _epsilon_left(between: Spending) -> str:
    """What is left of epsilon, where less is left of delta: questions without delta may take all of
    it."""
    limit, plain = plain_limit(between.allowance), between.plain
    by_delta = plain.delta * limit.divergence > plain.divergence * limit.delta
    if not by_delta or between.spent < plain.share(limit):
        return ""
    return f", {percent(1 - plain.divergence / limit.divergence, spent=False)} of its epsilon"


def _reason(after: Spending) -> str:
    """What percentages do not show: that delta is what is too much, or that only the last digits
    are."""
    plain, limit = after.plain, plain_limit(after.allowance)
    if plain.delta > limit.delta and plain.delta * limit.divergence > plain.divergence * limit.delta:
        return f": delta {up(plain.delta):.4g} of the {float(limit.delta):.4g} that sums may use, half of the ledger's"
    if limit.divergence < plain.divergence <= HAIR * float(limit.divergence):
        return f": epsilon {up(plain.divergence):.17g} of {down(limit.divergence):.17g}"
    return ""


def _advice(between: Spending, asked: Sequence[Asked]) -> Phrase:
    """What the same questions are accepted with."""
    likes, works = _Likes.of(between.allowance, asked), None
    most = 0.0
    for delta in likes.deltas(between):
        if (epsilon := likes.largest(between, delta, WORTH * most)) is not None:
            own = delta == likes.delta
            template = "Ask with {epsilon} or less{}" if own else "Ask with {epsilon} and {delta}, or less{}"
            most, works = epsilon, Phrase(template, likes.together, epsilon=epsilon, delta=delta)
    if likes.counted_alike:
        return works or Phrase("Nothing more can be asked")
    if works is not None:
        return Phrase("{}: {}", works, OTHER)
    if between.admits([smallest_question(between.allowance)]):
        return Phrase("No smaller epsilon fits: {}", OTHER)
    return Phrase("Nothing more can be asked")


@dataclass(frozen=True)
class _Likes:
    """Questions of which nothing is known but their budgets, in the proportions of those that were
    asked."""

    allowance: Allowance
    budgets: tuple[Budget, ...]

    @classmethod
    def of(cls, allowance: Allowance, asked: Sequence[Asked]) -> _Likes:
        """Of what has no budget, a single question."""
        budgets = tuple(each.budget for each in asked if each.budget is not None)
        if len(budgets) == len(asked):
            return cls(allowance, budgets)
        return cls(allowance, (Budget(allowance.budget.epsilon, 0.0, allowance.neighbours),))

    @property
    def same(self) -> bool:
        return all(budget == self.budgets[0] for budget in self.budgets)

    @property
    def together(self) -> str:
        return "" if len(self.budgets) == 1 else " each" if self.same else " in all"

    @property
    def epsilon(self) -> float:
        return self.budgets[0].epsilon if self.same else math.fsum(budget.epsilon for budget in self.budgets)

    @property
    def delta(self) -> float:
        return self.budgets[0].delta if self.same else math.fsum(budget.delta for budget in self.budgets)

    @property
    def counted_alike(self) -> bool:
        """Whether they are of the ledger's adjacency."""
        return all(budget.neighbours is self.allowance.neighbours for budget in self.budgets)

    def deltas(self, between: Spending) -> list[float]:
        """Their own delta, what is left of the ledger's for each of them, and parts of their
        own."""
        rest = plain_limit(self.allowance).delta - between.plain.delta
        left = rounded_down(rest / len(self.budgets) if self.same else rest)
        fewer = [left, *(float(f"{self.delta * part:.1e}") for part in DELTAS)]
        return [self.delta, *(delta for delta in fewer if SMALLEST_DELTA <= delta < self.delta)]

    def largest(self, between: Spending, delta: float, above: float) -> float | None:
        """The largest epsilon from `above` on with which all of their kind are accepted: of two
        digits, or the most that could be."""
        most = min(self.epsilon, down(self.allowance.epsilon))
        grid = [*(epsilon for epsilon in GRID if above <= epsilon < most), *([most] if above <= most else [])]
        if not grid or not between.admits(self._at(grid[0], delta)):
            return None
        place = bisect_right(grid, False, 1, key=lambda epsilon: not between.admits(self._at(epsilon, delta)))
        return grid[place - 1]

    def _at(self, epsilon: float, delta: float) -> list[Asked]:
        made, rounded = [], 1.0 if self.same else ROUNDED
        for budget in self.budgets:
            shares = budget.epsilon / self.epsilon, budget.delta / self.delta if self.delta else 0.0
            here = max(SMALLEST_EPSILON, rounded * epsilon * shares[0]), rounded * delta * shares[1]
            like = Budget(*here, budget.neighbours)
            made.append(Asked(counted_in(self.allowance, ApproximateDP(like), like.neighbours), like))
        return made
