"""Report programmes, rewritten: the same tree with some of its bricks changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headcount.programme.brick import All, Brick, Copies, Each, Let, Maybe, Outbox
from headcount.programme.coins import Coins
from headcount.programme.field import Names, People
from headcount.programme.law import Floats
from headcount.programme.report_law import ReportLaw

Secret = frozenset[str]  # names that depend on what a person holds
Change = Callable[[Any, Secret], Any]

VALUE: Secret = frozenset({"value"})


class Done:
    """A brick that is not to be changed any further."""

    def __init__(self, brick: Brick) -> None:
        self.brick, self.reads, self.sized_by = brick, brick.reads, brick.sized_by


def rewritten(brick: Any, change: Change, secret: Secret = VALUE) -> Any:
    """The programme with every brick and draw changed, from the root on; a changed brick is
    rewritten in turn, unless `Done`."""
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
