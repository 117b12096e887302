"""Keys in a folder that only their owner can read: one to sign with, for ever, and those that reports are sealed to.

A sealing key is announced, with its owner's signature, for one purpose and a while. When it is deleted, nobody can open
what was sealed to it any more, whoever has kept a copy.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from headcount.core.canonical import canonical
from headcount.core.errors import BadArgument, Damaged
from headcount.service.suites import (
    PrivateKey,
    PublicKey,
    WireError,
    new_key,
    private_bytes,
    private_key,
    public_bytes,
    public_key,
)

OURS = 0o700
SECRET = 0o600
IDENTITY = "identity"


class Signer:
    """A party that others know by its public key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw().hex()

    def secret(self, purpose: str) -> bytes:
        """Known to this party only, and always the same."""
        return sha256(f"headcount {purpose}".encode() + self._key.private_bytes_raw()).digest()

    def signed(self, content: dict[str, Any]) -> dict[str, Any]:
        """The content, with a signature of its canonical JSON."""
        return {**content, "signature": self._key.sign(canonical(content).encode()).hex()}


def verified(content: Any, signer: str) -> dict[str, Any]:
    """What was signed by the owner of this public key; anything else is refused."""
    try:
        own = {name: value for name, value in content.items() if name != "signature"}
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signer))
        key.verify(bytes.fromhex(content["signature"]), canonical(own).encode())
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError):
        raise BadArgument("signature", "is not that of the party that should have signed", "do not use it") from None
    return own


@dataclass(frozen=True)
class Announced:
    """A public key, what it is for, and until when it is used."""

    role: str  # shuffler or analyser
    purpose: str  # the collection and batch of an analyser's key; the shuffler's are for everything
    number: int
    suite: str
    key: str
    expires: int  # seconds since 1970

    @property
    def public(self) -> PublicKey:
        return public_key(self.suite, bytes.fromhex(self.key))

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_json(cls, content: Any, signer: str, role: str) -> Announced:
        """The announcement that this party has signed for itself."""
        try:
            found = cls(**verified(content, signer))
            _ = found.public
        except (TypeError, ValueError, WireError):
            raise BadArgument("key", "is not an announced key", "ask its owner for it again") from None
        if found.role != role:
            raise BadArgument("key", f"was announced by the {found.role}", f"give one of the {role}")
        return found


class Keys:
    """The folder of one party."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(mode=OURS, parents=True, exist_ok=True)
        except OSError as problem:
            raise BadArgument("keys", f"{folder} cannot be used ({problem.strerror})", "give another folder") from None
        if folder.stat().st_mode & 0o077:
            raise BadArgument("keys", f"{folder} can be read by others", f"run: chmod 700 {folder}")

    def signer(self) -> Signer:
        """The party's own, made when it is first asked for."""
        if not self._path(IDENTITY).exists():
            self._put(IDENTITY, Ed25519PrivateKey.generate())
        key = self._get(IDENTITY)
        if not isinstance(key, Ed25519PrivateKey):
            raise Damaged(f"{self._path(IDENTITY)} is not a key to sign with; restore it from a copy")
        return Signer(key)

    def make(self, name: str, suite: str) -> bytes:
        """The public part of the key of this name, which is made if there is none."""
        if not self._path(name).exists():
            self._put(name, new_key(suite))
        return public_bytes(self.private(name).public_key())

    def private(self, name: str) -> PrivateKey:
        key = self._get(name)
        if isinstance(key, Ed25519PrivateKey):
            raise Damaged(f"the key {name} is not one to seal to; restore it from a copy")
        return key

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def delete(self, name: str) -> None:
        """Overwrites and removes it; it is not an error if that was done before, or is being done."""
        path = self._path(name)
        with suppress(FileNotFoundError):
            with path.open("r+b") as file:
                file.write(bytes(os.fstat(file.fileno()).st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()

    def tidy(self) -> None:
        """Removes what a crash has left of keys that were being made."""
        for path in self.folder.iterdir():
            if path.suffix != ".key" and path.is_file():
                path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.key"))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def _get(self, name: str) -> PrivateKey | Ed25519PrivateKey:
        try:
            return private_key(self._path(name).read_bytes())
        except FileNotFoundError:
            raise BadArgument("keys", f"have none called {name}", "it was deleted, or never made") from None
        except (OSError, ValueError):
            raise Damaged(f"the key {name} cannot be read; restore it from a copy") from None

    def _put(self, name: str, key: PrivateKey | Ed25519PrivateKey) -> None:
        """There in full or not at all, and never in place of another: whoever comes second uses the first one's."""
        content = private_bytes(key)
        beginning = self.folder / f"{name}.{os.urandom(8).hex()}"
        file = os.open(beginning, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, SECRET)
        try:
            os.write(file, content)
            os.fsync(file)
        finally:
            os.close(file)
        try:
            os.link(beginning, self._path(name))
        except FileExistsError:
            pass
        finally:
            beginning.unlink()
        folder = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
