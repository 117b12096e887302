"""Who comes in to a batch, and under which hashes: they tell whether a report was there before, and nothing else."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from hashlib import blake2b

from headcount.service.wire import Upload

HALF = 16  # bytes of an invitation: who is invited, and then the signature of that


@dataclass(frozen=True)
class Door:
    """Of one batch. It is small, so that it can be sent to whoever opens uploads."""

    collection: str  # its id
    salt: bytes = field(repr=False)  # the key of the hashes, which goes with the batch
    invitations: bytes = field(default=b"", repr=False)  # the secret that signs them; nothing where anyone may report

    def known(self, upload: Upload) -> tuple[bytes, bytes] | None:
        """As what a report is known, and its sender; None if that is somebody who is not invited."""
        identity = self.hidden(b"upload", upload.identity)
        if not self.invitations:
            return identity, identity
        credential = upload.credential
        if not hmac.compare_digest(invitation(self.invitations, self.collection, credential[:HALF]), credential):
            return None
        return identity, self.hidden(b"credential", credential)

    def hidden(self, purpose: bytes, what: bytes) -> bytes:
        return blake2b(purpose + what, key=self.salt, digest_size=16).digest()


def invitation(secret: bytes, collection: str, who: bytes) -> bytes:
    return who + hmac.digest(secret, collection.encode() + who, "sha256")[:HALF]
