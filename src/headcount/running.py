"""From a plan to an answer: take in, charge, randomise, tally, release, estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headcount.core.budget import Neighbours
from headcount.core.coins import Coins, SecretCoins
from headcount.core.counted import people
from headcount.core.errors import BadArgument, TooFewReports, TooManyReports
from headcount.core.estimate import Estimate
from headcount.core.model import Model
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.engines.engine import Engine
from headcount.engines.intake import answers
from headcount.engines.memory import MemoryEngine
from headcount.ledger.ledger import Ledger
from headcount.planner.advice import Advice


def run(
    plan: Plan | Advice, data: Any, *, column: str | None = None, where: object = None, unit: Any = None,
    engine: Engine | None = None, coins: Coins | None = None, ledger: Ledger | None = None,
) -> Estimate:  # fmt: skip
    """The plan on this data: every person's randomiser, the tally, the release, the estimate with its guarantee.

    Of an advice the best plan is run. `column`, `where` and `unit` are as for `count`. Data that do not fit the plan
    are refused first; then, with a ledger, the cost is charged, and what is over its budget is refused before anything
    is drawn.
    """
    plan = plan.best if isinstance(plan, Advice) else plan
    if engine is None and not _arrives_in_pieces(data):
        data = answers(plan.protocol.task, data, column=column, where=where, unit=unit)
        require_fit(plan.protocol, data)
    elif column is not None or where is not None or unit is not None:
        raise BadArgument("column", "needs data in one piece", "give the answers themselves, piece by piece")
    charge(ledger, plan)
    return carried_out(plan, data, engine, coins)


def require_fit(protocol: Protocol, values: Any) -> None:
    """Refuses answers that the protocol was not planned for, before anything is charged or drawn."""
    protocol.task.encoded(values)
    crowd, private = protocol.crowd, protocol.neighbours is Neighbours.ADD_REMOVE
    if values.size < crowd.least:
        came = "fewer people" if private else people(values.size)
        works = "" if private else f" make a plan for {people(values.size)}, or"
        raise TooFewReports(
            f"data has {came} and the plan needs at least {crowd.least:,};{works} give everybody's answers"
        )
    if protocol.model is Model.THRESHOLD and values.size > crowd.size:
        raise TooManyReports(f"{protocol.name} was planned for at most {people(crowd.size)}; plan for more")


def charge(ledger: Ledger | None, *plans: Plan) -> None:
    """Spends what the plans cost, if there is a ledger to charge it to: all of it or nothing."""
    if ledger is None:
        return
    if not isinstance(ledger, Ledger):
        raise BadArgument("ledger", f"is a {type(ledger).__name__}", "use hc.Ledger.open(path)")
    ledger.charge(*plans)


def carried_out(plan: Plan, data: Any, engine: Engine | None = None, coins: Coins | None = None) -> Estimate:
    """The plan on data that fit it; whatever it costs has been charged."""
    coins = coins or SecretCoins()
    tally = (engine or MemoryEngine()).tally(plan, data, coins)
    estimate = plan.protocol.estimate(plan.protocol.release(tally, coins))
    if plan.protocol.neighbours is Neighbours.ADD_REMOVE:
        estimate = replace(estimate, tally=replace(estimate.tally, reports=0))  # how many reported is private itself
    return replace(estimate, budget=plan.budget, secret=coins.secret)


def _arrives_in_pieces(data: Any) -> bool:
    """Arrays one after the other, rather than people."""
    return isinstance(data, Iterator) or (isinstance(data, list) and bool(data) and isinstance(data[0], np.ndarray))
