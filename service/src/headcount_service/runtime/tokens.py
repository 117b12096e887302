"""Bearer tokens and their roles. Only hashes of tokens are stored."""

from __future__ import annotations

import secrets
from hashlib import sha256
from typing import Any

from headcount.errors import BadArgument
from headcount_service.store.database import Database, do, many, one

PREFIX = "hc-"
ROLES = {
    "shuffler": ("operator", "monitor"),
    "issuer": ("operator", "monitor"),
    "analyser": ("operator", "analyst", "shuffler", "monitor"),
}  # of each party


class Tokens:
    """The tokens that one party has given out."""

    def __init__(self, database: Database, party: str) -> None:
        self.database, self.roles = database, ROLES[party]

    def issue(self, role: str, name: str) -> str:
        """A new token for this role. It is shown now and never again."""
        if role not in self.roles:
            raise BadArgument("role", f"is {role!r}", f"use {' or '.join(map(repr, self.roles))}")
        token = PREFIX + secrets.token_urlsafe(32)
        with self.database.writing() as connection:
            new = "INSERT INTO tokens VALUES (:hash, :role, :name) ON CONFLICT DO NOTHING"
            if not do(connection, new, hash=_hash(token), role=role, name=name):
                raise BadArgument("name", f"{name!r} has a token already", "use another name, or revoke that first")
        return token

    def revoke(self, name: str) -> None:
        with self.database.writing() as connection:
            if not do(connection, "DELETE FROM tokens WHERE name = :name", name=name):
                raise BadArgument("name", f"{name!r} has no token", "see headcount tokens show")

    def table(self) -> list[dict[str, Any]]:
        with self.database.reading() as connection:
            return [dict(row) for row in many(connection, "SELECT name, role FROM tokens ORDER BY name")]

    def role(self, token: str) -> str | None:
        """The role of a token, looked up by hash, so that response times reveal no part of it."""
        with self.database.reading() as connection:
            row = one(connection, "SELECT role FROM tokens WHERE hash = :hash", hash=_hash(token))
        return None if row is None else str(row["role"])


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()
