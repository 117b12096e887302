"""A collection: what its parties agree on before anybody reports. Its hash is bound into every seal.

Batches follow each other. A batch closes at the end of a window, or when its operator says so unless it is `fixed`, but
never because somebody has come: whoever could bring that about with reports of their own would choose the crowd of the
last one who is honest.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from headcount.core.canonical import canonical, fingerprint
from headcount.core.errors import BadArgument, Refused, Unsupported
from headcount.core.plan import Plan
from headcount.core.wire import CREDENTIAL, TOKEN, Wire
from headcount.protocols.saved import plan_from_json
from headcount.service.issuing import Issuing
from headcount.service.wire import Envelope

FORMAT = "headcount collection 1"
MOST_BATCHES = 1_000
LONGEST = 366 * 86_400  # seconds
LONGEST_TEXT = 500


class Shortfall(StrEnum):
    """What becomes of a batch that has fewer reports at the end of its window than the proof needs."""

    HOLD = "hold"  # it stays open for another window, a few times, and is then purged
    TOP_UP = "top-up"  # the shuffler adds reports of nobody
    PURGE = "purge"  # it is destroyed unread


class Admission(StrEnum):
    """Who may report."""

    ANYONE = "anyone"
    INVITED = "invited"  # one report for each token of the issuer; in version 0.2, for each invitation of the shuffler


@dataclass(frozen=True)
class Collection:
    """A plan that is carried out over a network, by a shuffler and an analyser who sign with these keys."""

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
    admission: Admission = Admission.ANYONE
    fixed: bool = False  # whether a batch is sealed at the end of a window only; otherwise its operator may do so
    nonce: str = ""  # so that no two collections are the same
    issuer: Issuing | None = None  # who lets people in; left out of the JSON if there is none, as in version 0.2

    def __post_init__(self) -> None:
        if not self.nonce:
            object.__setattr__(self, "nonce", secrets.token_hex(16))
        for name, kind in (("shortfall", Shortfall), ("admission", Admission)):
            object.__setattr__(self, name, _one_of(kind, name, getattr(self, name)))
        for name, low, high in (
            ("opens", 0, 1 << 40), ("window", 1, LONGEST), ("batches", 1, MOST_BATCHES), ("holds", 0, 100),
        ):  # fmt: skip
            _whole(name, getattr(self, name), low, high)
        for name in ("question", "population"):
            _text(name, getattr(self, name))
        for name, size in (("shuffler", 32), ("analyser", 32), ("nonce", 16)):
            _hexadecimal(name, getattr(self, name), size)
        if not isinstance(self.fixed, bool):
            raise BadArgument("fixed", f"is {self.fixed!r}", "use True or False")
        require_collectable(self.plan, self.shortfall)
        if self.issuer is not None:
            self._require_issuer(self.issuer)

    def _require_issuer(self, issuer: Issuing) -> None:
        if self.admission is not Admission.INVITED:
            raise BadArgument("issuer", "is given, and anybody may report", "leave it out, or use admission='invited'")
        if issuer.key == self.shuffler:
            raise BadArgument("issuer", "is the shuffler, which must not know who reports", "use another party")
        if len(issuer.tokens) != self.batches:
            raise BadArgument("issuer", "has not one key for each batch", f"ask it for {self.batches}")

    @cached_property
    def hash(self) -> str:
        return fingerprint(self.to_json())

    @property
    def id(self) -> str:
        """As it is called in addresses."""
        return self.hash[:32]

    @property
    def wire(self) -> Wire:
        assert self.plan.wire is not None  # noqa: S101  # refused otherwise when it was made
        return self.plan.wire

    def purpose(self, batch: int) -> str:
        """What the analyser's key for a batch is announced for."""
        return f"{self.hash} {batch}"

    def envelope(self, batch: int) -> Envelope:
        """Made once for each batch: every report is opened with it."""
        if batch not in self._envelopes:
            credential = CREDENTIAL if self.issuer is None else TOKEN
            self._envelopes[batch] = Envelope(self.plan, bytes.fromhex(self.hash), batch, credential)
        return self._envelopes[batch]

    @cached_property
    def _envelopes(self) -> dict[int, Envelope]:
        return {}

    def next_close(self, now: float) -> int:
        """The end of the window in which this moment lies."""
        passed = max(0, int(now) - self.opens) // self.window
        return self.opens + (passed + 1) * self.window

    def to_json(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        plain = {name: str(own[name]) for name in ("shortfall", "admission")}
        own |= {"plan": self.plan.to_json(), **plain}
        if self.issuer is None:
            del own["issuer"]
        else:
            own["issuer"] = self.issuer.to_json()
        return {"format": FORMAT, **own}

    @classmethod
    def from_json(cls, data: Any, *, hash: str | None = None) -> Collection:
        """What `to_json` wrote, and nothing else."""
        try:
            found = _read(canonical(data))
        except (TypeError, ValueError) as problem:
            if isinstance(problem, Refused):
                raise
            raise _unreadable() from None
        if hash is not None and found.hash != hash:
            raise BadArgument("collection", "has another hash than was expected", "ask its operators for the right one")
        return found


@lru_cache(maxsize=64)
def _read(text: str) -> Collection:
    """A plan takes a while to be checked: the same text is read once."""
    data = json.loads(text)
    try:
        given = {name: value for name, value in data.items() if name not in ("format", "plan")}
        if "issuer" in given:
            given["issuer"] = Issuing(**given["issuer"])
        found = Collection(plan=plan_from_json(data["plan"]), **given)
        same = canonical(found.to_json()) == text
    except Refused:
        raise
    except (KeyError, TypeError, AttributeError, ValueError):
        same = False
    if not same:
        raise _unreadable()
    return found


def _unreadable() -> BadArgument:
    return BadArgument("collection", "is not one that this version can read", "give what to_json wrote")


class Unknown(BadArgument):
    """There is no such collection here."""

    def __init__(self, name: str) -> None:
        super().__init__("collection", f"{name[:64]!r} is not known here", "ask its operators for the right name")


def require_collectable(plan: Plan, shortfall: Shortfall = Shortfall.HOLD) -> None:
    """Refuses a plan that cannot be collected from devices, and says why."""
    protocol = plan.protocol
    if not protocol.collectable():
        raise Unsupported(f"{protocol.name} cannot be collected from devices: it needs {protocol.model.trusted}")
    if plan.wire is None:
        raise Unsupported(
            "the plan does not say how many messages everybody sends; plan it for a collection: "
            "hc.advise(..., collected=True).best, or headcount advise ... --collected"
        )
    if shortfall is Shortfall.TOP_UP and protocol.task.name != "count":
        raise BadArgument(
            "shortfall", f"is 'top-up', and reports of nobody would be counted in a {protocol.task.name}",
            "use 'hold' or 'purge'",
        )  # fmt: skip


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
