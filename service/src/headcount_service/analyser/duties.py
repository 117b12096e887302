"""The analyser's periodic work: automatic releases, the webhook, and the expiry of keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from headcount_service.analyser.analyser import Analyser
from headcount_service.analyser.releases import Releases
from headcount_service.analyser.webhook import Webhook
from headcount_service.runtime.crash_points import point
from headcount_service.store.database import many, update_batch

FIRST, LONGEST = 1.0, 3_600.0  # seconds until something that failed is tried again: twice as long each time
KEYS = 60.0  # seconds between looks at keys
DELIVERED = (
    "SELECT b.collection, b.number, c.config FROM batches b JOIN collections c ON c.id = b.collection "
    "WHERE c.state = 'open' AND b.state IN ('delivered', 'claimed') ORDER BY b.collection, b.number"
)
TO_TELL = "SELECT * FROM batches WHERE state IN ('released', 'refused') AND NOT notified ORDER BY collection, number"


class Duties:
    """The periodic work of one analyser. A failed task is tried again later and delays no other."""

    def __init__(self, analyser: Analyser, releases: Releases) -> None:
        self.analyser, self.releases, self.database = analyser, releases, analyser.database
        self.webhook = Webhook(analyser.webhook) if analyser.webhook else None
        self._later: dict[tuple[str, str, int], tuple[float, float]] = {}  # when to try again, and how long was waited
        self._looked = 0.0

    def advance(self) -> list[Exception]:
        """Do everything that is due; returns what failed."""
        problems = list[Exception]()
        for row in self._found(DELIVERED):
            if json.loads(row["config"]).get("automatic"):  # what was agreed; format 1 does not have it
                self._try(self._release, row, problems)
        for row in self._found(TO_TELL) if self.webhook is not None else ():
            self._try(self._tell, row, problems)
        if self.analyser.clock() >= self._looked + KEYS:
            self._looked = self.analyser.clock()
            self.analyser.forget_keys()
        return problems

    def _release(self, row: Any) -> None:
        self.releases.release(row["collection"], row["number"])

    def _tell(self, row: Any) -> None:
        """The notice of a batch's release, with its answer's hash, or refusal; never the answer."""
        assert self.webhook is not None  # noqa: S101  # nothing is looked for otherwise
        content = {
            "collection": self.analyser.collection(row["collection"]).hash,
            "batch": row["number"],
            "state": row["state"],
            "hash": sha256(row["result"].encode()).hexdigest(),
            "analyser": self.analyser.signer.public,
        }
        self.webhook.post(self.analyser.signer.signed("webhook", content))
        point("after telling")
        with self.database.writing() as connection:
            update_batch(connection, row, notified=True)

    def _found(self, query: str) -> list[Any]:
        with self.database.reading() as connection:
            return many(connection, query)

    def _try(self, work: Callable[[Any], None], row: Any, problems: list[Exception]) -> None:
        """Run a task, unless it failed a short while ago."""
        now, key = self.analyser.clock(), (work.__name__, row["collection"], row["number"])
        again, waited = self._later.get(key, (now, FIRST / 2))
        if now < again:
            return
        try:
            work(row)
            self._later.pop(key, None)
        except Exception as problem:  # noqa: BLE001  # whatever it is, other batches go on
            wait = min(2 * waited, LONGEST)
            self._later[key] = now + wait, wait
            problems.append(problem)
