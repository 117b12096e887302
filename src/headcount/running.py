"""From a plan to an answer, in one order for every model: refuse, charge, draw, show.

What can be refused about the data or the budget is refused first. Then the ledger is charged, durably; only then is
anything drawn, and only what was drawn is shown. Whoever is interrupted in between has paid and seen nothing: the
charge's line says for what.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headcount.core.coins import Coins, SecretCoins, Undrawn
from headcount.core.errors import BadArgument
from headcount.core.estimate import Estimate
from headcount.core.model import Model
from headcount.core.plan import Plan
from headcount.core.tally import Tally
from headcount.engines.choice import engine_for
from headcount.engines.engine import KEY, Engine, Rows
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
    the ledger's budget; only then is anything charged, and only then drawn. (Of an iterator, which can be read only
    once, the arrays are looked at while randomisers draw: if one is refused, the charge stays.)
    """
    plan = plan.best if isinstance(plan, Advice) else plan
    rows = Rows(data, column=column, where=where, unit=unit, most=max_contributions)
    if engine is None and _arrives_in_pieces(data):
        if rows != replace(rows, column=None, where=None, unit=None, most=None):
            raise BadArgument("column", "needs data in one piece", "give the answers themselves, piece by piece")
        return carry_out([plan], data, MemoryEngine(), coins, ledger)[0]
    if (rows.most or 1) > plan.protocol.crowd.each:
        works = f"plan with max_contributions={rows.most}"
        raise BadArgument("max_contributions", f"is {rows.most}, more than the plan is for", works)
    if coins is not None and rows.most is not None:
        rows = replace(rows, key=coins.stream(KEY).tobytes())
    engine = engine or engine_for(data)
    answers = engine.answers(plan.protocol.task, rows)
    plan.protocol.require_fit(answers.size)  # before anything is charged or drawn
    return carry_out([plan], answers, engine, coins, ledger)[0]


def carry_out(
    plans: Sequence[Plan], answers: Any, engine: Engine, coins: Coins | None = None, ledger: Ledger | None = None
) -> list[Estimate]:
    """The plans on answers as the engine took them in, all paid for at once.

    A trusted side counts before it is paid for, which draws nothing; where people's randomisers draw, the answers are
    only looked at before.
    """
    if ledger is not None and not isinstance(ledger, Ledger):
        raise BadArgument("ledger", f"is a {type(ledger).__name__}", "use hc.Ledger.open(path)")
    if ledger is not None:
        ledger.require(*plans)  # before anybody goes to work
    counted = [_counted(plan, answers, engine) for plan in plans]
    if ledger is not None:
        for plan, tally in zip(plans, counted, strict=True):
            if tally is None:
                engine.require(plan.protocol.task, answers)
        ledger.charge(*plans)
    coins = coins or SecretCoins()
    tallies = (tally or engine.tally(plan, answers, coins) for plan, tally in zip(plans, counted, strict=True))
    return [shown(plan, tally, coins) for plan, tally in zip(plans, tallies, strict=True)]


def _counted(plan: Plan, answers: Any, engine: Engine) -> Tally | None:
    """What a trusted side counts, which draws nothing; where people's randomisers draw, nothing yet."""
    return engine.tally(plan, answers, Undrawn()) if plan.protocol.model is Model.CENTRAL else None


def shown(plan: Plan, tally: Tally, coins: Coins) -> Estimate:
    """What the trusted side lets go of a tally that is paid for."""
    estimate = plan.protocol.estimate(plan.protocol.release(tally, coins))
    return replace(estimate, budget=plan.budget, secret=coins.secret)


def _arrives_in_pieces(data: Any) -> bool:
    """Arrays one after the other, rather than people."""
    return isinstance(data, Iterator) or (isinstance(data, list) and bool(data) and isinstance(data[0], np.ndarray))
