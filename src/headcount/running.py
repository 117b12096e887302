"""From a plan to an answer, in one order for every model: refuse, charge, draw, show.

What can be refused about the data or the budget is refused first. Then the ledger is charged,
durably; only then is anything drawn, and only what was drawn is shown. A run that is interrupted in
between has paid and shown nothing: the charge's line says for what.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from headcount.answers.estimate import Estimate
from headcount.common.calls import checked
from headcount.engines.engine import KEY, Engine, Rows, engine_for
from headcount.engines.memory import MemoryEngine
from headcount.errors import BadArgument
from headcount.ledger.ledger import Ledger
from headcount.phrases import Phrase
from headcount.planner.advice import Advice
from headcount.privacy.model import Model
from headcount.programme.coins import Coins, NoCoins, SecretCoins
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.types import Data, PersonIds, Where


@checked
def run(
    what: Plan | Advice,
    data: Data,
    *,
    column: str | None = None,
    where: Where | None = None,
    unit: PersonIds | None = None,
    max_contributions: int | None = None,
    engine: Engine | None = None,
    coins: Coins | None = None,
    ledger: Ledger | None = None,
) -> Estimate:
    """Run a plan on data: every person's randomiser, the tally, the release and the estimate.

    Data that do not fit the plan, and a plan over the ledger's budget, are refused first. Then the
    ledger is charged, and only then is anything drawn. An iterator can be read only once: its
    arrays are checked while the randomisers draw, and if one of them is refused, the charge stays.

    Parameters
    ----------
    what : Plan or Advice
        What to run; of an advice, its best plan.
    data
        As for `ask`, or arrays that arrive one after the other (an iterator or a list of them).
    column, where, unit, max_contributions
        As for `ask`; `max_contributions` must not be more than the plan is for.
    engine : Engine, optional
        Where the work is done; chosen by the data unless given.
    coins : Coins, optional
        Secret ones unless given.
    ledger : Ledger, optional
        The ledger that is charged.

    Returns
    -------
    Estimate
        The answer, its interval and what it cost.

    Raises
    ------
    errors.TooFewReports, errors.TooManyReports
        If the plan is for another number of people.
    errors.BadData, errors.BadArgument
        If the data or an argument do not fit the plan.
    errors.OverBudget
        If less than that is left in the ledger.
    errors.Infeasible
        If no plan of the advice can serve.

    Examples
    --------
    >>> advice = hc.advise("count", n=1_000, epsilon=1, models="central")
    >>> answer = hc.run(advice, [1] * 300 + [0] * 700)
    >>> 250 < answer.value < 350
    True
    """
    plan = what.best if isinstance(what, Advice) else what
    if plan.budget.rounds * plan.panels > 1:
        raise BadArgument("plan", f"is for {plan.rounds:,} rounds", "use hc.Series(plan)")
    question = plan.protocol.task
    rows = Rows.of(question, data, column=column, where=where, unit=unit, most=max_contributions)
    arrays = isinstance(data, Iterator) or (isinstance(data, list) and bool(data) and isinstance(data[0], np.ndarray))
    if engine is None and arrays:  # one after the other, rather than people
        if question.reads or rows != replace(rows, column=None, where=None, unit=None, most=None):
            raise BadArgument("column", "needs data in one piece", "give the answers themselves, piece by piece")
        return carry_out([plan], data, MemoryEngine(), coins, ledger)[0]
    if (rows.most or 1) > plan.protocol.crowd.each:
        works = Phrase("plan with {max_contributions}", max_contributions=rows.most)
        raise BadArgument("max_contributions", f"is {rows.most}, more than the plan is for", works)
    if coins is not None and rows.most is not None:
        rows = replace(rows, key=coins.stream(KEY).tobytes())
    engine = engine or engine_for(data)
    answers = engine.answers(plan.protocol.task, rows)
    plan.protocol.require_fit(answers.size)  # before anything is charged or drawn
    charged = None if ledger is None else rows.title
    (estimate,) = carry_out([plan], answers, engine, coins, ledger, charged)
    if rows.where is None and rows.most is None:
        return estimate
    return replace(estimate, rules=tuple(rows.rules(question)), most=rows.most)


def carry_out(
    plans: Sequence[Plan],
    answers: Any,
    engine: Engine,
    coins: Coins | None = None,
    ledger: Ledger | None = None,
    column: str | None = None,
) -> list[Estimate]:
    """The answers of plans, all paid for at once, on what the engine made of the rows.

    A trusted side counts before it is paid for, which draws nothing. Where people's randomisers
    draw, their answers are only looked at before.
    """
    tallies: dict[int, Tally] = {}
    if ledger is not None:
        with charging(ledger, *plans, column=column):
            for at, plan in enumerate(plans):
                if plan.protocol.model is Model.CENTRAL:
                    tallies[at] = engine.tally(plan, answers, NoCoins())
                else:
                    engine.require(plan.protocol.task, answers)
    coins = coins or SecretCoins()
    return [
        release_answer(plan, tallies[at] if at in tallies else engine.tally(plan, answers, coins), coins)
        for at, plan in enumerate(plans)
    ]


@contextmanager
def charging(ledger: Ledger | None, *plans: Plan, column: str | None = None) -> Iterator[None]:
    """A block that counts and draws nothing: the ledger may refuse before it, and pays after it.

    If the block fails, nothing is charged; nor is it without a ledger.
    """
    if ledger is None:
        yield
        return
    if not isinstance(ledger, Ledger):
        raise BadArgument("ledger", f"is a {type(ledger).__name__}", "use hc.Ledger.open(path)")
    ledger.require(*plans)
    yield
    ledger.charge(*plans, column=column)


def release_answer(plan: Plan, tally: Tally, coins: Coins) -> Estimate:
    """The answer from a tally that is paid for: the trusted side draws its noise here."""
    estimate = plan.protocol.estimate(plan.protocol.release(tally, coins))
    simulated = plan.protocol.model is not Model.CENTRAL
    return replace(estimate, budget=plan.budget, secret=coins.secret, simulated=simulated)
