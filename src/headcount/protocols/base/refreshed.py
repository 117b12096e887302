"""A budget that is given anew for every window of rounds: what that promises to whom."""

from __future__ import annotations

from headcount.common.quantity import quantity
from headcount.common.short_decimals import rounded_up
from headcount.errors import BadArgument
from headcount.figures.text_table import TextTable
from headcount.privacy.budget import MOST_ROUNDS, Budget
from headcount.privacy.compose import compose
from headcount.privacy.loss import PrivacyLoss

DIGITS = 3  # of epsilons, rounded up


def promises(budget: Budget, each: PrivacyLoss, windows: int) -> TextTable:
    """A row for data within one window, within two next to each other, and within all of them."""
    works = f"use a whole number from 2 to {MOST_ROUNDS // budget.rounds:,}"
    many = quantity("windows", windows, works)
    if many != int(many) or not 2 <= many <= MOST_ROUNDS // budget.rounds:
        raise BadArgument("windows", f"is {many:g}", works)

    def together(times: int) -> tuple[str, str]:
        rounds = times * budget.rounds
        if not budget.delta:
            return f"{rounds:,}", f"{times * budget.epsilon:g}"
        return f"{rounds:,}", f"{rounded_up(compose([each] * rounds).epsilon(budget.delta), DIGITS):g}"

    rows = (
        ("one window", f"{budget.rounds:,}", f"{budget.epsilon:g}"),
        ("two windows, as rounds side by side may be", *together(2)),
        (f"all {int(many):,} windows", *together(int(many))),
    )
    title = f"what each person is promised, at δ={budget.delta:g}, {budget.neighbours.words}"
    return TextTable(("their data are in", "rounds", "epsilon"), rows, frozenset({1, 2}), title)
