"""A series about data in one place: rows with a time, counted round by round under one promise.

Each person counts in at most so many rounds: if they were in more, lots are drawn which of these count. How many people
were in a round is private.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from headcount.common.quantity import quantity
from headcount.engines.memory import MemoryEngine, person_ids
from headcount.engines.several_rows import merged
from headcount.engines.tables import read_columns
from headcount.errors import BadArgument, BadData
from headcount.ledger.ledger import Ledger
from headcount.planner.advise import advise
from headcount.planner.levels import Levels, best_levels
from headcount.planner.planning import IMAGINED
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.programme.coins import Coins, KeyedCoins, SecretCoins
from headcount.programme.table import Ints
from headcount.protocols.base.plan import Plan
from headcount.questions.count import Count
from headcount.questions.question import Question
from headcount.questions.reading import distinct
from headcount.rounds import Series
from headcount.running import carry_out
from headcount.types import Data, Where

KEY = 16
EVERY = {"hour": np.timedelta64(1, "h"), "day": np.timedelta64(1, "D"), "week": np.timedelta64(7, "D")}
TIMES = "use a column of dates or times, or of texts such as 2026-01-31"


def series(
    data: Data,
    question: Question | None = None,
    *,
    column: str,
    time: str,
    unit: str,
    first: str,
    rounds: int,
    epsilon: float,
    delta: float = 0.0,
    every: Literal["hour", "day", "week"] = "week",
    contributes: int = 1,
    cumulative: bool = False,
    where: Where | None = None,
    ledger: Ledger | None = None,
    coins: Coins | None = None,
) -> Series:
    """Count people round after round, every week for example, from rows with a time.

    One person more or less changes what is told by no more than the budget allows, however many rows they have:
    within a round their rows are merged, and they count in at most `contributes` rounds, which are drawn by lot.

    Parameters
    ----------
    data : Data
        A table: a frame, or files by their path.
    question : Question, optional
        Asked in every round: a count unless given, or a histogram.
    column, time, unit : str
        The columns that hold the answers, the times and the person ids.
    first : str
        When the first round begins, as 2026-01-05. Rounds are fixed beforehand: what lies outside is not counted.
    rounds : int
        How many rounds there are.
    epsilon, delta : float
        The privacy budget, for all rounds together.
    every : str
        How long a round is: "hour", "day" or "week".
    contributes : int
        In how many rounds a person counts at most.
    cumulative : bool
        Whether sums over many rounds matter more than rounds: if a person counts in one round, blocks of rounds are
        then counted once more where that makes sums better.
    where : bool, float or str, optional
        The value that counts as a one.
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
        If the ledger has not so much left.

    Examples
    --------
    >>> signed_up = {"day": ["2026-01-05", "2026-01-06", "2026-01-13"] * 100, "who": range(300), "new": [1] * 300}
    >>> weeks = hc.series(
    ...     signed_up, column="new", time="day", unit="who", first="2026-01-05", rounds=2, epsilon=1, delta=1e-6
    ... )
    >>> 150 < weeks.round(1).value < 250
    True
    """
    question = Count() if question is None else question
    _whole("contributes", contributes, 1, rounds)
    if cumulative and contributes > 1:
        raise BadArgument("cumulative", "needs people who count in one round", "use contributes=1")
    begins, length = _moment(first), EVERY.get(every)
    if length is None:
        raise BadArgument("every", f"is {every!r}", f"use one of {', '.join(EVERY)}")

    def plan(levels: int) -> Plan:
        return _plan(question, Budget(epsilon, delta, Neighbours.ADD_REMOVE, contributes * levels))

    levels = Levels((1,), rounds, 0.0)
    if cumulative:
        levels = best_levels(rounds, lambda many: plan(many).protocol.rmse(reports=IMAGINED))
    made = plan(len(levels.widths))
    held, times, ids = read_columns(data, {"column": column, "time": time, "unit": unit})
    _, person = distinct(ids if ids.dtype.kind in "iu" and not np.ma.isMaskedArray(ids) else person_ids(ids))
    number = _rounds(times, begins, length, rounds)
    coins = coins or SecretCoins()
    kept = _drawn(person, number, contributes, coins.stream(KEY).tobytes())
    [domain] = question.read_as(where, 0).parts
    domain.codes(held)  # refuses what does not fit, also of rows that do not count

    def merged_in(begin: int, width: int) -> Any:
        here = kept & (number >= begin) & (number < begin + width)
        _, who = np.unique(person[here], return_inverse=True)
        return merged(domain, held[here], who)

    codes = {node: merged_in(*node) for node in levels}  # refuses what does not fit, before anything is charged
    told = Series.of_events(made, rounds, levels, ledger)
    engine = MemoryEngine()
    told.take({node: carry_out([made], codes[node], engine, coins.part(place))[0] for place, node in enumerate(codes)})
    return told


def _plan(question: Question, budget: Budget) -> Plan:
    """The best plan of whoever holds the data, for any number of people."""
    best = advise(
        question,
        n=IMAGINED,
        epsilon=budget.epsilon,
        delta=budget.delta,
        rounds=budget.rounds,
        neighbours=budget.neighbours,
        models=[Model.CENTRAL],
    ).best
    return Plan(best.protocol.among(Crowd(1)), budget)


def _rounds(times: Any, begins: np.datetime64, length: np.timedelta64, rounds: int) -> Ints:
    """The number of each row's round, from 1 on; 0 outside."""
    try:
        if np.ma.isMaskedArray(times) or times.dtype.kind not in "MOU":
            raise ValueError
        moments = times.astype("datetime64[us]")
        if np.isnat(moments).any():
            raise ValueError
    except (ValueError, TypeError):
        raise BadData("time has entries that are no times", TIMES) from None
    number = (moments - begins) // length.astype("timedelta64[us]") + 1
    return np.asarray(np.where((number >= 1) & (number <= rounds), number, 0), dtype=np.int64)


def _drawn(person: Ints, number: Ints, most: int, key: bytes) -> Any:
    """Which rows count: each person's in at most so many rounds, every round with the same chance."""
    both = np.stack([person, number], axis=1)[number > 0]
    pairs = np.unique(both, axis=0)  # a row for each round of each person
    order = np.lexsort([KeyedCoins(key).words(len(pairs)), pairs[:, 0]])
    begins = np.searchsorted(pairs[order, 0], pairs[order, 0])
    chosen = pairs[order[np.arange(len(pairs)) - begins < most]]
    span = int(number.max(initial=0)) + 1
    return np.isin(person * span + number, chosen[:, 0] * span + chosen[:, 1]) & (number > 0)


def _moment(text: str) -> np.datetime64:
    try:
        return np.datetime64(text, "us")
    except (ValueError, TypeError):
        raise BadArgument("first", f"is {text!r}", "use a date as 2026-01-05") from None


def _whole(name: str, value: Any, low: int, high: int) -> None:
    works = f"use a whole number from {low} to {high}"
    number = quantity(name, value, works)
    if number != int(number) or not low <= number <= high:
        raise BadArgument(name, f"is {number:g}", works)
