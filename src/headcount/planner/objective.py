"""Objectives: how good a protocol's answer is in a situation, as one number, smaller is better."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum

import numpy as np

from headcount.answers.linear import CellErrors
from headcount.answers.worst_case import worst_over_categories, worst_truth
from headcount.errors import BadArgument
from headcount.planner.expected import Expected
from headcount.programme.law import Floats, Noise
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import REBUILT, Shape
from headcount.questions.question import Question

LATTICES = 4.0  # steps of a lattice beyond which it makes no difference


class Objective(StrEnum):
    """A measure of the error, computed exactly from its law."""

    RMSE = "rmse"  # the size of a typical error; of a histogram, over its categories
    INTERVAL = "interval"  # half the width of the interval
    WORST_BIN = "worst-bin"  # within which all bins are at once
    RELATIVE = "relative"  # a typical error as a part of the truth
    ROBUST = "robust"  # a typical error together with what some liars add to it
    DETECTABLE = "detectable"  # the smallest number of ones that can be told from none

    @classmethod
    def parse(cls, text: str) -> Objective:
        try:
            return cls(text)
        except ValueError:
            raise BadArgument("objective", f"is {text!r}", f"use one of {', '.join(cls)}") from None

    @property
    def words(self) -> str:
        return {
            "rmse": "error (rmse)",
            "interval": "interval",
            "worst-bin": "worst bin",
            "relative": "relative error",
            "robust": "error with liars",
            "detectable": "smallest detectable",
        }[self]

    def of(self, protocol: Protocol, expected: Expected, people: int, confidence: float) -> float:
        """The objective with this many reports; in people, except for a relative error."""
        match self:
            case Objective.RMSE | Objective.ROBUST:
                return _rmse(protocol, expected, people)
            case Objective.INTERVAL:
                return _interval(protocol, expected, people, confidence)
            case Objective.WORST_BIN:
                return _worst_bin(protocol, expected, people, confidence)
            case Objective.RELATIVE:
                return _relative(protocol, expected, people)
            case Objective.DETECTABLE:
                return protocol.spread * _detectable(protocol, people, confidence)


def _rmse(protocol: Protocol, expected: Expected, people: int) -> float:
    def error(truth: int) -> float:
        return protocol.size_of_error(min(truth, people), people)

    if protocol.task.shape in REBUILT:
        return protocol.error_of_answer(people)
    if expected.known:
        return expected.mean_square(protocol, error)
    if averaged(protocol.task, expected) and not protocol.steady:
        return worst_over_categories(error, people, protocol.task.cells)
    return _worst(protocol, people, error)


def averaged(task: Question, expected: Expected) -> bool:
    """Whether an error is the RMSE over all categories: for a histogram of unknown profile."""
    return task.shape is Shape.ONE_OF and not expected.known


def _interval(protocol: Protocol, expected: Expected, people: int, confidence: float) -> float:
    if protocol.task.shape in REBUILT:
        return _of_typical_answer(protocol, people, confidence)
    if expected.known:
        return expected.noise(protocol, people).half_width(confidence)
    return _worst(protocol, people, lambda truth: protocol.noise(truth, people).half_width(confidence), 24)


def _of_typical_answer(protocol: Protocol, people: int, confidence: float) -> float:
    """That of a typical answer, by the law of one like it, of the same size."""
    errors = CellErrors.of(protocol, people)
    law = errors.combined(protocol.strategy.typical)
    size = protocol.error_of_answer(people)
    alone = errors.std_error * protocol.spread
    law = law.scaled(alone / law.std_error if law.std_error else 1.0).widened(size**2 - alone**2)
    return max(map(abs, law.tails((1.0 - confidence) / 2.0)))


def _worst(protocol: Protocol, people: int, error: Callable[[int], float], steps: int = 40) -> float:
    """The largest error over all truths."""
    extremes = protocol.extremes(people)
    return max(map(error, extremes)) if extremes else worst_truth(error, people, steps)[0]


def _worst_bin(protocol: Protocol, expected: Expected, people: int, confidence: float) -> float:
    """The half-width of all bins at once: exact if errors are independent, else a union bound."""
    bins = _bins(protocol)
    if not expected.known or protocol.steady or bins == 1:
        each = confidence ** (1.0 / bins) if protocol.independent else 1.0 - (1.0 - confidence) / bins
        return _interval(protocol, expected, people, each)
    laws = [protocol.noise(min(truth, people), people) for truth in expected.truths]
    return _together(laws, bins * np.array(expected.weights), protocol.independent, confidence)


def _bins(protocol: Protocol) -> int:
    """The number of bins; with unknown labels, as many as people."""
    task = protocol.task
    return protocol.crowd.size if task.shape is Shape.KEY else task.cells


def _together(laws: list[Noise], bins: Floats, independent: bool, confidence: float) -> float:
    """The smallest width that covers the errors of all bins simultaneously, `bins` of each law."""
    sizes = [np.abs(law.values) for law in laws]
    orders = [np.argsort(size, kind="stable") for size in sizes]
    reached = [np.cumsum(law.masses[order]) for law, order in zip(laws, orders, strict=True)]
    sorted_sizes = [size[order] for size, order in zip(sizes, orders, strict=True)]
    widths = np.unique(np.concatenate(sorted_sizes))

    def held(width: float) -> bool:
        inside = [
            float(masses[at - 1]) if (at := int(np.searchsorted(size, width, side="right"))) else 0.0
            for size, masses in zip(sorted_sizes, reached, strict=True)
        ]
        chances = np.clip(np.array(inside) - [law.dropped for law in laws], 0.0, 1.0)
        if independent:
            with np.errstate(divide="ignore"):
                return math.exp(float(np.add.reduce(bins * np.log(chances)))) >= confidence
        return 1.0 - float(np.add.reduce(bins * (1.0 - chances))) >= confidence

    low, high = -1, widths.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if held(float(widths[middle])) else (middle, high)
    return float(widths[high])


def _relative(protocol: Protocol, expected: Expected, people: int) -> float:
    """The relative root mean square error; of nobody, as if of one person."""

    def error(truth: int) -> float:
        if protocol.task.shape in REBUILT:
            return protocol.error_of_answer(people)
        return protocol.size_of_error(min(truth, people), people)

    squares = (
        weight * (error(truth) / max(1, truth)) ** 2
        for truth, weight in zip(expected.truths, expected.weights, strict=True)
    )
    return math.sqrt(math.fsum(squares))


def _detectable(protocol: Protocol, people: int, confidence: float) -> float:
    """The fewest ones told from none with this confidence, with both error probabilities bounded.

    Some are said to be there if the answer exceeds the quantile of the error with nobody there.
    Answers may lie on a lattice that moves with the truth: then fewer ones can be detected by luck
    while more are not.
    """
    limit = _quantile(protocol.noise(0, people), confidence)
    limit += 1e-9 * (
        1.0 + abs(limit)
    )  # the same answer, with another truth taken off and put on again, is not above it

    def seen(truth: int) -> bool:
        noise = protocol.noise(truth, people)
        return float(noise.masses[noise.values + truth > limit].sum()) >= confidence

    low, high = 0, 1
    while not seen(min(high, people)):
        if high >= people:
            return math.inf
        low, high = high, 2 * high
    high = min(high, people)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    reach = 0 if protocol.steady else math.ceil(LATTICES * protocol.noise(high, people).step)
    while missed := [truth for truth in range(high + 1, min(high + reach, people) + 1) if not seen(truth)]:
        high = missed[-1] + 1
    return float(high) if high <= people else math.inf


def _quantile(noise: Noise, confidence: float) -> float:
    """The smallest value that is not exceeded with this confidence."""
    order = np.argsort(noise.values, kind="stable")
    reached = np.cumsum(noise.masses[order])
    last = min(int(np.searchsorted(reached, confidence + noise.dropped)), order.size - 1)
    return float(noise.values[order[last]])
