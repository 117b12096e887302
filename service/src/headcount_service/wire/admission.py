"""The issuer of a collection and its token keys, and how the shuffler verifies a token.

Every batch has a key of its own. A person gets one token for each batch, and what is signed is
hidden: under one key, tokens meant for several batches could all be spent on one of them. All keys
are in the collection, under its hash, so that nobody can be given another key than everybody else
and be recognised by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from headcount.errors import BadArgument
from headcount_service.wire.blind import BITS, PREFIX, SIZE, verifies
from headcount_service.wire.keys import signed_format, verified

ROLE = "issuer"
TOKEN = b"headcount/1 token\x00"
LONGEST_ADDRESS = 200


@dataclass(frozen=True)
class Issuing:
    """An issuer as a collection names it."""

    key: str  # that it signs announcements with, in hexadecimal digits
    address: str  # where devices ask it for tokens
    tokens: tuple[str, ...]  # the modulus of each batch's key, in hexadecimal digits
    signature: str  # the issuer's, of its role and these keys

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname or len(self.address) > LONGEST_ADDRESS:
            raise BadArgument("issuer", "has no address", "use https://host")
        announced = {"role": ROLE, "tokens": list(self.tokens), "signature": self.signature}
        verified({"format": signed_format("announcement"), **announced}, self.key, "announcement")
        for token in self.tokens:
            _require_modulus(token)
        if len({*self.tokens}) != len(self.tokens):
            raise BadArgument("issuer", "has one key for several batches", "create the collection anew")

    def modulus(self, batch: int) -> int:
        return int(self.tokens[batch - 1], 16)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "tokens": list(self.tokens)}


@dataclass(frozen=True)
class Redeeming:
    """The check of one batch's tokens, small enough to send to the processes opening uploads."""

    modulus: int
    message: bytes  # what every token of the batch signs, after a prefix of its own

    @classmethod
    def of(cls, issuer: Issuing, collection: str, batch: int) -> Redeeming:
        """Redeeming tokens of this batch of the collection with this hash."""
        return cls(issuer.modulus(batch), TOKEN + bytes.fromhex(collection) + batch.to_bytes(4))

    def number(self, credential: bytes) -> bytes | None:
        """The number identifying a token; None if the issuer has not signed it for this batch."""
        prefix, signature = credential[:PREFIX], credential[PREFIX:]
        return prefix if verifies(self.modulus, prefix + self.message, signature) else None


def _require_modulus(digits: str) -> None:
    try:
        content = bytes.fromhex(digits)
    except ValueError:
        content = b""
    fits = content.hex() == digits and len(content) == SIZE
    if not fits or int(digits, 16).bit_length() != BITS or not content[-1] & 1:
        raise BadArgument("issuer", "has a key that is none", f"use {BITS} bits for each batch")
