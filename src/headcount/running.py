"""From a plan to an answer, in one order for every model: refuse, charge, draw, show.

What can be refused about the data or the budget is refused first. Then the ledger is charged, durably; only then is
anything drawn, and only what was drawn is shown. Whoever is interrupted in between has paid and seen nothing: the
charge's line says for what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headcount.answers.estimate import Estimate
from headcount.engines.choice import engine_for
from headcount.engines.engine import KEY, Engine, Rows
from headcount.engines.memory import MemoryEngine
from headcount.errors import BadArgument
from headcount.ledger.ledger import Ledger
from headcount.phrases import Phrase
from headcount.planner.advice import Advice
from headcount.privacy.model import Model
from headcount.programme.coins import Coins, NoCoins, SecretCoins
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.questions.question import Question


def run(
    what: Plan | Advice,
    data: Any,
    *,
    column: str | None = None,
    where: object = None,
    unit: Any = None,
    max_contributions: int | None = None,
    engine: Engine | None = None,
    coins: Coins | None = None,
    ledger: Ledger | None = None,
) -> Estimate:
    """Run a plan on data: every person's randomiser, the tally, the release and the estimate.

    Whatever does not fit the plan or the ledger's budget is refused first. Then the ledger is charged, and only then is
    anything drawn. An iterator can be read only once: its arrays are checked while the randomisers draw, and if one of
    them is refused, the charge stays.

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
        If the ledger has not so much left.
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
    rows = Rows(data, column=column, where=where, unit=unit, most=max_contributions)
    if engine is None and _arrives_in_pieces(data):
        if rows != replace(rows, column=None, where=None, unit=None, most=None):
            raise BadArgument("column", "needs data in one piece", "give the answers themselves, piece by piece")
        return carry_out([plan], data, MemoryEngine(), coins, ledger)[0]
    if (rows.most or 1) > plan.protocol.crowd.each:
        works = Phrase("plan with {max_contributions}", max_contributions=rows.most)
        raise BadArgument("max_contributions", f"is {rows.most}, more than the plan is for", works)
    if coins is not None and rows.most is not None:
        rows = replace(rows, key=coins.stream(KEY).tobytes())

    def planned(people: int) -> list[Plan]:
        plan.protocol.require_fit(people)  # before anything is charged or drawn
        return [plan]

    return walk(plan.protocol.task, rows, planned, engine=engine, coins=coins, ledger=ledger)[0]


def walk(
    question: Question,
    rows: Rows,
    planned: Callable[[int], Sequence[Plan]],
    *,
    engine: Engine | None = None,
    coins: Coins | None = None,
    ledger: Ledger | None = None,
) -> list[Estimate]:
    """From data to answers: the rows become codes, plans are made for so many people, and carried out."""
    engine = engine or engine_for(rows.data)
    answers = engine.answers(question, rows)
    return carry_out(planned(answers.size), answers, engine, coins, ledger)


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
    return engine.tally(plan, answers, NoCoins()) if plan.protocol.model is Model.CENTRAL else None


def shown(plan: Plan, tally: Tally, coins: Coins) -> Estimate:
    """What the trusted side lets go of a tally that is paid for."""
    estimate = plan.protocol.estimate(plan.protocol.release(tally, coins))
    return replace(estimate, budget=plan.budget, secret=coins.secret)


def _arrives_in_pieces(data: Any) -> bool:
    """Arrays one after the other, rather than people."""
    return isinstance(data, Iterator) or (isinstance(data, list) and bool(data) and isinstance(data[0], np.ndarray))
