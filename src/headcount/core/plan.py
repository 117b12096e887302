"""A plan: a calibrated protocol and the budget it was calibrated for. All parties hold the same one, and its hash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from headcount.core.budget import Budget
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
        budget = {"epsilon": self.budget.epsilon, "delta": self.budget.delta, "neighbours": str(self.budget.neighbours)}
        return {**self.protocol.to_json(), "budget": budget, "programme": self.protocol.programme.encode()}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON, report programme included."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return sha256(text.encode()).hexdigest()
