"""What a report weighs on the wire, where everybody sends as many sealed messages as everybody else.

A message is sealed to the analyser, all messages of a person once more to the shuffler, and dummies fill up to the same
number. How often a person would send more than that is charged to delta: cutting changes the view by at most that
chance for each of the people, and so delta by 1 + e^epsilon times as much.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from headcount.core.budget import Budget
from headcount.core.law import Floats

if TYPE_CHECKING:
    from headcount.core.protocol import Protocol

SEAL = 48  # bytes that a layer of encryption adds: a public key and a tag
IDENTITY = 16  # of a message, or of an upload
KIND = 1  # real or dummy
HEAD = 2  # version and number of the key
MOST = 128  # messages that a person could be asked to send
CUT = 0.01  # the part of delta that pays for reports cut to the common number


def wire_messages(protocol: Protocol, budget: Budget) -> int | None:
    """The fewest messages that do for everybody, but for a chance that a hundredth of delta pays for.

    None if that takes more than `MOST`.
    """
    if protocol.messages_per_person > MOST:
        return None
    chance = CUT * budget.delta / ((1.0 + math.exp(budget.epsilon)) * protocol.crowd.size)
    chances = (protocol.programme.sends({"value": value}, MOST + 1) for value in protocol.costliest)
    needed = max(_enough(each, chance) for each in chances)
    return needed if needed <= MOST else None


def _enough(chances: Floats, above: float) -> int:
    tails = np.cumsum(chances[::-1])[::-1]  # tails[k]: the chance of at least k
    return int(np.count_nonzero(tails > above)) - 1


def wire_bytes(protocol: Protocol, messages: int) -> int:
    """Of one person's upload with so many messages."""
    return HEAD + SEAL + IDENTITY + messages * (SEAL + IDENTITY + KIND + protocol.message.itemsize)
