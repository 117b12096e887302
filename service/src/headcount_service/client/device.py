"""One device's client: checks its limits, randomises once, seals, sends and keeps a receipt.

The answer itself is never stored. What was made is sent again, byte for byte, until it is taken: to
randomise anew would let somebody average the noise away. Once it is taken, only its receipt is
kept. The device has limits of its own, whatever a collection says.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy.typing as npt

from headcount.common.atomic_files import SECRET, write_atomically
from headcount.errors import BadArgument, BadData, RemoteRefusal, Unsupported
from headcount.ledger.files import locked
from headcount.programme.coins import Coins, DeviceCoins
from headcount.protocols.base.report_size import IDENTITY
from headcount.questions.question import Question
from headcount.questions.reading import column
from headcount_service.client.credentials import Credentials, forget_token, kept_json
from headcount_service.client.limits import Limits
from headcount_service.client.receipt import Receipt
from headcount_service.wire.collection import Admission, Collection, Shortfall
from headcount_service.wire.http_client import Remote
from headcount_service.wire.keys import Announced
from headcount_service.wire.report import Report

FORMAT = "headcount report 1"
OWN = ("question", "collection", "batch", "state", "epsilon", "delta", "least", "colluding", "top_up")
SINCE = ("corrupt", "anyone", "fixed", "padded", "rounds")  # which earlier versions did not note
SEALED = ("messages", "identity", "key", "invitation", "body")  # what a report is sent from, until it is taken


class Client:
    """A device: its reports, in a folder, and what it agrees to.

    Parameters
    ----------
    folder : str or Path
        Where reports are kept until they are taken; created if it does not exist.
    limits : Limits, optional
        What the device agrees to, whatever a collection asks for.
    clock : callable
        Seconds since 1970.

    Examples
    --------
    >>> from headcount_service import Client, Limits
    >>> Client("phone", Limits(epsilon=1, delta=1e-6))
    Client('phone')
    """

    def __init__(
        self, folder: str | Path, limits: Limits | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder, self.limits, self.clock = Path(folder), limits or Limits(), clock
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return f"Client({str(self.folder)!r})"

    def report(
        self,
        address: str,
        name: str,
        answer: Any,
        *,
        hash: str | None = None,
        invitation: str = "",
        relay: str = "",
        remote: Remote | None = None,
    ) -> Receipt:
        """Answer now. Called again, the same report is sent again.

        Parameters
        ----------
        address : str
            The shuffler's.
        name : str
            The collection's.
        answer : object
            What the question takes.
        hash : str, optional
            Pins the collection, its plan and both parties' keys.
        invitation : str
            Where people are invited.
        relay : str
            An address that forwards to the shuffler, which then does not learn this device's.
        remote : Remote, optional
            The shuffler, where a connection is open.

        Returns
        -------
        Receipt

        Raises
        ------
        errors.Unsupported, errors.OverBudget
            If the collection asks for more than the limits allow. Nothing was drawn.
        errors.BadArgument
            If the question does not take that answer, or the collection is another one.
        errors.RemoteRefusal
            If the shuffler refused or could not be reached. The report is kept; send it again.
        """
        if remote is None:
            with closing(Remote(relay or address)) as own:
                return self.report(address, name, answer, hash=hash, invitation=invitation, remote=own)
        offer = remote.ask("GET", f"/v1/collections/{name}")
        before = set(self._paths())
        self.obtain(offer, name, hash=hash, invitation=invitation)
        path = self.prepare(offer, name, answer, hash=hash, invitation=invitation)
        return replace(self.send(path, remote), again=path in before)

    def obtain(
        self, offer: Any, name: str, *, hash: str | None = None, invitation: str = "", remote: Remote | None = None
    ) -> None:
        """Ask the issuer for this device's token, if one is needed; best long before the report.

        Parameters
        ----------
        offer : dict
            The shuffler's answer for the collection, as JSON.
        name : str
            The collection's.
        hash : str, optional
            Of the collection, if it was told; any other is refused.
        invitation : str
            Where the collection invites people.
        remote : Remote, optional
            The issuer; by its address in the collection unless given.

        Raises
        ------
        errors.Refused
            If the collection goes beyond the limits or contradicts itself.
        """
        collection, batch = _offered(offer, name, hash)
        with self._alone():
            if not self._path(collection, batch).exists():
                self._require_within_limits(collection)
            Credentials(self.folder, collection, batch, invitation).obtain(remote)

    def prepare(
        self,
        offer: Any,
        name: str,
        answer: Any,
        *,
        hash: str | None = None,
        invitation: str = "",
        coins: Coins | None = None,
    ) -> Path:
        """Make the report, once, and keep it in a file, to be sent until the batch closes.

        Parameters
        ----------
        offer : dict
            The shuffler's answer for the collection, as JSON.
        name : str
            The collection's.
        answer : object
            What the question takes.
        hash : str, optional
            Of the collection, if it was told; any other is refused.
        invitation : str
            Where the collection invites people.
        coins : Coins, optional
            Those of the operating system unless given.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        errors.Refused
            If the collection goes beyond the limits or contradicts itself.
        """
        collection, batch = _offered(offer, name, hash)
        path = self._path(collection, batch)
        with self._alone():
            if path.exists():
                self._reseal(path, collection, batch, offer, invitation)
            else:
                self._require_within_limits(collection)
                messages = self._sealed(collection, batch, offer, answer, coins or DeviceCoins())
                outer = self._outer(collection, batch, offer, invitation, os.urandom(IDENTITY), messages)
                self._keep(path, collection, batch, {"messages": [each.hex() for each in messages], **outer})
        return path

    def send(self, path: Path, remote: Remote) -> Receipt:
        """Send a made report. Repeat until the receipt says that it was taken or came too late.

        Parameters
        ----------
        path : Path
            As `prepare` returns it.
        remote : Remote
            The shuffler.

        Returns
        -------
        Receipt

        Raises
        ------
        errors.Refused
            If the shuffler refuses the report or does not answer.
        """
        made = _read(path)
        if made["state"] != "taken":
            to = f"/v1/collections/{made['collection'][:32]}/batches/{made['batch']}/reports"
            try:
                remote.ask("POST", to, bytes.fromhex(made["body"]))
            except RemoteRefusal as refusal:
                if refusal.status != 409:
                    raise
                self._note(path, "closed")
            else:
                self._note(path, "taken")
                forget_token(self.folder, made["collection"], made["batch"], made["invitation"])
        return self.receipt(path)

    def upload(self, path: Path) -> bytes:
        """The bytes of a report that was made, for another program to send.

        Parameters
        ----------
        path : Path
            As `prepare` returns it.

        Raises
        ------
        errors.Unsupported
            If the report was taken: nothing is left of it to send.
        """
        kept = _read(path)
        if kept["state"] == "taken":
            raise Unsupported("the report was taken, and what was sent is not kept")
        return bytes.fromhex(kept["body"])

    def receipt(self, path: Path) -> Receipt:
        """The receipt of a report that was made.

        Parameters
        ----------
        path : Path
            As `prepare` returns it.
        """
        kept = _read(path)
        epsilon, delta = self.spent()
        own = {name: kept[name] for name in OWN} | {name: kept.get(name) for name in SINCE}
        own |= {"pinned": kept.get("pinned", False)}  # a browser's may be
        return Receipt(
            **own,
            **(kept.get("sent") or _sent(kept)),
            number=self._number(kept) if kept.get("rounds") else None,
            lifetime_epsilon=float(epsilon),
            lifetime_delta=float(delta),
        )

    def _number(self, kept: dict[str, Any]) -> int:
        """The report's number among the device's to the collection, skipping unreported batches."""
        batches = [int(path.stem.rpartition("-")[2]) for path in self.folder.glob(f"{kept['collection']}-*.json")]
        return sum(batch <= kept["batch"] for batch in batches)

    def receipts(self) -> list[Receipt]:
        """The receipts of all reports in the folder."""
        return [self.receipt(path) for path in self._paths()]

    def spent(self) -> tuple[Fraction, Fraction]:
        """The sum over all reports ever made, sent or not: an upper bound on joint privacy loss.

        A series counts once, with all of its rounds.
        """
        every = [_read(path) for path in self._paths()]
        kept = list({(k["collection"], 0 if k.get("rounds") else k["batch"]): k for k in every}.values())
        return sum((Fraction(k["epsilon"]) for k in kept), Fraction(0)), sum(
            (Fraction(k["delta"]) for k in kept), Fraction(0)
        )

    def _require_within_limits(self, collection: Collection) -> None:
        agreed = collection.series and any(self.folder.glob(f"{collection.hash}-*.json"))
        self.limits.require(collection, self.spent(), agreed=agreed)

    def _sealed(self, collection: Collection, batch: int, offer: Any, answer: Any, coins: Coins) -> list[bytes]:
        """The messages of one answer, randomised and sealed to the analyser."""
        protocol = collection.plan.protocol
        key = Announced.from_json(offer["analyser"], collection.analyser, "analyser")
        if key.purpose != collection.purpose(batch):
            raise BadArgument("analyser", "announced this key for something else", "do not answer")
        self._usable(key, collection)
        messages = protocol.reports(encoded(protocol.task, answer), coins).messages
        return collection.report_format(batch).seal_messages(messages, key.public)

    def _outer(
        self,
        collection: Collection,
        batch: int,
        offer: Any,
        invitation: str,
        identity: bytes,
        messages: Sequence[bytes],
    ) -> dict[str, Any]:
        """The upload: the sealed messages, sealed again to the shuffler."""
        key = Announced.from_json(offer["shuffler"], collection.shuffler, "shuffler")
        self._usable(key, collection)
        credential = Credentials(self.folder, collection, batch, invitation).shown()
        report = Report(identity, credential, b"".join(messages))
        body = collection.report_format(batch).seal_report(report, key.public, key.number)
        return {"identity": identity.hex(), "key": key.number, "invitation": invitation, "body": body.hex()}

    def _usable(self, key: Announced, collection: Collection) -> None:
        if key.expires < self.clock():
            raise BadArgument("keys", "have expired", "ask for the collection again")
        if key.suite != collection.wire.suite:
            raise BadArgument("keys", "are of another suite than was agreed", "do not answer")

    def _reseal(self, path: Path, collection: Collection, batch: int, offer: Any, invitation: str) -> None:
        """The same messages, sealed to a replacement key or with another invitation.

        Nothing is drawn anew: to do that whenever somebody asks would let them average the noise
        away.
        """
        kept = _read(path)
        if kept["state"] == "taken":
            return
        if kept["key"] != offer["shuffler"].get("number") or kept["invitation"] != invitation:
            messages = [bytes.fromhex(each) for each in kept["messages"]]
            identity = bytes.fromhex(kept["identity"])
            write_atomically(
                path, json.dumps(kept | self._outer(collection, batch, offer, invitation, identity, messages)), SECRET
            )

    def _keep(self, path: Path, collection: Collection, batch: int, made: dict[str, Any]) -> None:
        plan, protocol = collection.plan, collection.plan.protocol
        kept = {
            "format": FORMAT,
            "collection": collection.hash,
            "question": collection.question,
            "batch": batch,
            "state": "made",
            "epsilon": plan.budget.epsilon,
            "delta": plan.budget.delta,
            "least": protocol.crowd.least,
            "colluding": plan.colluding,
            "top_up": collection.shortfall is Shortfall.TOP_UP,
            "corrupt": protocol.crowd.corrupt,
            "anyone": collection.admission is Admission.ANYONE,
            "fixed": collection.fixed,
            "padded": collection.padded,
            **({"rounds": plan.rounds} if collection.series else {}),
        }
        write_atomically(path, json.dumps(kept | made), SECRET)

    def _note(self, path: Path, state: str) -> None:
        """How sending a report ended. A taken one stays so, whatever another process heard."""
        with self._alone():
            kept = _read(path)
            if kept["state"] != "taken":
                now = _taken(kept) if state == "taken" else {**kept, "state": state}
                write_atomically(path, json.dumps(now), SECRET)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A lock across processes on what this device may still spend."""
        lock = self.folder / "lock"
        lock.touch(mode=0o600)
        with locked(lock, alone=True):
            yield

    def _path(self, collection: Collection, batch: int) -> Path:
        return self.folder / f"{collection.hash}-{batch}.json"

    def _paths(self) -> Iterator[Path]:
        return iter(sorted(self.folder.glob("*-*.json")))


def _offered(offer: Any, name: str, hash: str | None) -> tuple[Collection, int]:
    """The collection that was asked for, and its open batch."""
    collection = Collection.from_json(offer["collection"], hash=hash)
    if collection.id != name:
        raise BadArgument("collection", "is another one than was asked for", "do not answer")
    if offer["batch"] is None:
        raise Unsupported("the collection takes no reports now")
    batch = int(offer["batch"])
    if collection.series and not 1 <= batch <= collection.plan.rounds:
        raise BadArgument("batch", "is no round of the series", "do not answer")
    return collection, batch


def _read(path: Path) -> dict[str, Any]:
    return kept_json(path, FORMAT, "a report that was made")


def _sent(kept: dict[str, Any]) -> dict[str, int]:
    """How many messages are sent, and how many bytes."""
    return {"messages": len(kept["messages"]), "bytes": len(kept["body"]) // 2}


def _taken(kept: dict[str, Any]) -> dict[str, Any]:
    """The record kept of a delivered report, without ciphertexts or links to the upload."""
    return {name: kept[name] for name in kept if name not in SEALED} | {"state": "taken", "sent": _sent(kept)}


def encoded(task: Question, answer: Any) -> npt.NDArray[Any]:
    """The code of one answer; refused, without quoting it, if it is outside the domain."""
    try:
        return task.domain.codes(column([answer]))
    except BadData:
        works = f"answer with {task.domain.accepted}"
        raise BadArgument("answer", "is not one that the question takes", works) from None
