"""The price of a question by either rule of a ledger, from its privacy profile alone.

*Plain*: basic composition, epsilons and deltas are added up. *Rényi*: divergences of one order,
fixed by the first charge, and the probabilities of losing everything. Each rule is a theorem for
adaptively chosen questions, and each has half of the ledger's delta, so that a ledger may accept
whatever either accepts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from headcount.errors import Unsupported
from headcount.ledger.allowance import Allowance, down
from headcount.phrases import Phrase
from headcount.privacy.approximate_dp import ApproximateDP
from headcount.privacy.budget import SMALLEST_EPSILON, Budget, Neighbours
from headcount.privacy.loss import GroupPrivacy, PrivacyLoss
from headcount.privacy.renyi import PrivacyProfile, renyi_budget
from headcount.programme.law import Floats

Epsilon: TypeAlias = Fraction | float  # a float only where it is infinite

PLAIN, RENYI, LOST = Fraction(1, 2), Fraction(9, 20), Fraction(1, 20)  # parts of delta: one rule, and the other's two
LEVELS = (1e-5, 1e-4, 1e-3, 1e-2, 5e-2)  # of delta: what a question may lose for a smaller divergence
DELTAS = (0.0, 1e-2, 1e-1, 5e-1)  # of delta: where a question's epsilon is looked for, unless its own budget will do
STEPS_OF_REPLACING = 2  # replacing a person is removing one and adding one
OTHER_DOTS = Fraction(1001, 1000)  # a price from other dots of a curve is larger by less than this
STEPS = 16  # orders tried in every octave
SAFE = 1.0 - 1e-12  # sums of doubles are trusted up to here


class Asked(NamedTuple):
    """A question: its loss, and the budget that it was planned for."""

    loss: PrivacyLoss
    budget: Budget | None = None


@dataclass(frozen=True)
class Amount:
    """A sum or a limit by one rule: epsilons or divergences, and deltas."""

    divergence: Epsilon = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.divergence + other.divergence, self.delta + other.delta)

    def share(self, limit: Amount) -> Epsilon:
        """The share of a limit: the larger of both parts."""
        parts = ((self.divergence, limit.divergence), (self.delta, limit.delta))
        return max((here / most if most else math.inf) if here else Fraction(0) for here, most in parts)

    def at_most(self, limit: Amount, margin: Fraction = Fraction(1)) -> Amount:
        """What amounts with no larger share of the limit come to at most."""
        if (share := self.share(limit)) == math.inf:
            return Amount(math.inf)
        whole = margin * Fraction(share)
        return Amount(whole * limit.divergence, whole * limit.delta)

    def times(self, limit: Amount, before: Amount) -> float:
        """How often this amount fits between what was spent before and the limit."""
        rooms = ((limit.divergence - before.divergence, self.divergence), (limit.delta - before.delta, self.delta))
        if any(room < 0 for room, _ in rooms):
            return 0
        return min((room // each if each < math.inf else 0) if each else math.inf for room, each in rooms)


def counted_in(allowance: Allowance, loss: PrivacyLoss, neighbours: Neighbours) -> PrivacyLoss:
    """The loss in the ledger's adjacency.

    Replacing a person is removing one and adding one, which is group privacy for two; nothing
    bounds an addition by replacements.
    """
    if neighbours is allowance.neighbours:
        return loss
    if allowance.neighbours is not Neighbours.REPLACE:
        raise Unsupported(
            f"the ledger counts in {allowance.neighbours} and the question in {neighbours}",
            Phrase("ask with {neighbours}, as the ledger has it", neighbours=str(allowance.neighbours)),
        )
    return GroupPrivacy.of(loss, STEPS_OF_REPLACING)


def exactly(number: float) -> Epsilon:
    return Fraction(number) if math.isfinite(number) else math.inf


def plain_limit(allowance: Allowance) -> Amount:
    return Amount(allowance.epsilon, PLAIN * allowance.delta)


@lru_cache(maxsize=1024)
def renyi_limit(allowance: Allowance, order: Fraction) -> Amount:
    divergence = renyi_budget(np.array([float(order)]), down(allowance.epsilon), down(RENYI * allowance.delta))
    return Amount(Fraction(max(0.0, divergence.item())), LOST * allowance.delta)


@lru_cache(maxsize=1024)
def plain_price(asked: Asked, allowance: Allowance) -> Amount:
    """By its planned budget or, if that has too large a delta, by one with less share of both.

    The epsilon that was asked for counts, where it suffices, before the one searched for.
    """
    if (own := _own_price(asked, allowance)) is not None:
        return own
    loss, budget = asked
    limit, prices = plain_limit(allowance), []
    if budget is not None and budget.neighbours is not allowance.neighbours:
        steps = STEPS_OF_REPLACING * budget.epsilon
        prices.append(Amount(Fraction(steps), Fraction(loss.delta(steps))))
    elif budget is not None and loss.delta(budget.epsilon) <= budget.delta:
        prices.append(Amount(Fraction(budget.epsilon), Fraction(budget.delta)))
    deltas = {part * down(allowance.delta) for part in DELTAS}
    prices += [Amount(exactly(loss.epsilon(delta)), Fraction(delta)) for delta in sorted(deltas)]
    return min(prices, key=lambda price: (price.share(limit), price.divergence, price.delta))


def _own_price(asked: Asked, allowance: Allowance) -> Amount | None:
    """The budget that it was planned for, if that is of the ledger's relation and takes no more of
    delta than of epsilon; of another relation, if it needs no delta."""
    loss, budget = asked
    if budget is None:
        return None
    if budget.neighbours is not allowance.neighbours:
        steps = STEPS_OF_REPLACING * budget.epsilon
        return None if budget.delta or loss.delta(steps) else Amount(Fraction(steps))
    if (needed := loss.delta(budget.epsilon)) > budget.delta:
        return None
    own, limit = Amount(Fraction(budget.epsilon), Fraction(budget.delta if needed else 0.0)), plain_limit(allowance)
    return own if own.delta * limit.divergence <= own.divergence * limit.delta else None


def plain_bound(asked: Asked, allowance: Allowance) -> Amount:
    """The most that a question takes which loses no more than this one at the same budget: its
    share is no larger."""
    own = _own_price(asked, allowance)
    if own is not None or asked.budget is None:
        return own or plain_price(asked, allowance).at_most(plain_limit(allowance))
    most = plain_price(asked, allowance).at_most(plain_limit(allowance))
    return Amount(max(most.divergence, STEPS_OF_REPLACING * Fraction(asked.budget.epsilon)), most.delta)


def renyi_bound(asked: Asked, allowance: Allowance, order: Fraction) -> Amount:
    """The same by the Rényi rule, with what dots of another curve may add."""
    return renyi_price(asked, allowance, order).at_most(renyi_limit(allowance, order), OTHER_DOTS)


def alone(asked: Asked, allowance: Allowance) -> Amount:
    """The price by itself, for people to read: of a plan its own budget."""
    if asked.budget is not None:
        return Amount(Fraction(asked.budget.epsilon), Fraction(asked.budget.delta))
    price = plain_price(asked, allowance)
    if price.divergence < math.inf:
        return price
    return Amount(exactly(asked.loss.epsilon(down(allowance.delta))), allowance.delta)


@lru_cache(maxsize=1024)
def renyi_price(asked: Asked, allowance: Allowance, order: Fraction) -> Amount:
    """The Rényi price at the truncation where the larger of its two shares is least."""
    limit = renyi_limit(allowance, order)
    prices = [
        Amount(exactly(rho.item()), Fraction(lost))
        for rho, lost in _curve(asked, allowance).prices(np.array([float(order)]))
    ]
    return min(prices, key=lambda price: (price.share(limit), price.divergence), default=Amount(math.inf))


@lru_cache(maxsize=256)
def _curve(asked: Asked, allowance: Allowance) -> PrivacyProfile:
    loss, budget = asked
    levels = [level * down(allowance.delta) for level in LEVELS]
    tops = [loss.epsilon(level) for level in (0.0, levels[0])]
    if budget is not None and loss.delta(budget.epsilon) <= LOST * allowance.delta:
        tops.append(budget.epsilon)
    if min(tops) == math.inf:
        tops = [loss.epsilon(levels[-1])]
    return PrivacyProfile.of(loss, tops, levels)


def best_order(questions: Iterable[Asked], allowance: Allowance) -> Fraction:
    """The order that leaves most room beside these questions, which nobody has an answer to yet.

    Room is what is left of the divergence over the order, as for small Gaussian noise. Orders by
    which the questions do not fit come last.
    """
    orders, most = _orders(allowance)
    spent, lost = np.zeros(orders.size), np.zeros(orders.size)
    for asked, times in Counter(questions).items():
        rho, cut = _at_all_orders(asked, allowance)
        spent, lost = spent + times * rho, lost + times * cut
    fits = (spent <= SAFE * most) & (lost <= SAFE * float(LOST * allowance.delta))
    room = np.where(fits, most - spent, most if not fits.any() else -math.inf) / orders
    return Fraction(orders[int(np.argmax(room))].item())


@lru_cache(maxsize=256)
def _orders(allowance: Allowance) -> tuple[Floats, Floats]:
    """All orders that are tried, exact in doubles, and the limit at each; at least one."""
    orders = np.unique(np.round(1024.0 * (1.0 + 2.0 ** (np.arange(-6 * STEPS, 20 * STEPS) / STEPS))) / 1024.0)
    most = renyi_budget(orders, down(allowance.epsilon), down(RENYI * allowance.delta))
    usable = most > 0.0 if (most > 0.0).any() else most == most.max()
    return orders[usable], np.maximum(most[usable], 0.0)


@lru_cache(maxsize=256)
def _at_all_orders(asked: Asked, allowance: Allowance) -> tuple[Floats, Floats]:
    orders, most = _orders(allowance)
    prices = _curve(asked, allowance).prices(orders)
    if not prices:
        return np.full(orders.size, math.inf), np.zeros(orders.size)
    rho, lost = np.array([price for price, _ in prices]), np.array([cut for _, cut in prices])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.maximum(rho / most, lost / float(LOST * allowance.delta))
    best = np.argmin(share, axis=0)
    return rho[best, np.arange(orders.size)], lost[best, 0]


@lru_cache(maxsize=256)
def any_mechanism(budget: Budget) -> PrivacyLoss:
    """The same object for the same budget, whose price is known then."""
    return ApproximateDP(budget)


def smallest_question(allowance: Allowance) -> Asked:
    """The least that can be asked."""
    budget = Budget(SMALLEST_EPSILON, 0.0, allowance.neighbours)
    return Asked(any_mechanism(budget), budget)
