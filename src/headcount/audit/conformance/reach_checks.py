"""How far a liar reaches, by trying every report of one and of two messages."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.audit.conformance.check import require
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats
from headcount.programme.tally import Batch
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.reach import Reach
from headcount.questions.domains.domain import Shape

TRIED = 3_000  # reports of each length; of more, every message once and as often as it may be sent
SEEDS = 12  # of what a trusted side leaves out at random
NEAR = 1e-9


def nobody_reaches_further_than_is_stated(protocol: Protocol) -> None:
    """Among others and alone, any report moves an estimate as far as stated, and no further."""
    if protocol.task.shape is Shape.KEY:
        return
    for messages in (1, 2) if protocol.model.from_devices else (1,):
        stated = protocol.reach(messages)
        moved = np.array([*_displacements(protocol, messages)])
        if not stated.bounded:
            require(moved.max() >= stated.up - 1.0, f"{protocol.name}: one message reaches {moved.max():.6g} only")
            continue
        if stated.lifted and protocol.model.from_devices:  # not affine: what a report adds hangs on the others
            furthest = float(np.abs(moved).max())
            limit = f"{protocol.name}: {messages} messages reach {furthest:.6g}, and {stated.furthest:.6g} is stated"
            require(furthest <= stated.furthest + NEAR, limit)
            continue
        found = _reached(moved)
        for what, truth, told in zip(("up", "down", "cells", "apart"), found, _told(stated), strict=True):
            same = math.isclose(truth, told, rel_tol=NEAR, abs_tol=NEAR)
            given = f"{messages} messages reach {truth:.9g} {what}, and {told:.9g} are stated"
            require(same, f"{protocol.name}: {given}")


def _told(stated: Reach) -> tuple[float, ...]:
    return stated.up, stated.down, stated.cells, stated.apart


def _reached(moved: Floats) -> tuple[float, ...]:
    up, down = float(moved.max()), float(moved.min())
    furthest = up if up >= -down - NEAR else down
    cells = int((np.abs(moved - furthest) <= NEAR * (1.0 + abs(furthest))).sum(axis=1).max())
    return up, down, cells, float(np.ptp(moved, axis=1).max())


def _displacements(protocol: Protocol, messages: int) -> Iterator[Floats]:
    """The displacement of each cell by each possible report, among some other people and alone."""
    coins = SeededCoins(1)
    for people in (0, 3):
        values = coins.below(protocol.task.values, people)
        others = protocol.reports(values, coins)
        before = protocol.point(protocol.tally(others))
        for report in _reports(protocol, messages):
            both = Batch(people + 1, np.concatenate([others.messages, report]))
            yield protocol.point(protocol.tally(both)) - before


def _reports(protocol: Protocol, messages: int) -> Iterator[npt.NDArray[Any]]:
    """All the analyser takes from one person; of a trusted side, its output for each value."""
    if not protocol.model.from_devices:
        for value, seed in product(range(protocol.task.values), range(SEEDS)):
            yield protocol.reports(np.array([value]), SeededCoins(seed)).messages
        return
    every = _every_message(protocol)
    if math.comb(every.size + messages, messages) > TRIED:
        chosen = [(), *((at,) * messages for at in range(every.size))]
    else:
        chosen = [
            each for many in range(messages + 1) for each in combinations_with_replacement(range(every.size), many)
        ]
    for each in chosen:
        yield every[np.array(each, dtype=np.int64)]


def _every_message(protocol: Protocol) -> npt.NDArray[Any]:
    fields = []
    for low, high in protocol.ranges.values():
        bounds = np.broadcast_arrays(np.atleast_1d(low), np.atleast_1d(high))
        places = [range(int(first), int(last) + 1) for first, last in zip(*bounds, strict=True)]
        fields.append([*product(*places)])
    messages = np.zeros(math.prod(map(len, fields)), dtype=protocol.message)
    for at, each in enumerate(product(*fields)):
        messages[at] = tuple(part if len(protocol.message[i].shape) else part[0] for i, part in enumerate(each))
    return messages[protocol.genuine(messages)]
