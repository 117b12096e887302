"""From a plan to an answer: take in, charge, randomise, tally, release, estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from headcount.core.coins import Coins, SecretCoins
from headcount.core.errors import BadArgument
from headcount.core.estimate import Estimate
from headcount.core.plan import Plan
from headcount.core.tally import Tally
from headcount.engines.choice import engine_for
from headcount.engines.engine import Engine, Rows
from headcount.engines.memory import MemoryEngine
from headcount.ledger.ledger import Ledger
from headcount.planner.advice import Advice


def run(
    plan: Plan | Advice, data: Any, *, column: str | None = None, where: object = None, unit: Any = None,
    max_contributions: int | None = None, engine: Engine | None = None, coins: Coins | None = None,
    ledger: Ledger | None = None,
) -> Estimate:  # fmt: skip
    """The plan on this data: every person's randomiser, the tally, the release, the estimate with its guarantee.

    Of an advice the best plan is run. The data, `column`, `where`, `unit` and `max_contributions` are as for `count`,
    or arrays that arrive one after the other. Data that do not fit the plan are refused, and so is what would be over
    the ledger's budget; only then is anything charged, and only then shown.
    """
    plan = plan.best if isinstance(plan, Advice) else plan
    rows = Rows(data, column=column, where=where, unit=unit, most=max_contributions)
    if engine is None and _arrives_in_pieces(data):
        if rows != replace(rows, column=None, where=None, unit=None, most=None):
            raise BadArgument("column", "needs data in one piece", "give the answers themselves, piece by piece")
        return carried_out(plan, data, MemoryEngine(), coins, ledger)
    if (rows.most or 1) > plan.protocol.crowd.each:
        works = f"plan with max_contributions={rows.most}"
        raise BadArgument("max_contributions", f"is {rows.most}, more than the plan is for", works)
    if coins is not None and rows.most is not None:
        rows = replace(rows, key=int(coins.below(1 << 31, 1)[0]))
    engine = engine or engine_for(data)
    answers = engine.answers(plan.protocol.task, rows)
    plan.protocol.require_fit(answers.size)  # before anything is charged or drawn
    return carried_out(plan, answers, engine, coins, ledger)


def charge(ledger: Ledger | None, *plans: Plan) -> None:
    """Spends what the plans cost, if there is a ledger to charge it to: all of it or nothing."""
    if ledger is not None:
        _checked(ledger).charge(*plans)


def afford(ledger: Ledger | None, *plans: Plan) -> None:
    """Refuses what the ledger would not pay for, before anybody goes to work; nothing is spent yet."""
    if ledger is not None:
        _checked(ledger).require(*plans)


def _checked(ledger: Ledger) -> Ledger:
    if not isinstance(ledger, Ledger):
        raise BadArgument("ledger", f"is a {type(ledger).__name__}", "use hc.Ledger.open(path)")
    return ledger


def carried_out(
    plan: Plan, answers: Any, engine: Engine, coins: Coins | None = None, ledger: Ledger | None = None
) -> Estimate:
    """The plan on answers as the engine took them in.

    Nothing that was drawn is shown before it is paid for, and nothing is paid for that could still be refused.
    """
    coins = coins or SecretCoins()
    afford(ledger, plan)
    tally = engine.tally(plan, answers, coins)
    charge(ledger, plan)
    return shown(plan, tally, coins)


def shown(plan: Plan, tally: Tally, coins: Coins) -> Estimate:
    """What the trusted side lets go of a tally that is paid for."""
    estimate = plan.protocol.estimate(plan.protocol.release(tally, coins))
    return replace(estimate, budget=plan.budget, secret=coins.secret)


def _arrives_in_pieces(data: Any) -> bool:
    """Arrays one after the other, rather than people."""
    return isinstance(data, Iterator) or (isinstance(data, list) and bool(data) and isinstance(data[0], np.ndarray))
