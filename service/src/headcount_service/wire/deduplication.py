"""Admission and deduplication: tokens and invitations are checked, and hashed under a batch key."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from hashlib import blake2b

from headcount_service.wire.admission import Redeeming
from headcount_service.wire.report import Report

HALF = 16  # bytes of an invitation: who is invited, and then the signature of that


@dataclass(frozen=True)
class Deduplication:
    """Admission to one batch. It is small, so that it can be sent to executors."""

    collection: str  # its id
    salt: bytes = field(repr=False)  # the key of the hashes, which is destroyed with the batch
    tokens: Redeeming | None = None  # where an issuer invites people
    invitations: bytes = field(default=b"", repr=False)  # the secret that signs them, in collections of version 0.2

    @property
    def invited(self) -> bool:
        """Whether only people with an invitation may report."""
        return self.tokens is not None or bool(self.invitations)

    def identify(self, report: Report) -> tuple[bytes, bytes] | None:
        """The keyed hashes of the report's id and sender; None if the sender was not invited."""
        identity = self.keyed_hash(b"upload", report.identity)
        if not self.invited:
            return identity, identity
        sender = self._sender(report.credential)
        return None if sender is None else (identity, self.keyed_hash(b"credential", sender))

    def _sender(self, credential: bytes) -> bytes | None:
        """The sender's identity, of which one report counts."""
        if self.tokens is not None:
            return self.tokens.number(credential)
        return credential if is_invitation(self.invitations, self.collection, credential) else None

    def keyed_hash(self, purpose: bytes, what: bytes) -> bytes:
        return blake2b(purpose + what, key=self.salt, digest_size=16).digest()


def is_invitation(secret: bytes, collection: str, code: bytes) -> bool:
    return hmac.compare_digest(invitation(secret, collection, code[:HALF]), code)


def invitation(secret: bytes, collection: str, who: bytes) -> bytes:
    """A random number, and proof that the owner of the secret drew it for this collection."""
    return who + hmac.digest(secret, collection.encode() + who, "sha256")[:HALF]
