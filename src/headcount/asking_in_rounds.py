"""A series about data in one place: rows with a time, counted round by round under one promise.

Each person counts in at most `contributes` rounds, drawn at random if they were in more. How many
people were in a round is private.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from headcount.answers.arrivals import ArrivalsEstimate
from headcount.arrivals_in_rounds import ArrivalsInRounds
from headcount.common.calls import checked
from headcount.common.quantity import quantity
from headcount.engines.counts_by_round import InRounds, added
from headcount.engines.engine import KEY, Engine, Rows, engine_for
from headcount.errors import BadArgument
from headcount.ledger.ledger import Ledger
from headcount.planner.advise import advise
from headcount.planner.blocks_of_rounds import BlockWidths, best_levels
from headcount.planner.planning import IMAGINED
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.programme.coins import Coins, SecretCoins
from headcount.protocols.base.plan import Plan
from headcount.questions import required
from headcount.questions.count import Count
from headcount.questions.domains.calendar_rounds import Rounds
from headcount.questions.domains.domain import Shape
from headcount.questions.domains.missing import DROP, WITHOUT_NUMBER, told
from headcount.questions.question import Question
from headcount.questions.text_rules import TextRules
from headcount.rounds import Series
from headcount.running import charging, release_answer
from headcount.types import Data, Missing, Where


@checked
def series(
    data: Data,
    question: Question | None = None,
    *,
    column: str | None = None,
    time: str,
    unit: str,
    first: str,
    rounds: int,
    epsilon: float,
    delta: float = 0.0,
    every: Literal["hour", "day", "week", "month", "quarter", "year"] = "week",
    timezone: str = "UTC",
    contributes: int = 1,
    cumulative: bool = False,
    where: Where | None = None,
    missing: Missing | None = None,
    spelled: bool = False,
    blanks: str | Sequence[str] | None = None,
    synonyms: Mapping[str, str | Sequence[str]] | None = None,
    numbers: str | None = None,
    dates: str | None = None,
    engine: Engine | None = None,
    ledger: Ledger | None = None,
    coins: Coins | None = None,
) -> Series:
    """Count people round after round, every week for example, from rows with a time.

    One person more or less changes what is told by no more than the budget allows, however many
    rows they have: within a round their rows are merged, and they count in at most `contributes`
    rounds, which are drawn by lot.

    Parameters
    ----------
    data : Data
        A table: a frame, files by their path, or a frame of Spark. Files and Spark's frames are
        grouped where they are.
    question : Question, optional
        Asked in every round: a count unless given, or a histogram.
    time, unit : str
        The columns that hold the times and the person ids.
    column : str, optional
        The column that holds the answers. Without it, everybody with a row in a round counts:
        distinct people, such as those who signed up in a week, or who were active.
    first : str
        When the first round begins, as 2026-01-05. Rounds are fixed beforehand: what lies outside
        is not counted.
    rounds : int
        How many rounds there are.
    epsilon, delta : float
        The privacy budget, for all rounds together.
    every : str
        How long a round is: "hour", "day", "week", "month", "quarter" or "year".
    timezone : str
        Where days begin, by the name of the IANA database, as "Europe/Berlin". Days have 23 or 25
        hours where clocks are changed. Times of rows that tell no zone are in UTC all the same.
    contributes : int
        In how many rounds a person counts at most.
    cumulative : bool
        Whether sums over many rounds matter more than rounds: these are then told by blocks of
        rounds, or by weighted sums of the past, if that makes them better.
    where, missing, spelled, blanks, synonyms, numbers : optional
        How values are read, as for `ask`. Rows without a time are refused, or left out with
        ``missing="drop"``; of several columns ``missing={"joined": "drop", "churned": "no"}``.
    dates : str, optional
        How text writes times, as "%d.%m.%Y"; by ISO 8601 unless given.
    engine : Engine, optional
        Where the work is done; chosen by the data unless given.
    ledger : Ledger, optional
        The ledger that is charged, once.
    coins : Coins, optional
        Secret ones unless given.

    Returns
    -------
    Series
        All rounds, with sums, differences and trends.

    Raises
    ------
    errors.BadArgument, errors.BadData
        If the data do not fit the question, or an argument is out of range.
    errors.OverBudget
        If less than that is left in the ledger.

    Examples
    --------
    >>> signed_up = {"day": ["2026-01-05", "2026-01-06", "2026-01-13"] * 100, "who": range(300), "new": [1] * 300}
    >>> weeks = hc.series(
    ...     signed_up, column="new", time="day", unit="who", first="2026-01-05", rounds=2, epsilon=1, delta=1e-6
    ... )
    >>> 150 < weeks.round(1).value < 250
    True
    """
    question = None if question is None else required("question", question)
    of_times, missing = _of_times(missing, time, answers=column is not None or bool(question and question.reads))
    each_round = Rounds.beginning(first, every, rounds, timezone, dates=dates, missing=of_times)
    _whole("contributes", contributes, 1, rounds)
    if cumulative and contributes > 1 and question is not None and question.shape is not Shape.BIT:
        raise BadArgument("cumulative", "needs people who count in one round", "use contributes=1, or a count")
    if column is None and question is not None and not question.reads and question.shape is not Shape.BIT:
        raise BadArgument("column", "is missing", "name the column that holds people's answers")
    text = TextRules.of(synonyms, blanks, numbers)
    asked = question or Count()
    rows = Rows.of(asked, data, column=column, where=where, unit=unit, text=text)
    if missing is not None or spelled:
        asked = asked.declared(rows.reading_options(missing, spelled=spelled))
    asked = asked.planned(private=True)
    if asked.per_person or asked.answered != "values":
        problem = f"is {asked.name!r}, and answers of rounds are numbers that add up"
        raise BadArgument("question", problem, "ask for a count, a histogram or a sum in every round")
    sums = cumulative and asked.shape is Shape.BIT
    budget, levels = Budget(epsilon, delta, Neighbours.ADD_REMOVE), BlockWidths((1,), rounds, 0.0)
    if sums:
        made = _plan(asked.over_rounds(rounds), budget, contributes)
    else:
        made, levels = _plan_of_blocks(asked, budget, levels, contributes, cumulative=cumulative)
    coins = coins or SecretCoins()
    rows = replace(rows, in_rounds=InRounds(time, each_round, contributes), key=coins.stream(KEY).tobytes())
    rules = (*text.rules, *rows.rules(asked))
    asks = f"How many people, {every} by {every}" if column is None else asked.asks
    with charging(ledger, made, column=rows.title):
        counts = (engine or engine_for(data)).rounds(asked, rows)
    if sums:
        held = np.array([int(each.people[each.codes == 1].sum()) for each in counts])
        tally = made.protocol.counted(np.arange(rounds), held)
        arrivals = ArrivalsInRounds.counted(made, each_round.labels, asks, rules)
        return arrivals.take_whole(cast(ArrivalsEstimate, release_answer(made, tally, coins.part(0))))
    tallies = {node: added(counts[node[0] - 1 : sum(node) - 1]).tally(made.protocol) for node in levels}
    found = Series.of_events(made, each_round.labels, levels, asks, rules)
    found.take({node: release_answer(made, tally, coins.part(at)) for at, (node, tally) in enumerate(tallies.items())})
    return found


def _of_times(missing: Any, time: str, *, answers: bool) -> tuple[Any, Any]:
    """What becomes of a row without a time, and what is said of missing answers: a word alone, or a
    mapping from the names of columns."""
    if isinstance(missing, Mapping):
        others = {name: word for name, word in missing.items() if name != time}
        return told(missing.get(time), WITHOUT_NUMBER)[0], others or None
    if not answers:
        return told(missing, WITHOUT_NUMBER)[0], None
    words = missing if isinstance(missing, list | tuple) else [missing]
    return DROP if DROP in words else None, missing


def _plan_of_blocks(
    question: Question, budget: Budget, levels: BlockWidths, contributes: int, *, cumulative: bool
) -> tuple[Plan, BlockWidths]:
    """The plan for rounds, and the levels of blocks also counted, where they improve sums."""

    def plan(many: int) -> Plan:
        return _plan(question, replace(budget, rounds=contributes * many))

    if cumulative:
        levels = best_levels(levels.rounds, lambda many: plan(many).protocol.rmse(reports=IMAGINED))
    return plan(len(levels.widths)), levels


def _plan(question: Question, budget: Budget, each: int = 1) -> Plan:
    """The best central plan, for any number of people."""
    best = advise(
        question,
        n=IMAGINED,
        epsilon=budget.epsilon,
        delta=budget.delta,
        rounds=budget.rounds,
        neighbours=budget.neighbours,
        models=[Model.CENTRAL],
        max_contributions=each,
    ).best
    return Plan(best.protocol.among(Crowd(1, each=each)), budget)


def _whole(name: str, value: Any, low: int, high: int) -> None:
    works = f"use a whole number from {low} to {high}"
    number = quantity(name, value, works)
    if number != int(number) or not low <= number <= high:
        raise BadArgument(name, f"is {number:g}", works)
