"""Questions about data: count, fraction, histogram, sum, mean, distribution, and any other by `ask`.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, TypedDict, Unpack, cast

from headcount.answers.distribution import DistributionEstimate, QuantileEstimate
from headcount.answers.estimate import Estimate
from headcount.answers.table import TableEstimate
from headcount.engines.engine import Engine, Rows, engine_for
from headcount.finding_groups import in_found_groups, require_in_one_place
from headcount.ledger.habit import habit
from headcount.ledger.ledger import Ledger
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.budget import Budget, Neighbours
from headcount.questions.count import Count, Fraction
from headcount.questions.distribution import Distribution
from headcount.questions.histogram import Histogram
from headcount.questions.quantile import Quantile
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table
from headcount.questions.text_rules import TextRules
from headcount.running import carry_out
from headcount.types import (
    Bounds,
    Data,
    Edges,
    Groupings,
    Groups,
    Labels,
    Lengths,
    Limits,
    Missing,
    ModelName,
    PersonIds,
    Relation,
    Where,
)


class Options(TypedDict, total=False):
    """What may be said with every question, beside the data and epsilon; `ask` tells what each of them means.

    Examples
    --------
    >>> options: hc.Options = {"delta": 1e-6, "model": "local"}
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=4, **options)
    >>> print(answer.protocol.name)
    randomised-response
    """

    delta: float
    model: ModelName | None
    neighbours: Relation
    protocol: str | None
    parameters: Mapping[str, float]
    column: str | None
    where: Where | None
    missing: Missing | None
    spelled: bool
    blanks: str | Sequence[str] | None
    synonyms: Mapping[str, str | Sequence[str]] | None
    numbers: str | None
    by: Groups | None
    unit: PersonIds | None
    max_contributions: int | None
    clamp: bool
    engine: Engine | None
    ledger: Ledger | None


def ask(
    data: Data,
    question: Question,
    *,
    epsilon: float,
    delta: float = 0.0,
    model: ModelName | None = None,
    neighbours: Relation = "replace",
    protocol: str | None = None,
    parameters: Mapping[str, float] = MappingProxyType({}),
    column: str | None = None,
    where: Where | None = None,
    missing: Missing | None = None,
    spelled: bool = False,
    blanks: str | Sequence[str] | None = None,
    synonyms: Mapping[str, str | Sequence[str]] | None = None,
    numbers: str | None = None,
    by: Groups | None = None,
    unit: PersonIds | None = None,
    max_contributions: int | None = None,
    clamp: bool = False,
    engine: Engine | None = None,
    ledger: Ledger | None = None,
) -> Estimate:
    """Answer any question about data, under differential privacy.

    Parameters
    ----------
    data : Data
        One value per person (a list, an array, a column of pandas, polars or Arrow), or a table with `column`: a frame,
        a file or folder (Parquet, CSV, Arrow) by its path, anything with the Arrow stream interface.
    question : Question
        For example ``hc.Mean((0, 120))``.
    epsilon, delta : float
        The privacy budget.
    model : str, optional
        Who adds the noise: "central" (unless told), whoever holds the data and asks; its best protocol is taken. With
        "shuffle-threshold", "shuffle-dummies", "shuffle" or "local" people's devices, and the shuffler, are simulated:
        the answer is as wrong as it would be if they had been trusted instead.
    neighbours : str
        The adjacency: "replace" one person's value, or "add-remove" one person.
    protocol, parameters : str and mapping, optional
        A protocol by name instead of the best one, and those of its parameters that are fixed instead of calibrated.
    column, by : optional
        The columns of a table that hold the answers and, for an answer in every group, one or several that tell the
        groups. A count needs no `column` then: it counts the people of each group.
    where : bool, float, str or list of these, optional
        The value that counts as a one, or several; a missing one then does not. True is compared as a truth value, 1
        as a number, "1" as text, whatever the data hold.
    missing : str, float, list or mapping of these, optional
        What a missing value counts as, instead of being refused: "no", "other", "category" (one of its own), for sums
        a number; or "drop", which leaves its row out, where the number of people is private. Of several columns a
        list, or a mapping from their names.
    spelled : bool
        Read yes and no in any spelling (Yes, y, T, on, 1), in a count or a fraction.
    blanks : str or list of str, optional
        Text that means nothing, as ["NA", "-"], in every column that is read: it is missing, as blank text is.
    synonyms : mapping, optional
        Other words for the same, as {"Germany": ["germany", "Deutschland"]}, in every column that is read.
    numbers : str, optional
        How text writes numbers, by the example "1,234.50", "1.234,50", "1 234,50" or "1'234.50"; a currency may stand
        before or after.
    unit, max_contributions : optional
        The column of person ids, if a person may have several rows: these are merged into one answer, or at most
        `max_contributions` of them, sampled at random, count each for itself (more than one needs
        neighbours="add-remove").
    clamp : bool
        Bring the answer into the possible range; it is then no longer unbiased.
    engine, ledger : optional
        Where the work is done, and the ledger that is charged.

    Returns
    -------
    Estimate
        The answer, its interval and what it cost.

    Raises
    ------
    errors.BadData, errors.BadArgument
        If the data do not fit the question, or an argument is out of range.
    errors.Unsupported, errors.Infeasible
        If no protocol answers it under this model and adjacency, or none within the budget with so few people.
    errors.OverBudget
        If the ledger has not so much left. Whatever is refused is not charged.

    Examples
    --------
    >>> ages = [20 + i % 60 for i in range(10_000)]
    >>> answer = hc.ask(ages, hc.Mean((0, 120)), epsilon=1)
    >>> 49 < answer.value < 50
    True
    """
    declared = any(said is not None for said in (synonyms, blanks, numbers))
    text = TextRules.of(synonyms, blanks, numbers) if declared else TextRules.plain
    rows = Rows.of(question, data, column=column, where=where, by=by, unit=unit, most=max_contributions, text=text)
    budget = Budget(epsilon, delta, Neighbours(neighbours))
    budget.require_hidden(rows.most or 1)
    if missing is not None or spelled or by is not None:
        question = question.declared(rows.reading_options(missing, spelled=spelled))
    question = question.planned(private=budget.neighbours.hides_size)
    engine = engine or engine_for(data)
    if (finding := question.finding) is not None:
        require_in_one_place(question, model, protocol)
        estimate = in_found_groups(question, finding, rows, budget, engine, ledger)
    else:
        answers = engine.answers(question, rows)
        crowd = crowd_for(question, answers.size, rows.most or 1, budget)
        plan = plan_for(question, crowd, budget, model, protocol, parameters)
        (estimate,) = carry_out([plan], answers, engine, ledger=ledger)
    several = by is not None or question.reads
    rules = rows.rules(question) if several else question.read_as(where, 0).rules
    estimate = replace(estimate, rules=(*text.rules, *rules))
    if ledger is None:
        estimate = replace(estimate, habit=habit(data, budget))
    return estimate.clamped() if clamp else estimate


def count(
    data: Data,
    *,
    epsilon: float,
    categories: Groupings | None = None,
    other: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """How many people hold a one?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; `where` says which value counts as a one.
    categories : list or mapping, optional
        With `by`, the groups; of several columns a mapping from their names to such lists. Left out, the groups are
        whatever enough people share, which needs a delta.
    other : bool
        Count people who are in none of the groups apart, instead of refusing them.

    Returns
    -------
    Estimate
        The number of people, or with `by` that in every group.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=1)
    >>> 250 < answer.value < 350
    True
    """
    return ask(data, Count(categories, other), epsilon=epsilon, **options)


def fraction(
    data: Data,
    *,
    epsilon: float,
    categories: Groupings | None = None,
    other: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """Which fraction of the people hold a one?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; `where` says which value counts as a one.
    categories, other
        As for `count`.

    Returns
    -------
    Estimate
        A number from 0 to 1, but for the noise; with `by` the rate in every group.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> answer = hc.fraction([1] * 300 + [0] * 700, epsilon=1)
    >>> 0.25 < answer.value < 0.35
    True
    """
    return ask(data, Fraction(categories, other), epsilon=epsilon, **options)


def histogram(
    data: Data,
    *,
    epsilon: float,
    categories: Labels | None = None,
    bins: Edges | None = None,
    bounds: Bounds | tuple[str, str] | None = None,
    dates: str | None = None,
    other: bool = False,
    fractions: bool = False,
    consistent: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """Which category, how often?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`.
    categories : list or int, optional
        The labels, or how many there are if they are called 0, 1, 2 … With neither these nor `bins` the labels are
        whatever people hold, as text: that needs a delta, and rare ones are not shown.
    bins, bounds : optional
        For numbers and days: the edges of bins; or, between the bounds, how many equal bins there are, or which
        periods: "day", "week", "month", "quarter" or "year".
    dates : str, optional
        How text writes days, as "%d.%m.%Y"; by ISO 8601 (2026-11-16) unless given.
    other : bool
        Count people who are in none of the categories apart, instead of refusing them.
    fractions : bool
        Answer in fractions of the people.
    consistent : bool
        Bring the counts to the nearest ones that are not negative and add up; they are then no longer unbiased.

    Returns
    -------
    Estimate
        A count for each category.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> answer = hc.histogram(["a"] * 600 + ["b"] * 400, categories=["a", "b"], epsilon=1)
    >>> 550 < answer["a"].value < 650
    True
    """
    question = Histogram.posed(
        categories=categories, bins=bins, bounds=bounds, dates=dates, other=other, fractions=fractions
    )
    estimate = ask(data, question, epsilon=epsilon, **options)
    return estimate.consistent() if consistent else estimate


def sum(
    data: Data,
    *,
    bounds: Bounds,
    epsilon: float,
    whole: bool = False,
    clip: bool = False,
    categories: Groupings | None = None,
    other: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """How much do people hold together?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; with `unit` a person's rows are added up first.
    bounds : tuple of float
        Every value lies between these, which you state without looking at the data.
    whole : bool
        Whether all values are whole numbers, which then need no rounding.
    clip : bool
        Bring values outside the bounds to the nearer one, instead of refusing them.
    categories, other
        As for `count`.

    Returns
    -------
    Estimate
        The sum; with `by` that in every group.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> answer = hc.sum([3] * 1_000, bounds=(0, 10), epsilon=1)
    >>> 2_800 < answer.value < 3_200
    True
    """
    return ask(
        data,
        Sum.posed(bounds=bounds, whole=whole, clip=clip, categories=categories, other=other),
        epsilon=epsilon,
        **options,
    )


def mean(
    data: Data,
    *,
    bounds: Bounds,
    epsilon: float,
    whole: bool = False,
    clip: bool = False,
    categories: Groupings | None = None,
    other: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """How much do people hold on average?

    Parameters
    ----------
    data, bounds, epsilon, whole, clip, categories, other, options
        As for `sum`; with `unit` a person's rows are averaged first.

    Returns
    -------
    Estimate
        The mean; with `by` that in every group.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> answer = hc.mean([3] * 1_000, bounds=(0, 10), epsilon=1)
    >>> 2.8 < answer.value < 3.2
    True
    """
    question = Mean.posed(bounds=bounds, whole=whole, clip=clip, categories=categories, other=other)
    return ask(data, question, epsilon=epsilon, **options)


def distribution(
    data: Data,
    *,
    bounds: Limits,
    epsilon: float,
    bins: Lengths | None = None,
    whole: bool = False,
    clip: bool = False,
    dates: str | None = None,
    best_for: Literal["ranges", "quantiles", "bins"] = "ranges",
    **options: Unpack[Options],
) -> DistributionEstimate:
    """How are people's numbers, days or durations distributed?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`.
    bounds : tuple
        Every value lies between these, which you state without looking at the data: two numbers, two days or moments
        ("2026-01-01", or a `datetime`), or two durations ("1:30:00", or a `timedelta`). A day that is the upper bound
        is within it.
    bins : int or str, optional
        How many equal bins there are between the bounds, or, of moments and durations, how long each is: "week", "day",
        "hour", "minute" or "second". Ranges and quantiles are told to within one of them. Unless given, there is one
        for each day between two days, and 1,024 otherwise.
    whole : bool
        Whether the values are whole numbers: then there is a bin for each of them, and ranges end before the number
        that is named, as they do with days.
    clip : bool
        Bring values outside the bounds to the nearer one, instead of refusing them.
    dates : str, optional
        How text writes days, as "%d.%m.%Y"; by ISO 8601 (2026-11-16) unless given.
    best_for : str
        What is to have the smallest error: "ranges", "quantiles" or single "bins".

    Returns
    -------
    DistributionEstimate
        Ranges, the distribution function and quantiles, all from one release.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> ages = [20 + i % 60 for i in range(10_000)]
    >>> answer = hc.distribution(ages, bounds=(0, 120), bins=120, epsilon=1)
    >>> 48 < answer.median.value < 52
    True
    >>> 1_600 < answer.between(30, 40).value < 1_750
    True
    >>> days = [f"2026-{1 + i % 12:02}-15" for i in range(10_000)]
    >>> answer = hc.distribution(days, bounds=("2026-01-01", "2026-12-31"), epsilon=1)
    >>> 2_400 < answer.below("2026-04-01").value < 2_600
    True
    """
    question = Distribution(bounds, bins, clip, best_for, dates=dates, whole=whole)
    return cast(DistributionEstimate, ask(data, question, epsilon=epsilon, **options))


def quantile(
    data: Data,
    at: float = 0.5,
    *,
    bounds: Limits,
    epsilon: float,
    bins: Lengths | None = None,
    whole: bool = False,
    clip: bool = False,
    dates: str | None = None,
    **options: Unpack[Options],
) -> QuantileEstimate:
    """Below which value does a part of the people lie? `distribution` tells several for the same price.

    Parameters
    ----------
    data, epsilon, options
        As for `ask`.
    at : float
        The part of the people, above 0 and below 1: 0.5, the median, unless given.
    bounds, bins, whole, clip, dates
        As for `distribution`.

    Returns
    -------
    QuantileEstimate
        The value, and an interval of whole bins.

    Raises
    ------
    errors.Refused
        As `ask` does, and if so few people lie beyond it that noise hides them.

    Examples
    --------
    >>> ages = [20 + i % 60 for i in range(10_000)]
    >>> answer = hc.quantile(ages, 0.9, bounds=(0, 120), bins=120, epsilon=1)
    >>> 72 < answer.value < 76
    True
    """
    question = Quantile(bounds, bins, clip, at=at, dates=dates, whole=whole)
    return cast(DistributionEstimate, ask(data, question, epsilon=epsilon, **options)).quantile(at)


def median(
    data: Data,
    *,
    bounds: Limits,
    epsilon: float,
    bins: Lengths | None = None,
    whole: bool = False,
    clip: bool = False,
    dates: str | None = None,
    **options: Unpack[Options],
) -> QuantileEstimate:
    """Below which value does half of the people lie?

    Parameters
    ----------
    data, bounds, epsilon, bins, whole, clip, dates, options
        As for `quantile`.

    Returns
    -------
    QuantileEstimate
        The value, and an interval of whole bins.

    Raises
    ------
    errors.Refused
        As `quantile` does.

    Examples
    --------
    >>> days = [f"2026-{1 + i % 12:02}-15" for i in range(10_000)]
    >>> answer = hc.median(days, bounds=("2026-01-01", "2026-12-31"), epsilon=1)
    >>> answer.value.year
    2026
    """
    return quantile(data, bounds=bounds, epsilon=epsilon, bins=bins, whole=whole, clip=clip, dates=dates, **options)


def table(
    data: Data,
    *,
    columns: Mapping[str, Labels | Mapping[str, object]],
    epsilon: float,
    margins: int | Sequence[tuple[str, ...]] = 2,
    **options: Unpack[Options],
) -> TableEstimate:
    """How many people are in each cell of a table of several columns, with totals that agree?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; a mapping from names to lists is a table, too.
    columns : mapping
        For each column its labels, or a mapping as the arguments of `histogram`: `{"categories": …, "other": True}`,
        `{"bins": [0, 18, 65, 120]}`, or `{"bounds": (0, 120), "bins": 12, "clip": True}`.
    margins : int or list of tuple of str
        How many columns at most are told together, or which.

    Returns
    -------
    TableEstimate
        Every margin, sums of cells and rates, all from one release.

    Raises
    ------
    errors.Refused
        As `ask` does.

    Examples
    --------
    >>> frame = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
    >>> answer = hc.table(frame, columns={"sex": ["f", "m"], "vote": ["yes", "no"]}, epsilon=1, model="central")
    >>> 330 < answer["sex", "vote"]["f", "yes"].value < 370
    True
    """
    return cast(TableEstimate, ask(data, Table(columns, margins), epsilon=epsilon, **options))
