"""Whoever runs a collection: knows both parties by their addresses, holds a token of each, and agrees with them.

Who holds a token of one party only sees and does what that one allows.

desk.json     addresses and tokens, to be read by nobody else
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from headcount.core.errors import BadArgument, Refused
from headcount.core.files import text_of
from headcount.core.plan import Plan
from headcount.ledger.ledger import Ledger
from headcount.ledger.lines import Copied
from headcount.service.collection import Admission, Collection, Shortfall, require_collectable
from headcount.service.party import secret
from headcount.service.remote import Elsewhere, Remote

FILE = "desk.json"
PARTIES = ("shuffler", "analyser")
DELIVERED = {"purged", "delivered", "claimed", "released"}
OVER = {"purged", "released"}
CONFLICT = 409
STARTING = 30.0  # seconds that a party may take to start
PATIENCE = 600.0  # seconds that a batch may take to be mixed and delivered, or to be opened and counted


class Absent(Remote):
    """A party that the desk has no token of: nothing can be asked of it."""

    def __init__(self, party: str) -> None:
        self.party = party

    @property
    def address(self) -> str:  # type: ignore[override]
        raise self._refusal()

    def text(self, method: str, path: str, content: Any = None) -> str:
        del method, path, content
        raise self._refusal()

    def _refusal(self) -> Refused:
        return Refused(
            f"this needs the {self.party}, of which the desk has no token; ask its operator for one, and write the "
            f"desk anew: headcount desk DIR … --{self.party} … --{self.party}-token …"
        )


@dataclass(frozen=True)
class Desk:
    """Both parties, as its holder sees them; one of them may be absent."""

    shuffler: Remote
    analyser: Remote

    @classmethod
    def open(cls, folder: str | Path) -> Desk:
        path = Path(folder) / FILE
        if not path.exists():
            works = "start one: headcount serve --data DIR, or headcount desk DIR --shuffler … --analyser …"
            raise BadArgument("data", f"{folder} has no {FILE}", works)
        try:
            given = json.loads(text_of(path, "a desk"))
            return cls(*(_party(party, given) for party in PARTIES))
        except (ValueError, KeyError, TypeError) as problem:
            if isinstance(problem, BadArgument):
                raise
            raise BadArgument("data", f"{path} is not a desk", "make it anew: headcount desk") from None

    @staticmethod
    def write(folder: Path, **parties: tuple[str, str]) -> None:
        """The address and token of each, or of the one there is a token of."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = {party: dict(zip(("address", "token"), given, strict=True)) for party, given in parties.items()}
        secret(folder / FILE, json.dumps(content, indent=1))

    def identities(self, patience: float = STARTING) -> dict[str, str]:
        """The public key of each, once it answers; refused if that is not the one it should be, or the token wrong."""
        found = {}
        for party, remote in self._present().items():
            told = _awaited(remote, patience)
            if told["party"] != party:
                raise BadArgument(f"--{party}", f"is the address of the {told['party']}", f"give the {party}'s")
            try:
                remote.ask("GET", "/v1/collections")
            except Elsewhere as refusal:
                works = "ask its operator for one of the role operator, or of an analyser for one of the role analyst"
                raise BadArgument(f"--{party}-token", f"was refused by the {party}: {refusal}", works) from None
            found[party] = str(told["key"])
        return found

    def _present(self) -> dict[str, Remote]:
        both = {"shuffler": self.shuffler, "analyser": self.analyser}
        return {party: remote for party, remote in both.items() if not isinstance(remote, Absent)}

    # Populations.

    def endow(self, population: str, epsilon: float | str, delta: float | str) -> None:
        self.analyser.ask("POST", "/v1/populations", {"population": population, "epsilon": epsilon, "delta": delta})

    def populations(self) -> list[dict[str, Any]]:
        return list(self.analyser.ask("GET", "/v1/populations")["populations"])

    def ledger(self, population: str, witness: Path | None = None) -> Ledger:
        """A copy of what the analyser has written down, every line of it checked here."""
        lines = self.analyser.ask("GET", f"/v1/populations/{population}/ledger")["lines"]
        return Ledger.of(Copied([line.encode() for line in lines], f"the ledger of {population!r}", witness))

    def would_cost(self, population: str, plan: Plan) -> float:
        """How much the population's spending would grow by one batch of this plan."""
        return float(self.analyser.ask("POST", f"/v1/populations/{population}/cost", {"plan": plan.to_json()})["cost"])

    # Collections.

    def create(
        self, plan: Plan, *, question: str, population: str, window: int, opens: int | None = None, batches: int = 1,
        shortfall: str = Shortfall.HOLD, holds: int = 3, admission: str = Admission.ANYONE,
        fixed: bool = False,
    ) -> Collection:  # fmt: skip
        """Agreed with the analyser, who announces its keys, and then with the shuffler, who takes reports."""
        require_collectable(plan)
        keys = {party: getattr(self, party).ask("GET", "/v1/identity")["key"] for party in PARTIES}
        collection = Collection(
            plan, question, population, int(time.time()) if opens is None else opens, window, **keys, batches=batches,
            shortfall=cast(Shortfall, shortfall), holds=holds, admission=cast(Admission, admission), fixed=fixed,
        )  # fmt: skip
        agreed = self.analyser.ask("POST", "/v1/collections", {"collection": collection.to_json()})
        self.shuffler.ask("POST", "/v1/collections", {"collection": collection.to_json(), "keys": agreed["keys"]})
        return collection

    def names(self) -> list[str]:
        """Of all collections, as the shuffler has them, or else the analyser."""
        return list(next(iter(self._present().values())).ask("GET", "/v1/collections")["collections"])

    def under_way(self) -> list[str]:
        """The names of those that have a batch which is not over yet."""
        return [
            name for name in self.names() if any(batch["state"] not in OVER for batch in self.state(name)["batches"])
        ]

    def offer(self, name: str) -> dict[str, Any]:
        """What a device needs to report."""
        return dict(self.shuffler.ask("GET", f"/v1/collections/{name}"))

    def collection(self, name: str) -> Collection:
        return Collection.from_json(self.offer(name)["collection"])

    def asked(self, name: str) -> dict[str, str]:
        """What is asked of whom."""
        if "shuffler" not in self._present():
            told = self.analyser.ask("GET", f"/v1/collections/{name}")
            return {part: told[part] for part in ("question", "task", "population")}
        agreed = self.collection(name)
        return {"question": agreed.question, "task": agreed.plan.protocol.task.name, "population": agreed.population}

    def state(self, name: str) -> dict[str, Any]:
        """How far each batch has come, by both parties: the analyser's word counts where it has one."""
        present = self._present()
        if "shuffler" not in present:
            return self._state_at_analyser(name)
        told = self.shuffler.ask("GET", f"/v1/collections/{name}/state")
        known = self.analyser.ask("GET", f"/v1/collections/{name}")["batches"] if "analyser" in present else []
        there = {batch["batch"]: batch["state"] for batch in known}
        for batch in told["batches"]:
            if there.get(batch["batch"], "awaited") not in ("awaited", "receiving"):
                batch["state"] = there[batch["batch"]]
        return dict(told)

    def _state_at_analyser(self, name: str) -> dict[str, Any]:
        """The analyser knows of batches that have come, and that another is awaited."""
        told = dict(self.analyser.ask("GET", f"/v1/collections/{name}"))
        come = [{"closes": None, **batch} for batch in told["batches"]]
        if len(come) < told["last"]:
            come.append({"batch": len(come) + 1, "state": "awaited", "reports": None, "added": None, "closes": None})
        return {**told, "batches": come}

    def invite(self, name: str, number: int) -> list[str]:
        path = f"/v1/collections/{name}/invitations"
        return list(self.shuffler.ask("POST", path, {"number": number})["invitations"])

    def close(self, name: str) -> dict[str, Any]:
        """Seals the open batch, unless its end is fixed, and waits until nothing is under way."""
        still = {"open"} if self.collection(name).fixed else set()
        self.shuffler.ask("POST", f"/v1/collections/{name}/close")
        until = time.monotonic() + PATIENCE
        while (state := self.state(name)) and time.monotonic() < until:
            if all(batch["state"] in DELIVERED | still for batch in state["batches"]):
                break
            time.sleep(0.2)
        return state

    def release(self, name: str, batch: int = 1) -> dict[str, Any]:
        """The answer, signed; asked again, it is the same."""
        try:
            return dict(self.analyser.ask("POST", f"/v1/collections/{name}/batches/{batch}/release"))
        except Elsewhere as refusal:
            if refusal.status == CONFLICT and self._never_comes(name, batch):
                words = f"batch {batch} had too few reports and was destroyed unread: there is no answer to release"
                raise Refused(f"{words}, and nothing was charged") from None
            raise

    def _never_comes(self, name: str, batch: int) -> bool:
        """Whether the shuffler has destroyed the batch and the analyser does not have it."""
        found = [each["state"] for each in self.state(name)["batches"] if each["batch"] == batch]
        return found == ["purged"]

    def destroy(self, name: str) -> None:
        """Reports, messages, keys and answers, at both parties. What was charged stays charged."""
        for party in PARTIES:
            _ = getattr(self, party).address  # refused before anything is destroyed
        for party in PARTIES:
            getattr(self, party).ask("DELETE", f"/v1/collections/{name}")


def _party(party: str, given: dict[str, dict[str, str]]) -> Remote:
    if party not in given:
        return Absent(party)
    return Remote(given[party]["address"], given[party]["token"], PATIENCE, party=party)


def _awaited(remote: Remote, patience: float) -> Any:
    until = time.monotonic() + patience
    while True:
        try:
            return remote.ask("GET", "/v1/identity")
        except Elsewhere as problem:
            if problem.status or time.monotonic() > until:
                raise
