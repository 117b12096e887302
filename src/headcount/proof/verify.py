"""The verdict on a certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import ctx

from headcount.proof import added, bits, blanket, central, clones, cover, local, sampled
from headcount.proof.balls import Bounds
from headcount.proof.claim import Claim, Prover, read
from headcount.proof.effort import limited
from headcount.proof.expression import Unreadable

PROVERS: tuple[Prover, ...] = (
    central.prove,
    local.prove,
    sampled.prove,
    bits.prove,
    added.prove,
    blanket.prove,
    cover.prove,
    clones.prove,
)

PRECISION = 256

Answer = Literal["proved", "refuted", "cannot prove"]


@dataclass(frozen=True)
class Point:
    """One point of the claimed curve, and between which bounds the truth lies there."""

    epsilon: Fraction
    delta: Fraction
    truth: Bounds

    @property
    def answer(self) -> Answer:
        if self.truth.high <= self.delta:
            return "proved"
        return "refuted" if self.truth.low > self.delta else "cannot prove"


@dataclass(frozen=True)
class Verdict:
    """What can be said of a certificate, and why."""

    answer: Answer
    because: str
    points: tuple[Point, ...] = ()

    @property
    def witness(self) -> Point | None:
        """A point where the claim is false."""
        return next((point for point in self.points if point.answer == "refuted"), None)

    def __str__(self) -> str:
        at = [
            f"epsilon={float(p.epsilon):g}: delta is {_between(p.truth)}, claimed {_short(p.delta)}"
            for p in self.points[:1]
        ]
        return "\n".join([f"{self.answer}: {self.because}", *at])

    def to_json(self) -> dict[str, Any]:
        witness = self.witness
        return {
            "answer": self.answer,
            "because": self.because,
            "points": [
                {"epsilon": str(p.epsilon), "claimed": float(p.delta), "low": float(p.truth.low),
                 "high": float(p.truth.high), "answer": p.answer}
                for p in self.points
            ],
            "witness": witness and {
                "crowds": witness.truth.crowds, "epsilon": float(witness.epsilon),
                "chance": float(witness.truth.chances[0]), "chance_of_neighbour": float(witness.truth.chances[1]),
                "delta": float(witness.truth.low), "claimed": float(witness.delta),
            },
        }  # fmt: skip


def _between(bounds: Bounds) -> str:
    low, high = _short(bounds.low), _short(bounds.high)
    return low if low == high else f"{low} to {high}"


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"


def verify(certificate: str | dict[str, Any]) -> Verdict:
    """Proves, refutes or gives up on a certificate, given as JSON text or as what that says."""
    try:
        claim = read(json.loads(certificate) if isinstance(certificate, str) else certificate)
    except (ValueError, RecursionError) as problem:  # among them Unreadable, and what is not JSON
        return Verdict("cannot prove", str(problem))
    try:
        with ctx.workprec(PRECISION), limited():
            return _judged(claim)
    except (ArithmeticError, Unreadable, RecursionError) as problem:
        return Verdict("cannot prove", str(problem))


def _judged(claim: Claim) -> Verdict:
    proof = next((proof for prover in PROVERS if (proof := prover(claim))), None)
    if proof is None:
        return Verdict("cannot prove", f"no proof is known here for such reports in the {claim.model} model")
    points = tuple(Point(epsilon, delta, proof.bounds(epsilon)) for epsilon, delta in claim.curve)
    answers = {point.answer for point in points}
    if "refuted" in answers:
        return Verdict("refuted", "an event tells two neighbouring crowds further apart than is claimed", points)
    if answers == {"proved"}:
        return Verdict("proved", proof.because, points)
    return Verdict("cannot prove", "the bounds are too wide at some epsilon", points)
