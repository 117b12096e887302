"""What a ledger says of itself: shares of the budget, and what would still be accepted.

The share is bookkeeping: the promise is the whole budget, whenever one stops. An epsilon "so far"
would be another promise, which does not hold for somebody who stops because of what they saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from headcount.common.plurals import counted
from headcount.figures.text_table import TextTable
from headcount.ledger.allowance import rounded_down, up
from headcount.ledger.charge import Charge
from headcount.ledger.prices import Asked, Epsilon, any_mechanism, plain_limit
from headcount.ledger.spending import Spending
from headcount.privacy.budget import SMALLEST_EPSILON, Budget

SHOWN = 20  # charges in a notebook
SMALL = (1.0, 0.2, 0.05, 0.01, SMALLEST_EPSILON)  # epsilons of counts that may still be asked
NAMED = 3  # of them, the largest
HARDLY_ANY = Fraction(1, 100_000)  # of the budget: less than the smallest question takes of the largest budget
MANIFOLD = 10  # budgets
HARDLY = 1e-9  # of the last digit shown: a rounding error below this is not rounded up to a whole digit


def percent(share: Epsilon, *, spent: bool = True) -> str:
    """A percentage with two digits, whole from 10% on: spent is rounded up, left is rounded down.

    Of what is nearly all, two digits of the rest: 99.6% is not said to be all of it.
    """
    if share > MANIFOLD:
        return "more than 1,000%"
    if share < HARDLY_ANY:
        return "less than 0.001%" if share and spent else "0%"
    shown = 1 - share if Fraction(99, 100) < share <= 1 - HARDLY_ANY else share
    scale = 10 ** max(0, 1 - math.floor(math.log10(100 * shown)))
    rounded = (math.ceil if spent else math.floor)(100 * scale * share + (-HARDLY if spent else HARDLY)) / scale
    return f"{rounded:g}%"


def described(spending: Spending, inherited: int) -> str:
    """A ledger on one line."""
    allowance, asked = spending.allowance, len(spending.asked)
    so_far = f" (epsilon {up(spending.plain.divergence):.4g})" if asked and not allowance.delta else ""
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
            charge.asks,
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
    possible: list[str] = []
    for epsilon in SMALL:
        budget = Budget(epsilon, 0.0, spending.allowance.neighbours)
        question = Asked(any_mechanism(budget), budget)
        if 1 <= (times := spending.affords(question)) < math.inf and len(possible) < NAMED:
            several = "another count" if times == 1 else f"another {int(times):,} counts"
            possible.append(f"{several} at epsilon {epsilon:g}")
    if charges and (times := spending.affords(spending.asked[-1])) and not possible:
        possible.append(f"{_number(times)} more like the last")
    if not possible:
        return "Nothing more can be asked"
    return f"Still possible: {', or '.join(possible)}{_delta_left(spending)}"


def _delta_left(spending: Spending) -> str:
    """What is left of the part of delta that is added up, once there are questions that have
    one."""
    if not spending.plain.delta:
        return ""
    limit = plain_limit(spending.allowance).delta
    left = rounded_down(max(limit - spending.plain.delta, Fraction(0)))
    return f" (with delta 0). Left of delta: {left:g} of {float(limit):g}, the half that is added up"


def _number(times: float) -> str:
    return "any number" if times == math.inf else f"{times:,.0f}"
