"""An upper bound on a report programme's number of outcomes, to decide whether to enumerate it."""

from __future__ import annotations

from math import comb, prod
from typing import Any

from headcount.programme.brick import All, Copies, Each, Emit, Let, Maybe
from headcount.programme.draw import Below
from headcount.programme.field import Field, Names
from headcount.programme.rows import Row, Shares, Subset
from headcount.programme.table import Table


def outcome_bound(brick: Any, names: Names) -> int:
    """An upper bound on the number of multisets of messages that one run can send."""
    match brick:
        case Emit():
            return 1
        case All():
            return prod(outcome_bound(part, names) for part in brick.parts)
        case Maybe():
            return outcome_bound(brick.then, names) + outcome_bound(brick.otherwise, names)
        case Copies(amount=Table() as table):
            once = outcome_bound(brick.brick, names)
            return sum(comb(times + once - 1, times) for times in range(len(table.masses)))
        case Copies(amount=Field() as amount):
            once, times = outcome_bound(brick.brick, names), int(amount.at(names))
            return comb(times + once - 1, times)
        case Let(source=Below(bound=bound)):
            return int(bound) * outcome_bound(brick.brick, {**names, brick.name: bound - 1})
        case Let() if brick.name not in brick.brick.sized_by:  # it is as many whatever is drawn
            drawn = brick.source.law(names)
            return len(drawn) * outcome_bound(brick.brick, {**names, brick.name: drawn[-1][0]})
        case Let():
            return sum(outcome_bound(brick.brick, {**names, brick.name: drawn}) for drawn, _ in brick.source.law(names))
        case Each():
            return prod(outcome_bound(brick.brick, {**names, brick.name: i}) for i in range(brick.times))
        case Row():
            return 1 << int(brick.width)
        case Subset():
            return comb(brick.width, brick.size)
        case Shares():
            return int(int(brick.modulus) ** (brick.shares - 1))
        case _:
            return outcome_bound(brick.brick, names)
