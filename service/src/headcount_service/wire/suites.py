"""The HPKE suites (RFC 9180) a plan may name, and their keys. A plan names one; none is negotiated.

The hybrid suite (X-Wing: ML-KEM-768 with X25519, KEM 0x647A) holds as long as either half of it
does, and so also against somebody who records today and has a quantum computer one day. Its private
key is a seed of 32 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import shake_256
from os import urandom
from typing import TypeAlias, cast

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, mlkem, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

from headcount.errors import Unsupported, WireError
from headcount.protocols.base.report_size import HYBRID, P256, X25519

SEED = 32
LATTICE = 1184  # bytes of a public key of ML-KEM-768

SUITES = {
    HYBRID: Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM),
    X25519: Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM),
    P256: Suite(KEM.P256, KDF.HKDF_SHA256, AEAD.AES_128_GCM),
}


@dataclass(frozen=True)
class HybridPublicKey:
    """The concatenation of the public keys of ML-KEM-768 and X25519."""

    content: bytes

    @cached_property
    def key(self) -> MLKEM768X25519PublicKey:
        lattice, curve = self.content[:LATTICE], self.content[LATTICE:]
        return MLKEM768X25519PublicKey(mlkem.MLKEM768PublicKey.from_public_bytes(lattice), _curve_key(curve))


@dataclass(frozen=True, repr=False)
class HybridPrivateKey:
    """From the seed follow the seed of ML-KEM-768, of 64 bytes, and the private key of X25519."""

    seed: bytes

    @cached_property
    def _parts(self) -> tuple[mlkem.MLKEM768PrivateKey, x25519.X25519PrivateKey]:
        whole = shake_256(self.seed).digest(96)
        curve = x25519.X25519PrivateKey.from_private_bytes(whole[64:])
        try:
            return mlkem.MLKEM768PrivateKey.from_seed_bytes(whole[:64]), curve
        except UnsupportedAlgorithm:
            raise Unsupported(
                f"the suite {HYBRID} needs a library cryptography that was built with ML-KEM, as its wheels are",
                f"install one, or use {X25519}",
            ) from None

    @cached_property
    def key(self) -> MLKEM768X25519PrivateKey:
        return MLKEM768X25519PrivateKey(*self._parts)

    def public_key(self) -> HybridPublicKey:
        lattice, curve = (part.public_key().public_bytes_raw() for part in self._parts)
        return HybridPublicKey(lattice + curve)


PrivateKey: TypeAlias = HybridPrivateKey | x25519.X25519PrivateKey | ec.EllipticCurvePrivateKey
StoredKey: TypeAlias = PrivateKey | Ed25519PrivateKey | RSAPrivateKey  # to open with, to sign with, to sign tokens with
PublicKey: TypeAlias = HybridPublicKey | x25519.X25519PublicKey | ec.EllipticCurvePublicKey


def new_key(suite: str) -> PrivateKey:
    if suite == HYBRID:
        return HybridPrivateKey(urandom(SEED))
    return x25519.X25519PrivateKey.generate() if suite == X25519 else ec.generate_private_key(ec.SECP256R1())


def private_bytes(key: StoredKey) -> bytes:
    """The stored form of a key: a seed as it is, everything else in PKCS #8."""
    if isinstance(key, HybridPrivateKey):
        return key.seed
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def private_key(content: bytes) -> StoredKey:
    """The key with this stored form; a ValueError if it is none."""
    if len(content) == SEED:
        return HybridPrivateKey(content)
    return cast(StoredKey, load_der_private_key(content, password=None))


def public_bytes(key: PublicKey) -> bytes:
    if isinstance(key, HybridPublicKey):
        return key.content
    if isinstance(key, x25519.X25519PublicKey):
        return key.public_bytes_raw()
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def public_key(suite: str, content: bytes) -> PublicKey:
    """The public key with these bytes; refuses malformed ones and X25519 points of small order."""
    try:
        if suite == HYBRID:
            hybrid = HybridPublicKey(content)
            _ = hybrid.key
            return hybrid
        if suite == X25519:
            return _curve_key(content)
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), content)
    except ValueError:
        raise WireError from None


def _curve_key(content: bytes) -> x25519.X25519PublicKey:
    key = x25519.X25519PublicKey.from_public_bytes(content)
    x25519.X25519PrivateKey.generate().exchange(key)
    return key


def seal(suite: str, content: bytes, key: PublicKey, info: bytes) -> bytes:
    """Seal one text to one key, with a fresh encapsulated secret."""
    return SUITES[suite].encrypt(content, key.key if isinstance(key, HybridPublicKey) else key, info)


def unseal(suite: str, content: bytes, key: PrivateKey, info: bytes) -> bytes:
    try:
        return SUITES[suite].decrypt(content, key.key if isinstance(key, HybridPrivateKey) else key, info)
    except InvalidTag:
        raise WireError from None
