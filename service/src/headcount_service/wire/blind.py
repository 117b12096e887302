"""Blind RSA signatures (RFC 9474, RSABSSA-SHA384-PSS-Randomized), as device and verifier use them.

A device hides a message under a random factor, the signer signs what it cannot read, and the device
takes the factor off. What is left is an ordinary RSASSA-PSS signature. Whatever was signed, each
signature fits each hidden message with exactly one factor, so that the signer learns nothing about
which of them is which.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha384
from math import gcd

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

EXPONENT = 65_537
BITS = 2_048
SIZE = BITS // 8  # bytes of a modulus, and of a signature
PREFIX = 32  # random bytes before the message: nobody can try out messages
HASH = 48  # bytes of SHA-384
SALT = HASH
TRAILER = b"\xbc"
SCHEME = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=SALT)


class NotSigned(ValueError):
    """The signer's answer is no signature of what it was sent."""


@dataclass(frozen=True)
class Blinding:
    """One signature's random values. The factor stays secret: it links a token's issue and use."""

    prefix: bytes
    salt: bytes = field(repr=False)
    factor: int = field(repr=False)

    @classmethod
    def draw(cls, modulus: int) -> Blinding:
        return cls(secrets.token_bytes(PREFIX), secrets.token_bytes(SALT), unit(modulus))

    def blinded(self, modulus: int, message: bytes) -> bytes:
        """The blinded message, which is sent to the signer."""
        encoded = int.from_bytes(encode(self.prefix + message, modulus.bit_length(), self.salt))
        return (encoded * pow(self.factor, EXPONENT, modulus) % modulus).to_bytes(size_of(modulus))

    def finished(self, modulus: int, message: bytes, answer: bytes) -> bytes:
        """The unblinded signature of prefix and message; refused if it does not verify."""
        if len(answer) != size_of(modulus):
            raise NotSigned
        signature = int.from_bytes(answer) * pow(self.factor, -1, modulus) % modulus
        found = signature.to_bytes(size_of(modulus))
        if not verifies(modulus, self.prefix + message, found):
            raise NotSigned
        return found


def verifies(modulus: int, message: bytes, signature: bytes) -> bool:
    """Whether this is a signature of the message."""
    try:
        _public(modulus).verify(signature, message, SCHEME, hashes.SHA384())
    except InvalidSignature:
        return False
    return True


def encode(message: bytes, bits: int, salt: bytes) -> bytes:
    """EMSA-PSS (RFC 8017, 9.1.1) with SHA-384, in one bit less than the modulus has."""
    size = (bits + 6) // 8
    digest = sha384(bytes(8) + sha384(message).digest() + salt).digest()
    block = bytes(size - len(salt) - HASH - 2) + b"\x01" + salt
    masked = int.from_bytes(block) ^ int.from_bytes(_mask(digest, len(block)))
    spare = 8 * size - (bits - 1)
    masked &= (1 << (8 * len(block) - spare)) - 1
    return masked.to_bytes(len(block)) + digest + TRAILER


def unit(modulus: int) -> int:
    """A number that has an inverse, each as likely as any other."""
    while True:
        found = 1 + secrets.randbelow(modulus - 1)
        if gcd(found, modulus) == 1:
            return found


def size_of(modulus: int) -> int:
    return (modulus.bit_length() + 7) // 8


def _mask(seed: bytes, size: int) -> bytes:
    """MGF1 (RFC 8017, B.2.1)."""
    blocks = range((size + HASH - 1) // HASH)
    return b"".join(sha384(seed + number.to_bytes(4)).digest() for number in blocks)[:size]


@lru_cache(maxsize=256)
def _public(modulus: int) -> rsa.RSAPublicKey:
    return rsa.RSAPublicNumbers(EXPONENT, modulus).public_key()
