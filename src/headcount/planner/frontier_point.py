"""A point of a frontier: one calibrated protocol, and whether another beats it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from headcount.planner.option import Candidate
from headcount.privacy.model import Model

TRUST = {model: place for place, model in enumerate(reversed(Model))}  # nobody is the least to trust


@dataclass(frozen=True)
class Point:
    """A calibrated protocol: what it costs and how wrong it is, in the task's unit."""

    protocol: str
    model: Model
    x: float  # what the error is held against
    rmse: float
    half_width: float  # 95%
    messages: float  # a person
    bits: float  # a person
    parameters: dict[str, float]
    front: bool = False  # nothing that asks for no more trust is more accurate at no more messages
    epsilon_left: float | None = None  # for a plan that counts on everybody, if so many drop out

    @classmethod
    def of(cls, option: Candidate, x: float | None = None) -> Self:
        """Judged as an advice would; against messages unless a place is given."""
        protocol, messages = option.protocol, option.protocol.messages_per_person
        return cls(
            option.name, option.kind.model, messages if x is None else x, option.rmse, option.half_width, messages,
            protocol.bits_per_person, protocol.to_json()["parameters"],
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        left = self.epsilon_left
        return {
            "protocol": self.protocol, "model": str(self.model), "x": self.x, "rmse": self.rmse,
            "interval95": self.half_width, "messages_per_person": self.messages, "bits_per_person": self.bits,
            "parameters": self.parameters, "front": self.front,
            "epsilon_left": left if left is not None and math.isfinite(left) else None,
        }  # fmt: skip

    def beats(self, other: Point) -> bool:
        """At least as good in error, messages and trust, and better in one of the first two."""
        if TRUST[self.model] > TRUST[other.model] or self.rmse > other.rmse or self.messages > other.messages:
            return False
        return self.rmse < other.rmse or self.messages < other.messages


def marked(points: Iterable[Point]) -> list[Point]:
    """The same, each told whether anything beats it."""
    every = list(points)
    return [replace(point, front=not any(other.beats(point) for other in every)) for point in every]
