"""One report as bytes: every message sealed to the analyser, all of them once more to the shuffler.

    message = HPKE(analyser's key of the batch, 16 random bytes | real or dummy | the record)
    upload  = version | number of the shuffler's key | HPKE(shuffler's key, upload's id | credential | messages)

Both seals are bound to the collection's hash and the number of the batch. There is one form for everything: no field is
optional, no length depends on what a person holds, and whatever is not exactly like this is refused alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from headcount.errors import Unsupported, WireError
from headcount.programme.coins import Coins, DeviceCoins
from headcount.programme.permutation import in_random_order
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import CREDENTIAL, HEAD, IDENTITY, KIND, Wire
from headcount.service.wire.suites import PrivateKey as PrivateKey
from headcount.service.wire.suites import PublicKey, seal, unseal

VERSION = 1
DUMMY, REAL = b"\x00", b"\x01"
NO_CREDENTIAL = bytes(CREDENTIAL)
INNER, OUTER = b"headcount/1 inner\x00", b"headcount/1 outer\x00"

Records: TypeAlias = npt.NDArray[Any]


def laid_out(message: np.dtype[Any]) -> np.dtype[Any]:
    """A message as its bytes are written, the lowest first."""
    return message.newbyteorder("<")


def contents(messages: Records, number: int, coins: Coins) -> list[bytes]:
    """So many messages before they are sealed, dummies among them, in an order that means nothing, each with an id.

    The few that are too many are left out: the plan has paid for that.
    """
    form = laid_out(messages.dtype)
    real = [REAL + one.tobytes() for one in messages.astype(form)]
    dummies = [DUMMY + bytes(form.itemsize)] * (number - len(real))
    whole = in_random_order(in_random_order(real, coins)[:number] + dummies, coins)
    return [coins.stream(IDENTITY).tobytes() + content for content in whole]


@dataclass(frozen=True)
class Upload:
    """What the shuffler finds in an upload: nothing that it can read."""

    identity: bytes
    credential: bytes
    messages: tuple[bytes, ...]


@dataclass(frozen=True)
class Opening:
    """How the reports to one batch of a collection are opened: so little that it can be sent to whoever opens them."""

    suite: str
    collection: bytes  # its hash
    batch: int
    message_bytes: int
    upload_bytes: int
    credential_bytes: int = CREDENTIAL

    def bound(self, layer: bytes) -> bytes:
        """What a seal of this layer is bound to."""
        return layer + self.collection + self.batch.to_bytes(4, "big")

    # What the shuffler does.

    def key_number(self, body: bytes) -> int:
        """Which of the shuffler's keys an upload was sealed to."""
        if len(body) != self.upload_bytes or body[0] != VERSION:
            raise WireError
        return body[1]

    def opened(self, body: bytes, key: PrivateKey) -> Upload:
        self.key_number(body)
        content = self._open(body[HEAD:], key, OUTER)
        start = IDENTITY + self.credential_bytes
        return Upload(content[:IDENTITY], content[IDENTITY:start], self.messages(content[start:]))

    def messages(self, content: bytes) -> tuple[bytes, ...]:
        """Those that stand one behind the other."""
        return tuple(content[at : at + self.message_bytes] for at in range(0, len(content), self.message_bytes))

    # What the analyser does.

    def read(self, message: bytes, key: PrivateKey) -> tuple[bytes, bytes | None]:
        """The message's own id, and its record unless it is a dummy."""
        if len(message) != self.message_bytes:
            raise WireError
        content = self._open(message, key, INNER)
        identity, kind, record = content[:IDENTITY], content[IDENTITY : IDENTITY + KIND], content[IDENTITY + KIND :]
        if kind == REAL:
            return identity, record
        if kind != DUMMY or any(record):
            raise WireError
        return identity, None

    def _open(self, content: bytes, key: PrivateKey, layer: bytes) -> bytes:
        return unseal(self.suite, content, key, self.bound(layer))


@dataclass(frozen=True)
class Envelope:
    """How the reports to one batch of a collection are sealed and opened."""

    plan: Plan
    collection: bytes  # its hash
    batch: int
    credential_bytes: int = CREDENTIAL

    @cached_property
    def wire(self) -> Wire:
        if self.plan.wire is None:
            works = "make it with advise(..., collected=True)"
            raise Unsupported("the plan does not say how it is collected", works)
        return self.plan.wire

    @property
    def record(self) -> np.dtype[Any]:
        return laid_out(self.plan.protocol.message)

    @cached_property
    def message_bytes(self) -> int:
        return self.wire.message_bytes(self.plan.protocol)

    @cached_property
    def upload_bytes(self) -> int:
        return self.wire.upload_bytes(self.plan.protocol, self.credential_bytes)

    @cached_property
    def opening(self) -> Opening:
        return Opening(
            self.wire.suite, self.collection, self.batch, self.message_bytes, self.upload_bytes, self.credential_bytes
        )

    # What a client does.

    def sealed(self, messages: Records, analyser: PublicKey) -> list[bytes]:
        """Everybody's number of messages, dummies among them, each sealed to the analyser."""
        bound = self.opening.bound(INNER)
        return [
            seal(self.wire.suite, content, analyser, bound)
            for content in contents(messages, self.wire.messages, DeviceCoins())
        ]

    def upload(self, upload: Upload, shuffler: PublicKey, number: int) -> bytes:
        """The whole report, as it is sent."""
        content = upload.identity + upload.credential + b"".join(upload.messages)
        return bytes([VERSION, number]) + seal(self.wire.suite, content, shuffler, self.opening.bound(OUTER))

    # What the shuffler and the analyser do.

    def key_number(self, body: bytes) -> int:
        return self.opening.key_number(body)

    def opened(self, body: bytes, key: PrivateKey) -> Upload:
        return self.opening.opened(body, key)

    def read(self, message: bytes, key: PrivateKey) -> tuple[bytes, bytes | None]:
        return self.opening.read(message, key)

    def records(self, contents: Iterable[bytes]) -> Records:
        return genuine(self.plan.protocol, contents)


def genuine(protocol: Protocol, contents: Iterable[bytes]) -> Records:
    """Those that somebody who keeps to the protocol might have sent."""
    found = np.frombuffer(b"".join(contents), dtype=laid_out(protocol.message)).astype(protocol.message)
    return found[protocol.genuine(found)]
