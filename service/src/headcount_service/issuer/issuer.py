"""The issuer: signs one blind token per invitation and batch, which it cannot recognise in use.

It knows who asked. The shuffler, which takes tokens, does not; and what either has seen fits every
way of matching the one with the other alike.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa
from gmpy2 import powmod_sec
from sqlalchemy import Connection

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Damaged, TokenSpent, UnknownCollection, Unsupported
from headcount_service.store.database import Database, do, many, one
from headcount_service.store.encryption import new_secret
from headcount_service.wire.admission import ROLE
from headcount_service.wire.blind import EXPONENT, SIZE, unit
from headcount_service.wire.collection import MOST_BATCHES, Collection
from headcount_service.wire.deduplication import invitation, is_invitation
from headcount_service.wire.keys import Keys

INVITATIONS, ISSUED = "invitations", "issued"  # what its secrets are for: all invitations, and who asked
COLLECTION = "SELECT * FROM issuing WHERE id = :name"


class Issuer:
    """A party of its own, or a part of the analyser."""

    def __init__(self, database: Database, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self.database, self.keys, self.clock = database, keys, clock
        self.signer = keys.signer()
        self._loaded: dict[str, rsa.RSAPrivateKey] = {}  # to read a key is to check it, which takes longer than to sign
        self._secrets: dict[str, bytes] = {}

    def announce(self, batches: int, made: Sequence[str] = ()) -> dict[str, Any]:
        """Signed keys for the batches of a collection to be agreed on: earlier ones, and new ones.

        To make one takes a while, so that many are asked for a few at a time.
        """
        if not isinstance(batches, int) or isinstance(batches, bool) or not 1 <= batches <= MOST_BATCHES:
            raise BadArgument("batches", "is not a number that works", f"use a number from 1 to {MOST_BATCHES:,}")
        if len(made) > batches or not all(map(self._has, made)) or len({*made}) != len(made):
            raise BadArgument("made", "are not keys of this issuer, each once", "give what it announced before")
        tokens = [*made, *self.keys.make_signing(batches - len(made), key_name)]
        return {**self.signer.signed("announcement", {"role": ROLE, "tokens": tokens}), "key": self.signer.public}

    def register(self, config: Any) -> Collection:
        """Issues tokens for a collection whose keys it has announced. Again is not an error."""
        collection = Collection.from_json(config)
        issuer = collection.issuer
        if issuer is None or issuer.key != self.signer.public:
            raise BadArgument("issuer", "is not this one", f"create the collection with {self.signer.public}")
        with self.database.writing() as connection:
            if not self.database.embedded:  # nobody else takes the same keys meanwhile
                do(connection, "LOCK TABLE issuing IN SHARE ROW EXCLUSIVE MODE")
            known = one(connection, COLLECTION, name=collection.id)
            if known is None:
                if not all(map(self._has, issuer.tokens)):
                    raise BadArgument("issuer", "has lost keys that it announced", "create the collection anew")
                if not self._used(connection).isdisjoint(issuer.tokens):
                    raise BadArgument("issuer", "has keys of another collection", "create the collection anew")
                self.keys.keep(asked_name(collection.id), new_secret())
                new = "INSERT INTO issuing VALUES (:id, :config, :expires) ON CONFLICT DO NOTHING"
                do(connection, new, id=collection.id, config=canonical(config), expires=collection.over)
        return collection

    def _has(self, token: Any) -> bool:
        """Whether a key is one of its own."""
        return isinstance(token, str) and self.keys.has(key_name(token))

    def _used(self, connection: Connection) -> set[str]:
        """The keys of all collections: if two shared one, a token could be spent in the other."""
        agreed = (json.loads(row["config"]) for row in many(connection, "SELECT config FROM issuing"))
        return {token for each in agreed for token in each["issuer"]["tokens"]}

    def collection(self, name: str) -> Collection:
        with self.database.reading() as connection:
            row = one(connection, COLLECTION, name=name)
        if row is None:
            raise UnknownCollection(name)
        return Collection.from_json(json.loads(row["config"]))

    def names(self) -> list[str]:
        with self.database.reading() as connection:
            return [row["id"] for row in many(connection, "SELECT id FROM issuing ORDER BY id")]

    def invite(self, name: str, number: int) -> list[str]:
        """New invitations, each good for one token per batch."""
        self.collection(name)
        secret = self.signer.secret(INVITATIONS)
        return [invitation(secret, name, secrets.token_bytes(16)).hex() for _ in range(number)]

    def sign(self, name: str, batch: int, code: bytes, blinded: bytes) -> bytes:
        """The invitation's blinded token for this batch. The same request has the same answer."""
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
        asked = {"name": name, "batch": batch, "who": self._hidden(name, code), "blinded": self._hidden(name, blinded)}
        with self.database.writing() as connection:
            do(connection, "INSERT INTO issued VALUES (:name, :batch, :who, :blinded) ON CONFLICT DO NOTHING", asked)
            first = "SELECT blinded FROM issued WHERE collection = :name AND batch = :batch AND who = :who"
            if bytes(one(connection, first, **asked)["blinded"]) != asked["blinded"]:
                raise TokenSpent
        if token not in self._loaded:
            self._loaded[token] = self.keys.signing(token)
        return signed(self._loaded[token], blinded)

    def destroy(self, name: str) -> None:
        """Delete its keys, and the records of who asked. Idempotent."""
        with self.database.reading() as connection:
            known = one(connection, COLLECTION, name=name)
        if known is not None:
            self._forget(self.collection(name))

    def advance(self) -> list[Exception]:
        """Forget collections that have ended."""
        with self.database.reading() as connection:
            over = many(connection, "SELECT id FROM issuing WHERE expires < :now", now=int(self.clock()))
        for row in over:
            self._forget(self.collection(row["id"]))
        return []

    def tidy(self) -> None:
        """At start: deletes ended collections, and keys a crash left without a collection."""
        self.advance()
        used = {name for each in self.names() for name in self._kept(self.collection(each))}
        for name in self.keys.names():
            if name.startswith((f"{KEY}-", f"{ISSUED}-")) and name not in used:
                self.keys.delete(name)

    def _forget(self, collection: Collection) -> None:
        """Delete the collection, keys first: then remains of deleted rows do not tell who asked."""
        for name in self._kept(collection):
            self._loaded.pop(name, None)
            self.keys.delete(name)
        self._secrets.pop(collection.id, None)
        with self.database.writing() as connection:
            do(connection, "DELETE FROM issued WHERE collection = :name", name=collection.id)
            do(connection, "DELETE FROM issuing WHERE id = :name", name=collection.id)
        self.database.checkpoint()

    def _kept(self, collection: Collection) -> list[str]:
        """The names of what the key folder has for it."""
        tokens = () if collection.issuer is None else collection.issuer.tokens
        return [*map(key_name, tokens), asked_name(collection.id)]

    def _hidden(self, collection: str, what: bytes) -> bytes:
        """The keyed hash stored for an invitation or request; the key goes with the collection."""
        if collection not in self._secrets:
            self._secrets[collection] = self.keys.secret(asked_name(collection))
        return hmac.digest(self._secrets[collection], what, "sha256")


KEY = "token"


def asked_name(collection: str) -> str:
    """The name of the secret of these hashes."""
    return f"{ISSUED}-{collection}"


def key_name(modulus: str) -> str:
    """The name of the key with this modulus."""
    return f"{KEY}-{sha256(modulus.encode()).hexdigest()[:32]}"


def signed(key: rsa.RSAPrivateKey, blinded: bytes) -> bytes:
    """RSA's private operation: constant-time, on a blinded number, with a check against faults."""
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
        raise Damaged("a token was signed wrongly and is kept back", "see to the memory and processor of this machine")
    return answer.to_bytes(len(blinded))
