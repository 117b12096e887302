"""Advice: plans in order of preference, each with its figures or with what it lacks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, Infeasible
from headcount.core.histogram import Histogram
from headcount.core.law import Noise
from headcount.core.model import Model, parsed_model
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.core.task import Task
from headcount.planner.smallest import smallest_crowd

TRUST = {
    Model.CENTRAL: "the analyser, with everyone's answer",
    Model.THRESHOLD: "a shuffler that mixes the messages and drops small counts",
    Model.SHUFFLE: "a shuffler that mixes the messages",
    Model.LOCAL: "nobody",
}

HEADINGS = ("protocol", "model", "error (rmse)", "95% interval", "messages", "accounting")

FIGURES = (
    "parameters", "bias", "std_error", "rmse", "interval95", "messages_per_person", "bits_per_person", "wire_messages",
    "wire_bytes", "accounting", "local_epsilon",
)  # fmt: skip


TOO_MANY = 1_000  # messages a person


def number(value: float) -> str:
    """With the digits that mean something."""
    return f"{value:,.2f}" if 0.1 <= value < 1e4 else f"{value:,.0f}" if value >= 1e4 else f"{value:.3g}"


@dataclass(frozen=True)
class Option(ABC):
    """One protocol's place in the advice."""

    kind: type[Protocol]
    task: Task
    crowd: Crowd
    budget: Budget

    @property
    def name(self) -> str:
        return self.kind.name

    @cached_property
    def smallest_n(self) -> int | None:
        return smallest_crowd(self.kind, self.task, self.crowd, self.budget)

    @property
    @abstractmethod
    def reason(self) -> str: ...

    @property
    @abstractmethod
    def rank(self) -> tuple[bool, float, float]:
        """By error, then by messages; whatever sends far too many of them comes last."""

    def figures(self) -> dict[str, Any]:
        return {}

    def cells(self) -> list[str]:
        """A row under HEADINGS."""
        return [self.name, str(self.kind.model), "-", "-", "-", self.reason]

    def to_json(self) -> dict[str, Any]:
        head = {"protocol": self.name, "model": str(self.kind.model), "feasible": bool(self.figures())}
        tail = {"smallest_n": self.smallest_n, "reference": self.kind.reference}
        return {**head, "reason": self.reason, **dict.fromkeys(FIGURES), **self.figures(), **tail}


@dataclass(frozen=True)
class Candidate(Option):
    """A calibrated protocol and the law of its error."""

    protocol: Protocol
    noise: Noise

    @property
    def proportionate(self) -> bool:
        return self.protocol.messages_per_person <= TOO_MANY

    @property
    def reason(self) -> str:
        if self.proportionate:
            return "meets the budget"
        return f"meets the budget, but at {self.protocol.messages_per_person:,.0f} messages a person: out of proportion"

    @property
    def rank(self) -> tuple[bool, float, float]:
        return not self.proportionate, self.noise.rmse, self.protocol.messages_per_person

    @property
    def scale(self) -> float:
        """What one person is in the task's unit."""
        return self.task.unit(self.crowd.size)

    @property
    def rmse(self) -> float:
        return self.noise.rmse * self.scale

    @cached_property
    def half_width(self) -> float:
        return self.noise.half_width() * self.scale

    def cells(self) -> list[str]:
        protocol, messages = self.protocol, f"{self.protocol.messages_per_person:,.4g}"
        accounting = protocol.loss.kind if self.proportionate else f"{protocol.loss.kind}; out of proportion"
        return [self.name, str(protocol.model), number(self.rmse), f"± {number(self.half_width)}", messages, accounting]

    def figures(self) -> dict[str, Any]:
        return {
            "parameters": self.protocol.to_json()["parameters"],
            "bias": self.noise.bias * self.scale,
            "std_error": self.noise.std_error * self.scale,
            "rmse": self.rmse,
            "interval95": self.half_width,
            "messages_per_person": self.protocol.messages_per_person,
            "bits_per_person": self.protocol.bits_per_person,
            "accounting": self.protocol.loss.kind,
            "local_epsilon": self.protocol.local_epsilon,
        }


@dataclass(frozen=True)
class Misfit(Option):
    """A protocol that cannot serve, and why."""

    refusal: str

    @property
    def reason(self) -> str:
        if self.smallest_n is not None and self.smallest_n > self.crowd.size:
            return f"needs {self.smallest_n:,} people, you have {self.crowd.size:,}"
        return self.refusal

    @property
    def rank(self) -> tuple[bool, float, float]:
        return True, math.inf, math.inf


@dataclass(frozen=True, repr=False)
class Advice:
    """Options, best first."""

    task: Task
    crowd: Crowd
    budget: Budget
    ones: int | None
    options: tuple[Option, ...]

    @cached_property
    def feasible(self) -> tuple[Candidate, ...]:
        return tuple(option for option in self.options if isinstance(option, Candidate))

    @property
    def best(self) -> Plan:
        return self.plan(self._first)

    @property
    def _first(self) -> Candidate:
        if not self.feasible:
            reasons = "; ".join(f"{option.name}: {option.reason}" for option in self.options)
            raise Infeasible(f"no protocol can serve ({reasons})")
        return self.feasible[0]

    def best_of(self, model: str) -> Candidate | None:
        trusted = parsed_model(model)
        return next((option for option in self.feasible if option.kind.model is trusted), None)

    def plan(self, option: Candidate | str) -> Plan:
        """The plan of an option, or of the protocol of this name."""
        found = option if isinstance(option, Candidate) else self._called(option)
        return Plan(found.protocol, self.budget)

    def _called(self, name: str) -> Candidate:
        for option in self.feasible:
            if option.name == name:
                return option
        raise BadArgument("option", f"is {name!r}", f"use one of {', '.join(option.name for option in self.feasible)}")

    def why(self) -> str:
        """The choice in a few plain sentences."""
        first = self._first
        sentences = [
            f"{first.name} answers best: of {self.crowd.size:,} people, {self._answer} is within "
            f"{number(first.half_width)} "
            f"of the truth 19 times out of 20, at {self.budget}, {self.budget.neighbours.words}.",
            "You need not trust anybody."
            if first.kind.model is Model.LOCAL
            else f"You must trust {TRUST[first.kind.model]}.",
        ]
        other = next((option for option in self.feasible if option.kind.model is not first.kind.model), None)
        if other is not None:
            sentences.append(
                f"If you would rather trust {TRUST[other.kind.model]}, {other.name} is the next best, within "
                f"{number(other.half_width)} (error {number(other.rmse)} instead of {number(first.rmse)})."
            )
        if first.protocol.local_epsilon is None and first.kind.model is not Model.CENTRAL:
            sentences.append("If shuffler and analyser collude, nothing is left of the guarantee.")
        return " ".join(sentences)

    @property
    def _answer(self) -> str:
        return "each count" if isinstance(self.task, Histogram) else "the answer"

    def table(self) -> str:
        """Plain text, a line an option."""
        rows = [list(HEADINGS), *(option.cells() for option in self.options)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS) - 1)]
        lines = ([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]] for row in rows)
        return "\n".join("  ".join(line) for line in lines)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self.table().splitlines()
        return f"<pre><strong>{escape(head)}</strong>\n{escape(chr(10).join(rows))}</pre>"

    def to_json(self) -> dict[str, Any]:
        budget, crowd = self.budget, self.crowd
        return {
            "task": self.task.name,
            "budget": {"epsilon": budget.epsilon, "delta": budget.delta, "neighbours": str(budget.neighbours)},
            "crowd": {"n": crowd.size, "least": crowd.least, "corrupt": crowd.corrupt, "ones": self.ones},
            "best": self.feasible[0].name if self.feasible else None,
            "options": [option.to_json() for option in self.options],
        }
