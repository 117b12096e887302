"""A charge: which question was paid for, and what all questions then came to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from secrets import token_hex
from typing import Any

from headcount.core.canonical import fingerprint
from headcount.core.plan import Plan, for_devices
from headcount.core.protocol import Protocol
from headcount.core.wire import Wire
from headcount.ledger.spending import Spending, exactly
from headcount.protocols.saved import protocol_from_json


def as_text(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"


@dataclass(frozen=True)
class Charge:
    """One line of a ledger. The day is all that is told of the time."""

    number: int
    day: str
    plan: str  # the plan's hash; of a bare protocol, that of its description and programme
    question: dict[str, Any]  # enough to rebuild the protocol, and so its loss
    epsilon: Fraction
    delta: Fraction
    spent: Fraction  # by this and all earlier charges, at the ledger's delta
    once: str = ""  # random, so that the same question asked again is not the same line

    @classmethod
    def of(cls, question: Plan | Protocol, number: int, after: Spending) -> Charge:
        if isinstance(question, Plan):
            asked = question.question()
            epsilon, delta = Fraction(question.budget.epsilon), Fraction(question.budget.delta)
            protocol = question.protocol
        else:
            protocol, asked = question, question.to_json()
            alone, delta = exactly(after.losses[-1].epsilon(0.0)), Fraction(0)
            if not isinstance(alone, Fraction):
                alone, delta = exactly(after.losses[-1].epsilon(after.delta)), Fraction(after.delta)
            epsilon = Fraction(alone)
        day = datetime.now(UTC).date().isoformat()
        spent = Fraction(after.total)
        return cls(number, day, described(asked, protocol), asked, epsilon, delta, spent, token_hex(8))

    @property
    def protocol(self) -> Protocol:
        return protocol_from_json(
            {name: part for name, part in self.question.items() if name not in ("budget", "wire")}
        )

    @property
    def wire(self) -> Wire | None:
        """How it was collected, if it was."""
        return Wire(**self.question["wire"]) if "wire" in self.question else None

    @property
    def asked(self) -> float | None:
        """The epsilon that a plan was made for."""
        return self.question["budget"]["epsilon"] if "budget" in self.question else None

    def to_json(self) -> dict[str, Any]:
        rationals = {name: as_text(getattr(self, name)) for name in ("epsilon", "delta", "spent")}
        return {**vars(self), **rationals}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Charge:
        rationals = {name: Fraction(data[name]) for name in ("epsilon", "delta", "spent")}
        return cls(**{**data, **rationals})


def described(question: dict[str, Any], protocol: Protocol) -> str:
    """The hash of a question together with the programme that its protocol runs: that of the plan, if it was one."""
    wire = Wire(**question["wire"]) if "wire" in question else None
    return fingerprint({**question, **for_devices(protocol, wire)})
