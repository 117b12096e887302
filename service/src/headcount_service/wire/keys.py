"""A party's key folder: its signing identity, sealing keys and table secrets; and signatures.

A sealing key is announced, with its owner's signature, for one purpose and a while. When it is
deleted, nobody can open what was sealed to it any more, even from a copy. The secrets that a
party's own tables are encrypted under lie here too, and end in the same way. Several processes of a
party share one folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Literal, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Damaged, WireError
from headcount_service.wire.blind import BITS, EXPONENT, SIZE
from headcount_service.wire.schemas import SCHEMAS
from headcount_service.wire.suites import (
    PrivateKey,
    PublicKey,
    StoredKey,
    new_key,
    private_bytes,
    private_key,
    public_bytes,
    public_key,
)
from headcount_service.wire.validation import fits

OURS = 0o700
SECRET = 0o600
IDENTITY = "identity"
SECRET_BYTES = 32
SIGNED = 2  # the version of what is signed

Purpose: TypeAlias = Literal["announcement", "manifest", "receipt", "notice", "release", "webhook"]


class Signer:
    """A party that others know by its public key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw().hex()

    def secret(self, purpose: str) -> bytes:
        """A secret of this party for one purpose, derived from its identity key."""
        bound = f"headcount/1 secret {purpose}".encode()
        return HKDF(SHA256(), SECRET_BYTES, salt=None, info=bound).derive(self._key.private_bytes_raw())

    def secret_before(self, purpose: str) -> bytes:
        """The secret as version 0.2 derived it: invitations stay valid until collections end."""
        return sha256(f"headcount {purpose}".encode() + self._key.private_bytes_raw()).digest()

    def signed(self, purpose: Purpose, content: dict[str, Any]) -> dict[str, Any]:
        """The content with its format, and a signature of both for this purpose and no other."""
        whole = {"format": signed_format(purpose), **content}
        return {**whole, "signature": self._key.sign(bound(purpose, whole)).hex()}


def signed_format(purpose: Purpose) -> str:
    """The format of what is signed for this purpose."""
    return f"headcount {purpose} {SIGNED}"


def bound(purpose: Purpose, content: dict[str, Any]) -> bytes:
    """The bytes signed: a signature for one purpose is none for another, whatever the content."""
    return f"headcount/{SIGNED} {purpose}".encode() + b"\0" + canonical(content).encode()


def verified(content: Any, signer: str, purpose: Purpose) -> dict[str, Any]:
    """Content this public key's owner signed for this purpose, without its format; or a refusal.

    Version 0.2 signed canonical JSON without a purpose, of format 1 or of none. That is still read:
    it begins with a brace and bytes that are bound to a purpose do not, so that neither can pass
    for the other.
    """
    try:
        own = {name: value for name, value in content.items() if name != "signature"}
        told = own.get("format")
        earlier = told in (None, f"headcount {purpose} 1")
        if not earlier and told != signed_format(purpose):
            raise ValueError
        message = canonical(own).encode() if earlier else bound(purpose, own)
        Ed25519PublicKey.from_public_bytes(_bytes(signer)).verify(_bytes(content["signature"]), message)
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadArgument("signature", "is not that of the party that should have signed", "do not use it") from None
    return {name: value for name, value in own.items() if name != "format"}


def _bytes(digits: str) -> bytes:
    """The bytes of lower-case hexadecimal digits: there is one way to write a signature down."""
    content = bytes.fromhex(digits)
    if content.hex() != digits:
        raise ValueError
    return content


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
            found = cls(**verified(content, signer, "announcement"))
            _ = found.public
            if not fits(found.to_json(), SCHEMAS["Announcement"]):
                raise TypeError
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
            self._put(IDENTITY, private_bytes(Ed25519PrivateKey.generate()))
            self._settle()
        key = self._get(IDENTITY)
        if not isinstance(key, Ed25519PrivateKey):
            raise Damaged(f"{self._path(IDENTITY)} is not a key to sign with", "restore it from a copy")
        return Signer(key)

    def make(self, names: Sequence[str], suite: str) -> list[bytes]:
        """The public parts of the keys of these names; missing ones are made, and durable."""
        missing = [name for name in names if not self._path(name).exists()]
        for name in missing:
            self._put(name, private_bytes(new_key(suite)))
        if missing:
            self._settle()
        return [public_bytes(self.private(name).public_key()) for name in names]

    def private(self, name: str) -> PrivateKey:
        key = self._get(name)
        if isinstance(key, Ed25519PrivateKey | RSAPrivateKey):
            raise Damaged(f"the key {name} is not one to seal to", "restore it from a copy")
        return key

    def make_signing(self, number: int, named: Callable[[str], str]) -> list[str]:
        """The hexadecimal moduli of this many new token keys, each stored under a derived name."""
        moduli = []
        for _ in range(number):
            key = generate_private_key(EXPONENT, BITS)
            moduli.append(key.public_key().public_numbers().n.to_bytes(SIZE).hex())
            self._put(named(moduli[-1]), private_bytes(key))
        self._settle()
        return moduli

    def signing(self, name: str) -> RSAPrivateKey:
        """A key to sign tokens with."""
        key = self._get(name)
        if not isinstance(key, RSAPrivateKey):
            raise Damaged(f"the key {name} is not one to sign tokens with", "restore it from a copy")
        return key

    def keep(self, name: str, secret: bytes) -> None:
        """A secret of this party's own, on the disk when this returns."""
        self._put(name, secret)
        self._settle()

    def secret(self, name: str) -> bytes:
        """The secret that was kept under this name."""
        return self._content(name)

    def temporary_file(self) -> BinaryIO:
        """An unnamed file on this folder's disk, gone when it is closed or the process ends."""
        return TemporaryFile(dir=self.folder)

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def delete(self, name: str) -> None:
        """Overwrite and remove the file. Idempotent."""
        path = self._path(name)
        with suppress(FileNotFoundError):
            with path.open("r+b") as file:
                file.write(bytes(os.fstat(file.fileno()).st_size))
                file.flush()
                os.fsync(file.fileno())
            path.unlink()

    def tidy(self) -> None:
        """Remove temporary files of interrupted writes."""
        for path in self.folder.iterdir():
            if path.suffix != ".key" and path.is_file():
                path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.key"))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.key"

    def _get(self, name: str) -> StoredKey:
        try:
            return private_key(self._content(name))
        except ValueError:
            raise _unreadable(name) from None

    def _content(self, name: str) -> bytes:
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            raise BadArgument("keys", f"have none called {name}", "it was deleted, or never made") from None
        except OSError:
            raise _unreadable(name) from None

    def _put(self, name: str, content: bytes) -> None:
        """Create a file atomically; where another process was first, use its file."""
        while not self._link(name, content):  # another process tidies up while it starts
            pass

    def _link(self, name: str, content: bytes) -> bool:
        """Writes the content beside the key and gives it its name; False if removed in between."""
        beginning = self.folder / f"{name}.{os.urandom(8).hex()}"
        made = os.open(beginning, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, SECRET)
        try:
            with os.fdopen(made, "wb") as file:  # all of it: on a full disk a part of a key would be taken for the key
                file.write(content)
                file.flush()
                os.fsync(made)
            os.link(beginning, self._path(name))
        except FileExistsError:
            pass
        except FileNotFoundError:
            return False
        finally:
            beginning.unlink(missing_ok=True)
        return True

    def _settle(self) -> None:
        """Flush the folder, so that the names of new files are durable."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _unreadable(name: str) -> Damaged:
    return Damaged(f"the key {name} cannot be read", "restore it from a copy")
