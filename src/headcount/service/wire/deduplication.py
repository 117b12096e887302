"""Who comes in to a batch, and under which hashes: they tell whether a report was there before, and nothing else."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from hashlib import blake2b

from headcount.service.wire.admission import Redeeming
from headcount.service.wire.report import Upload

HALF = 16  # bytes of an invitation: who is invited, and then the signature of that


@dataclass(frozen=True)
class Door:
    """Of one batch. It is small, so that it can be sent to whoever opens uploads."""

    collection: str  # its id
    salt: bytes = field(repr=False)  # the key of the hashes, which goes with the batch
    tokens: Redeeming | None = None  # where an issuer lets people in
    invitations: bytes = field(default=b"", repr=False)  # the secret that signs them, in collections of version 0.2

    @property
    def invited(self) -> bool:
        """Whether only those may report who were let in."""
        return self.tokens is not None or bool(self.invitations)

    def known(self, upload: Upload) -> tuple[bytes, bytes] | None:
        """As what a report is known, and its sender; None if that is somebody who is not let in."""
        identity = self.hidden(b"upload", upload.identity)
        if not self.invited:
            return identity, identity
        sender = self._sender(upload.credential)
        return None if sender is None else (identity, self.hidden(b"credential", sender))

    def _sender(self, credential: bytes) -> bytes | None:
        """What tells this sender from others, and counts once."""
        if self.tokens is not None:
            return self.tokens.number(credential)
        return credential if is_invitation(self.invitations, self.collection, credential) else None

    def hidden(self, purpose: bytes, what: bytes) -> bytes:
        return blake2b(purpose + what, key=self.salt, digest_size=16).digest()


def is_invitation(secret: bytes, collection: str, code: bytes) -> bool:
    return hmac.compare_digest(invitation(secret, collection, code[:HALF]), code)


def invitation(secret: bytes, collection: str, who: bytes) -> bytes:
    """A random number, and proof that the owner of the secret drew it for this collection."""
    return who + hmac.digest(secret, collection.encode() + who, "sha256")[:HALF]
