"""Stochastic rounding: values are brought to one of a few levels without bias.

In the local and shuffle models people round their own value; a trusted side rounds the total, once.
Only the variance matters, which is largest half-way between two levels: errors of sums are stated
for crowds who are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from headcount.privacy import laws
from headcount.programme import Brick, Field, Let, Rounded
from headcount.programme.law import Law, Noise
from headcount.protocols.base import Shape
from headcount.questions import Question

EXACT = 1 << 14  # steps that get a level each, however few would do
FEWEST = 64  # levels, whatever the rounding

LEVEL = Field.named("level")


def steps_of(task: Question) -> int:
    """The task's own grid: a count has a single step."""
    return task.values - 1 if task.shape is Shape.AMOUNT else task.steps if task.paired else 1


def levelled(value: Field, task: Question, levels: int, send: Callable[[Field], Brick]) -> Brick:
    """The brick for the value's level, which is drawn once unless there is nothing to round."""
    steps = steps_of(task)
    if levels % steps == 0:
        return send(value * (levels // steps) if levels > steps else value)
    return Let("level", Rounded(value, steps, levels), send(LEVEL))


def worst_fraction(task: Question, levels: int) -> float:
    """The part of a level, nearest to a half, that some value has left over."""
    parts = steps_of(task) // math.gcd(levels, steps_of(task))
    return (parts // 2) / parts


def halfway(task: Question, levels: int, near: float = 0.0) -> int:
    """A value with the worst fraction; of several, the nearest to this part of the range."""
    steps = steps_of(task)
    parts = steps // math.gcd(levels, steps)
    first = parts // 2 * pow(levels * parts // steps, -1, parts) if parts > 1 else 0
    last = (steps - first) // parts
    return first + parts * min(max(round((near * steps - first) / parts), 0), last)


def rounding(task: Question, levels: int, people: int) -> tuple[Law, float]:
    """The law, in levels, of the rounding of people half-way between two; and its mean."""
    fraction = worst_fraction(task, levels)
    return laws.binomial(people, fraction), people * fraction


def rounded_laplace(task: Question, levels: int, rate: float, people: int) -> Noise:
    """The error, in people, of discrete Laplace noise at this rate and of rounding."""
    rounded, centre = rounding(task, levels, people)
    block = laws.block(rate)
    if block > 1:
        rounded, centre = rounded.in_blocks(block, centre), 0.0
    return Noise.of(laws.discrete_laplace(rate, block) + rounded, centre=centre, scale=block / levels)


def size_of_rounded(task: Question, levels: int, variance: float, people: int) -> float:
    """The standard error, in people, of noise with this variance in levels and of rounding."""
    fraction = worst_fraction(task, levels)
    return math.sqrt(variance + people * fraction * (1.0 - fraction)) / levels


def fine_enough(task: Question, people: int, variance: float) -> int:
    """Levels whose rounding has less than a hundredth of the noise's variance.

    A multiple of the task's own steps, which need no rounding at all, or a power of two.
    """
    needed = max(FEWEST, math.ceil(math.sqrt(people / (0.04 * variance))))
    steps = steps_of(task)
    return steps * math.ceil(FEWEST / steps) if steps <= max(EXACT, 4 * needed) else 1 << (needed - 1).bit_length()
