"""A report's wire format: each message sealed to the analyser (HPKE), all again to the shuffler.

    message = HPKE(analyser's key of the batch, 16 random bytes | real or dummy | the record)
    upload  = version | number of the shuffler's key | HPKE(shuffler's key, report's id | credential | messages)

Both seals are bound to the collection's hash and the number of the batch. Every field has a fixed
length, which does not depend on the answer; whatever does not have exactly this form raises the
same error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from headcount.errors import WireError
from headcount.programme.coins import Coins, DeviceCoins
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import CREDENTIAL, HEAD, IDENTITY, KIND, Wire
from headcount_service.wire.random_order import in_random_order
from headcount_service.wire.suites import PrivateKey as PrivateKey
from headcount_service.wire.suites import PublicKey, seal, unseal

VERSION = 1
DUMMY, REAL = b"\x00", b"\x01"
NO_CREDENTIAL = bytes(CREDENTIAL)
INNER, OUTER = b"headcount/1 inner\x00", b"headcount/1 outer\x00"

Records: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Upload:
    """The body that a device sent, and the batch that it was sent to."""

    collection: str
    batch: int
    body: bytes


@dataclass(frozen=True)
class Report:
    """What an opened upload contains: sealed messages, which the shuffler cannot read."""

    identity: bytes
    credential: bytes
    messages: bytes  # concatenated


@dataclass(frozen=True)
class ReportFormat:
    """How reports to one batch are sealed and opened. Small, so that executors get a copy."""

    suite: str
    collection: bytes  # its hash
    batch: int
    messages: int  # that everybody sends
    message_bytes: int
    upload_bytes: int
    credential_bytes: int = CREDENTIAL

    @classmethod
    def of(
        cls, protocol: Protocol, wire: Wire, collection: bytes, batch: int, credential_bytes: int = CREDENTIAL
    ) -> ReportFormat:
        sizes = wire.message_bytes(protocol), wire.upload_bytes(protocol, credential_bytes)
        return cls(wire.suite, collection, batch, wire.messages, *sizes, credential_bytes)

    def info(self, layer: bytes) -> bytes:
        """The `info` of HPKE to which a layer of encryption is bound."""
        return layer + self.collection + self.batch.to_bytes(4, "big")

    # The device.

    def seal_messages(self, messages: Records, analyser: PublicKey) -> list[bytes]:
        """A person's messages, dummy-padded to the common number, each sealed to the analyser."""
        return self._sealed(messages, self.messages, analyser)

    def seal_own(self, messages: Records, analyser: PublicKey) -> list[bytes]:
        """Messages of no report, added by a shuffler: each sealed to the analyser, none besides."""
        return self._sealed(messages, len(messages), analyser)

    def _sealed(self, messages: Records, number: int, analyser: PublicKey) -> list[bytes]:
        info = self.info(INNER)
        return [seal(self.suite, content, analyser, info) for content in contents(messages, number, DeviceCoins())]

    def seal_report(self, report: Report, shuffler: PublicKey, number: int) -> bytes:
        """The body of an upload, sealed to the shuffler's key of this number."""
        content = report.identity + report.credential + report.messages
        return bytes([VERSION, number]) + seal(self.suite, content, shuffler, self.info(OUTER))

    # The shuffler.

    def key_number(self, body: bytes) -> int:
        """Which of the shuffler's keys an upload was sealed to."""
        if len(body) != self.upload_bytes or body[0] != VERSION:
            raise WireError
        return body[1]

    def open_report(self, body: bytes, key: PrivateKey) -> Report:
        self.key_number(body)
        content = unseal(self.suite, body[HEAD:], key, self.info(OUTER))
        start = IDENTITY + self.credential_bytes
        return Report(content[:IDENTITY], content[IDENTITY:start], content[start:])

    def split(self, content: bytes) -> tuple[bytes, ...]:
        """The messages of their concatenation."""
        return tuple(content[at : at + self.message_bytes] for at in range(0, len(content), self.message_bytes))

    # The analyser.

    def open_content(self, message: bytes, key: PrivateKey) -> bytes:
        """Decrypt a message: its id, whether it is real, and the record."""
        if len(message) != self.message_bytes:
            raise WireError
        content = unseal(self.suite, message, key, self.info(INNER))
        if (kind := content[IDENTITY : IDENTITY + KIND]) != REAL and (kind != DUMMY or any(content[IDENTITY + KIND :])):
            raise WireError
        return content

    def open_message(self, message: bytes, key: PrivateKey) -> tuple[bytes, bytes | None]:
        """The message's own id, and its record unless it is a dummy."""
        content = self.open_content(message, key)
        return content[:IDENTITY], record_of(content[IDENTITY:])


def little_endian(message: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a message as its bytes are written."""
    return message.newbyteorder("<")


def contents(messages: Records, number: int, coins: Coins) -> list[bytes]:
    """A person's message plaintexts: padded with dummies to this number, permuted, with random ids.

    Messages beyond this number are cut; the plan's delta has paid for that.
    """
    form = little_endian(messages.dtype)
    real = [REAL + one.tobytes() for one in messages.astype(form)]
    dummies = [DUMMY + bytes(form.itemsize)] * (number - len(real))
    whole = in_random_order(in_random_order(real, coins)[:number] + dummies, coins)
    return [coins.stream(IDENTITY).tobytes() + content for content in whole]


def record_of(content: bytes) -> bytes | None:
    """The record of an opened message, behind its id; None of a dummy."""
    return content[KIND:] if content[:KIND] == REAL else None


def genuine(protocol: Protocol, contents: Iterable[bytes]) -> Records:
    """The records that an honest device could have sent."""
    found = np.frombuffer(b"".join(contents), dtype=little_endian(protocol.message)).astype(protocol.message)
    return found[protocol.genuine(found)]
