"""What a ledger says of itself: shares of the budget, and what would still be accepted.

The share is bookkeeping: the promise is the whole budget, whenever one stops. An epsilon "so far"
would be another promise, which does not hold for somebody who stops because of what they saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from headcount.common.plurals import counted
from headcount.errors import OverBudget
from headcount.figures.text_table import TextTable
from headcount.ledger.allowance import down, up
from headcount.ledger.charge import Charge
from headcount.ledger.prices import Amount, Asked, Epsilon, any_mechanism, plain_limit, renyi_limit
from headcount.ledger.spending import Spending
from headcount.privacy.budget import SMALLEST_EPSILON, Budget
from headcount.privacy.compose import compose

SHOWN = 20  # charges in a notebook
SMALL = (1.0, 0.2, 0.05)  # epsilons of counts that may still be asked
HARDLY = 1e-9  # of the last digit shown: a rounding error below this is not rounded up to a whole digit
HAIR = 1.001  # within that of a limit, sums are shown to the last digit


def percent(share: Epsilon, *, spent: bool = True) -> str:
    """A percentage with two digits, whole from 10% on: spent is rounded up, left is rounded down."""
    if share == math.inf or not share:
        return "0%" if not share else "more than 100%"
    scale = 10 ** max(0, 1 - math.floor(math.log10(100 * share)))
    rounded = (math.ceil if spent else math.floor)(100 * scale * share + (-HARDLY if spent else HARDLY)) / scale
    return f"{rounded:g}%"


def described(spending: Spending, inherited: int) -> str:
    """A ledger on one line."""
    allowance, asked = spending.allowance, len(spending.asked)
    so_far = f" (epsilon {up(spending.plain.divergence):.4g})" if asked and not allowance.delta else ""
    if spending.order is not None:
        so_far = f" (order {float(spending.order):.3g})"
    text = f"Ledger: {percent(spending.spent)} of {allowance.budget} spent on {counted(asked, 'question')}{so_far}"
    text += f", {allowance.neighbours}"
    if asked:
        text += f"; {_number(spending.affords(spending.asked[-1]))} more like the last"
    if inherited:
        text += (
            f". {counted(inherited, 'question')} charged under format 1: holds if questions were not chosen from "
            "earlier answers"
        )
    return text


def charge_table(charges: Sequence[Charge], title: str) -> TextTable:
    """The last charges of a ledger, a row each."""
    rows = tuple(
        (
            str(charge.number),
            charge.day,
            charge.question["task"]["name"],
            charge.question["protocol"],
            f"{float(charge.epsilon):.4g}",
            f"{float(charge.delta):.4g}",
            percent(up(charge.spent)),
        )
        for charge in charges[-SHOWN:]
    )
    headings = ("", "day", "question", "protocol", "epsilon", "delta", "spent so far")
    return TextTable(headings, rows, frozenset({0, 4, 5, 6}), title)


def outlook(spending: Spending, charges: Sequence[Charge]) -> str:
    """What would still be accepted, in questions rather than shares."""
    possible = []
    for epsilon in SMALL:
        budget = Budget(epsilon, 0.0, spending.allowance.neighbours)
        question = Asked(any_mechanism(budget), budget)
        if 1 <= (times := spending.affords(question)) < math.inf:
            several = "another count" if times == 1 else f"another {int(times):,} counts"
            possible.append(f"{several} at epsilon {epsilon:g}")
    if charges and (times := spending.affords(spending.asked[-1])) and not possible:
        possible.append(f"{_number(times)} more like the last")
    return f"Still possible: {', or '.join(possible)}" if possible else "Nothing more can be asked"


def over_budget(before: Spending, between: Spending, after: Spending) -> OverBudget:
    """The refusal of questions: the shares before them, `between` with those that are promised, and `after` all."""
    asked = len(after.asked) - len(between.asked)
    these = "this question" if asked == 1 else f"these {asked} questions together"
    if not between.asked:
        return OverBudget(_first(these, after))
    needed, left = percent(after.share - between.spent), percent(1 - between.spent, spent=False)
    promised = len(between.asked) - len(before.asked)
    text = f"{these} would need {needed} of the budget and {left} is left"
    if promised:
        text += f" beside the {percent(between.spent - before.spent)} promised to collections that are not paid for yet"
    return OverBudget(f"{text}: {_sums(after)}. {_advice(between, promised)}")


def _first(these: str, after: Spending) -> str:
    """The first questions, which are composed exactly."""
    budget = after.allowance.budget
    epsilon = compose(asked.loss for asked in after.asked).epsilon(budget.delta)
    plain = after.plain.divergence if not after.plain.delta else math.inf
    epsilon = min(epsilon, up(plain))
    if epsilon == math.inf:
        return (
            f"{these} would come to more than any epsilon at delta={budget.delta:g}; ask with a smaller delta, or of a "
            "ledger that has a larger one"
        )
    digits = 4 if epsilon > HAIR * budget.epsilon else 17
    works = f"epsilon ≤ {budget.epsilon:g}" if len(after.asked) == 1 else "smaller epsilons"
    return (
        f"{these} would come to epsilon={epsilon:.{digits}g} at delta={budget.delta:g}, over the ledger's "
        f"{budget.epsilon:.{digits}g}. Ask with {works}"
    )


def _sums(after: Spending) -> str:
    """The sums of the questions by either rule."""
    plain = _sum(after.plain, plain_limit(after.allowance), "epsilon")
    if after.order is None:
        return plain
    renyi = _sum(after.renyi, renyi_limit(after.allowance, after.order), "divergence")
    return f"by plain sums {plain}, by the price of many questions {renyi}"


def _sum(amount: Amount, limit: Amount, name: str) -> str:
    """The sum that is nearer to its limit: of epsilons or divergences, or of deltas."""
    here, most = amount.divergence, limit.divergence
    if amount.delta * limit.divergence > amount.divergence * limit.delta:
        here, most, name = amount.delta, limit.delta, "delta"
    digits = 4 if here > HAIR * most else 17
    return f"{name} {up(here):.{digits}g} of {down(most):.{digits}g}"


def _advice(between: Spending, promised: int) -> str:
    epsilon, delta = between.room()
    epsilon = _down(epsilon)
    works = f"Ask with epsilon ≤ {epsilon:g}" + (f" and delta ≤ {_down(delta):g}" if delta else "")
    if epsilon < SMALLEST_EPSILON:
        works = "Nothing more can be asked"
    if promised:
        return f"{works}, or destroy a collection that is not needed"
    if between.allowance.delta:
        return f"{works}; questions that are declared together before the first answer cost less"
    return works


def _down(number: Fraction | float) -> float:
    """Two digits, rounded down."""
    scale = 10.0 ** (1 - math.floor(math.log10(number))) if number > 0 else 1.0
    return math.floor(float(number) * scale) / scale


def _number(times: float) -> str:
    return "any number" if times == math.inf else f"{times:,.0f}"
