"""The issuer: gives each invited person one token for each batch, and cannot recognise it when it is used.

It knows who asked. The shuffler, which takes tokens, does not; and what either has seen fits every way of matching the
one with the other alike.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from gmpy2 import powmod_sec

from headcount.core.canonical import canonical
from headcount.core.errors import BadArgument, Damaged, Refused, Unsupported
from headcount.service.blind import EXPONENT, SIZE, unit
from headcount.service.collection import MOST_BATCHES, Collection, Unknown
from headcount.service.door import invitation, is_invitation
from headcount.service.issuing import ROLE
from headcount.service.keys import Keys
from headcount.store.database import Database, do, many, one

INVITATIONS, ISSUED = "invitations", "issued"  # what its secrets are for
COLLECTION = "SELECT * FROM issuing WHERE id = :name"


class Spent(Refused):
    """There is one token for an invitation and batch, and it was given to another request."""

    def __init__(self) -> None:
        super().__init__(
            "this invitation has had its token for this batch, on another device or before its folder was emptied"
        )


class Issuer:
    """A party of its own, or a part of the analyser."""

    def __init__(self, database: Database, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self.database, self.keys, self.clock = database, keys, clock
        self.signer = keys.signer()
        self._loaded: dict[str, rsa.RSAPrivateKey] = {}  # to read a key is to check it, which takes longer than to sign

    def announce(self, batches: int) -> dict[str, Any]:
        """New keys for the batches of a collection that is about to be agreed on, signed."""
        if not isinstance(batches, int) or isinstance(batches, bool) or not 1 <= batches <= MOST_BATCHES:
            raise BadArgument("batches", "is not a number that works", f"use a number from 1 to {MOST_BATCHES:,}")
        tokens = self.keys.make_signing(batches, key_name)
        return {**self.signer.signed("announcement", {"role": ROLE, "tokens": tokens}), "key": self.signer.public}

    def register(self, config: Any) -> Collection:
        """Issues tokens for a collection whose keys it has announced. Again is not an error."""
        collection = Collection.from_json(config)
        issuer = collection.issuer
        if issuer is None or issuer.key != self.signer.public:
            raise BadArgument("issuer", "is not this one", f"create the collection with {self.signer.public}")
        with self.database.writing() as connection:
            known = one(connection, COLLECTION, name=collection.id)
            if known is None:
                for token in issuer.tokens:
                    if not self.keys.has(key_name(token)):
                        raise BadArgument("issuer", "has lost keys that it announced", "create the collection anew")
                new = "INSERT INTO issuing VALUES (:id, :config, :expires) ON CONFLICT DO NOTHING"
                do(connection, new, id=collection.id, config=canonical(config), expires=collection.over)
        return collection

    def collection(self, name: str) -> Collection:
        with self.database.reading() as connection:
            row = one(connection, COLLECTION, name=name)
        if row is None:
            raise Unknown(name)
        return Collection.from_json(json.loads(row["config"]))

    def names(self) -> list[str]:
        with self.database.reading() as connection:
            return [row["id"] for row in many(connection, "SELECT id FROM issuing ORDER BY id")]

    def invite(self, name: str, number: int) -> list[str]:
        """So many invitations, each good for one token for each batch."""
        self.collection(name)
        secret = self.signer.secret(INVITATIONS)
        return [invitation(secret, name, secrets.token_bytes(16)).hex() for _ in range(number)]

    def sign(self, name: str, batch: int, code: bytes, blinded: bytes) -> bytes:
        """The token of this invitation for this batch, which is hidden. The same request again has the same answer."""
        collection = self.collection(name)
        if not 1 <= batch <= collection.batches or len(blinded) != SIZE:
            raise BadArgument("batch", "is none of the collection's", f"use a number from 1 to {collection.batches}")
        if not is_invitation(self.signer.secret(INVITATIONS), name, code):
            raise BadArgument("invitation", "is not one to this collection", "give the digits that you were sent")
        assert collection.issuer is not None  # noqa: S101  # refused otherwise when it was registered
        token = key_name(collection.issuer.tokens[batch - 1])
        if self.clock() > collection.over or not self.keys.has(token):
            self._loaded.pop(token, None)
            raise Unsupported("the collection is over, and no more tokens are issued")
        asked = {"name": name, "batch": batch, "who": self._hidden(code), "blinded": sha256(blinded).digest()}
        with self.database.writing() as connection:
            do(connection, "INSERT INTO issued VALUES (:name, :batch, :who, :blinded) ON CONFLICT DO NOTHING", asked)
            first = "SELECT blinded FROM issued WHERE collection = :name AND batch = :batch AND who = :who"
            if bytes(one(connection, first, **asked)["blinded"]) != asked["blinded"]:
                raise Spent
        if token not in self._loaded:
            self._loaded[token] = self.keys.signing(token)
        return signed(self._loaded[token], blinded)

    def destroy(self, name: str) -> None:
        """Its keys, and who asked. Again is not an error."""
        with self.database.reading() as connection:
            known = one(connection, COLLECTION, name=name)
        if known is not None:
            self._forget(self.collection(name))

    def advance(self) -> list[Exception]:
        """Forgets collections that are over."""
        with self.database.reading() as connection:
            over = many(connection, "SELECT id FROM issuing WHERE expires < :now", now=int(self.clock()))
        for row in over:
            self._forget(self.collection(row["id"]))
        return []

    def tidy(self) -> None:
        """When it starts: collections that are over, and keys that a crash has left and no collection has."""
        self.advance()
        used = {key_name(token) for name in self.names() for token in self._tokens(self.collection(name))}
        for name in self.keys.names():
            if name.startswith(f"{KEY}-") and name not in used:
                self.keys.delete(name)

    def _forget(self, collection: Collection) -> None:
        for token in self._tokens(collection):
            self._loaded.pop(key_name(token), None)
            self.keys.delete(key_name(token))
        with self.database.writing() as connection:
            do(connection, "DELETE FROM issued WHERE collection = :name", name=collection.id)
            do(connection, "DELETE FROM issuing WHERE id = :name", name=collection.id)
        self.database.forget()

    def _tokens(self, collection: Collection) -> tuple[str, ...]:
        return () if collection.issuer is None else collection.issuer.tokens

    def _hidden(self, code: bytes) -> bytes:
        """As what an invitation is known: a thief of the database has none."""
        return hmac.digest(self.signer.secret(ISSUED), code, "sha256")


KEY = "token"


def key_name(modulus: str) -> str:
    """What the key with this modulus is called."""
    return f"{KEY}-{sha256(modulus.encode()).hexdigest()[:32]}"


def signed(key: rsa.RSAPrivateKey, blinded: bytes) -> bytes:
    """The private operation of RSA: in constant time, on a number that whoever asked does not know, and checked."""
    own = key.private_numbers()
    modulus, asked = own.public_numbers.n, int.from_bytes(blinded)
    if asked >= modulus:
        raise BadArgument("token", "is not a request for one", "blind it with the key of this batch")
    factor = unit(modulus)
    hidden = asked * pow(factor, EXPONENT, modulus) % modulus
    of_p, of_q = (
        int(powmod_sec(hidden % prime, exponent, prime)) for prime, exponent in ((own.p, own.dmp1), (own.q, own.dmq1))
    )
    whole = of_q + own.q * ((of_p - of_q) * own.iqmp % own.p)
    answer = whole * pow(factor, -1, modulus) % modulus
    if pow(answer, EXPONENT, modulus) != asked:  # a fault would give the key away
        raise Damaged("a token was signed wrongly and is kept back; see to the memory and processor of this machine")
    return answer.to_bytes(len(blinded))
