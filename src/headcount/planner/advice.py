"""Advice: plans in order of preference, each with its figures or with what it lacks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.errors import Infeasible
from headcount.core.law import Noise
from headcount.core.plan import Plan
from headcount.core.protocol import Model, Protocol
from headcount.core.task import Task
from headcount.planner.smallest import smallest_crowd

TRUST = {
    Model.CENTRAL: "the analyser, with everyone's answer",
    Model.THRESHOLD: "a shuffler that mixes the messages and drops small counts",
    Model.SHUFFLE: "a shuffler that mixes the messages",
    Model.LOCAL: "nobody",
}


@dataclass(frozen=True)
class Option:
    """One protocol's place in the advice. Without a protocol it cannot serve, and `reason` says why."""

    kind: type[Protocol]
    task: Task
    crowd: Crowd
    budget: Budget
    protocol: Protocol | None = None
    noise: Noise | None = None
    refusal: str = ""

    @cached_property
    def smallest_n(self) -> int | None:
        return smallest_crowd(self.kind, self.task, self.crowd, self.budget)

    @property
    def reason(self) -> str:
        if self.protocol is not None:
            return "meets the budget"
        if self.smallest_n is not None and self.smallest_n > self.crowd.size:
            return f"needs {self.smallest_n:,} people, you have {self.crowd.size:,}"
        return self.refusal

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def rank(self) -> tuple[float, float]:
        """By error, then by messages."""
        if self.protocol is None or self.noise is None:
            return math.inf, math.inf
        return self.noise.rmse, self.protocol.messages_per_person

    def to_json(self) -> dict[str, Any]:
        protocol, noise = self.protocol, self.noise
        figures: dict[str, Any] = dict.fromkeys(
            ("parameters", "bias", "std_error", "rmse", "interval95", "messages_per_person", "bits_per_person",
             "wire_messages", "wire_bytes", "accounting", "local_epsilon")
        )  # fmt: skip
        if protocol is not None and noise is not None:
            figures |= {
                "parameters": protocol.to_json()["parameters"],
                "bias": noise.bias,
                "std_error": noise.std_error,
                "rmse": noise.rmse,
                "interval95": noise.half_width(),
                "messages_per_person": protocol.messages_per_person,
                "bits_per_person": protocol.bits_per_person,
                "accounting": protocol.loss.kind,
                "local_epsilon": protocol.local_epsilon,
            }
        return {
            "protocol": self.name, "model": str(self.kind.model), "feasible": protocol is not None, "reason": self.reason,
            **figures, "smallest_n": self.smallest_n, "reference": self.kind.reference,
        }  # fmt: skip


@dataclass(frozen=True)
class Advice:
    """Options, best first."""

    task: Task
    crowd: Crowd
    budget: Budget
    ones: int | None
    options: tuple[Option, ...]

    @property
    def feasible(self) -> tuple[Option, ...]:
        return tuple(option for option in self.options if option.protocol is not None)

    @property
    def best(self) -> Plan:
        return self.plan(self._first)

    @property
    def _first(self) -> Option:
        if not self.feasible:
            reasons = "; ".join(f"{option.name}: {option.reason}" for option in self.options)
            raise Infeasible(f"no protocol can serve ({reasons})")
        return self.feasible[0]

    def best_of(self, model: Model) -> Option | None:
        return next((option for option in self.feasible if option.kind.model is model), None)

    def plan(self, option: Option) -> Plan:
        if option.protocol is None:
            raise Infeasible(f"{option.name} cannot serve: {option.reason}")
        return Plan(option.protocol, self.budget)

    def why(self) -> str:
        """The choice in a few plain sentences."""
        first = self._first
        protocol, noise = first.protocol, first.noise
        assert protocol is not None and noise is not None  # noqa: S101
        people = f"{self.crowd.size:,} people"
        sentences = [
            f"{first.name} answers best: of {people}, the answer is within {noise.half_width():,.1f} of the truth "
            f"19 times out of 20, at {self.budget}, {self.budget.neighbours.words}.",
            f"You must trust {TRUST[first.kind.model]}.",
        ]
        for option in self.feasible[1:]:
            if option.kind.model is not first.kind.model and option.noise is not None:
                sentences.append(
                    f"If you would rather trust {TRUST[option.kind.model]}, {option.name} is the next best, with "
                    f"{option.noise.half_width():,.1f} ({option.noise.rmse / noise.rmse:,.2f} times the error)."
                )
                break
        if protocol.local_epsilon is None and first.kind.model is not Model.CENTRAL:
            sentences.append("If shuffler and analyser collude, nothing is left of the guarantee.")
        return " ".join(sentences)

    def table(self) -> str:
        """Plain text, a line an option."""
        rows = [("protocol", "model", "std error", "95% interval", "messages", "note")]
        for option in self.options:
            if option.protocol is None or option.noise is None:
                rows.append((option.name, option.kind.model, "-", "-", "-", option.reason))
            else:
                noise, messages = option.noise, option.protocol.messages_per_person
                rows.append((
                    option.name, option.kind.model, f"{noise.rmse:,.2f}", f"±{noise.half_width():,.1f}", f"{messages:.4g}",
                    option.protocol.loss.kind,
                ))  # fmt: skip
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        return "\n".join("  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[5]]) for row in rows)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        head, *rows = (line for line in self.table().splitlines())
        return f"<pre><strong>{escape(head)}</strong>\n{escape(chr(10).join(rows))}</pre>"

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task.name,
            "budget": {
                "epsilon": self.budget.epsilon, "delta": self.budget.delta, "neighbours": str(self.budget.neighbours),
            },
            "crowd": {
                "n": self.crowd.size, "least": self.crowd.least, "corrupt": self.crowd.corrupt, "ones": self.ones,
            },
            "best": self.feasible[0].name if self.feasible else None,
            "options": [option.to_json() for option in self.options],
        }  # fmt: skip
