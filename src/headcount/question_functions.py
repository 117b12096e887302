"""Question functions: count, fraction, histogram, sum, mean, distribution, quantile, median, table.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, ParamSpec, TypeVar, Unpack, cast

from headcount.answers.distribution import DistributionEstimate, QuantileEstimate
from headcount.answers.estimate import Estimate
from headcount.answers.table import TableEstimate
from headcount.asking import Options, ask
from headcount.common.calls import checked
from headcount.questions.count import Count, Fraction
from headcount.questions.distribution import Distribution
from headcount.questions.histogram import Histogram
from headcount.questions.quantile import Quantile
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table
from headcount.types import Bounds, Data, Edges, Groupings, Labels, Lengths, Limits

P = ParamSpec("P")
R = TypeVar("R")


def _with_options(asked: Callable[P, R]) -> Callable[P, R]:
    """Hands what is not its own on to `ask`."""
    return checked(asked, ask)


@_with_options
def count(
    data: Data,
    *,
    epsilon: float,
    categories: Groupings | None = None,
    other: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """How many people are a yes?

    Parameters
    ----------
    data, epsilon, options
        As for `ask`; `where` says which value counts as a one.
    categories : list or mapping, optional
        With `by`, the groups; of several columns a mapping from their names to such lists. Left
        out, the groups are whatever enough people share, which needs a delta.
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


@_with_options
def fraction(
    data: Data,
    *,
    epsilon: float,
    categories: Groupings | None = None,
    other: bool = False,
    **options: Unpack[Options],
) -> Estimate:
    """Which fraction of the people are a yes?

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


@_with_options
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
        The labels, or how many there are if they are called 0, 1, 2 … With neither these nor `bins`
        the labels are whatever people hold, as text: that needs a delta, and rare ones are not
        shown.
    bins, bounds : optional
        For numbers and days: the edges of bins; or, between the bounds, how many equal bins there
        are, or which periods: "day", "week", "month", "quarter" or "year".
    dates : str, optional
        How text writes days, as "%d.%m.%Y"; by ISO 8601 (2026-11-16) unless given.
    other : bool
        Count people who are in none of the categories apart, instead of refusing them.
    fractions : bool
        Answer in fractions of the people.
    consistent : bool
        Bring the counts to the nearest ones that are not negative and add up; they are then no
        longer unbiased.

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


@_with_options
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


@_with_options
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


@_with_options
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
        Every value lies between these, which you state without looking at the data: two numbers,
        two days or moments ("2026-01-01", or a `datetime`), or two durations ("1:30:00", or a
        `timedelta`). A day that is the upper bound is within it.
    bins : int or str, optional
        How many equal bins there are between the bounds, or, of moments and durations, how long
        each is: "week", "day", "hour", "minute" or "second". Ranges and quantiles are told to
        within one of them. Unless given, there is one for each day between two days, and 1,024
        otherwise.
    whole : bool
        Whether the values are whole numbers: then there is a bin for each of them, and ranges end
        before the number that is named, as they do with days.
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


@_with_options
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
    """Below which value does a part of the people lie? `distribution` tells several for one price.

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
        As `ask` does, and if noise hides the few people who lie beyond it.

    Examples
    --------
    >>> ages = [20 + i % 60 for i in range(10_000)]
    >>> answer = hc.quantile(ages, 0.9, bounds=(0, 120), bins=120, epsilon=1)
    >>> 72 < answer.value < 76
    True
    """
    question = Quantile(bounds, bins, clip, at=at, dates=dates, whole=whole)
    return cast(DistributionEstimate, ask(data, question, epsilon=epsilon, **options)).quantile(at)


@_with_options
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


@_with_options
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
        For each column its labels, or a mapping as the arguments of `histogram`: `{"categories": …,
        "other": True}`, `{"bins": [0, 18, 65, 120]}`, or `{"bounds": (0, 120), "bins": 12, "clip":
        True}`.
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
