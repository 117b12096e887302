"""Encryption at rest of a batch's tables, under a key that is destroyed with the batch.

A database keeps deleted rows: in its log, in free pages, in statistics, in copies. So nothing that
identifies people is stored in the clear, and its remains cannot be read once the secret's file is
gone.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from headcount.errors import Damaged

SECRET = 32  # bytes
NONCE = 12


class AtRest(Protocol):
    """How the rows of one table are stored."""

    salt: bytes  # the key of the hashes under which reports are known

    def sealed(self, content: bytes, bound: bytes) -> bytes: ...

    def opened(self, content: bytes, bound: bytes) -> bytes: ...


class Encrypted:
    """AES-256-GCM, a fresh nonce per row; a ciphertext is bound to its row's name in the table."""

    def __init__(self, secret: bytes) -> None:
        self.salt = _derived(secret, b"hashes")
        self._cipher = AESGCM(_derived(secret, b"content"))

    def sealed(self, content: bytes, bound: bytes) -> bytes:
        nonce = os.urandom(NONCE)
        return nonce + self._cipher.encrypt(nonce, content, bound)

    def opened(self, content: bytes, bound: bytes) -> bytes:
        try:
            return self._cipher.decrypt(content[:NONCE], content[NONCE:], bound)
        except InvalidTag:
            raise Damaged("what was stored of a batch is not what was written", "see to the database's disk") from None


class InTheClear:
    """The form of batches opened before there were secrets; they are finished as begun."""

    def __init__(self, salt: bytes) -> None:
        self.salt = salt

    def sealed(self, content: bytes, bound: bytes) -> bytes:
        return content

    def opened(self, content: bytes, bound: bytes) -> bytes:
        return content


def new_secret() -> bytes:
    return os.urandom(SECRET)


def _derived(secret: bytes, purpose: bytes) -> bytes:
    return blake2b(purpose, key=secret, digest_size=SECRET, person=b"headcount batch").digest()
