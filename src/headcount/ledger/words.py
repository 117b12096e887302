"""What a ledger says of itself: shares of the budget, and what would still be accepted.

The share is bookkeeping: the promise is the whole budget, whenever one stops. An epsilon "so far"
would be another promise, which does not hold for somebody who stops because of what they saw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from headcount.common.plurals import counted
from headcount.figures.text_table import TextTable
from headcount.ledger.allowance import rounded_down, up
from headcount.ledger.charge import Charge
from headcount.ledger.prices import Asked, Epsilon, any_mechanism, plain_limit
from headcount.ledger.spending import Spending
from headcount.privacy.budget import Budget

SHOWN = 20  # charges in a notebook
SMALL = (1.0, 0.2, 0.05)  # epsilons of counts that may still be asked
HARDLY = 1e-9  # of the last digit shown: a rounding error below this is not rounded up to a whole digit


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
    possible = []
    for epsilon in SMALL:
        budget = Budget(epsilon, 0.0, spending.allowance.neighbours)
        question = Asked(any_mechanism(budget), budget)
        if 1 <= (times := spending.affords(question)) < math.inf:
            several = "another count" if times == 1 else f"another {int(times):,} counts"
            possible.append(f"{several} at epsilon {epsilon:g}")
    if charges and (times := spending.affords(spending.asked[-1])) and not possible:
        possible.append(f"{_number(times)} more like the last")
    if not possible:
        return "Nothing more can be asked"
    told = f"Still possible: {', or '.join(possible)}"
    limit = plain_limit(spending.allowance)
    by_delta = spending.plain.delta * limit.divergence > spending.plain.divergence * limit.delta
    return f"{told} (with delta 0; {_delta(spending)})" if by_delta else told


def _delta(spending: Spending) -> str:
    """What is left of delta, of which sums may use half."""
    if not (left := spending.delta_left):
        return "what sums may use of delta is spent"
    return f"{rounded_down(left):g} is left of the {float(plain_limit(spending.allowance).delta):g} of delta for sums"


def _number(times: float) -> str:
    return "any number" if times == math.inf else f"{times:,.0f}"
