"""The figure of a ledger: each question's share of the budget, in turn, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headcount.common.plurals import counted
from headcount.figures.steps import Step, steps
from headcount.ledger.allowance import up
from headcount.ledger.words import percent

if TYPE_CHECKING:
    from headcount.ledger.ledger import Ledger

SHOWN = 20  # charges, the last ones


def draw(ledger: Ledger, target: Any, theme: str, title: str) -> Any:
    """Draw a ledger into a file, into bytes or onto axes."""
    charges = ledger.charges
    earlier, shown = charges[: max(0, len(charges) - SHOWN)], charges[-SHOWN:]
    found, before = list[Step](), 0.0
    if earlier:
        before = up(earlier[-1].spent)
        found.append(Step(counted(len(earlier), "earlier question"), 0.0, before, percent(before)))
    for charge in shown:
        spent = up(charge.spent)
        label = f"{charge.number}  {charge.asks}, ε={float(charge.epsilon):.3g}"
        found.append(Step(label, before, spent, percent(spent)))
        before = spent
    left = percent(1 - ledger.spent_exactly, spent=False)
    found.append(Step("left", before, 1.0, left, left=True))
    return steps(
        found,
        target,
        title=title or f"{percent(ledger.spent_exactly)} of {ledger.budget} is spent, {left} is left",
        subtitle=ledger.outlook(),
        xlabel="share of the budget",
        caption=f"{ledger.budget.neighbours.words}; the promise is the whole budget, whenever one stops",
        theme=theme,
    )
