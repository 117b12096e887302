"""Questions about data: count, fraction, histogram, sum, mean, and any other question by `ask`."""

from __future__ import annotations

from typing import Any

from headcount.answers.estimate import Estimate
from headcount.engines.engine import Engine, Rows, engine_for
from headcount.ledger.ledger import Ledger
from headcount.planner.planning import crowd_for, plan_for, ready
from headcount.privacy.budget import Budget, Neighbours
from headcount.questions.count import Count, Fraction
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.total import Mean, Sum
from headcount.running import carry_out


def ask(
    data: Any,
    question: Question,
    *,
    epsilon: float,
    delta: float = 0.0,
    model: str | None = None,
    neighbours: str = "replace",
    protocol: str | None = None,
    column: str | None = None,
    where: object = None,
    by: Any = None,
    unit: Any = None,
    max_contributions: int | None = None,
    clamp: bool = False,
    engine: Engine | None = None,
    ledger: Ledger | None = None,
    **parameters: Any,
) -> Estimate:
    """Answer any question about data, under differential privacy.

    Parameters
    ----------
    data
        One value per person (a list, an array, a column of pandas, polars or Arrow), or a table with `column`: a frame,
        a file or folder (Parquet, CSV, Arrow) by its path, anything with the Arrow stream interface.
    question
        For example ``hc.Mean((0, 120))``.
    epsilon, delta
        The privacy budget.
    model
        Whom you trust: "central", "shuffle" (unless told) or "local"; its best protocol is taken.
    neighbours
        The adjacency relation: "replace" one person's value, or "add-remove" one person.
    protocol, parameters
        A protocol by name instead of the best one, and parameters of it that are fixed.
    column, by
        The columns of a table that hold the answers and, for counts in groups, the groups.
    where
        The value that counts as a one; a missing one then does not. True is compared as a truth value, 1 as a number,
        "1" as text, whatever the others hold.
    unit, max_contributions
        The column of person ids, if a person may have several rows: these are merged into one answer, or so many of
        them count, drawn by lot, each for itself (more than one needs neighbours="add-remove").
    clamp
        Bring the answer into the possible range; it is then no longer unbiased.
    engine, ledger
        Where the work is done, and the ledger that is charged.

    Returns
    -------
    Estimate
        The answer, its interval and what it cost.

    Raises
    ------
    BadData, BadArgument, Unsupported, Infeasible, OverBudget
        If it is refused; nothing is charged then.

    Examples
    --------
    >>> import headcount as hc
    >>> ages = [20 + i % 60 for i in range(10_000)]
    >>> answer = hc.ask(ages, hc.Mean((0, 120)), epsilon=1, model="central")
    >>> 49 < answer.value < 50
    True
    """
    rows = Rows(data, column=column, where=where, by=by, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    budget.require_hidden(rows.most or 1)
    question = ready(question, budget)
    engine = engine or engine_for(data)
    answers = engine.answers(question, rows)
    crowd = crowd_for(question, answers.size, rows.most or 1, budget)
    plan = plan_for(question, crowd, budget, model, protocol, parameters)
    (estimate,) = carry_out([plan], answers, engine, ledger=ledger)
    return estimate.clamped() if clamp else estimate


def count(data: Any, *, epsilon: float, by: Any = None, categories: Any = None, **options: Any) -> Estimate:
    """How many people hold a one?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; `where` says which value counts as a one.
    by, categories
        The column of groups (or one group per person), and the groups to count in; whoever does not hold a one is in
        `other`.

    Returns
    -------
    Estimate
        The number of people, or with `by` a histogram of them.

    Raises
    ------
    Refused
        As `ask` does.

    Examples
    --------
    >>> import headcount as hc
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=1, delta=1e-6)
    >>> 250 < answer.value < 350
    True
    """
    return ask(data, Count.posed(categories=categories), epsilon=epsilon, by=by, **options)


def fraction(data: Any, *, epsilon: float, **options: Any) -> Estimate:
    """Which fraction of the people hold a one?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; `where` says which value counts as a one.

    Returns
    -------
    Estimate
        A number from 0 to 1, but for the noise.

    Raises
    ------
    Refused
        As `ask` does.

    Examples
    --------
    >>> import headcount as hc
    >>> answer = hc.fraction([1] * 300 + [0] * 700, epsilon=1, delta=1e-6)
    >>> 0.25 < answer.value < 0.35
    True
    """
    return ask(data, Fraction(), epsilon=epsilon, **options)


def histogram(
    data: Any,
    *,
    epsilon: float,
    categories: Any = None,
    bins: Any = None,
    bounds: Any = None,
    other: bool = False,
    fractions: bool = False,
    consistent: bool = False,
    **options: Any,
) -> Estimate:
    """Which category, how often?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`.
    categories
        The labels, or how many there are if they are called 0, 1, 2 … With neither these nor `bins` the labels are
        whatever people hold, as text: that needs model="central" (or "shuffle-threshold"), and rare ones are not shown.
    bins, bounds
        For numbers: the edges of bins, or how many equal bins there are between the bounds.
    other
        Count whoever is in none of the categories apart, instead of refusing them.
    fractions
        Answer in fractions of the people.
    consistent
        Bring the counts to the nearest ones that are not negative and add up; they are then no longer unbiased.

    Returns
    -------
    Estimate
        A count for each category.

    Raises
    ------
    Refused
        As `ask` does.

    Examples
    --------
    >>> import headcount as hc
    >>> answer = hc.histogram(["a"] * 600 + ["b"] * 400, categories=["a", "b"], epsilon=1, delta=1e-6)
    >>> 550 < answer["a"].value < 650
    True
    """
    question = Histogram.posed(categories=categories, bins=bins, bounds=bounds, other=other, fractions=fractions)
    estimate = ask(data, question, epsilon=epsilon, **options)
    return estimate.consistent() if consistent else estimate


def sum(
    data: Any,
    *,
    bounds: tuple[float, float],
    epsilon: float,
    whole: bool = False,
    clip: bool = False,
    **options: Any,
) -> Estimate:
    """How much do people hold together?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; with `unit` a person's rows are added up first.
    bounds
        Every value lies between these, which you state without looking at the data.
    whole
        Whether all values are whole numbers, which then need no rounding.
    clip
        Bring values outside the bounds to the nearer one, instead of refusing them.

    Returns
    -------
    Estimate
        The sum.

    Raises
    ------
    Refused
        As `ask` does.

    Examples
    --------
    >>> import headcount as hc
    >>> answer = hc.sum([3] * 1_000, bounds=(0, 10), epsilon=1, delta=1e-6)
    >>> 2_800 < answer.value < 3_200
    True
    """
    return ask(data, Sum.posed(bounds=bounds, whole=whole, clip=clip), epsilon=epsilon, **options)


def mean(
    data: Any,
    *,
    bounds: tuple[float, float],
    epsilon: float,
    whole: bool = False,
    clip: bool = False,
    **options: Any,
) -> Estimate:
    """How much do people hold on average?

    Parameters
    ----------
    data, bounds, epsilon, whole, clip, options
        As for `sum`; with `unit` a person's rows are averaged first.

    Returns
    -------
    Estimate
        The mean.

    Raises
    ------
    Refused
        As `ask` does.

    Examples
    --------
    >>> import headcount as hc
    >>> answer = hc.mean([3] * 1_000, bounds=(0, 10), epsilon=1, delta=1e-6)
    >>> 2.8 < answer.value < 3.2
    True
    """
    return ask(data, Mean.posed(bounds=bounds, whole=whole, clip=clip), epsilon=epsilon, **options)
