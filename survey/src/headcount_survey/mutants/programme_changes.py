"""Changes of report programmes, each of which breaks one thing."""

from __future__ import annotations

from math import comb
from typing import Any

from headcount.audit.rewriting import Change, Done, Flagged, Secret
from headcount.programme.brick import All, Brick, Copies, Each, Let, Maybe, Outbox
from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Coins
from headcount.programme.draw import Below, From
from headcount.programme.field import Field, People
from headcount.programme.rows import Row, Subset
from headcount.programme.table import Table


def dummies(brick: All, secret: Secret) -> list[Brick]:
    """The parts that do not depend on what a person holds."""
    return [part for part in brick.parts if not part.reads & secret]


def quieter(factor: float, *, flips_only: bool = False) -> Change:
    """All noise reduced by this factor: dummies left out, lies told more rarely, numbers thinned.

    Of two arms of a choice the lie is the one that does not depend on what a person holds, or else
    the less likely one.
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
    """The probability moved toward 0 or 1, its distance times the factor."""
    return Chance.up(chance * factor if not end else 1.0 - (1.0 - chance) * factor)


def thinned(table: Table, keep: float) -> Table:
    """The binomial thinning of a drawn number, each unit kept with this probability."""
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
    """Nobody sends more than one dummy of a kind, and nothing is charged for that."""
    if isinstance(brick, Copies) and isinstance(brick.amount, Table):
        none, *more = brick.amount.masses
        return type(brick)(Table.of([none, sum(more)]), brick.brick)
    return brick


def one_side_only(brick: Any, secret: Secret) -> Any:
    """The last of several kinds of dummies is left out; for a difference, the second."""
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
    """Every message reveals whether it depends on what the person holds."""
    match brick:
        case Copies(amount=Field() as amount) if amount.reads & secret:
            return Done(Copies(amount, Flagged(brick.brick, 0)))
        case All() | Maybe() | Let() | Each() | Copies() if brick.reads & secret:
            return brick
        case Brick():
            return Done(Flagged(brick, int(not brick.reads & secret)))
        case _:
            return brick
