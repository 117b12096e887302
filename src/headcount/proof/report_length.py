"""The law of the number of messages a person sends, in ball arithmetic.

In a collection everybody sends the same number. Somebody who would have sent more is cut short,
which is rare, and changes what is seen by no more than its chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from flint import arb

from headcount.proof.ball_laws import ball, most
from headcount.proof.effort import spend
from headcount.proof.enumeration import outcomes
from headcount.proof.expression import Expression, Names
from headcount.proof.programme import (
    All,
    Copies,
    Each,
    Emit,
    Let,
    Maybe,
    Rounded,
    Row,
    Shares,
    Step,
    Subset,
    Table,
    times,
)

Chances: TypeAlias = Sequence[arb]  # of 0, 1, ... messages; what is missing from one is for more than were asked about
NONE: Chances = [arb(1)]


def too_many(step: Step, values: int, messages: int) -> Fraction:
    """A bound on the chance of more than this many messages, for every value."""
    held = range(values) if "value" in sized_by(step) else range(1)
    return max(most(1 - sum(chances(step, {"value": value}, messages), arb(0))) for value in held)


def sized_by(step: Step) -> frozenset[str]:
    """The names on which it depends how many messages there are."""
    spend(1)
    match step:
        case All(parts):
            return frozenset().union(*map(sized_by, parts))
        case Maybe(_, then, otherwise):
            return sized_by(then) | sized_by(otherwise)
        case Copies(amount, inner):
            return sized_by(inner) | (amount.reads if isinstance(amount, Expression) else frozenset())
        case Let(name, draw, inner):
            drawn = draw.of.reads if isinstance(draw, Rounded) and name in sized_by(inner) else frozenset()
            return (sized_by(inner) - {name}) | drawn
        case Each(name, _, inner):
            return sized_by(inner) - {name}
    return frozenset()


def chances(step: Step, names: Names, top: int) -> Chances:
    """The chances of 0 to `top` messages."""
    spend(4)
    match step:
        case Emit() | Row() | Subset():
            return _exactly(1, top)
        case Shares(_, _, count):
            return _exactly(count, top)
        case All(parts):
            return reduce(lambda one, part: _both(one, chances(part, names, top), top), parts, NONE)
        case Maybe(likely, then, otherwise):
            return _mixed(
                [(ball(likely), chances(then, names, top)), (ball(1 - likely), chances(otherwise, names, top))]
            )
        case Copies(Table() as table, inner):
            return _drawn_often(table, chances(inner, names, top), top)
        case Copies(Expression() as amount, inner):
            return _often(chances(inner, names, top), times(amount, names), top)
        case Let(name, draw, inner):
            if name not in sized_by(inner):
                return chances(inner, names, top)
            return _mixed(
                (ball(part), chances(inner, {**names, name: drawn}, top)) for drawn, part in outcomes(draw, names)
            )
        case Each(name, number, inner):
            if name not in sized_by(inner):
                return _often(chances(inner, names, top), number, top)
            every = (chances(inner, {**names, name: at}, top) for at in range(number))
            return reduce(lambda one, other: _both(one, other, top), every, NONE)
    raise ArithmeticError("a step of which it is not known how many messages it sends")


def _exactly(messages: int, top: int) -> Chances:
    return [arb(0)] * messages + [arb(1)] if messages <= top else []


def _both(one: Chances, other: Chances, top: int) -> Chances:
    spend(len(one) * len(other) + 1)
    total = [arb(0)] * max(0, min(top + 1, len(one) + len(other) - 1))
    for i, here in enumerate(one):
        if not here.is_zero():
            for j, there in enumerate(other[: len(total) - i]):
                total[i + j] += here * there
    return total


def _often(once: Chances, number: int, top: int) -> Chances:
    total, power = NONE, once
    while number:
        total = _both(total, power, top) if number & 1 else total
        number >>= 1
        power = _both(power, power, top) if number else power
    return total


def _drawn_often(table: Table, once: Chances, top: int) -> Chances:
    """The mixture of convolution powers, by Horner's scheme."""
    total: Chances = []
    for mass in reversed(table.masses):
        total = list(_both(total, once, top)) if total else []
        spend(4)
        first = ball(Fraction(mass, table.total))
        total = [total[0] + first, *total[1:]] if total else [first]
    return total


def _mixed(parts: Iterable[tuple[arb, Chances]]) -> Chances:
    total: list[arb] = []
    for part, each in parts:
        spend(len(each) + 1)
        total += [arb(0)] * (len(each) - len(total))
        for at, mass in enumerate(each):
            total[at] += part * mass
    return total
