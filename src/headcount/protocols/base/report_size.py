"""The size of a report on the wire, where everybody sends the same number of messages.

A message is sealed to the analyser, all messages of a person once more to the shuffler, and dummies
fill up to the same number. How often an honest person would send more than that is charged to
delta: cutting changes the view by at most that chance for each of them, and so delta by 1 +
e^epsilon times as much. (What others send is theirs to cut.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.common.short_decimals import COMPARED, rounded_up
from headcount.errors import BadArgument, Unsupported
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.loss import PrivacyLoss, TotalVariationSlack
from headcount.programme.law import Floats

if TYPE_CHECKING:
    from headcount.protocols.base.protocol import Protocol

HYBRID = "mlkem768-x25519-sha256-aes128gcm"
X25519, P256 = "x25519-sha256-aes128gcm", "p256-sha256-aes128gcm"
KEYS = {HYBRID: 1120, X25519: 32, P256: 65}  # suites of HPKE (RFC 9180), and the bytes of an encapsulated key
TAG = 16  # bytes that authenticate a sealed text
IDENTITY = 16  # of a message, or of an upload
KIND = 1  # real or dummy
CREDENTIAL = 32  # who may report; zeros where nobody asks
TOKEN = 288  # instead, where an issuer lets people in: a random prefix, and a signature of 2,048 bits
HEAD = 2  # version and number of the shuffler's key
MOST = 128  # messages that a person could be asked to send
CUT = 0.01  # the part of delta that pays for reports cut to the common number
ROUND_UP = 1.0 + 1e-9


@dataclass(frozen=True)
class Wire:
    """How a plan is collected: the number of messages from everybody, and the HPKE suite."""

    messages: int
    suite: str = HYBRID
    colluding: float | None = None  # as a plan of version 0.2 has it, with digits that depended on the machine

    def __post_init__(self) -> None:
        if self.suite not in KEYS:
            raise BadArgument("suite", f"is {self.suite!r}", f"use {' or '.join(map(repr, KEYS))}")
        if not isinstance(self.messages, int) or not 1 <= self.messages <= MOST:
            raise BadArgument("messages", f"is {self.messages!r}", f"use a whole number from 1 to {MOST}")

    @classmethod
    def of(cls, protocol: Protocol, budget: Budget, suite: str = HYBRID) -> Wire:
        """The wire with as few messages as the budget allows."""
        if not protocol.model.from_devices:
            needs = f"cannot be collected from devices: it needs {protocol.model.trusted}"
            raise Unsupported(needs, protocol=protocol.name)
        if budget.neighbours is Neighbours.ADD_REMOVE:
            raise BadArgument("neighbours", "hides how many report, and a collection tells it", "use 'replace'")
        messages = wire_messages(protocol, budget)
        if messages is None:
            raise Unsupported(
                f"would have to send more than {MOST} messages from everybody to hide who sends many",
                "plan it for a collection",
                protocol=protocol.name,
            )
        return cls(messages, suite)

    @property
    def seal(self) -> int:
        """Bytes that a layer of encryption adds."""
        return KEYS[self.suite] + TAG

    def message_bytes(self, protocol: Protocol) -> int:
        """The bytes of one message, sealed to the analyser."""
        return self.seal + IDENTITY + KIND + protocol.message.itemsize

    def upload_bytes(self, protocol: Protocol, credential: int = CREDENTIAL) -> int:
        """The bytes of one person's upload, the same whatever they hold."""
        return HEAD + self.seal + IDENTITY + credential + self.messages * self.message_bytes(protocol)

    def loss(self, protocol: Protocol) -> PrivacyLoss:
        """The protocol's loss with the cost of cutting reports."""
        cut = protocol.crowd.honest * too_many(protocol, self.messages)
        return TotalVariationSlack(protocol.loss, cut, protocol.loss.kind) if cut else protocol.loss

    def to_json(self) -> dict[str, Any]:
        return {"messages": self.messages, "suite": self.suite}

    def device(self, protocol: Protocol, rounds: int = 1) -> dict[str, Any]:
        """More for devices: the message's fields, and all rounds' epsilon if all others collude."""
        alone = None if protocol.local_epsilon is None else rounds * protocol.local_epsilon
        short = None if alone is None else rounded_up(alone, COMPARED)
        return {"record": record_of(protocol.message), "colluding": short if self.colluding is None else self.colluding}


def record_of(message: np.dtype[Any]) -> list[list[str]]:
    """Each field with its form: `u`, or `i` with a sign, and its bytes, little-endian."""
    fields = ((name, message[name]) for name in message.names or ())
    return [[name, f"{form.base.kind}{form.itemsize}"] for name, form in fields]


def wire_messages(protocol: Protocol, budget: Budget) -> int | None:
    """The fewest messages that suffice in all rounds, but for a chance paid for by delta / 100.

    None if that takes more than `MOST`.
    """
    if protocol.messages_per_person > MOST:
        return None
    chance = CUT * budget.delta / ((1.0 + math.exp(budget.epsilon)) * protocol.crowd.honest * budget.rounds)
    needed = int(np.count_nonzero(_tails(protocol) > chance)) - 1
    return max(1, needed) if needed <= MOST else None


def too_many(protocol: Protocol, messages: int) -> float:
    """The chance that an honest person would send more, for the value that sends most."""
    tails = _tails(protocol)
    return float(tails[messages + 1]) if messages + 1 < tails.size else 0.0


@lru_cache(maxsize=256)
def _tails(protocol: Protocol) -> Floats:
    """At k: the chance to send at least k messages, rounded up."""
    chances = [protocol.programme.sends({"value": value}, MOST + 1) for value in protocol.costliest]
    tails = np.zeros(MOST + 2)
    for each in chances:
        here = np.cumsum(each[::-1])[::-1] * ROUND_UP
        tails[: here.size] = np.maximum(tails[: here.size], here)
    return tails


def wire_bytes(protocol: Protocol, messages: int) -> int:
    """The bytes of one person's upload with this many messages."""
    return Wire(messages).upload_bytes(protocol)
