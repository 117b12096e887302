"""Signed notices of batches never to be delivered, so that the analyser deletes their keys."""

from __future__ import annotations

from collections import Counter

from headcount.errors import BadArgument, RemoteRefusal, UnknownCollection
from headcount_service.shuffler.shuffler import Shuffler
from headcount_service.store.database import many
from headcount_service.wire.http_client import Receiver
from headcount_service.wire.keys import verified

UNKNOWN = 404
BATCHES = (
    "SELECT b.collection, b.number, b.state, b.manifest IS NULL AS unread, c.state AS agreed FROM batches b "
    "JOIN collections c ON c.id = b.collection ORDER BY b.collection, b.number"
)


class PurgeNotices:
    """Idempotent notices of purged batches, sent when new and again after a restart."""

    def __init__(self, shuffler: Shuffler, receiver: Receiver) -> None:
        self.shuffler, self.receiver = shuffler, receiver
        self._told: dict[str, list[int]] = {}  # by collection: the batches that the analyser knows to be purged

    def send(self) -> list[Exception]:
        """Send every collection's notices; one failure delays no other. Returns the failures."""
        problems = list[Exception]()
        for name, purged in self._due().items():
            try:
                self._send(name, purged)
            except (RemoteRefusal, BadArgument) as problem:
                problems.append(problem)
        return problems

    def _send(self, name: str, purged: list[int]) -> None:
        collection = self.shuffler.collection(name)
        notice = self.shuffler.signer.signed("notice", {"collection": collection.hash, "purged": purged})
        try:
            receipt = self.receiver.notify_purged(notice)
        except (RemoteRefusal, UnknownCollection) as refusal:
            if isinstance(refusal, RemoteRefusal) and refusal.status != UNKNOWN:
                raise  # one that does not know the collection, or no longer, has no key of it
        else:
            if verified(receipt, collection.analyser, "receipt") != {"received": notice["signature"]}:
                raise BadArgument("receipt", "is for another notice", "ask the analyser's operator")
        self._told[name] = purged

    def _due(self) -> dict[str, list[int]]:
        """Batches that the analyser must be told of: one that was destroyed unread has no manifest,
        and one that was never opened, in a collection that opens no more, will not be."""
        due: dict[str, list[int]] = {}
        with self.shuffler.database.reading() as connection:
            batches = many(connection, BATCHES)
        opened = Counter(batch["collection"] for batch in batches)
        for batch in batches:
            if batch["state"] == "purged" and batch["unread"]:
                due.setdefault(batch["collection"], []).append(batch["number"])
        for name in {batch["collection"] for batch in batches if batch["agreed"] != "open"}:
            never = range(opened[name] + 1, self.shuffler.collection(name).batches + 1)
            due[name] = [*due.get(name, []), *never]
        return {name: purged for name, purged in due.items() if purged and self._told.get(name) != purged}
