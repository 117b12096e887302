"""Certificates written by hand, with whatever they should not say, and hashed as if they were honest."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from headcount.programme.table import Table
from headcount.protocols.base.certificate import Certificate
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape

WORD = 1 << 64
VALUE = {"name": "value"}
NOTHING: dict[str, Any] = {"all": []}

Points = Iterable[tuple[Any, Any]]


def certificate(report: Any, points: Points, *, people: int = 3, **changed: Any) -> dict[str, Any]:
    """Delta at each epsilon, of a report by two values behind a shuffler, unless told otherwise."""
    first, *others = [{"epsilon": str(epsilon), "delta": str(delta)} for epsilon, delta in points]
    content = {
        "format": "headcount certificate 2",
        "model": "shuffle",
        "neighbours": "replace",
        "values": 2,
        "crowd": {"size": people, "least": people, "corrupt": 0},
        "report": report,
        "tally": "count",
        "release": {},
        "claim": {**first, "curve": others},
        **changed,
    }
    return signed(content)


def signed(content: dict[str, Any]) -> dict[str, Any]:
    return Certificate.of(content).to_json()


def of(protocol: Protocol, points: Points) -> dict[str, Any]:
    """What a protocol would claim if it claimed this."""
    crowd, task = protocol.crowd, protocol.task
    return certificate(
        protocol.programme.encode(),
        points,
        model=str(protocol.model),
        neighbours=str(protocol.neighbours),
        values=None if task.shape is Shape.KEY else task.values,
        crowd={"size": crowd.size, "least": crowd.least, "corrupt": crowd.corrupt},
        tally=protocol.tallied,
        release=protocol.released().encode(),
    )


def named(name: str) -> dict[str, str]:
    return {"name": name}


def emit(*fields: Any) -> dict[str, Any]:
    return {"emit": list(fields)}


def every(*parts: Any) -> dict[str, Any]:
    return {"all": list(parts)}


def chance(likely: Fraction) -> str:
    return str(int(likely * WORD))


def maybe(likely: Fraction, then: Any, otherwise: Any) -> dict[str, Any]:
    return {"maybe": chance(likely), "then": then, "else": otherwise}


def copies(amount: Any, brick: Any) -> dict[str, Any]:
    return {"copies": amount, "brick": brick}


def let(name: str, be: Any, brick: Any) -> dict[str, Any]:
    return {"let": name, "be": be, "in": brick}


def each(name: str, below: int, brick: Any) -> dict[str, Any]:
    return {"each": name, "below": below, "do": brick}


def table(*masses: Fraction, start: int = 0) -> dict[str, Any]:
    return {"start": start, "coarse": [chance(mass) for mass in masses], "fine": []}


def near(weights: list[int]) -> dict[str, Any]:
    """The table nearest to these weights."""
    nearest = Table.of(weights)
    return {"start": 0, "coarse": [*map(str, nearest.coarse)], "fine": [*map(str, nearest.fine)]}
