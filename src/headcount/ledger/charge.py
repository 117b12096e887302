"""A charge: a question that was paid for, and the share of the budget that was then spent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from secrets import token_hex
from typing import Any

from headcount.common.canonical import fingerprint
from headcount.common.printable import printable
from headcount.ledger.allowance import up
from headcount.ledger.prices import Amount
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan, for_devices
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import Wire
from headcount.protocols.base.saved import protocol_from_json

RATIONALS = ("epsilon", "delta", "spent", "order")


def as_text(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"


@dataclass(frozen=True)
class Charge:
    """One line of a ledger. Of the time, only the day is kept."""

    number: int
    day: str
    plan: str  # the plan's hash; of a bare protocol, that of its description and programme
    question: dict[str, Any]  # enough to rebuild the protocol, and so its loss
    epsilon: Fraction
    delta: Fraction
    spent: Fraction  # by this and all earlier charges, of the budget
    once: str = ""  # random, so that the same question asked again is not the same line
    order: Fraction | None = None  # of the Rényi rule, on the line that fixes it
    column: str | None = None  # of the answers, for people to read; none before ledgers kept it, and of bare plans
    reserved: bool | None = None  # for an answer that was still to be told; it counts from then on

    @classmethod
    def of(
        cls,
        question: Plan | Protocol,
        number: int,
        price: Amount,
        spent: Fraction,
        order: Fraction | None = None,
        *,
        column: str | None = None,
        reserved: bool = False,
    ) -> Charge:
        """The charge of a question at its own price."""
        protocol = question.protocol if isinstance(question, Plan) else question
        asked = question.question() if isinstance(question, Plan) else question.to_json()
        day, hashed = datetime.now(UTC).date().isoformat(), described(asked, protocol)
        amount = Fraction(price.divergence), price.delta, spent
        return cls(number, day, hashed, asked, *amount, token_hex(8), order, column, reserved or None)

    @property
    def asks(self) -> str:
        """The kind of question and its column, as "histogram of country"."""
        return charge_title(self.question["task"]["name"], self.column)

    def record(self) -> dict[str, Any]:
        """A row of a table."""
        return {
            "number": self.number,
            "day": self.day,
            "task": self.question["task"]["name"],
            "column": self.column,
            "protocol": self.question["protocol"],
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "spent": up(self.spent),
            "plan": self.plan,
        }

    @property
    def protocol(self) -> Protocol:
        return protocol_from_json(
            {name: part for name, part in self.question.items() if name not in ("budget", "wire", "panels")}
        )

    @property
    def wire(self) -> Wire | None:
        """How reports were collected, if they were."""
        return Wire(**self.question["wire"]) if "wire" in self.question else None

    @property
    def budget(self) -> Budget | None:
        """The budget of a plan."""
        return Budget(**self.question["budget"]) if "budget" in self.question else None

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, with rationals as text."""
        known = {name: part for name, part in vars(self).items() if part is not None}
        return known | {name: as_text(part) for name, part in known.items() if name in RATIONALS}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Charge:
        return cls(**data | {name: Fraction(part) for name, part in data.items() if name in RATIONALS})


def charge_title(task: str, column: str | None) -> str:
    """The kind of question and its column."""
    return task if column is None else f"{task} of {printable(column)}"


def described(question: dict[str, Any], protocol: Protocol) -> str:
    """The hash of a question with its protocol's programme: that of the plan, if it was one."""
    wire = Wire(**question["wire"]) if "wire" in question else None
    rounds = question.get("budget", {}).get("rounds", 1)
    return fingerprint({**question, **for_devices(protocol, wire, rounds)})
