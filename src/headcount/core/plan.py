"""A plan: a calibrated protocol and the budget it was calibrated for. All parties hold the same one, and its hash."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headcount.core.budget import Budget
from headcount.core.canonical import fingerprint
from headcount.core.errors import Unsupported
from headcount.core.protocol import Protocol


@dataclass(frozen=True)
class Plan:
    """Made only if the protocol's loss fits the budget."""

    protocol: Protocol
    budget: Budget

    def __post_init__(self) -> None:
        if self.protocol.neighbours is not self.budget.neighbours:
            raise Unsupported(
                f"the protocol is for neighbours='{self.protocol.neighbours}' and the budget for "
                f"'{self.budget.neighbours}'; use one relation for both"
            )
        self.budget.require(self.protocol.loss)

    def to_json(self) -> dict[str, Any]:
        programme = self.protocol.programme.encode()
        return {**self.protocol.to_json(), "budget": self.budget.to_json(), "programme": programme}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON, report programme included."""
        return fingerprint(self.to_json())
