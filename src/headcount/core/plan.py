"""A plan: a calibrated protocol and the budget it was calibrated for. All parties hold the same one, and its hash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headcount.core.budget import Budget
from headcount.core.canonical import fingerprint
from headcount.core.errors import BadArgument, Unsupported
from headcount.core.files import put
from headcount.core.loss import PrivacyLoss
from headcount.core.protocol import Protocol
from headcount.core.registry import Record, record
from headcount.core.wire import Wire

FORMAT = "headcount plan 1"


@dataclass(frozen=True)
class Plan:
    """Made only if the protocol's loss fits the budget."""

    protocol: Protocol
    budget: Budget
    wire: Wire | None = None  # where it is to be collected from devices

    def __post_init__(self) -> None:
        if self.protocol.neighbours is not self.budget.neighbours:
            raise Unsupported(
                f"the protocol is for neighbours='{self.protocol.neighbours}' and the budget for "
                f"'{self.budget.neighbours}'; use one relation for both"
            )
        self.budget.require_hidden(self.protocol.crowd.each)
        self.budget.require(self.loss)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """The protocol's; in a collection, with what it costs that everybody sends the same number of messages."""
        return self.protocol.loss if self.wire is None else self.wire.loss(self.protocol)

    @property
    def colluding(self) -> float | None:
        """In a collection, the epsilon that is left if the shuffler and the analyser are one, as devices are told."""
        told: float | None = None if self.wire is None else self.wire.device(self.protocol)["colluding"]
        return told

    def to_json(self) -> dict[str, Any]:
        return {**self.question(), **for_devices(self.protocol, self.wire)}

    def question(self) -> dict[str, Any]:
        """All but what is written down for devices, which follows from it."""
        wire = {} if self.wire is None else {"wire": self.wire.to_json()}
        return {**self.protocol.to_json(), "budget": self.budget.to_json(), **wire}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON, report programme included."""
        return fingerprint(self.to_json())

    def save(self, path: str | Path) -> Path:
        """Writes the plan into a file, with its hash; `hc.load_plan` reads it. Replaces a plan, but nothing else."""
        path = Path(path)
        if path.exists() and not _holds_a_plan(path):
            raise BadArgument("path", f"{path} exists and is not a plan", "give the name of a new file")
        return put(path, self.saved())

    def saved(self) -> str:
        """What is in such a file."""
        from importlib.metadata import version

        kept = {"format": FORMAT, "headcount": version("headcount"), "hash": self.hash, "plan": self.to_json()}
        return json.dumps(kept, indent=1) + "\n"

    def to_registry(self, **deployment: Any) -> Record:
        """A draft for the OpenDP registry of deployments: what the plan knows, and TODO where only you do.

        Takes the arguments of `headcount.core.registry.record`: name, curator, curator_type, published, and more.
        """
        return record(self.protocol, self.budget, self.hash, **deployment)


def for_devices(protocol: Protocol, wire: Wire | None) -> dict[str, Any]:
    """The programme and, in a collection, what else somebody who does not know the protocol needs to report."""
    device = {} if wire is None else {"device": wire.device(protocol)}
    return {"programme": protocol.programme.encode(), **device}


def _holds_a_plan(path: Path) -> bool:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["format"]).startswith("headcount plan ")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
