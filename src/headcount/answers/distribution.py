"""The answer about a distribution: ranges, distribution function, quantiles, from one release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Literal, cast

import numpy as np

from headcount.answers.cell import Cell
from headcount.answers.error_law import ErrorLaw
from headcount.answers.estimate import Estimate
from headcount.answers.intervals import digits
from headcount.answers.linear import Linear, bin_law, prefix_tails
from headcount.answers.number import Number
from headcount.common.quantity import quantity, require_confidence
from headcount.errors import BadArgument, Unsupported
from headcount.programme.coins import SecretCoins
from headcount.programme.law import Floats
from headcount.questions.distribution import Distribution
from headcount.questions.domains.domain import Label
from headcount.questions.domains.intervals import Intervals
from headcount.questions.scales import Scale
from headcount.questions.strategies.tree import Tree

DRAWS, AT_ONCE = 999, 1 << 20  # of fresh noise for a band, and cells of them at a time
FEWEST_DRAWS, MOST_DRAWN = 19, 1 << 25  # where there are many cells, and cells in all
CLEAR = 2.0  # standard errors of people that must lie beyond a quantile
NEARLY = 0.95  # of a normal law's quantile: no error is much nearer to nothing, and intervals become no narrower by it
PREFIXES = 31  # that stand for all


@dataclass(frozen=True, eq=False, repr=False)
class QuantileEstimate(Number):
    """A value that a part of the people lie below, and its interval.

    It is the quantile of these people, not of others like them. The value lies within one bin; the
    interval is made of whole bins, by inverting a test of every bin. Let v* be the bin of the true
    quantile. It is at or after the first bin up to which that many people may lie, and at or before
    the last one before which fewer may: each side is wrong only if the error at v*, or just before
    it, is beyond its own tail. No other bin is tested.

    Parameters
    ----------
    part : float
        The part of the people that lie below it.
    value : float, int, datetime or timedelta
        By interpolation within its bin: a number, a moment in UTC, or a duration; of whole numbers
        one of them.
    of : DistributionEstimate
        The answer that it comes from.
    among : int
        Of how many quantiles the intervals are to cover at once.

    Examples
    --------
    >>> answer = hc.quantile([3.0] * 900 + [7.0] * 100, 0.5, bounds=(0, 10), bins=16, epsilon=1, model="central")
    >>> low, high = answer.interval(0.999999)
    >>> low <= 3 <= high
    True
    """

    part: float
    value: Any
    of: DistributionEstimate
    among: int = 1

    def _ends(self, confidence: float) -> tuple[Any, Any]:
        low, high = self.of.quantile_ends(self.part, (1.0 - confidence) / 2.0 / self.among)
        return self.of.axis.spanned(low, high)

    @property
    def guarantee(self) -> str:
        """What was declared and promised of the distribution that it comes from."""
        return ", ".join(filter(None, [self.of.protocol.task.about, self.of.told, *self.of.promises()]))

    def draw(self, target: Any, theme: str, title: str) -> object:
        """The whole distribution, with this quantile as its title unless told."""
        return self.of.draw(target, theme, title or f"{100.0 * self.part:g}% lie below {self.said}")

    def records(self) -> list[dict[str, Any]]:
        """One row."""
        return [{"quantile": self.part, "value": self.value, "interval95": list(self.interval())}]

    def shown(self) -> tuple[str, str, str]:
        low, high = self.interval()
        if not self.of.axis.numeric:
            return self.of.axis.shown(self.value, (low, high))
        places = 0 if self.of.axis.whole else digits(low, high)
        return f"{self.value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"


@dataclass(frozen=True, eq=False, repr=False)
class DistributionEstimate(Estimate):
    """The answer to `hc.Distribution`: how many people lie in any range, and the quantiles.

    All of it comes from one release, so that nothing more is spent by asking further. Ends of
    ranges that lie within a bin are answered by interpolation, with an interval that covers both
    sides.

    Parameters
    ----------
    protocol, tally, people, budget, secret, within, simulated, habit, rules, most, before
        As for `Estimate`; `people` are those of each bin.

    Examples
    --------
    >>> answer = hc.distribution([3.0] * 900 + [7.0] * 100, bounds=(0, 10), bins=16, epsilon=1, model="central")
    >>> 2 < answer.median.value < 4
    True
    """

    @property
    def _question(self) -> Distribution:
        return cast(Distribution, self.protocol.task)

    @property
    def _domain(self) -> Intervals:
        return self._question.domain

    @property
    def axis(self) -> Scale:
        """What the values are: numbers, moments or durations."""
        return self._domain.scale

    @property
    def edges(self) -> Any:
        """The bins' edges, as numpy has them: an array of numbers, UTC moments or durations."""
        return self.axis.array(self._domain.edges)

    @property
    def places(self) -> list[float]:
        """The edges on the line: numbers themselves; moments and durations in microseconds."""
        return [float(edge) for edge in self._domain.edges]

    def within_bins(self, first: int, last: int) -> Linear:
        """The people in the bins from one on and before another.

        Parameters
        ----------
        first, last : int
            Places of bins, from 0 on.

        Returns
        -------
        Linear
        """
        return self._sum(float(first), float(last))

    def below(self, value: Any) -> Linear:
        """How many people lie below a value.

        Parameters
        ----------
        value : float, str, datetime or timedelta
            Within the bounds; of days and whole numbers, those before this one are meant.

        Returns
        -------
        Linear
        """
        return self._sum(0.0, self._domain.place("value", value))

    def between(self, low: Any, high: Any) -> Linear:
        """How many people lie from one value on and below another.

        Parameters
        ----------
        low, high : float, str, datetime or timedelta
            Within the bounds, the smaller first. Numbers end at the upper bound with all that are
            equal to it. Days and whole numbers end before `high`: of whole numbers, `between(20,
            30)` are those of 20 to 29, and 30 is among them with `between(20, 31)`, which may be
            one more than the upper bound.

        Returns
        -------
        Linear
        """
        first, last = (self._domain.place(name, end) for name, end in (("low", low), ("high", high)))
        if first > last:
            raise BadArgument("high", f"is less than low, {low}", "give the smaller end first")
        return self._sum(first, last)

    def _sum(self, first: float, last: float) -> Linear:
        """The people between two places, in bins from the first edge."""
        counted = np.append(0.0, np.cumsum(self.people))
        counted[-1] = counted[-1] if self.n is None else self.n
        value = float(np.interp([first, last], np.arange(counted.size), counted) @ [-1.0, 1.0])
        inside, around = (math.ceil(first), math.floor(last)), (math.floor(first), math.ceil(last))
        least = self._range(*inside)
        most = least if inside == around else self._range(*around)
        return Linear(value, least, most, self.promises(), possible=self.possible)

    def _range(self, first: int, last: int) -> tuple[float, ErrorLaw]:
        """The people in these bins; up to the last bin, by complement where everybody is known."""
        weights, known = np.zeros(self.people.size), 0
        if first < last == self.people.size and self.n is not None:
            weights[:first], known = -1.0, self.n
        else:
            weights[first : max(first, last)] = 1.0
        return known + float(self.measured @ weights), self._law_of(weights)

    def histogram(self, edges: Sequence[Any]) -> list[Cell]:
        """How many people lie between neighbouring edges, with 95% intervals.

        Parameters
        ----------
        edges : sequence of float, str, datetime or timedelta
            Increasing, within the bounds.

        Returns
        -------
        list of Cell
        """
        places = [self.axis.place(edge) or 0.0 for edge in edges]
        names = self.axis.texts(places, self.axis.unit([*places, self._domain.step]))
        parts = [self.between(low, high) for low, high in pairwise(edges)]
        found = [(f"[{low}, {high})", part) for (low, high), part in zip(pairwise(names), parts, strict=True)]
        return [Cell(label, part.value, part.interval()) for label, part in found]

    @property
    def mean(self) -> Linear:
        """The mean, from the middles of the bins; `hc.mean` alone is more accurate.

        Raises
        ------
        errors.Unsupported
            If the number of people is private.
        """
        people, (middles, half) = self._public("mean"), self._domain.middles
        law = self._law_of(middles / people)
        value, found = (float(middles @ each) / people for each in (self.people, self.measured))
        return Linear(self.axis.at(value), (found - half, law), (found + half, law), self.promises(), self.axis)

    def _public(self, what: str) -> int:
        if self.n is None:
            works = "ask for numbers of people: between, below, histogram"
            raise Unsupported(f"the {what} is divided by the number of people, which is private", works)
        return self.n

    @cached_property
    def _prefixes(self) -> Floats:
        """How many people lie in the first 1, 2, 3, ... bins, as they were measured."""
        return np.cumsum(self.measured)

    def _prefix_tails(self, bins: int, part: float, chance: float) -> tuple[float, float]:
        """The tails of the error of the people in the first bins, less a part of all of them."""
        if self.n is not None and self._own_variances is None:
            return prefix_tails(self.protocol, self.tally.reports, bins, chance)
        weights = np.full(self.people.size, -part if self.n is None else 0.0)
        weights[:bins] += 1.0
        return self._law_of(weights).tails(chance)

    @cached_property
    def _largest_error(self) -> float:
        """The largest standard error of a prefix."""
        return self._widest * math.sqrt(float(cast(Tree, self.protocol.strategy).prefix_variances.max()))

    @cached_property
    def _widest(self) -> float:
        """The standard error of a first-family cell, with what people add to their own at most."""
        if self._own_variances is None:
            return self._errors.std_error
        found = []
        for bins in np.linspace(0, self.people.size, PREFIXES + 2).astype(int)[1:-1].tolist():
            first = (np.arange(self.people.size) < bins).astype(np.float64)
            alone = self._errors.spread(self.protocol.strategy.terms(first))
            found.append(math.hypot(1.0, math.sqrt(self._own_in(first)) / alone) if alone else 1.0)
        return self._errors.std_error * max(found)

    def quantile(self, part: float) -> QuantileEstimate:
        """The value below which a part of the people lie.

        Parameters
        ----------
        part : float
            Above 0 and below 1: 0.5 is the median.

        Returns
        -------
        QuantileEstimate

        Raises
        ------
        errors.Unsupported
            If noise hides the few people who lie beyond it.
        """
        works = "use a number above 0 and below 1, for example 0.5"
        if not 0.0 <= quantity("part", part, works) <= 1.0:
            raise BadArgument("part", f"is {part:g}", works)
        people = float(self._prefixes[-1]) if self.n is None else float(self.n)
        least = CLEAR * self._largest_error / max(people, 1.0)
        if not least <= part <= 1.0 - least:
            few = f"fewer than {math.ceil(CLEAR * self._largest_error):,} people lie beyond the {part:g} quantile"
            works = f"ask for {_up(least)} to {_down(1.0 - least)}" if least < 0.5 else "ask more people"
            raise Unsupported(f"{few}, no more than noise hides", works)
        return QuantileEstimate(part, self._interpolated(part * people), self)

    def _interpolated(self, people: float) -> Any:
        """Where the distribution function first reaches this count, interpolated within its bin."""
        prefixes = np.cumsum(self.people)
        reached = np.flatnonzero(prefixes >= people)
        bin_ = int(reached[0]) if reached.size else self.people.size - 1
        before = float(prefixes[bin_ - 1]) if bin_ else 0.0
        inside = (people - before) / max(float(prefixes[bin_]) - before, 1e-9)
        low, high = self._domain.edges[bin_ : bin_ + 2].tolist()
        return self.axis.within(low, high, min(max(inside, 0.0), 1.0))

    def _prefix_reach(self, tail: float) -> tuple[Floats, Floats]:
        """For each prefix how far its error is off with this chance at most, and nearly so: what
        lies between is worked out exactly."""
        spread = self._widest * np.sqrt(cast(Tree, self.protocol.strategy).prefix_variances)
        if self.n is None:  # by Cantelli's inequality; a part of all people adds at most as much as a prefix has
            furthest = np.full(spread.size, 2.0 * float(spread.max()) * math.sqrt((1.0 - tail) / tail))
            return furthest, np.zeros(spread.size)
        return self._errors.furthest(tail, spread**2), NEARLY * NormalDist().inv_cdf(1.0 - tail) * spread

    def quantile_ends(self, part: float, tail: float) -> tuple[float, float]:
        """The places of the interval of a quantile whose sides fail with this chance each."""
        people = float(self._prefixes[-1]) if self.n is None else float(self.n)
        excess = np.append(0.0, self._prefixes) - part * people  # after 0, 1, 2, ... bins
        furthest, nearest = self._prefix_reach(tail)
        last = excess.size - 1
        after = next(
            (
                bins
                for bins in np.flatnonzero(excess >= -furthest).tolist()
                if bins and (excess[bins] >= -nearest[bins] or excess[bins] >= self._prefix_tails(bins, part, tail)[0])
            ),
            last,
        )
        before = next(
            (
                bins
                for bins in np.flatnonzero(excess <= furthest)[::-1].tolist()
                if bins < last
                and (excess[bins] < nearest[bins] or excess[bins] < self._prefix_tails(bins, part, tail)[1])
            ),
            0,
        )
        first, final = min(after - 1, before), max(after - 1, before)
        return float(self._domain.edges[first]), float(self._domain.edges[final + 1])

    def quantiles(self, parts: Iterable[float], *, simultaneous: bool = False) -> list[QuantileEstimate]:
        """Several quantiles; each interval has its own confidence.

        Parameters
        ----------
        parts : iterable of float
            Above 0 and below 1.
        simultaneous : bool
            Whether the intervals are to cover at once: then each fails that much less often.

        Returns
        -------
        list of QuantileEstimate
        """
        found = [self.quantile(part) for part in parts]
        return [replace(each, among=len(found)) for each in found] if simultaneous else found

    @property
    def median(self) -> QuantileEstimate:
        """The value below which half of the people lie."""
        return self.quantile(0.5)

    @property
    def minimum(self) -> QuantileEstimate:
        """Refused: one person moves it at will.

        Raises
        ------
        errors.Unsupported
            Always.
        """
        return self.quantile(0.0)

    @property
    def maximum(self) -> QuantileEstimate:
        """Refused: one person moves it at will.

        Raises
        ------
        errors.Unsupported
            Always.
        """
        return self.quantile(1.0)

    def cdf(self, confidence: float = 0.95) -> Any:
        """The distribution function at every edge: rows [edge, part of people below, low, high].

        Each interval has its own confidence; `band` has one for all of them.

        Parameters
        ----------
        confidence : float
            Chance that an interval covers the truth, above 0 and below 1.

        Returns
        -------
        ndarray
        """
        require_confidence(confidence)
        people, tail = self._public("distribution function"), (1.0 - confidence) / 2.0
        counted = np.append(0.0, self._prefixes)
        ends = np.array([self._prefix_tails(bins, 0.0, tail)[::-1] for bins in range(counted.size)])
        return self._curve(people, counted[:, None] - ends)

    def band(self, confidence: float = 0.95) -> Any:
        """The distribution function with a band that covers all of it at once: rows as of `cdf`.

        The noise does not depend on the data, so that it is compared with noise drawn afresh: what
        the largest of the errors exceeds is one of several exchangeable numbers. The confidence
        includes the chance of these draws.

        Parameters
        ----------
        confidence : float
            Chance that the band covers everything, above 0 and below 1.

        Returns
        -------
        ndarray
        """
        require_confidence(confidence)
        people, strategy = self._public("distribution function"), cast(Tree, self.protocol.strategy)
        spread = self._errors.std_error * np.sqrt(strategy.prefix_variances)
        draws = max(FEWEST_DRAWS, math.ceil(2.0 / (1.0 - confidence)), min(DRAWS, MOST_DRAWN // strategy.size))
        half = float(self._largest_errors(draws)[math.ceil((draws + 1) * confidence) - 1]) * spread
        half *= self._widest / self._errors.std_error
        counted = np.append(0.0, self._prefixes)
        return self._curve(people, np.column_stack([counted - half, counted + half]))

    def _curve(self, people: int, ends: Floats) -> Any:
        """Rows of an edge and the people below it; object arrays for moments and durations."""
        edges = self.edges if self.axis.numeric else self.edges.astype(object)
        counted, ends[-1] = np.append(0.0, np.cumsum(self.people)), people  # everybody, exactly, is below the last edge
        counted[-1] = people
        return np.column_stack([edges, counted / people, self._bounded(ends) / people])

    @property
    def possible(self) -> tuple[float, float]:
        """The range of any number of people: unlimited, unless it was brought into one."""
        if not self.within:
            return -math.inf, math.inf
        return 0.0, math.inf if self.n is None else float(self.n)

    def clamped(self) -> DistributionEstimate:
        """The answer with the nearest curve rising from nobody to everybody; no longer unbiased.

        Intervals are those of what was measured, cut to what is possible.
        """
        return self._rising("range")

    def consistent(self) -> DistributionEstimate:
        """The same as `clamped`, where the number of people is public.

        Raises
        ------
        errors.Unsupported
            If it is not.
        """
        self._public("consistent curve")
        return self._rising("crowd")

    def _rising(self, within: Literal["range", "crowd"]) -> DistributionEstimate:
        """The minimax nearest curve: half-way between the highest so far and the lowest to come."""
        measured = self._prefixes
        highest, lowest = np.maximum.accumulate(measured), np.minimum.accumulate(measured[::-1])[::-1]
        rising = np.clip((highest + lowest) / 2.0, 0.0, math.inf if self.n is None else float(self.n))
        return replace(self, within=within, people=np.diff(rising, prepend=0.0))

    def _largest_errors(self, draws: int) -> Floats:
        """The largest prefix errors of simulated draws, in standard errors, sorted; drawn once."""
        if draws not in self._drawn:
            strategy = cast(Tree, self.protocol.strategy)
            spread = self._errors.std_error * np.sqrt(strategy.prefix_variances)
            at_once = max(1, min(draws, AT_ONCE // strategy.size))
            sizes = [min(at_once, draws - start) for start in range(0, draws, at_once)]
            parts = [self._largest_of_fresh_noise(size, spread[1:]) for size in sizes]
            self._drawn[draws] = np.sort(np.concatenate(parts))
        return self._drawn[draws]

    @cached_property
    def _drawn(self) -> dict[int, Floats]:
        return {}

    def _largest_of_fresh_noise(self, draws: int, spread: Floats) -> Floats:
        """The largest error of a prefix, in standard errors, with noise drawn afresh."""
        strategy, coins = self.protocol.strategy, SecretCoins()
        cells = [
            self._errors.drawn(family, draws * size, coins) for family, size in enumerate(strategy.sizes_of_families)
        ]
        noise = np.concatenate([each.reshape(draws, -1) for each in cells], axis=1)
        errors = np.abs(np.cumsum(strategy.rebuilt(noise, 0), axis=1))
        np.divide(errors, spread, out=errors, where=spread > 0.0)
        return np.asarray(np.where(spread > 0.0, errors, 0.0).max(axis=1, initial=0.0))

    @property
    def _bin_law(self) -> ErrorLaw:
        """The law of a single bin's error: the same for all bins, or that of the largest."""
        law = bin_law(self.protocol, self.tally.reports)
        if self._own_variances is None:
            return law
        return law.widened(self._own_in(np.eye(1, self.people.size, int(self.measured.argmax()))[0]))

    @property
    def _law(self) -> ErrorLaw:
        return self._bin_law

    def people_intervals(self, confidence: float) -> Floats:
        low, high = self._bin_law.tails((1.0 - confidence) / 2.0)
        return self._bounded(np.stack([self.measured - high, self.measured - low], axis=1))

    def each_at(self, confidence: float) -> float:
        return 1.0 - (1.0 - confidence) / self.people.size

    @property
    def std_error(self) -> float:
        """That of a single bin."""
        return self._bin_law.std_error

    @property
    def simultaneous95(self) -> None:
        """None: `band` covers the whole distribution at once, `intervals` all bins."""
        return None

    @property
    def shown_quantiles(self) -> list[QuantileEstimate]:
        """Those that are printed and that noise does not hide."""
        found = []
        for part in self._question.shown_quantiles:
            try:
                found.append(self.quantile(part))
            except Unsupported:
                continue
        return found

    def rows(self, most: int | None = None) -> list[tuple[str, str, str]]:
        """Each quantile that is printed, its value and its interval, as text."""
        found = []
        for each in self.shown_quantiles[:most]:
            value, low, high = each.shown()
            found.append((f"{100.0 * each.part:g}%", value, f"{low} to {high}"))
        return found

    def _lines(self) -> list[str]:
        lines = [f"{name:>5}  {value}  (95% interval {span})" for name, value, span in self.rows()]
        return lines or ["too few people for quantiles; see .between and .band"]

    def __repr__(self) -> str:
        return f"DistributionEstimate: {self.people.size:,} bins, {', '.join(self.promises())}"

    def _answer(self) -> dict[str, Any]:
        said = self.axis.canonical
        quantiles = [
            {"quantile": each.part, "value": said(each.value), "interval95": [said(end) for end in each.interval()]}
            for each in self.shown_quantiles
        ]
        return {
            "quantiles": quantiles,
            "bounds": list(self._domain.bounds),
            "bins": self.people.size,
            "counts": self.people.tolist(),
        }

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.answers.pictures import distribution

        return distribution(self, target, theme, title)

    def records(self) -> list[dict[str, Any]]:
        """A row for each bin."""
        ends, rows = pairwise(self.edges.tolist()), zip(self.people.tolist(), self.intervals().tolist(), strict=True)
        return [
            {"from": low, "to": high, "value": value, "interval95": interval}
            for (low, high), (value, interval) in zip(ends, rows, strict=True)
        ]

    def __getitem__(self, category: Label) -> Cell:
        low, high = self.people_intervals(0.95)[self.categories.index(category)].tolist()
        return Cell(category, float(self.people[self.categories.index(category)]), (low, high))


def _up(part: float) -> str:
    return f"{math.ceil(1e3 * part) / 1e3:g}"


def _down(part: float) -> str:
    return f"{math.floor(1e3 * part) / 1e3:g}"
