"""The operator of collections: the parties' addresses and tokens, and all its requests to them.

A party without a token is absent: what needs it is refused.

desk.json     addresses and tokens, to be read by nobody else
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from headcount.common.atomic_files import read_text, write_secret
from headcount.errors import BadArgument, Refused, RemoteRefusal, Unsupported
from headcount.ledger.ledger import Ledger
from headcount.ledger.lines import Copied
from headcount.phrases import Phrase
from headcount.protocols.base.plan import Plan
from headcount.rounds import Series
from headcount_service.wire.admission import ROLE, Issuing
from headcount_service.wire.collection import Admission, Collection, require_collectable
from headcount_service.wire.http_client import Remote
from headcount_service.wire.released_series import series_of
from headcount_service.wire.signed_release import Released
from headcount_service.wire.validation import ISSUING

FILE = "desk.json"
PARTIES = ("shuffler", "analyser")
OVER = {"purged", "released", "refused", "expired"}
DELIVERED = OVER | {"delivered", "claimed"}
CONFLICT = 409
UNREACHED = {0, 503}  # the status of a party that does not answer, or cannot now
STARTING = 30.0  # seconds that a party may take to start
KEYS_AT_ONCE = 16  # that an issuer makes with one request: a second's work
PATIENCE = 600.0  # seconds that a batch may take to be mixed and delivered, or to be opened and counted


class AbsentParty(Remote):
    """A party that the operator has no token of: nothing can be asked of it."""

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
            f"this needs the {self.party}, of which this folder has no token",
            f"ask its operator for one, and write the "
            f"folder anew: headcount desk DIR … --{self.party} … --{self.party}-token …",
        )


@dataclass(frozen=True)
class Operator:
    """An operator's credentials for its collections' parties. A party without a token is absent.

    Parameters
    ----------
    shuffler, analyser : Remote
        The two parties.
    issuer : Remote, optional
        The party that invites people; the analyser unless given.
    """

    shuffler: Remote
    analyser: Remote
    issuer: Remote | None = None  # the analyser, if there is no other

    @classmethod
    def open(cls, folder: str | Path) -> Operator:
        """The operator of a folder that `headcount desk` or `headcount serve --data` made.

        Parameters
        ----------
        folder : str or Path
            With the file desk.json.

        Returns
        -------
        Operator

        Raises
        ------
        errors.BadArgument
            If the folder has no such file.
        """
        path = Path(folder) / FILE
        if not path.exists():
            works = "start one: headcount serve --data DIR, or headcount desk DIR --shuffler … --analyser …"
            raise BadArgument("data", f"{folder} has no {FILE}", works)
        try:
            given = json.loads(read_text(path, "an operator's folder"))
            issuer = _party(ROLE, given) if ROLE in given else None
            return cls(_party("shuffler", given), _party("analyser", given), issuer)
        except BadArgument:
            raise
        except (ValueError, KeyError, TypeError):
            raise BadArgument("data", f"{path} has no operator's credentials", "make it anew: headcount desk") from None

    @staticmethod
    def write(folder: Path, **parties: tuple[str, str]) -> None:
        """The address and token of each, or of the one there is a token of."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = {party: dict(zip(("address", "token"), given, strict=True)) for party, given in parties.items()}
        write_secret(folder / FILE, json.dumps(content, indent=1))

    def identities(self, patience: float = STARTING) -> dict[str, str]:
        """The public key of each, once it answers; refuses an unexpected key or a wrong token."""
        found = {}
        for party, remote in self._present().items():
            told = _awaited(remote, patience)
            if told["party"] != party:
                raise BadArgument(f"--{party}", f"is the address of the {told['party']}", f"give the {party}'s")
            try:
                remote.ask("GET", _table(party))
            except RemoteRefusal as refusal:
                works = "ask its operator for one of the role operator, or of an analyser for one of the role analyst"
                raise BadArgument(f"--{party}-token", f"was refused by the {party}: {refusal}", works) from None
            found[party] = str(told["key"])
        return found

    def _present(self) -> dict[str, Remote]:
        all_of_them = {"shuffler": self.shuffler, "analyser": self.analyser, ROLE: self.issuer}
        return {
            party: remote for party, remote in all_of_them.items() if remote and not isinstance(remote, AbsentParty)
        }

    def _counting(self) -> dict[str, Remote]:
        """The shuffler and analyser where present; if neither, the one that reports its absence."""
        present = {party: remote for party, remote in self._present().items() if party != ROLE}
        return present or {"analyser": self.analyser}

    @property
    def issuing(self) -> Remote:
        """The party that invites people: the issuer, or the analyser."""
        return self.issuer or self.analyser

    # Populations.

    def endow(self, population: str, epsilon: float | str, delta: float | str) -> None:
        self.analyser.ask("POST", "/v1/populations", {"population": population, "epsilon": epsilon, "delta": delta})

    def populations(self) -> list[dict[str, Any]]:
        return list(self.analyser.ask("GET", "/v1/populations")["populations"])

    def population(self, name: str) -> dict[str, Any]:
        """The spent, reserved (announced batches) and promised parts of a population's budget."""
        for told in self.populations():
            if told["population"] == name:
                return told
        raise BadArgument("population", f"{name!r} has no budget", "give it one: headcount ledger create")

    def ledger(self, population: str, witness: Path | None = None) -> Ledger:
        """A copy of what the analyser has written down, every line of it checked here."""
        lines = self.analyser.ask("GET", f"/v1/populations/{population}/ledger")["lines"]
        return Ledger.of(Copied([line.encode() for line in lines], f"the ledger of {population!r}", witness))

    def would_cost(self, population: str, plan: Plan) -> float:
        """How much the population's spending would grow by one batch of this plan."""
        return float(self.analyser.ask("POST", f"/v1/populations/{population}/cost", {"plan": plan.to_json()})["cost"])

    # Collections.

    def create(
        self,
        plan: Plan,
        *,
        window: int,
        opens: int | None = None,
        batches: int = 1,
        admission: str = Admission.INVITED,
        trust_all: bool = False,
        told: Callable[[int], None] = lambda _: None,
        **terms: Any,
    ) -> Collection:
        """Create a collection: agreed with the analyser, who announces keys, then the shuffler.

        Parameters
        ----------
        plan : Plan
            What is asked, how, and of how many people. One that counts on everybody to be honest is
            refused.
        window : int
            Seconds in which reports to a batch are taken.
        opens : int, optional
            When the first window begins, in seconds since 1970; now unless given.
        batches : int
            How many batches follow each other.
        admission : str
            "invited", where each person gets a token, or "anyone".
        trust_all : bool
            Accept a plan that counts on everybody to be honest.
        told : callable
            Called with the number of token keys that are made so far.
        terms
            Other fields of a `Collection`: question, population, shortfall, holds, fixed,
            automatic, most.

        Returns
        -------
        Collection

        Raises
        ------
        errors.Refused
            If the plan cannot be collected, or a party does not agree.
        """
        require_collectable(plan)
        if not trust_all:
            require_margin(plan)
        keys = {party: getattr(self, party).ask("GET", "/v1/identity")["key"] for party in PARTIES}
        issuer = self._announced(batches, told) if admission == Admission.INVITED else None
        terms |= {"window": window, "opens": int(time.time()) if opens is None else opens, "batches": batches}
        collection = Collection(plan, **keys, admission=cast(Admission, admission), issuer=issuer, **terms)
        agreed = self.analyser.ask("POST", "/v1/collections", {"collection": collection.to_json()})
        if issuer is not None:
            self.issuing.ask("POST", ISSUING, {"collection": collection.to_json()})
        self.shuffler.ask("POST", "/v1/collections", {"collection": collection.to_json(), "keys": agreed["keys"]})
        return collection

    def _announced(self, batches: int, told: Callable[[int], None]) -> Issuing:
        """The issuer's keys for this many batches, made now, a few with each request."""
        made, answer = dict[str, Any](), dict[str, Any]()
        for number in [*range(KEYS_AT_ONCE, batches, KEYS_AT_ONCE), batches]:
            answer = self.issuing.ask("POST", "/v1/issuing/keys", {"batches": number, **made})
            made = {"made": answer["tokens"]}
            told(number)
        return Issuing(answer["key"], self.issuing.address, tuple(answer["tokens"]), answer["signature"])

    def names(self) -> list[str]:
        """The names of all collections, from the shuffler, else the analyser, else the issuer."""
        told = _first_of(self._present(), lambda party, remote: remote.ask("GET", _table(party)))
        return list(told["collections"])

    def under_way(self) -> list[str]:
        """The names of those that have a batch which is not over yet."""
        return [
            name for name in self.names() if any(batch["state"] not in OVER for batch in self.state(name)["batches"])
        ]

    def offer(self, name: str) -> dict[str, Any]:
        """The shuffler's offer: what a device needs in order to report."""
        return dict(self.shuffler.ask("GET", f"/v1/collections/{name}"))

    def collection(self, name: str) -> Collection:
        """The agreement of a collection.

        Parameters
        ----------
        name : str
            The collection's.
        """
        return Collection.from_json(self.offer(name)["collection"])

    def asked(self, name: str) -> dict[str, str]:
        """A collection's question, its task and its population."""

        def told(_: str, remote: Remote) -> dict[str, str]:
            told = remote.ask("GET", f"/v1/collections/{name}")
            if "collection" in told and isinstance(told["collection"], str):  # the analyser says it in words
                return {part: told[part] for part in ("question", "task", "population")}
            agreed = Collection.from_json(told["collection"])
            task = agreed.plan.protocol.task.name
            return {"question": agreed.question, "task": task, "population": agreed.population}

        return dict(_first_of(self._counting(), told))

    def state(self, name: str) -> dict[str, Any]:
        """How far each batch has come, by both parties; the analyser's word, if any, prevails.

        A party that cannot be reached is named under `silent`, with the reason, and the other one's
        word stands alone.
        """
        present, heard, silent = self._counting(), dict[str, Any](), dict[str, str]()
        for party, remote in present.items():
            try:
                path = f"/v1/collections/{name}" + "/state" * (party == "shuffler")
                heard[party] = remote.ask("GET", path)
            except RemoteRefusal as problem:
                if problem.status not in UNREACHED or len(silent) + 1 == len(present):
                    raise
                silent[party] = str(problem)
        if "shuffler" not in heard:
            return {**_at_analyser(heard["analyser"]), "silent": silent}
        told = heard["shuffler"]
        there = {batch["batch"]: batch["state"] for batch in heard.get("analyser", {"batches": []})["batches"]}
        for batch in told["batches"]:
            if there.get(batch["batch"], "awaited") not in ("awaited", "receiving"):
                batch["state"] = there[batch["batch"]]
        return {**told, "silent": silent}

    def invite(self, name: str, number: int) -> list[str]:
        """New invitations to a collection that needs them, made by its issuer.

        Parameters
        ----------
        name : str
            The collection's.
        number : int
            How many.

        Returns
        -------
        list of str
        """
        if "shuffler" in self._present():
            _require_issuer(self.collection(name))
        return list(self.issuing.ask("POST", f"{ISSUING}/{name}/invitations", {"number": number})["invitations"])

    def close(self, name: str) -> dict[str, Any]:
        """Seal the open batch, unless its end is fixed, and wait until every batch is delivered.

        If the analyser does not answer, only the delivery is pending, which `silent` tells.

        Parameters
        ----------
        name : str
            The collection's.

        Returns
        -------
        dict
            The state of each batch.
        """
        still = {"open"} if self.collection(name).fixed else set()
        self.shuffler.ask("POST", f"/v1/collections/{name}/close")
        until = time.monotonic() + PATIENCE
        while (state := self.state(name)) and time.monotonic() < until:
            mixed = {"shuffled"} if state["silent"] else set()
            if all(batch["state"] in DELIVERED | still | mixed for batch in state["batches"]):
                break
            time.sleep(0.2)
        return state

    def release(self, name: str, batch: int = 1) -> dict[str, Any]:
        """The signed answer of a batch; asked again, it is the same.

        Parameters
        ----------
        name : str
            The collection's.
        batch : int
            Its number.

        Returns
        -------
        dict
            The release, which `headcount verify` checks.

        Raises
        ------
        errors.Refused
            If there is no answer, or not yet.
        """
        try:
            return dict(self.analyser.ask("POST", f"/v1/collections/{name}/batches/{batch}/release"))
        except RemoteRefusal as refusal:
            if refusal.status == CONFLICT and self._never_comes(name, batch):
                words = f"batch {batch} had too few reports and was destroyed unread: there is no answer to release"
                raise Refused(f"{words}, and nothing was charged") from None
            raise

    def series(self, name: str) -> Series:
        """The released answers of a plan for several rounds: sums, changes, a chart and tables.

        A round is skipped if it has no answer although a later one has. Nothing is released that
        was not yet.

        Parameters
        ----------
        name : str
            The collection's.

        Returns
        -------
        hc.Series
            It is paid for, by the collection.

        Raises
        ------
        errors.BadArgument
            If the plan is for one round.
        """
        plan = self.collection(name).plan
        released = [each["batch"] for each in self.state(name)["batches"] if each["state"] == "released"]
        return series_of(plan, {batch: Released(self.release(name, batch)) for batch in released})

    def _never_comes(self, name: str, batch: int) -> bool:
        """Whether the shuffler has destroyed the batch and the analyser does not have it."""
        found = [each["state"] for each in self.state(name)["batches"] if each["batch"] == batch]
        return found == ["purged"]

    def destroy(self, name: str) -> None:
        """Delete reports, messages, keys and answers at all parties. Charges stay.

        Parameters
        ----------
        name : str
            The collection's.
        """
        for party in PARTIES:
            _ = getattr(self, party).address  # refused before anything is destroyed
        for party in PARTIES:
            getattr(self, party).ask("DELETE", f"/v1/collections/{name}")
        self.issuing.ask("DELETE", f"{ISSUING}/{name}")


def _table(party: str) -> str:
    """The address at which a party lists its collections."""
    return ISSUING if party == ROLE else "/v1/collections"


def _require_issuer(collection: Collection) -> None:
    if collection.admission is Admission.ANYONE:
        raise Unsupported(
            "anybody may report to this collection without an invitation",
            "that they need one is agreed on when it is created (without --anyone)",
        )
    if collection.issuer is None:
        raise Unsupported(
            "this collection was made by version 0.2, in which the shuffler invited people",
            "the invitations that it gave stay valid, and it gives no others",
        )


def require_margin(plan: Plan) -> None:
    """Refuses a guarantee that is void if one of the least lies, unless a report hides itself."""
    crowd, alone = plan.protocol.crowd, plan.colluding
    if not crowd.corrupt and (alone is None or alone > plan.budget.epsilon):
        raise BadArgument(
            "plan",
            f"counts on each of {crowd.least:,} people to be honest (corrupt = 0)",
            Phrase("plan with people who may lie (corrupt), or say that you trust all: {trust_all}", trust_all=True),
        )


def _first_of(parties: dict[str, Remote], ask: Callable[[str, Remote], Any]) -> Any:
    """The answer of the first party that can be reached."""
    *others, last = parties.items()
    for party, remote in others:
        with suppress(RemoteRefusal):
            return ask(party, remote)
    return ask(*last)


def _at_analyser(told: dict[str, Any]) -> dict[str, Any]:
    """The analyser knows of batches that have come, and that another is awaited."""
    come = [{"closes": None, **batch} for batch in told["batches"]]
    if len(come) < told["last"]:
        come.append({"batch": len(come) + 1, "state": "awaited", "reports": None, "added": None, "closes": None})
    return {**told, "batches": come}


def _party(party: str, given: dict[str, dict[str, str]]) -> Remote:
    if party not in given:
        return AbsentParty(party)
    return Remote(given[party]["address"], given[party]["token"], PATIENCE, party=party)


def _awaited(remote: Remote, patience: float) -> Any:
    until = time.monotonic() + patience
    while True:
        try:
            return remote.ask("GET", "/v1/identity")
        except RemoteRefusal as problem:
            if problem.status or time.monotonic() > until:
                raise
