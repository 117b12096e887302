"""Report programmes, rewritten: the same tree with some of its bricks changed."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from headcount.programme.brick import All, Brick, Copies, Each, Let, Maybe, Outbox
from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Coins
from headcount.programme.draw import Below, From
from headcount.programme.field import Field, Names, People
from headcount.programme.law import Floats
from headcount.programme.report_law import ReportLaw
from headcount.programme.rows import Row, Subset
from headcount.programme.table import Table

Secret = frozenset[str]  # names that depend on what a person holds
Change = Callable[[Any, Secret], Any]

VALUE: Secret = frozenset({"value"})


class Done:
    """A brick that is not to be changed any further."""

    def __init__(self, brick: Brick) -> None:
        self.brick, self.reads, self.sized_by = brick, brick.reads, brick.sized_by


def rewritten(brick: Any, change: Change, secret: Secret = VALUE) -> Any:
    """Every brick and draw changed, from the root on; what a change returns is looked into in turn, unless `Done`."""
    brick = brick if isinstance(brick, Done) else change(brick, secret)
    kind = type(brick)
    match brick:
        case Done():
            return brick.brick
        case All():
            return kind(*(rewritten(part, change, secret) for part in brick.parts))
        case Maybe():
            then, otherwise = (rewritten(arm, change, secret) for arm in (brick.then, brick.otherwise))
            return kind(brick.chance, then, otherwise)
        case Copies():
            return kind(brick.amount, rewritten(brick.brick, change, secret))
        case Let():
            known = secret | {brick.name} if brick.source.reads & secret else secret - {brick.name}
            return kind(brick.name, change(brick.source, secret), rewritten(brick.brick, change, known))
        case Each():
            return kind(brick.name, brick.times, rewritten(brick.brick, change, secret - {brick.name}))
        case Flagged():
            return kind(rewritten(brick.brick, change, secret), brick.flag)
        case _:
            return brick


def dummies(brick: All, secret: Secret) -> list[Brick]:
    """The parts that are the same whatever a person holds."""
    return [part for part in brick.parts if not part.reads & secret]


def quieter(factor: float, *, flips_only: bool = False) -> Change:
    """All noise less by this factor, or none of it: dummies left out, lies told more rarely, numbers thinned.

    Of two arms of a choice the lie is the one that does not look at what a person holds, or else the less likely one.
    """

    def change(brick: Any, secret: Secret) -> Any:
        match brick:
            case All() if not flips_only:
                idle: list[Any] = dummies(brick, secret)
                parts: list[Any] = [Done(Maybe(Chance.up(factor), p)) if p in idle else p for p in brick.parts]
                return All(*parts)
            case Maybe():
                told, kept = (bool(arm.reads & secret) for arm in (brick.then, brick.otherwise))
                lie_first = brick.chance <= 0.5 if told == kept else kept
                return type(brick)(_toward(brick.chance, factor, 0 if lie_first else 1), brick.then, brick.otherwise)
            case Row():
                off, on = (_toward(chance, factor, round(chance + 1e-9)) for chance in (brick.off, brick.on))
                return Row(brick.width, off, brick.here, on)
            case Subset():
                return Subset(brick.width, brick.size, brick.here, _toward(brick.chance, factor, 1))
            case From() if not flips_only and not brick.table.start:
                return From(thinned(brick.table, factor))
            case _:
                return brick

    return change


def _toward(chance: Chance, factor: float, end: int) -> Chance:
    """As far from the end as before, times the factor."""
    return Chance.up(chance * factor if not end else 1.0 - (1.0 - chance) * factor)


def thinned(table: Table, keep: float) -> Table:
    """Every one of the drawn number kept with this chance."""
    yes, top = Chance.up(keep).threshold, len(table.masses) - 1

    def kept(k: int, n: int) -> int:
        """Of n, k are, in parts of WORD ** top."""
        return comb(n, k) * int(yes**k * (WORD - yes) ** (n - k) * WORD ** (top - n))

    weights = [sum(table.masses[n] * kept(k, n) for n in range(k, top + 1)) for k in range(top + 1)]
    return Table.of(weights)


def without_dummies(brick: Any, secret: Secret) -> Any:
    if isinstance(brick, All):
        return All(*(part for part in brick.parts if part not in dummies(brick, secret)))
    return brick


def one_dummy_at_most(brick: Any, _: Secret) -> Any:
    """Nobody ever sends more than one of a kind, and nothing is charged for that."""
    if isinstance(brick, Copies) and isinstance(brick.amount, Table):
        none, *more = brick.amount.masses
        return type(brick)(Table.of([none, sum(more)]), brick.brick)
    return brick


def one_side_only(brick: Any, secret: Secret) -> Any:
    """Of several kinds of dummies the last is left out; of numbers that are taken away, all."""
    match brick:
        case All() if len(idle := dummies(brick, secret)) > 1:
            return All(*(part for part in brick.parts if part is not idle[-1]))
        case Let(source=From(), brick=Let(source=From()) as inner):
            return Let(brick.name, brick.source, Let(inner.name, From(Table(0, (WORD,))), inner.brick))
        case _:
            return brick


def swapped_arms(brick: Any, _: Secret) -> Any:
    if isinstance(brick, Maybe) and brick.chance != 0.5:
        return type(brick)(brick.chance, brick.otherwise, brick.then)
    return brick


def one_value_too_few(brick: Any, _: Secret) -> Any:
    return Below(brick.bound - 1) if isinstance(brick, Below) and brick.bound > 1 else brick


def misdrawn(brick: Any, _: Secret) -> Any:
    if isinstance(brick, Maybe) and brick.chance != 0.5:
        return Misdrawn(brick.chance, brick.then, brick.otherwise)
    return brick


class Misdrawn(Maybe):
    """The law is right and the drawing is not: `<` for `>=`."""

    def encode(self) -> dict[str, Any]:
        return {"misdrawn": super().encode()}

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        yes = coins.bernoulli(self.chance, people.size)
        self.then.draw(people.chosen(~yes, self.then.reads), coins, outbox)
        self.otherwise.draw(people.chosen(yes, self.otherwise.reads), coins, outbox)


def flagged(brick: Any, secret: Secret) -> Any:
    """Every message says whether it depends on what the person holds."""
    match brick:
        case Copies(amount=Field() as amount) if amount.reads & secret:
            return Done(Copies(amount, Flagged(brick.brick, 0)))
        case All() | Maybe() | Let() | Each() | Copies() if brick.reads & secret:
            return brick
        case Brick():
            return Done(Flagged(brick, int(not brick.reads & secret)))
        case _:
            return brick


class Flagged(Brick):
    """The brick's messages with one more field, the same in all of them."""

    def __init__(self, brick: Brick, flag: int) -> None:
        self.brick, self.flag = brick, flag
        self.reads, self.sized_by = brick.reads, brick.sized_by

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        names = list(outbox.message.names or ())[:-1]
        inner = Outbox(np.dtype([(name, outbox.message[name]) for name in names]))
        self.brick.draw(people, coins, inner)
        sent = inner.messages()
        flags = np.full(sent.size, self.flag)
        owners = None if people.owners is None else inner.owners()
        outbox.send([*(sent[name] for name in names), flags], People(sent.size, {}, owners))

    def law(self, names: Names) -> ReportLaw:
        law = self.brick.law(names)
        masses = {tuple(((*message, self.flag), k) for message, k in sent): mass for sent, mass in law.masses.items()}
        return ReportLaw(masses, law.total)

    def mean(self, names: Names) -> float:
        return self.brick.mean(names)

    def sends(self, names: Names, most: int) -> Floats:
        return self.brick.sends(names, most)

    def encode(self) -> dict[str, Any]:
        return {"flagged": self.flag, "brick": self.brick.encode()}
