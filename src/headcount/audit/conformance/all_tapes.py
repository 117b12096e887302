"""The sampler run on every tape of random words, against the enumerated law: no sampling error.

A programme is first coarsened, so that every draw has a few outcomes whose probabilities are
multiples of 1/base; then evenly spaced words stand for all of them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np

from headcount.audit.enumeration import in_order
from headcount.audit.rewriting import Flagged, Secret, rewritten
from headcount.programme.brick import All, Brick, Copies, Each, Emit, Let, Maybe, Outbox
from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Bytes, Coins
from headcount.programme.draw import Below, From, Rounded
from headcount.programme.field import People
from headcount.programme.report_law import Message
from headcount.programme.rows import Row, Shares, Subset
from headcount.programme.table import Table
from headcount.protocols.base.protocol import Protocol

MOST_TAPES = 30_000  # for a fine base, and
MOST_AT_ALL = 50_000  # for the coarsest


class TooManyTapes(Exception):
    """The programme takes too many words for all tapes to be run."""


class WordTape(Coins):
    """Coins that read out chosen words, one after the other, and fail when there are no more."""

    secret = False

    def __init__(self, most_words: tuple[int, ...]) -> None:
        self.left = list(most_words)

    def stream(self, size: int) -> Bytes:
        taken, self.left = self.left[: size // 8], self.left[size // 8 :]
        if len(taken) * 8 != size:
            raise EOFError("the tape is at its end")
        return np.array(taken, dtype="<u8").view(np.uint8)


def coarsened(brick: Brick, base: int) -> Brick:
    """The same programme with every chance and table rounded to multiples of 1/base."""

    def change(brick: Any, _: Secret) -> Any:
        kind = type(brick)
        match brick:
            case Maybe():
                return kind(_coarse(brick.chance, base), brick.then, brick.otherwise)
            case Copies(amount=Table() as amount):
                return kind(_coarse_table(amount, base), brick.brick)
            case Row():
                return kind(brick.width, _coarse(brick.off, base), brick.here, _coarse(brick.on, base))
            case Subset():
                return kind(brick.width, brick.size, brick.here, _coarse(brick.chance, base))
            case From():
                return kind(_coarse_table(brick.table, base))
            case Emit() | All() | Let() | Each() | Copies() | Shares() | Below() | Rounded() | Flagged():
                return brick
            case _:
                raise TypeError(f"{kind.__name__} is not a brick that can be coarsened")

    coarse: Brick = rewritten(brick, change)
    return coarse


def _coarse(chance: Chance, base: int) -> Chance:
    return Chance.up(min(max(round(chance * base), 1), base - 1) / base)


def _coarse_table(table: Table, base: int) -> Table:
    """At most three cells, none of them empty, masses in units of 1/base."""
    if len(table.coarse) == 1 or base < 3:
        return Table(table.start, (WORD,)) if len(table.coarse) == 1 else Table(table.start, (WORD // 2, WORD // 2))
    first = min(max(round(table.masses[0] / table.total * base), 1), base - 2)
    units = [first * WORD // base, (base - 1 - first) * WORD // base]
    return Table(table.start, (*units, WORD - sum(units)))


def uniform_bounds(brick: Any) -> set[int]:
    """The bounds of all uniform draws in the programme: the base must be a multiple of each."""
    match brick:
        case All():
            return set().union(*(uniform_bounds(part) for part in brick.parts))
        case Maybe():
            return uniform_bounds(brick.then) | uniform_bounds(brick.otherwise)
        case Copies() | Each():
            return uniform_bounds(brick.brick)
        case Let():
            return uniform_bounds(brick.source) | uniform_bounds(brick.brick)
        case Below():
            return {brick.bound}
        case Rounded():
            return {brick.steps}
        case Shares():
            return {brick.modulus}
        case Subset():
            return set(range(brick.width - brick.size, brick.width))
        case _:
            return set()


def law_over_all_tapes(protocol: Protocol, programme: Brick, value: int, base: int) -> dict[tuple[Message, ...], float]:
    """The probability of each sorted list of messages, over all tapes of evenly spaced words."""
    outcomes: defaultdict[tuple[Message, ...], float] = defaultdict(float)
    spaced = [(2 * i + 1) * WORD // (2 * base) for i in range(base)]
    tapes: list[tuple[int, ...]] = [()]
    if base ** most_words(programme) > MOST_AT_ALL:
        raise TooManyTapes
    for _ in range(2 * MOST_AT_ALL):  # with those that end too early
        tape, outbox = tapes.pop(), Outbox(protocol.message)
        try:
            programme.draw(People(1, {"value": np.array([value])}), WordTape(tape), outbox)
        except EOFError:
            tapes += [(*tape, word) for word in spaced]
        else:
            outcomes[in_order(outbox.messages())] += float(base) ** -len(tape)
        if not tapes:
            return dict(outcomes)
    raise TooManyTapes


def fitting_base(programme: Brick) -> int:
    """The finest of a few bases for which not too many tapes are needed."""
    needed = math.lcm(*uniform_bounds(programme))
    deep = most_words(programme)
    return next(
        (base for unit in (8, 4) if (base := math.lcm(unit, needed)) ** deep <= MOST_TAPES), math.lcm(2, needed)
    )


def most_words(brick: Any) -> int:
    """The most words that one run of a coarsened programme takes."""
    match brick:
        case All():
            return sum(most_words(part) for part in brick.parts)
        case Maybe():
            return 1 + max(most_words(brick.then), most_words(brick.otherwise))
        case Copies():
            drawn = isinstance(brick.amount, Table)
            return drawn + (2 if drawn else 1) * most_words(brick.brick)
        case Each():
            return brick.times * most_words(brick.brick)
        case Let():
            return 1 + most_words(brick.brick)
        case Row():
            return brick.width + (brick.here is not None)
        case Subset():
            return 1 + brick.size
        case Shares():
            return brick.shares - 1
        case _:
            return 0
