"""Privacy budgets: epsilon, delta, and the adjacency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any

from headcount.common.calls import checked_class
from headcount.common.quantity import quantity
from headcount.errors import BadArgument, OverBudget
from headcount.phrases import Phrase
from headcount.privacy.compose import compose
from headcount.privacy.loss import PrivacyLoss


class Neighbours(StrEnum):
    """Adjacency: which two crowds a mechanism must not tell apart.

    Attributes
    ----------
    REPLACE
        As many people, of whom one holds another value (bounded differential privacy). How many
        there are is public.
    ADD_REMOVE
        One person more or less (unbounded differential privacy). How many there are is private.
    words : str
        Its name in a sentence.
    hides_size : bool
        Whether the number of people is private.

    Examples
    --------
    >>> hc.Neighbours("add-remove")
    Neighbours.ADD_REMOVE
    """

    REPLACE = "replace", "replace-one"
    ADD_REMOVE = "add-remove", "add-or-remove-one"

    words: str
    hides_size: bool

    def __new__(cls, value: str, words: str = "") -> Neighbours:
        neighbours = str.__new__(cls, value)
        neighbours._value_, neighbours.words, neighbours.hides_size = value, words, value == "add-remove"
        return neighbours

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def _missing_(cls, value: object) -> Neighbours:
        for each in cls:
            if each == str(value).replace("_", "-"):
                return each
        raise BadArgument("neighbours", f"is {value!r}", "use 'replace' or 'add-remove'")


LARGEST_EPSILON = 50.0
SMALLEST_EPSILON = 1e-3  # below, the noise is wider than any crowd here
SMALLEST_DELTA = 1e-18  # below, doubles cannot vouch for it
MOST_ROUNDS = 10_000
POINTS = 100  # of a round's privacy profile
RESERVED = 0.1  # of delta, over many rounds: for what has no pure epsilon


@checked_class
@dataclass(frozen=True)
class Budget:
    """A privacy budget: epsilon and delta under an adjacency.

    Parameters
    ----------
    epsilon : float
        Bound on the privacy loss, from 0.001 to 50.
    delta : float
        Mass of outcomes that may exceed it: 0 for pure differential privacy, otherwise from 1e-18
        to below 1.
    neighbours : Neighbours or str
        The adjacency.
    rounds : int
        How often the same person may be asked; the budget is for all of these rounds together.

    Raises
    ------
    errors.BadArgument
        If one of them is out of range.

    Examples
    --------
    >>> hc.Budget(1, 1e-6).delta
    1e-06
    >>> print(hc.Budget(1, 1e-6))
    (ε=1, δ=1e-06)
    >>> print(hc.Budget(1, 1e-6, rounds=52))
    (ε=1, δ=1e-06) for 52 rounds
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE
    rounds: int = 1

    def __post_init__(self) -> None:
        works = {
            "epsilon": f"use a number from {SMALLEST_EPSILON:g} to 50, for example 1",
            "delta": f"use 0, or a number from {SMALLEST_DELTA:g} to below 1, for example 1e-6",
        }
        for name in works:
            object.__setattr__(self, name, quantity(name, getattr(self, name), works[name]))
        if not SMALLEST_EPSILON <= self.epsilon <= LARGEST_EPSILON:
            raise BadArgument("epsilon", f"is {self.epsilon:g}", works["epsilon"])
        if not (self.delta == 0 or SMALLEST_DELTA <= self.delta < 1):
            raise BadArgument("delta", f"is {self.delta:g}", works["delta"])
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        whole = f"use a whole number from 1 to {MOST_ROUNDS:,}, for example 52"
        rounds = quantity("rounds", self.rounds, whole)
        if rounds != int(rounds) or not 1 <= rounds <= MOST_ROUNDS:
            raise BadArgument("rounds", f"is {rounds:g}", whole)
        object.__setattr__(self, "rounds", int(rounds))

    def together(self, loss: PrivacyLoss, points: int = POINTS) -> PrivacyLoss:
        """The loss of all rounds, each costing this much: composed exactly, in the worse order.

        A person's values may change in either direction from round to round, and because of what
        was published. That the rounds are fixed beforehand makes it hold all the same. With fewer
        points of a round's profile it is faster and claims more: a profile that is a bound itself,
        which takes longer to find, has half as many.
        """
        if self.rounds == 1:
            return loss
        return compose([loss] * self.rounds, points // 2 if loss.kind == "bound" else points)

    @property
    def pure_part(self) -> Budget:
        """A round's part: as many randomised responses at this epsilon nearly use up the budget.

        A first guess, for parameters that are chosen before the exact loss is known.
        """
        return self if self.rounds == 1 else _pure_part(self)

    @property
    def gaussian_part(self) -> Budget:
        """A round's part of the budget if its noise is nearly Gaussian: a guess, never a claim."""
        epsilon = max(SMALLEST_EPSILON, self.epsilon / math.sqrt(self.rounds) if self.delta else self.pure_part.epsilon)
        return replace(self, epsilon=epsilon, rounds=1)

    def require_hidden(self, rows: int) -> None:
        """Refuse several rows a person where the number of all rows is public.

        It would tell a person's share.
        """
        if rows > 1 and self.neighbours is Neighbours.REPLACE:
            problem = f"is {rows}, and the number of all rows would tell how many a person has"
            works = Phrase("use 1, or {neighbours} and {model}", neighbours="add-remove", model="central")
            raise BadArgument("max_contributions", problem, works)

    def require(self, loss: PrivacyLoss) -> None:
        """Refuse a privacy loss that does not fit; there is no boolean to overlook.

        Parameters
        ----------
        loss : PrivacyLoss
            What a protocol gives away in one round.

        Raises
        ------
        errors.OverBudget
            If its delta at this epsilon is larger than this delta.

        Examples
        --------
        >>> hc.Budget(1, 1e-6).require(hc.protocol("zsum", n=1_000, gamma=0.04).loss)
        """
        delta = self.together(loss).delta(self.epsilon)
        if delta > self.delta:
            several = f" of all {self.rounds:,} rounds" if self.rounds > 1 else ""
            raise OverBudget(
                f"delta{several} at epsilon={self.epsilon:g} is {delta:.3g}, over the budget's {self.delta:g}",
                "use more noise, more people or a larger budget",
            )

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as in a plan."""
        several = {"rounds": self.rounds} if self.rounds > 1 else {}
        return {"epsilon": self.epsilon, "delta": self.delta, "neighbours": str(self.neighbours), **several}

    def __str__(self) -> str:
        several = f" for {self.rounds:,} rounds" if self.rounds > 1 else ""
        return f"(ε={self.epsilon:g}, δ={self.delta:g}){several}"


def response_delta(epsilon: float, times: int, at: float) -> float:
    """The delta, at the larger epsilon `at`, of several randomised responses at this epsilon."""
    if times * epsilon <= at:
        return 0.0
    keep, lose = -math.log1p(math.exp(-epsilon)), -math.log1p(math.exp(epsilon))
    total = 0.0
    for told in range(times, -1, -1):  # the answers that speak for what is true
        loss = (2 * told - times) * epsilon
        if loss <= at:
            return total
        binomial = math.lgamma(times + 1) - math.lgamma(told + 1) - math.lgamma(times - told + 1)
        total += math.exp(binomial + told * keep + (times - told) * lose) * -math.expm1(at - loss)
    return total


@lru_cache(maxsize=256)
def _pure_part(budget: Budget) -> Budget:
    low, high = budget.epsilon / budget.rounds, budget.epsilon
    delta = (1.0 - RESERVED) * budget.delta
    for _ in range(50 if delta else 0):
        middle = math.sqrt(low * high)
        fits = response_delta(middle, budget.rounds, budget.epsilon) <= delta
        low, high = (middle, high) if fits else (low, middle)
    part = max(SMALLEST_DELTA, RESERVED * budget.delta / budget.rounds) if delta else 0.0
    return replace(budget, epsilon=max(SMALLEST_EPSILON, low), delta=part, rounds=1)


def total(budgets: Sequence[Budget]) -> Budget | None:
    """Basic composition: the sums of epsilons and deltas, rounded up; None for several adjacencies,
    or sums so large that nothing is promised."""
    epsilon, delta = (
        _up(sum(map(Fraction, each))) for each in zip(*((b.epsilon, b.delta) for b in budgets), strict=True)
    )
    if len({budget.neighbours for budget in budgets}) != 1 or epsilon > LARGEST_EPSILON or delta >= 1.0:
        return None
    return Budget(epsilon, delta, budgets[0].neighbours)


def _up(number: Fraction | int) -> float:
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)
