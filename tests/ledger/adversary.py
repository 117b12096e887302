"""Somebody who chooses each question because of the answers before, against whatever rule a ledger goes by.

A rule is something that is `asked` a question in some state and gives the next state, or nothing. All values are exact
but for the rounding of doubles: what the transcript's divergence comes to, by the definition, for the best choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import headcount as hc
from headcount.errors import OverBudget


@dataclass(frozen=True)
class Question:
    """Of a family, with a size from 0 (all noise) to 1 (hardly any)."""

    family: str
    size: float

    @property
    def mean(self) -> float:
        return 3000.0 * (0.5 / 3000.0) ** self.size

    @property
    def epsilon(self) -> float:
        return 1e-3 * (4.0 / 1e-3) ** self.size

    @property
    def protocol(self) -> hc.Protocol:
        return protocol_of(self)

    @property
    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        return pair_of(self)

    @property
    def ways(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        return self.pair, self.pair[::-1]

    def reaches(self, ratio: np.ndarray) -> np.ndarray:
        """The divergence at each ratio, in the worse direction."""
        return np.max([np.maximum(p - np.multiply.outer(ratio, q), 0.0).sum(axis=-1) for p, q in self.ways], axis=0)


@lru_cache(maxsize=4096)
def protocol_of(question: Question) -> hc.Protocol:
    """The same object for the same question, so that its price is looked for once."""
    if question.family == "poisson":
        return hc.protocol("poisson-count", n=1_000, mean=question.mean)
    if question.family == "geometric":
        return hc.protocol("geometric", n=1_000, scale=1 / question.epsilon)
    return hc.protocol("negative-binomial-count", n=1_000, shape=8.0, decay=question.mean / (8 + question.mean))


@lru_cache(maxsize=4096)
def pair_of(question: Question) -> tuple[np.ndarray, np.ndarray]:
    """A zero against a one, outcome by outcome."""
    if question.family == "geometric":  # whose ratios are e^epsilon or e^-epsilon
        odds = np.array([1.0, math.exp(-question.epsilon)])
        return odds / odds.sum(), odds[::-1] / odds.sum()
    spread = math.sqrt(question.mean * (1 + (question.family != "poisson") * question.mean / 8))
    count = np.arange(1, int(question.mean + 12 * spread + 60))
    if question.family == "poisson":
        logs, first = np.log(question.mean / count), -question.mean
    else:
        decay = question.mean / (8 + question.mean)
        logs, first = np.log((7 + count) / count * decay), 8 * math.log1p(-decay)
    noise = np.exp(np.append(first, first + np.cumsum(logs)))
    return np.append(noise, 0.0), np.append(0.0, noise)


FAMILIES = ("poisson", "geometric", "negative-binomial")


class Kept:
    """The ledger itself: its pages are the states."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.ledger = hc.Ledger(epsilon=epsilon, delta=delta)
        self.start = self.ledger._book.page()

    def asked(self, page: Any, *questions: Question) -> Any:
        try:
            return self.ledger.charged(*(question.protocol for question in questions))(page)
        except OverBudget:
            return None


class Natural:
    """A twin that composes everything that was asked, exactly, and forgets that it was chosen."""

    start: tuple[Question, ...] = ()

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta

    def asked(self, before: tuple[Question, ...], *questions: Question) -> Any:
        after = (*before, *questions)
        return after if worth(after, math.exp(self.epsilon)) <= self.delta else None


class Refunding(Natural):
    """A twin that gives the price of a batch back after its answer was seen, because it was never released."""

    def asked(self, before: tuple[Question, ...], *questions: Question) -> Any:
        return super().asked((), *questions)


class Exchanging(Natural):
    """A twin that lets a slot of the first batch be exchanged for whatever leaves the batch within the budget."""

    def asked(self, before: tuple[Question, ...], *questions: Question) -> Any:
        return before[:1] + questions if super().asked(before[:1], *questions) is not None else None


@lru_cache(maxsize=4096)
def worth(questions: tuple[Question, ...], ratio: float) -> float:
    """The divergence of all questions together, as they are, in the worst directions."""
    states = np.array([[1.0, 1.0]])
    if not questions:
        return max(0.0, 1.0 - ratio)
    found = []
    for first in questions[0].ways:
        p, q = first
        for question in questions[1:-1]:
            p, q = (np.multiply.outer(part, more).ravel() for part, more in zip((p, q), question.pair, strict=True))
        if len(questions) == 1:
            found.append(np.maximum(p - ratio * q, 0.0).sum())
            continue
        kept = p > 1e-18 * states.size
        found.append(p[kept] @ questions[-1].reaches(ratio * q[kept] / p[kept]))
    return float(max(found))


def least_private(rule: Any, state: Any, family: str, steps: int = 16) -> Question | None:
    """The one with least noise that the rule accepts."""
    low, high = 0.0, 1.0
    if rule.asked(state, Question(family, low)) is None:
        return None
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if rule.asked(state, Question(family, middle)) is not None else (low, middle)
    return Question(family, low)


def last(rule: Any, state: Any, ratio: np.ndarray) -> np.ndarray:
    """What the best choice of stopping, or of one more question, comes to at each ratio."""
    tuned = [least_private(rule, state, family) for family in FAMILIES]
    reached = [question.reaches(ratio) for question in tuned if question is not None]
    return np.max([np.maximum(1.0 - ratio, 0.0), *reached], axis=0)


def after(rule: Any, state: Any, question: Question, ratio: np.ndarray, then: Any) -> np.ndarray:
    """What this question comes to at each ratio, in the worse direction, if the rest is as good as `then`."""
    kept = rule.asked(state, question)
    if kept is None:
        return np.zeros(ratio.shape)
    found = []
    for p, q in question.ways:
        p, q = p[p > 1e-15], q[p > 1e-15]
        follows = then(kept, np.multiply.outer(ratio, q / p).ravel()).reshape(*ratio.shape, p.size)
        found.append(follows @ p)
    return np.max(found, axis=0)


def tuned_pair(rule: Any, first: Question) -> float:
    """This question, and then whatever is best after each of its answers."""
    ratio = np.array(math.exp(rule.epsilon))
    return float(after(rule, rule.start, first, ratio, lambda state, ratios: last(rule, state, ratios)))


def three_steps(rule: Any, first: Question, menu: tuple[Question, ...]) -> float:
    """This question, by its answer one of the menu, and then whatever is best."""

    def second(state: Any, ratios: np.ndarray) -> np.ndarray:
        stop = np.maximum(1.0 - ratios, 0.0)
        return np.max([stop, *(after(rule, state, each, ratios, third) for each in menu)], axis=0)

    def third(state: Any, ratios: np.ndarray) -> np.ndarray:
        return last(rule, state, ratios)

    return float(after(rule, rule.start, first, np.array(math.exp(rule.epsilon)), second))


def menu_value(sizes: tuple[int, int], unit: float, most: list[int], epsilon: float, lost: float = 0.0) -> float:
    """Two sizes of geometric questions, as multiples of a unit, asked in any order that answers suggest.

    After so many of the first there may be up to `most` of the second. While their epsilons leave something, one may
    end instead with a mechanism that is private up to a chance `lost` of giving everything away. Losses lie on a
    lattice, so that this is exact.
    """
    farthest = max(first * sizes[0] + second * sizes[1] for first, second in enumerate(most))
    loss = unit * np.arange(-farthest, farthest + 1)
    stop = np.maximum(-np.expm1(epsilon - loss), 0.0)  # at the ratio e^(epsilon - loss)
    chances = [1 / (1 + math.exp(-unit * size)) for size in sizes]

    def asked(follows: np.ndarray, which: int) -> np.ndarray:
        size, p = sizes[which], chances[which]
        up, down = np.append(follows[size:], np.ones(size)), np.append(np.zeros(size), follows[:-size])
        return p * up + (1 - p) * down

    following: list[np.ndarray] = []  # after one more of the first, by how many of the second
    for first in reversed(range(len(most))):
        here: list[np.ndarray] = []
        for second in reversed(range(most[first] + 1)):
            plain = unit * (first * sizes[0] + second * sizes[1]) <= epsilon
            choices = [np.maximum(stop, lost) if plain else stop]
            if here:
                choices.append(asked(here[-1], 1))
            if second < len(following):
                choices.append(asked(following[second], 0))
            here.append(np.max(choices, axis=0))
        following = here[::-1]
    return float(following[0][farthest])
