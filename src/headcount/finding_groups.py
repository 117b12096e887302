"""Sums and means in unlisted groups: those with enough people are found first, then asked about.

Both releases are paid for. A third of epsilon, and all of delta, find the groups: a noisy count of
each passes a threshold, and what is below is not shown. The rest tells the amounts in what was
found, and of everybody else in `other`, so that each person is in one group. Which groups these are
follows from the first release, of which the second is chosen; their budgets add up.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

import math
from dataclasses import replace

from headcount.answers.estimate import Estimate
from headcount.engines.engine import Engine, Rows
from headcount.engines.file_formats import kept
from headcount.errors import BadArgument, Unsupported
from headcount.ledger.ledger import Ledger
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.budget import Budget, total
from headcount.privacy.model import Model
from headcount.programme.coins import NoCoins, SecretCoins
from headcount.questions.question import Question
from headcount.running import charging, release_answer

SHARE = 1 / 3  # of epsilon that finds groups
AMOUNT = "amount"  # as the column is called, where there was none


def in_found_groups(
    question: Question, finding: Question, rows: Rows, budget: Budget, engine: Engine, ledger: Ledger | None
) -> Estimate:
    """The answer in the groups that `finding` shows. Refusals come before any charge."""
    first, second = parts(budget)
    rows = _readable(rows)
    groups_alone = replace(rows, column=None, text=replace(rows.text, numbers=None))  # amounts are numbers, not groups
    people = engine.answers(finding, groups_alone)
    crowd = crowd_for(question, people.size, rows.most or 1, budget)
    find = plan_for(finding, crowd, first, None)
    tell = plan_for(question.among(_stand_ins(crowd.each, len(rows.groups))), crowd, second, None)
    with charging(ledger, find, tell, column=rows.title):
        found = engine.tally(find, people, NoCoins())
        engine.tally(tell, engine.answers(tell.protocol.task, rows), NoCoins())  # which refuses what does not fit
    coins = SecretCoins()
    listed = question.among(release_answer(find, found, coins).categories)
    tell = replace(tell, protocol=replace(tell.protocol, task=listed))
    tally = engine.tally(tell, engine.answers(listed, rows), NoCoins())
    return replace(release_answer(tell, tally, coins), before=(find,))


def require_in_one_place(question: Question, model: str | None, protocol: str | None) -> None:
    """Refuses what two releases of a trusted side cannot be."""
    if Model(model or Model.CENTRAL) is not Model.CENTRAL:
        raise Unsupported(f"a {question.name} in unlisted groups needs the central model", "list them")
    if protocol is not None:
        works = "list the groups, or leave it out"
        raise BadArgument("protocol", "is one, and to find groups that nobody listed takes another", works)


def _stand_ins(reports: int, columns: int) -> list[tuple[str, ...]]:
    """As many groups as a person is in before or after: with more, equal noise costs no more."""
    return [(f"group {number}",) * columns for number in range(2 * reports)]


def parts(budget: Budget) -> tuple[Budget, Budget]:
    """What finds the groups, and what tells the amounts: together no more than the budget."""
    first = replace(budget, epsilon=budget.epsilon * SHARE)
    second = replace(budget, epsilon=budget.epsilon - first.epsilon, delta=0.0)
    while (both := total([first, second])) is None or both.epsilon > budget.epsilon:
        second = replace(second, epsilon=math.nextafter(second.epsilon, 0.0))
    return first, second


def _readable(rows: Rows) -> Rows:
    """As a table, of which groups are read without amounts, and more than once."""
    if rows.tabular:
        return replace(rows, data=kept(rows.data))
    groups = rows.groups
    return replace(rows, data={**groups, AMOUNT: rows.data}, column=AMOUNT, by=list(groups))
