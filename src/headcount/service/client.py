"""One person's device: it looks at what is asked, randomises once, seals, and keeps what it sent.

The answer itself is never stored. What was made is sent again, byte for byte, until it is taken: to randomise anew
would let somebody average the noise away. The device has limits of its own, whatever a collection says.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from headcount.core.coins import Coins, SecretCoins
from headcount.core.errors import BadArgument, OverBudget, Refused, Unsupported
from headcount.core.files import put
from headcount.core.wire import CREDENTIAL, IDENTITY
from headcount.service.collection import Admission, Collection
from headcount.service.keys import Announced
from headcount.service.receipt import Receipt
from headcount.service.remote import Elsewhere, Remote
from headcount.service.wire import NO_CREDENTIAL, Upload

FORMAT = "headcount report 1"


@dataclass(frozen=True)
class Limits:
    """What this device agrees to at most."""

    epsilon: float = 2.0
    delta: float = 1e-4
    least: int = 100  # people among whom a report is mixed
    colluding: float = float("inf")  # the epsilon that may be left if the operators work together
    lifetime_epsilon: float = 10.0
    lifetime_delta: float = 1e-3

    def require(self, collection: Collection, spent: tuple[Fraction, Fraction]) -> None:
        """Refuses what goes beyond."""
        plan, protocol = collection.plan, collection.plan.protocol
        alone = float("inf") if protocol.local_epsilon is None else protocol.local_epsilon
        for name, asked, most in (
            ("epsilon", plan.budget.epsilon, self.epsilon), ("delta", plan.budget.delta, self.delta),
            ("colluding", alone, self.colluding),
        ):  # fmt: skip
            if asked > most:
                raise Unsupported(
                    f"the collection asks for {name}={asked:g}, and this device agrees to {most:g} at most"
                )
        honest = protocol.crowd.honest
        if honest < self.least:
            raise Unsupported(f"the collection relies on {honest:,} honest people, and this device on {self.least:,}")
        for name, before, more in (
            ("lifetime_epsilon", spent[0], plan.budget.epsilon), ("lifetime_delta", spent[1], plan.budget.delta)
        ):  # fmt: skip
            if before + Fraction(more) > Fraction(getattr(self, name)):
                raise OverBudget(
                    f"with this report the device would have spent {float(before) + more:g} in all, and agrees to "
                    f"{getattr(self, name):g} ({name})"
                )


class Client:
    """The reports of one device, in a folder."""

    def __init__(
        self, folder: str | Path, limits: Limits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder, self.limits, self.clock = Path(folder), limits or Limits(), clock
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def report(
        self, address: str, name: str, answer: Any, *, hash: str | None = None, invitation: str = "",
        remote: Remote | None = None,
    ) -> Receipt:  # fmt: skip
        """Answers now. Asked again, the same report is sent again; `hash` says which collection it must be."""
        if remote is None:
            with closing(Remote(address)) as own:
                return self.report(address, name, answer, hash=hash, invitation=invitation, remote=own)
        offer = remote.ask("GET", f"/v1/collections/{name}")
        return self.send(self.prepare(offer, name, answer, hash=hash, invitation=invitation), remote)

    def prepare(
        self, offer: Any, name: str, answer: Any, *, hash: str | None = None, invitation: str = "",
        coins: Coins | None = None,
    ) -> Path:  # fmt: skip
        """Makes the report, once, and keeps it. It may be sent at any moment until the batch closes."""
        collection = Collection.from_json(offer["collection"], hash=hash)
        if collection.id != name:
            raise BadArgument("collection", "is another one than was asked for", "do not answer")
        if offer["batch"] is None:
            raise Unsupported("the collection takes no reports now")
        batch = int(offer["batch"])
        path = self.folder / f"{collection.hash}-{batch}.json"
        if not path.exists():
            self.limits.require(collection, self.spent())
            body = self._sealed(collection, batch, offer, answer, invitation, coins or SecretCoins())
            self._keep(path, collection, batch, body)
        return path

    def send(self, path: Path, remote: Remote) -> Receipt:
        """What was made, as often as it takes."""
        kept = _read(path)
        if kept["state"] != "taken":
            to = f"/v1/collections/{kept['collection'][:32]}/batches/{kept['batch']}/reports"
            try:
                remote.ask("POST", to, bytes.fromhex(kept["body"]))
                state = "taken"
            except Elsewhere as refusal:
                if refusal.status != 409:
                    raise
                state = "closed"
            put(path, json.dumps({**kept, "state": state}))
        return self.receipt(path)

    def receipt(self, path: Path) -> Receipt:
        kept = _read(path)
        epsilon, delta = self.spent()
        own = {name: kept[name] for name in ("question", "collection", "batch", "state", "messages", "epsilon", "delta",
                                             "least", "colluding")}  # fmt: skip
        return Receipt(
            **own, bytes=len(kept["body"]) // 2, lifetime_epsilon=float(epsilon), lifetime_delta=float(delta)
        )

    def receipts(self) -> list[Receipt]:
        return [self.receipt(path) for path in self._paths()]

    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum over all reports ever made here, sent or not: an upper bound on what they give away together."""
        kept = [_read(path) for path in self._paths()]
        return sum((Fraction(k["epsilon"]) for k in kept), Fraction(0)), sum(
            (Fraction(k["delta"]) for k in kept), Fraction(0)
        )

    def _sealed(
        self, collection: Collection, batch: int, offer: Any, answer: Any, invitation: str, coins: Coins
    ) -> bytes:
        envelope, protocol = collection.envelope(batch), collection.plan.protocol
        analyser = Announced.from_json(offer["analyser"], collection.analyser, "analyser")
        shuffler = Announced.from_json(offer["shuffler"], collection.shuffler, "shuffler")
        if analyser.purpose != collection.purpose(batch):
            raise BadArgument("analyser", "announced this key for something else", "do not answer")
        if min(analyser.expires, shuffler.expires) < self.clock():
            raise BadArgument("keys", "have expired", "ask for the collection again")
        values = protocol.task.encoded(np.asarray([answer]))
        messages = envelope.sealed(protocol.reports(values, coins).messages, analyser.public)
        upload = Upload(os.urandom(IDENTITY), _credential(collection, invitation), tuple(messages))
        return envelope.upload(upload, shuffler.public, shuffler.number)

    def _keep(self, path: Path, collection: Collection, batch: int, body: bytes) -> None:
        """Durably, and never in place of another: whoever comes second uses the first one's."""
        plan, protocol = collection.plan, collection.plan.protocol
        kept = {
            "format": FORMAT, "collection": collection.hash, "question": collection.question, "batch": batch,
            "state": "made", "messages": collection.wire.messages, "epsilon": plan.budget.epsilon,
            "delta": plan.budget.delta, "least": protocol.crowd.least, "colluding": protocol.local_epsilon,
            "body": body.hex(),
        }  # fmt: skip
        beginning = put(self.folder / f"new-{os.urandom(8).hex()}", json.dumps(kept))
        try:
            os.link(beginning, path)
        except FileExistsError:
            pass
        finally:
            beginning.unlink()
        folder = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _paths(self) -> Iterator[Path]:
        return iter(sorted(self.folder.glob("*-*.json")))


def _credential(collection: Collection, invitation: str) -> bytes:
    if collection.admission is Admission.ANYONE:
        return NO_CREDENTIAL
    try:
        found = bytes.fromhex(invitation)
    except ValueError:
        found = b""
    if len(found) != CREDENTIAL:
        raise BadArgument("invitation", "is not one", f"give the {2 * CREDENTIAL} digits that you were sent")
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["format"] != FORMAT:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise Refused(f"{path} is not a report that was made here; move it away") from None
    return dict(kept)
