"""Both parties of a collection in a folder, at work in one process: their interfaces, a clock, and what is sent.

Everybody owns a bucket of a histogram and is made to tell the truth, so that a result shows who was counted how often.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import headcount as hc
from headcount.common.canonical import canonical
from headcount.errors import RemoteRefusal
from headcount.privacy.budget import Budget
from headcount.programme.coins import Coins
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import IDENTITY, X25519, Wire
from headcount_service import party
from headcount_service.analyser.app import AnalyserApp
from headcount_service.issuer.app import ISSUING
from headcount_service.party import SETTINGS, Party
from headcount_service.runtime.metrics import Metrics
from headcount_service.runtime.tokens import ROLES
from headcount_service.shuffler.app import ShufflerApp
from headcount_service.shuffler.batches import Batches
from headcount_service.wire.admission import Issuing, Redeeming
from headcount_service.wire.blind import Blinding
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import Announced
from headcount_service.wire.report import NO_CREDENTIAL, Report

START = 1_000_000_000  # when everything begins
WINDOW = 100
ISSUER = "http://127.0.0.1:1"  # where nobody listens: what it is asked goes through `Parties`


class Truthful(Coins):
    """Words that are all zero: whoever may lie does not."""

    secret = False

    def stream(self, size: int) -> Any:
        return np.zeros(size, dtype=np.uint8)


@dataclass
class Clock:
    """Tells what it was told."""

    now: float = START

    def __call__(self) -> float:
        return self.now


def plan(buckets: int = 12, *, epsilon: float = 1.0, least: int = 3, messages: int = 2, suite: str = X25519) -> Plan:
    """A histogram with a bucket for each, to which everybody sends their own and some dummies."""
    protocol = hc.protocol("generalised-response", hc.Histogram(buckets), n=buckets, least=least, epsilon=epsilon)
    return Plan(protocol, Budget(epsilon), Wire(messages, suite))


def counted(collection: Collection, release: Mapping[str, Any]) -> list[int]:
    """How many messages there were for each bucket, worked back from the estimates."""
    protocol: Any = collection.plan.protocol
    own, other = protocol.supports_own, protocol.supports_other
    reports = release["people"] + release["added"]
    exact = [cell["value"] * (own - other) + reports * other for cell in release["estimate"]["cells"]]
    assert all(abs(count - round(count)) < 1e-6 for count in exact)
    return [round(count) for count in exact]


@dataclass(frozen=True)
class Made:
    """A report as its sender knows it."""

    batch: int
    bucket: int
    key: int  # the number of the shuffler's
    identity: bytes = field(repr=False)
    messages: tuple[bytes, ...] = field(repr=False)
    body: bytes = field(repr=False)


def made(
    collection: Collection,
    offer: Mapping[str, Any],
    bucket: int,
    *,
    identity: bytes | None = None,
    messages: tuple[bytes, ...] | None = None,
    credential: bytes = NO_CREDENTIAL,
) -> Made:
    """What a client would send; or something like it, with this identity or these messages."""
    report_format = collection.report_format(offer["batch"])
    if messages is None:
        analyser = Announced.from_json(offer["analyser"], collection.analyser, "analyser")
        sent = collection.plan.protocol.reports(np.array([bucket]), Truthful())
        messages = tuple(report_format.seal_messages(sent.messages, analyser.public))
    shuffler = Announced.from_json(offer["shuffler"], collection.shuffler, "shuffler")
    identity = identity or os.urandom(IDENTITY)
    report = Report(identity, credential, b"".join(messages))
    body = report_format.seal_report(report, shuffler.public, shuffler.number)
    return Made(offer["batch"], bucket, shuffler.number, identity, messages, body)


@dataclass(frozen=True)
class Answer:
    """Of an interface."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def asked(app: Any, method: str, path: str, content: Any = None, token: str = "", **headers: str) -> Answer:
    """One request to an interface in this process."""
    body = b"" if content is None else content if isinstance(content, bytes) else canonical(content).encode()
    given = {"content-length": str(len(body))} | ({"authorization": f"Bearer {token}"} if token else {}) | headers
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
    }
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        told.append(message)

    await app(scope, receive, send)
    start, end = told
    return Answer(start["status"], {k.decode(): v.decode() for k, v in start["headers"]}, end["body"])


class Parties:
    """Objects that know nothing but what is on the disk, and can be thrown away at any moment."""

    def __init__(self, rig: Rig) -> None:
        self.clock, self.tokens = rig.clock, rig.tokens
        self.loop = asyncio.new_event_loop()
        self.opened = {role: Party.read(rig.folder / role / SETTINGS).open() for role in ("analyser", "shuffler")}
        self.analyser = self.opened["analyser"].analyser(rig.clock)
        self.issuer = self.opened["analyser"].issuer(rig.clock)
        self.shuffler = self.opened["shuffler"].shuffler(rig.clock)
        self.receiver = Receiver(self)
        self.batches = Batches(self.shuffler, self.receiver)
        self.apps = {
            "analyser": AnalyserApp(self.analyser, self.issuer, self.opened["analyser"].tokens, Metrics("analyser")),
            "shuffler": ShufflerApp(self.shuffler, self.batches, self.opened["shuffler"].tokens, Metrics("shuffler")),
        }

    def ask(self, to: str, method: str, path: str, content: Any = None, role: str = "") -> Answer:
        """A request to a party, by somebody of this role. A fault of the party's is one of the test's."""
        token = self.tokens[to][role] if role else ""
        answer = self.loop.run_until_complete(asked(self.apps[to], method, path, content, token))
        assert answer.status < 500, (method, path, answer)
        return answer

    def told(self, to: str, method: str, path: str, content: Any = None, role: str = "operator") -> Any:
        """What was answered, which must not be a refusal."""
        answer = self.ask(to, method, path, content, role)
        assert answer.status < 300, (method, path, answer)
        return answer.json

    def agreed(self, plan: Plan, *, population: str = "people", **terms: Any) -> Collection:
        """A collection that both parties take part in."""
        keys = {role: self.told(role, "GET", "/v1/identity", role="")["key"] for role in ("shuffler", "analyser")}
        given = {"question": "Which?", "opens": START, "window": WINDOW, "admission": "anyone", "fixed": False, **terms}
        if given["admission"] == "invited":
            told = self.told("analyser", "POST", "/v1/issuing/keys", {"batches": given.get("batches", 1)})
            address = given.pop("issuing_at", ISSUER)
            given["issuer"] = Issuing(told["key"], address, tuple(told["tokens"]), told["signature"])
        collection = Collection(plan, population=population, **keys, **given)
        config = collection.to_json()
        if collection.issuer is not None:
            self.told("analyser", "POST", ISSUING, {"collection": config})
        announced = self.told("analyser", "POST", "/v1/collections", {"collection": config})["keys"]
        self.told("shuffler", "POST", "/v1/collections", {"collection": config, "keys": announced})
        return collection

    def endowed(self, population: str = "people", epsilon: float | str = 50, delta: float = 0.0) -> None:
        given = {"population": population, "epsilon": epsilon, "delta": delta}
        self.told("analyser", "POST", "/v1/populations", given)

    def offer(self, collection: Collection) -> Any:
        return self.told("shuffler", "GET", f"/v1/collections/{collection.id}", role="")

    def report(self, collection: Collection, batch: int, body: bytes) -> Answer:
        return self.ask("shuffler", "POST", f"/v1/collections/{collection.id}/batches/{batch}/reports", body)

    def reported(self, collection: Collection, *buckets: int) -> list[Made]:
        """These people report, and are taken."""
        offer = self.offer(collection)
        reports = [made(collection, offer, bucket) for bucket in buckets]
        for each in reports:
            assert self.report(collection, each.batch, each.body).status == 200
        return reports

    def invitations(self, collection: Collection, number: int) -> list[str]:
        path = f"{ISSUING}/{collection.id}/invitations"
        return list(self.told("analyser", "POST", path, {"number": number})["invitations"])

    def token(self, collection: Collection, invitation: str, batch: int = 1) -> bytes:
        """What a device gets for an invitation, and shows the shuffler."""
        assert collection.issuer is not None
        redeeming = Redeeming.of(collection.issuer, collection.hash, batch)
        blinding = Blinding.draw(redeeming.modulus)
        asked = bytes.fromhex(invitation) + blinding.blinded(redeeming.modulus, redeeming.message)
        path = f"{ISSUING}/{collection.id}/batches/{batch}/tokens"
        answer = bytes.fromhex(self.told("analyser", "POST", path, asked, role="")["signature"])
        return blinding.prefix + blinding.finished(redeeming.modulus, redeeming.message, answer)

    def calling(self, to: str) -> Calling:
        return Calling(self, to)

    def tokens_of(self, collection: Collection, number: int, batch: int = 1) -> list[bytes]:
        """Those of so many people, who were invited."""
        return [self.token(collection, each, batch) for each in self.invitations(collection, number)]

    def release(self, collection: Collection, batch: int = 1) -> Answer:
        path = f"/v1/collections/{collection.id}/batches/{batch}/release"
        return self.ask("analyser", "POST", path, role="analyst")

    def states(self, collection: Collection, of: str = "shuffler") -> dict[int, str]:
        """Of each batch."""
        path = f"/v1/collections/{collection.id}" + "/state" * (of == "shuffler")
        return {batch["batch"]: batch["state"] for batch in self.told(of, "GET", path)["batches"]}

    def close(self) -> None:
        self.apps["shuffler"].intake.close()
        for opened in self.opened.values():
            opened.close()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


class Calling:
    """A party's interface as a device reaches it."""

    def __init__(self, parties: Parties, to: str) -> None:
        self._parties, self._to = parties, to
        self.asked: list[tuple[str, Any]] = []

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        self.asked.append((path, content))
        answer = self._parties.ask(self._to, method, path, content)
        if answer.status >= 400:
            raise RemoteRefusal(answer.json["error"], answer.status)
        return answer.json


class Receiver:
    """The analyser's interface as the shuffler reaches it. Told so, it loses requests or answers on the way."""

    def __init__(self, parties: Parties) -> None:
        self._parties = parties
        self.losing: dict[int, str] = {}  # the number of a request, from now on: "request" or "answer"

    def _ask(self, method: str, path: str, content: Any = None) -> Any:
        lost = self.losing.pop(0, "")
        self.losing = {number - 1: what for number, what in self.losing.items()}
        if lost == "request":
            raise RemoteRefusal("lost on the way")
        answer = self._parties.ask("analyser", method, path, content, "shuffler")
        if lost or answer.status >= 400:
            raise RemoteRefusal(f"lost, or refused: {answer.body!r}", answer.status)
        return answer.json

    def begin(self, manifest: Any) -> None:
        self._ask("POST", "/v1/batches", manifest)

    def part(self, collection: str, batch: int, number: int, content: bytes) -> None:
        self._ask("PUT", f"/v1/collections/{collection}/batches/{batch}/parts/{number}", content)

    def complete(self, collection: str, batch: int) -> dict[str, Any]:
        return dict(self._ask("POST", f"/v1/collections/{collection}/batches/{batch}/complete"))

    def notify_purged(self, notice: Any) -> dict[str, Any]:
        return dict(self._ask("POST", "/v1/notices", notice))


@dataclass(frozen=True)
class Rig:
    """What is on the disk, and the time."""

    folder: Path
    clock: Clock
    tokens: dict[str, dict[str, str]]

    @classmethod
    def made(cls, folder: Path, databases: Mapping[str, str] | None = None) -> Rig:
        """Two new parties, with a token for every role; on SQLite, unless told."""
        tokens: dict[str, dict[str, str]] = {}
        for role in ("analyser", "shuffler"):
            new = party.create(
                folder / role,
                role,
                database=(databases or {}).get(role, ""),
                listen="127.0.0.1:0",
                **({"analyser": "http://127.0.0.1:1", "token": "none"} if role == "shuffler" else {}),
            ).open()
            tokens[role] = {each: new.tokens.issue(each, each) for each in ROLES[role]}
            new.close()
        return cls(folder, Clock(), tokens)

    def copied(self, folder: Path, databases: Mapping[str, str] | None = None) -> Rig:
        """The same parties somewhere else. Databases that are not in their folders have been copied already."""
        for role in self.tokens:
            shutil.copytree(self.folder / role, folder / role)
            if databases:
                settings = folder / role / SETTINGS
                old = Party.read(settings).database
                settings.write_text(settings.read_text().replace(old, databases[role]))
        return Rig(folder, Clock(), self.tokens)

    @contextmanager
    def opened(self) -> Iterator[Parties]:
        parties = Parties(self)
        try:
            yield parties
        finally:
            parties.close()
