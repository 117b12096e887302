"""Who learns what: the privacy loss of everything each party sees, computed for any protocol."""

from __future__ import annotations

import math

from headcount.common.short_decimals import rounded_up
from headcount.figures.text_table import TextTable
from headcount.privacy.budget import Budget
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model, Party
from headcount.protocols.base.protocol import Protocol

SHOWN = 3  # significant digits of epsilon
EVERYTHING, NOTHING = "every value", "who took part, and nothing else"


def who_learns_what(protocol: Protocol, budget: Budget) -> TextTable:
    """A row per party, alone and together: what it learns of a person at the budget's delta."""
    delta = budget.delta
    views = {party: None if loss is None else budget.together(loss) for party, loss in protocol.views().items()}
    rows = [("the analyser", _learned(views[Party.ANALYSER], delta))]
    if protocol.model is Model.LOCAL:
        return _table(delta, [*rows, ("everybody together", rows[0][1])])
    rows.append(("the public, reading the answer", _learned(views[Party.PUBLIC], delta)))
    if Party.SHUFFLER in views:
        sealed = protocol.model.from_devices  # to the analyser, so that the shuffler cannot read it
        rows.append(("the shuffler, before the answer", NOTHING if sealed else EVERYTHING))
        rows.append(("the shuffler, reading the answer", _learned(views[Party.SHUFFLER], delta)))
        left = protocol.group_local_epsilon
        rows.append(
            ("the shuffler and the analyser", EVERYTHING if left is None else _promise(budget.rounds * left, 0.0))
        )
    return _table(delta, rows)


def _table(delta: float, rows: list[tuple[str, str]]) -> TextTable:
    return TextTable(("party", "learns of a person"), tuple(rows), frozenset(), f"who learns what, at δ={delta:g}")


def _learned(loss: PrivacyLoss | None, delta: float) -> str:
    """The promise in words: a pure one if that has the same epsilon to the digits shown."""
    if loss is None:
        return EVERYTHING
    epsilon = loss.epsilon(delta)
    pure = math.isfinite(epsilon) and loss.delta(rounded_up(epsilon, SHOWN)) == 0.0
    return _promise(epsilon, 0.0 if pure else delta)


def _promise(epsilon: float, delta: float) -> str:
    return EVERYTHING if math.isinf(epsilon) else f"(ε={rounded_up(epsilon, SHOWN):g}, δ={delta:g})"
