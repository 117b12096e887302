"""The shuffler's sealing keys: announced, rotated, retired. Replaced keys open pending uploads."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, WireError
from headcount_service.runtime.crash_points import point
from headcount_service.store.database import Database, do, many, one
from headcount_service.wire.keys import Announced, Keys, Signer
from headcount_service.wire.report import PrivateKey

LIFETIME = 30 * 86_400  # seconds that a key is announced for
GRACE = 2 * 86_400  # and for how long it still opens what was sealed to it
MOST = 255
LATEST = "SELECT * FROM sealing_keys WHERE suite = :suite AND state = 'active' ORDER BY number DESC"


class OuterKeys:
    """The sealing keys of one shuffler. Their numbers are public and carry no information."""

    def __init__(self, database: Database, keys: Keys, signer: Signer, clock: Callable[[], float] = time.time) -> None:
        self.database, self.keys, self.signer, self.clock = database, keys, signer, clock
        self._private: dict[int, tuple[str, PrivateKey]] = {}

    def ready(self, suite: str) -> None:
        """Make sure that a key is announced."""
        with self.database.reading() as connection:
            found = one(connection, LATEST, suite=suite)
        if found is None:
            self.rotate(suite)

    def rotate(self, suite: str) -> int:
        """A new key, announced from now on; those before it expire after a while."""
        with self.database.writing() as connection:
            if not self.database.embedded:
                do(connection, "LOCK TABLE sealing_keys IN EXCLUSIVE MODE")
            numbers = [row["number"] for row in many(connection, "SELECT number FROM sealing_keys")]
            number = max(numbers, default=0) + 1
            if number > MOST:
                raise BadArgument("keys", f"are used up: there have been {MOST}", "start another shuffler")
            expires = int(self.clock()) + LIFETIME
            [key] = self.keys.make([_name(number)], suite)
            announced = Announced("shuffler", "", number, suite, key.hex(), expires)
            signed = self.signer.signed("announcement", announced.to_json())
            over = "UPDATE sealing_keys SET state = 'expired', expires = :at WHERE suite = :suite AND state = 'active'"
            do(connection, over, at=int(self.clock()) + GRACE, suite=suite)
            new = "INSERT INTO sealing_keys VALUES (:number, :suite, 'active', :announcement, :expires)"
            row = {"number": number, "suite": suite, "announcement": canonical(signed), "expires": expires}
            do(connection, new, row)
        return number

    def retire(self, number: int | None = None) -> list[int]:
        """Deletes this key, or all that are due: what was sealed to them cannot be opened again.

        Files that a crash has left behind go with them.
        """
        over = "SELECT * FROM sealing_keys WHERE state = 'expired' AND (number = :number OR (:all AND expires < :now))"
        with self.database.writing() as connection:
            given = {"number": number or 0, "all": number is None, "now": int(self.clock())}
            if number is not None:
                _require_replaced(
                    number, one(connection, "SELECT state FROM sealing_keys WHERE number = :number", **given)
                )
            gone = [row["number"] for row in many(connection, over, **given)]
            for each in gone:
                do(connection, "UPDATE sealing_keys SET state = 'deleted' WHERE number = :number", number=each)
            deleted = many(connection, "SELECT number FROM sealing_keys WHERE state = 'deleted'")
        point("while retiring")
        for row in deleted:
            self.keys.delete(_name(row["number"]))
        return gone

    def look_after(self) -> None:
        """Rotates keys that clients would soon refuse."""
        soon = "SELECT DISTINCT suite FROM sealing_keys WHERE state = 'active' AND expires < :soon"
        with self.database.reading() as connection:
            suites = [row["suite"] for row in many(connection, soon, soon=int(self.clock()) + GRACE)]
        for suite in suites:
            self.rotate(suite)

    def forget_deleted(self) -> None:
        """Drops keys from memory whose files another process has deleted."""
        for number in [number for number in list(self._private) if not self.keys.has(_name(number))]:
            self._private.pop(number, None)

    def announcement(self, suite: str) -> Any:
        with self.database.reading() as connection:
            row = one(connection, LATEST, suite=suite)
        if row is None:
            raise BadArgument("keys", "are all retired", "rotate them: headcount keys rotate")
        return json.loads(row["announcement"])

    def table(self) -> list[dict[str, Any]]:
        with self.database.reading() as connection:
            rows = many(connection, "SELECT number, suite, state, expires FROM sealing_keys ORDER BY number")
        return [{**row, "state": self._shown(row)} for row in rows]

    def _shown(self, row: Any) -> str:
        """The state of a key: announced, or replaced and still opening uploads until it expires."""
        if row["state"] != "expired":
            return str(row["state"])
        return "replaced" if self.clock() <= row["expires"] else "over"

    def private(self, number: int, suite: str) -> PrivateKey:
        """The private key of this number; an unknown or retired number is a WireError."""
        if number not in self._private:
            with self.database.reading() as connection:
                row = one(connection, "SELECT * FROM sealing_keys WHERE number = :number", number=number)
            if row is None or row["state"] == "deleted" or not self.keys.has(_name(number)):
                raise WireError
            self._private[number] = (row["suite"], self.keys.private(_name(number)))
        found, key = self._private[number]
        if found != suite:
            raise WireError
        return key


def _require_replaced(number: int, row: Any) -> None:
    """Refuses to retire absent or announced keys. A deleted one is deleted again, after a crash."""
    if row is None:
        raise BadArgument("number", f"{number} is no key of this shuffler", "see headcount keys show")
    if row["state"] == "active":
        raise BadArgument("number", f"{number} is the key that is announced now", "rotate first, then retire it")


def _name(number: int) -> str:
    return f"outer-{number}"
