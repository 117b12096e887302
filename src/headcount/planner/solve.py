"""Solving backwards: the smallest epsilon, or the fewest people, for an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from headcount.planner.option import CalibratedOption, Option, RefusedOption, best_option, number
from headcount.planner.reachable import MOST_PEOPLE
from headcount.planner.situation import Situation
from headcount.privacy.budget import SMALLEST_EPSILON
from headcount.privacy.crowd import Crowd
from headcount.protocols.base.protocol import Protocol

LARGEST_EPSILON = 50.0
FEW_PEOPLE = 10.0**4  # who are counted to the last person; above, to four digits
LATE = 16_384.0  # people, from which on the objective is monotone
FLAT = 0.01  # a power law with a smaller exponent counts as constant
CLOSE = 1.002  # how much larger than the smallest what is found may be
BESIDE = 1.0008  # how far beside the likely edge to look
STRIDE, LEAP = 4.0, 4_096.0


@dataclass(frozen=True)
class UnsolvedOption(RefusedOption):
    """No epsilon or number of people in the range is enough. `smallest_n` is not stated: it depends
    on what was solved for."""

    @cached_property
    def smallest_n(self) -> int | None:
        return None

    @property
    def reason(self) -> str:
        return self.refusal


@dataclass(frozen=True)
class Probe:
    """An option at an epsilon, or at a number of people."""

    x: float
    option: Option

    @property
    def objective(self) -> float:
        return self.option.objective if isinstance(self.option, CalibratedOption) else math.inf

    @property
    def sound(self) -> bool:
        """Whether it serves, without far too many messages."""
        return isinstance(self.option, CalibratedOption) and self.option.proportionate

    @property
    def guess(self) -> bool:
        return isinstance(self.option, CalibratedOption) and self.option.guesswork

    def power_to(self, other: Probe) -> float:
        """The exponent of the power law of the objective through both probes."""
        if self.x == other.x or not (0.0 < self.objective < math.inf and 0.0 < other.objective < math.inf):
            return math.nan
        return math.log(other.objective / self.objective) / math.log(other.x / self.x)


@dataclass(frozen=True)
class Search:
    """Probes along a line, of which those with an objective within the wish are sought."""

    at: Callable[[float], Probe]
    fit: Callable[[Probe], bool]  # whether there is an answer worth the name
    within: float
    rounded: Callable[[float], float]
    done: Callable[[float, float], bool]  # whether two places are close enough to stop

    def near(self, place: Probe) -> bool:
        return self.fit(place) and place.objective <= self.within

    def edge(
        self, outside: Probe, inside: Probe, enough: Callable[[float, Probe], bool] = lambda _, __: False
    ) -> Probe:
        """The last probe inside: by the power law's guess, probes beside it, and bisection."""
        turn = 0
        while not self.done(*sorted((outside.x, inside.x))) and not enough(outside.x, inside):
            middle = math.sqrt(outside.x * inside.x)
            guess = middle if turn % 3 == 2 else self._guess(outside, inside, middle, (BESIDE, 1 / BESIDE)[turn % 3])
            low, high = sorted((outside.x, inside.x))
            between = [x for x in map(self.rounded, (guess, middle)) if low < x < high]
            if not between:
                break
            tried, turn = self.at(between[0]), turn + 1
            outside, inside = (outside, tried) if self.near(tried) else (tried, inside)
        return inside

    def _guess(self, outside: Probe, inside: Probe, middle: float, beside: float) -> float:
        guess = self.likely(outside, inside)
        return middle if math.isnan(guess) else guess * (beside if outside.x < inside.x else 1.0 / beside)

    def likely(self, one: Probe, other: Probe) -> float:
        """Where the power law through both probes just meets the wish."""
        power = one.power_to(other)
        if not (math.isfinite(self.within) and abs(power) >= FLAT):
            return math.nan
        return one.x * math.exp(min(500.0, math.log(self.within / one.objective) / power))

    def further(self, before: Probe, here: Probe, end: float) -> float:
        """The next place towards the end: at least a stride, more if the power law says so."""
        likely = self.likely(before, here)
        if end > here.x:
            leap = min(max(STRIDE * here.x, likely * BESIDE), LEAP * here.x) if likely > here.x else STRIDE * here.x
            return min(end, self.rounded(leap))
        return max(end, self.rounded(here.x / STRIDE))


def smallest_epsilon(kind: type[Protocol], given: Situation, within: float) -> Option:
    """The option with the smallest epsilon whose objective is at most `within`."""

    def at(epsilon: float) -> Probe:
        return Probe(epsilon, best_option(kind, replace(given, budget=replace(given.budget, epsilon=epsilon))))

    search = Search(
        at, lambda place: place.sound, within, lambda x: float(f"{x:.4g}"), lambda low, high: high / low <= CLOSE
    )
    last = at(LARGEST_EPSILON)
    if search.fit(last) and not search.near(last):
        return _never(search, [last], given)
    before = here = at(1.0)
    if search.near(here):
        while search.near(here):
            if here.x <= SMALLEST_EPSILON:
                return here.option
            before, here = here, at(search.further(before, here, SMALLEST_EPSILON))
        return search.edge(here, before).option
    tried = [here]
    while not search.near(here):  # the largest may be refused where others are not
        if here.x >= LARGEST_EPSILON:
            return _never(search, tried, given)
        before, here = here, at(search.further(before, here, LARGEST_EPSILON))
        tried.append(here)
    return search.edge(before, here).option


def fewest_people(kind: type[Protocol], given: Situation, within: float, crowd_of: Callable[[int], Crowd]) -> Option:
    """The option with the fewest people, an objective of at most `within`, and better than a guess.

    That is an answer if it is so for more people as well. Where the objective grows with the crowd,
    as the error of a count does if everybody adds noise, it is said up to how many people are few
    enough.
    """

    def at(people: float) -> Probe:
        return Probe(people, best_option(kind, replace(given, crowd=crowd_of(int(people)))))

    search = Search(
        at,
        lambda place: place.sound and not place.guess,
        within,
        lambda x: float(round(x)) if x <= FEW_PEOPLE else float(f"{x:.4g}"),
        lambda low, high: high - low <= 1.0 if high <= FEW_PEOPLE else high / low <= CLOSE,
    )
    before = here = at(float(given.crowd.corrupt + 1))
    tried = [here]
    while not search.near(here) and here.x < MOST_PEOPLE and not _settled(before, here):
        before, here = here, at(search.further(before, here, MOST_PEOPLE))
        tried.append(here)
    if search.near(here):
        found = search.edge(before, here) if before is not here else here
        falls = here.x >= LATE and before.power_to(here) <= FLAT
        too_many = None if falls else _too_many(search, here if here.x >= LATE else at(LATE))
    else:  # unless it was within the wish for the first few whom it can serve
        found = here = _first(search, tried)
        too_many = min((place for place in tried if place.x > here.x), key=lambda place: place.x, default=here)
    if not search.near(found):
        return _never(search, [*tried, found], given)
    if too_many is None:
        return found.option
    most = search.edge(too_many, here).x
    limit = (
        f"comes within {number(within)} for up to {most:,.0f} people only; the more there are, the further off it is"
    )
    return UnsolvedOption(kind, given, limit)


def _first(search: Search, tried: Sequence[Probe]) -> Probe:
    """The probe with the fewest people for whom there is an answer at all; not sought further once
    fewer cannot do better, as an error falls no faster than the number of people does.
    """
    best = max(search.within, min((place.objective for place in tried if search.fit(place)), default=math.inf))

    def hopeless(few: float, more: Probe) -> bool:
        return few / more.x * more.objective > best

    for before, here in pairwise(tried):
        if search.fit(here) and not search.fit(before):
            return replace(search, within=math.inf).edge(before, here, hopeless)
    return tried[0]


def _too_many(search: Search, here: Probe) -> Probe | None:
    """A crowd that is too large, if there is one: the objective is followed while it rises."""
    while search.near(here):
        if here.x >= MOST_PEOPLE:
            return None
        there = search.at(min(MOST_PEOPLE, STRIDE * here.x))
        if not here.power_to(there) > FLAT:
            return None
        here = there if not search.near(there) else search.at(search.further(here, there, MOST_PEOPLE))
    return here


def _settled(before: Probe, here: Probe) -> bool:
    """Whether more people no longer reduce the objective."""
    return before.x >= LATE and before.power_to(here) > -FLAT


def _never(search: Search, tried: Sequence[Probe], given: Situation) -> Option:
    """The refusal, with the best objective that was reached."""
    last = tried[-1].option
    best = min((place.objective for place in tried if search.fit(place)), default=math.inf)
    if math.isfinite(best):
        return UnsolvedOption(last.kind, given, f"comes within {number(best)} at best; allow more")
    guess = any(place.sound for place in tried)
    return UnsolvedOption(
        last.kind, given, "is no better than a guess where it is that close" if guess else last.reason
    )
