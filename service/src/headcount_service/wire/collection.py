"""A collection: its parties' agreement before anybody reports. Its hash is bound into every seal.

Batches follow each other. A batch closes at the end of a window, or when its operator says so
unless it is `fixed`, but never because of a report: somebody who could close a batch by reports of
their own would choose the crowd of the last one who is honest.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from headcount.common.canonical import canonical, fingerprint
from headcount.errors import BadArgument, Refused, Unsupported
from headcount.privacy.budget import Neighbours
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import CREDENTIAL, TOKEN, Wire
from headcount.protocols.base.saved import plan_from_json
from headcount_service.wire.admission import Issuing
from headcount_service.wire.report import ReportFormat

FORMATS = {1: "headcount collection 1", 2: "headcount collection 2"}  # 1 is that of version 0.2, and is still read
SINCE_2 = frozenset({"automatic", "most", "issuer"})  # fields that format 1 does not have
TO_RELEASE = 30 * 86_400  # seconds after its last window in which a batch may be released
MOST_BATCHES = 1_000
LONGEST = 366 * 86_400  # seconds
LONGEST_TEXT = 500
MOST_REPORTS = 10**9
MOST = 10**7  # reports in a batch, if no number is agreed on and the plan is for at most half as many
LARGEST_BATCH = 1 << 36  # bytes of messages


class Shortfall(StrEnum):
    """The rule for a batch that has fewer reports at the end of its window than the proof needs."""

    HOLD = "hold"  # it stays open for another window, a few times, and is then purged
    TOP_UP = "top-up"  # the shuffler adds reports of nobody
    PURGE = "purge"  # it is destroyed unread


class Admission(StrEnum):
    """Who may report."""

    ANYONE = "anyone"
    INVITED = "invited"  # one report for each token of the issuer; in version 0.2, for each invitation of the shuffler


@dataclass(frozen=True)
class Collection:
    """A plan carried out over a network by a shuffler and an analyser who sign with these keys."""

    plan: Plan
    question: str  # as people are asked
    population: str  # whose budget pays
    opens: int  # seconds since 1970
    window: int  # seconds
    shuffler: str  # public keys, in hexadecimal digits
    analyser: str
    batches: int = 1
    shortfall: Shortfall = Shortfall.HOLD
    holds: int = 3
    admission: Admission = Admission.INVITED
    fixed: bool = True  # whether a batch is sealed at the end of a window only; otherwise its operator may do so
    automatic: bool = False  # whether the analyser releases a batch as soon as it is delivered
    nonce: str = ""  # so that no two collections are the same
    most: int | None = None  # reports in a batch; see `room`
    issuer: Issuing | None = None  # who lets people in
    version: int = 2  # of its format

    def __post_init__(self) -> None:
        if not self.nonce:
            object.__setattr__(self, "nonce", secrets.token_hex(16))
        for name, kind in (("shortfall", Shortfall), ("admission", Admission)):
            object.__setattr__(self, name, _one_of(kind, name, getattr(self, name)))
        for name, low, high in (
            ("opens", 0, 1 << 40),
            ("window", 1, LONGEST),
            ("batches", 1, MOST_BATCHES),
            ("holds", 0, 100),
        ):
            _whole(name, getattr(self, name), low, high)
        if self.most is not None:
            _whole("most", self.most, self.plan.protocol.crowd.least, MOST_REPORTS)
        for name in ("question", "population"):
            _text(name, getattr(self, name))
        for name, size in (("shuffler", 32), ("analyser", 32), ("nonce", 16)):
            _hexadecimal(name, getattr(self, name), size)
        for name in ("fixed", "automatic"):
            if not isinstance(getattr(self, name), bool):
                raise BadArgument(name, f"is {getattr(self, name)!r}", "use True or False")
        if self.version not in FORMATS:
            raise BadArgument("version", f"is {self.version!r}", f"use {' or '.join(map(str, FORMATS))}")
        require_collectable(self.plan, self.shortfall)
        if self.series and self.batches > self.plan.rounds:
            problem = f"is {self.batches}, and the plan is for {self.plan.rounds:,} rounds"
            raise BadArgument("batches", problem, "plan for more rounds: headcount advise … --rounds")
        self._require_issuer()

    def _require_issuer(self) -> None:
        """One where people are invited; in format 1 the shuffler invited them."""
        issuer, needed = self.issuer, self.admission is Admission.INVITED and self.version > 1
        if issuer is None:
            if needed:
                raise BadArgument("issuer", "is missing, and people are invited", "ask one for keys: headcount desk")
            return
        if not needed:
            raise BadArgument("issuer", "is given, and anybody may report", "leave it out, or use admission='invited'")
        if issuer.key == self.shuffler:
            raise BadArgument("issuer", "is the shuffler, which must not know who reports", "use another party")
        if len(issuer.tokens) != self.batches:
            raise BadArgument("issuer", "has not one key for each batch", f"ask it for {self.batches}")

    @property
    def series(self) -> bool:
        """Whether its batches are rounds of one plan, paid for once, rather than each paid for."""
        return self.plan.rounds > 1

    @property
    def paid_for(self) -> list[Plan]:
        """The plans to charge for all of its batches; a series is charged once."""
        return [self.plan] * (1 if self.series else self.batches)

    @cached_property
    def hash(self) -> str:
        return fingerprint(self.to_json())

    @property
    def id(self) -> str:
        """The name in addresses: the beginning of the hash."""
        return self.hash[:32]

    @property
    def wire(self) -> Wire:
        assert self.plan.wire is not None  # noqa: S101  # refused otherwise when it was made
        return self.plan.wire

    @property
    def padded(self) -> bool:
        """Whether devices send noiseless answers, hidden by messages that the shuffler adds."""
        return self.plan.protocol.model.pads

    @cached_property
    def room(self) -> int:
        """How many reports a batch takes: as agreed, within protocol and delivery limits."""
        protocol = self.plan.protocol
        agreed = max(MOST, 2 * protocol.crowd.size) if self.most is None else self.most
        return int(min(agreed, protocol.most, LARGEST_BATCH // self.wire.upload_bytes(protocol)))

    def purpose(self, batch: int) -> str:
        """The purpose with which the analyser's key for a batch is announced."""
        return f"{self.hash} {batch}"

    def report_format(self, batch: int) -> ReportFormat:
        """How reports to this batch are sealed; made once for each batch."""
        if batch not in self._formats:
            credential, own = CREDENTIAL if self.issuer is None else TOKEN, bytes.fromhex(self.hash)
            self._formats[batch] = ReportFormat.of(self.plan.protocol, self.wire, own, batch, credential)
        return self._formats[batch]

    @cached_property
    def _formats(self) -> dict[int, ReportFormat]:
        return {}

    def next_close(self, now: float) -> int:
        """The end of the window in which this moment lies."""
        passed = max(0, int(now) - self.opens) // self.window
        return self.opens + (passed + 1) * self.window

    @property
    def over(self) -> int:
        """The moment at which all windows have ended, holds included."""
        return self.opens + self.window * (self.batches * (self.holds + 1) + 1)

    @property
    def expires(self) -> int:
        """The analyser's key deletion time: after all windows and holds, and time to release."""
        return self.over if self.version == 1 else self.over + TO_RELEASE

    def to_json(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain = {
            "format": FORMATS[self.version],
            "plan": self.plan.to_json(),
            "shortfall": str(self.shortfall),
            "admission": str(self.admission),
            "issuer": None if self.issuer is None else self.issuer.to_json(),
        }
        absent = {"version"} | (SINCE_2 if self.version == 1 else frozenset())
        return {name: value for name, value in (own | plain).items() if name not in absent}

    @classmethod
    def from_json(cls, data: Any, *, hash: str | None = None) -> Collection:
        """The collection that `to_json` wrote; anything else is refused."""
        try:
            found = _read(canonical(data))
        except Refused:
            raise
        except (TypeError, ValueError):
            raise _unreadable() from None
        if hash is not None and found.hash != hash:
            raise BadArgument("collection", "has another hash than was expected", "ask its operators for the right one")
        return found


@lru_cache(maxsize=64)
def _read(text: str) -> Collection:
    """A plan takes a while to be checked: the same text is read once."""
    data = json.loads(text)
    try:
        given = {name: value for name, value in data.items() if name not in ("format", "plan", "version")}
        version = next(number for number, told in FORMATS.items() if told == data["format"])
        if given.get("issuer") is not None:
            given["issuer"] = Issuing(**given["issuer"])
        found = Collection(plan=plan_from_json(data["plan"]), version=version, **given)
        same = canonical(found.to_json()) == text
    except Refused:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration):
        same = False
    if not same:
        raise _unreadable()
    return found


def _unreadable() -> BadArgument:
    return BadArgument("collection", "is not one that this version can read", "give what to_json wrote")


def require_collectable(plan: Plan, shortfall: Shortfall = Shortfall.HOLD) -> None:
    """Refuses a plan that cannot be collected from devices, and says why."""
    protocol = plan.protocol
    if not protocol.collectable():
        needs = f"cannot be collected from devices: it needs {protocol.model.trusted}"
        raise Unsupported(needs, protocol=protocol.name)
    if plan.wire is None:
        raise Unsupported(
            "the plan does not say how many messages everybody sends",
            "plan it for a collection: hc.advise(..., collected=True).best, or headcount advise ... --collected",
        )
    if plan.panels > 1:
        raise Unsupported(
            "people would have to be divided into panels, which a collection does not do",
            f"plan with a shuffler, or give each of {plan.panels:,} groups, drawn by lot, a collection of one round",
            protocol=protocol.name,
        )
    if plan.budget.neighbours is Neighbours.ADD_REMOVE:
        raise Unsupported("the plan hides how many report, and a collection tells it", "plan with neighbours='replace'")
    if shortfall is Shortfall.TOP_UP and not protocol.task.ignores_zeros:
        raise BadArgument(
            "shortfall",
            f"is 'top-up', and reports of nobody would be counted in a {protocol.task.name}",
            "use 'hold' or 'purge'",
        )


def _one_of(kind: type[Shortfall] | type[Admission], name: str, value: Any) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        raise BadArgument(name, f"is {value!r}", f"use {' or '.join(repr(str(each)) for each in kind)}") from None


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadArgument(name, f"is {value!r}", f"use a whole number from {low:,} to {high:,}")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_TEXT or not value.isprintable():
        raise BadArgument(name, "is empty, too long or not plain text", f"use at most {LONGEST_TEXT} characters")


def _hexadecimal(name: str, value: Any, size: int) -> None:
    try:
        fits = isinstance(value, str) and bytes.fromhex(value).hex() == value and len(value) == 2 * size
    except ValueError:
        fits = False
    if not fits:
        raise BadArgument(name, "is not a key", f"use {2 * size} hexadecimal digits in small letters")
