"""The verdict on a certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from flint import ctx

from headcount.proof import (
    additive_noise,
    amplification,
    blanket,
    central,
    families,
    flipped_bits,
    local,
    padding,
    sampled,
    single_integer,
    uniform_blanket,
    weighted_totals,
)
from headcount.proof.ball_laws import ball, most
from headcount.proof.claim import Claim, Prover, read
from headcount.proof.composition import RoundLosses
from headcount.proof.divergence import Bounds
from headcount.proof.effort import DEFAULT, limited
from headcount.proof.expression import Unreadable
from headcount.proof.report_length import too_many

PROVERS: tuple[Prover, ...] = (
    central.prove,
    families.prove,
    weighted_totals.prove,
    local.prove,
    sampled.prove,
    padding.prove,
    flipped_bits.prove,
    additive_noise.prove,
    single_integer.prove,
    amplification.prove,
    blanket.prove,
    uniform_blanket.prove,
)

PRECISION = 256

Answer = Literal["proved", "refuted", "cannot prove"]


@dataclass(frozen=True)
class CurvePoint:
    """One point of the claimed curve, and between which bounds the truth lies there."""

    epsilon: Fraction
    delta: Fraction
    truth: Bounds

    @property
    def answer(self) -> Answer:
        if self.truth.high <= self.delta:
            return "proved"
        return "refuted" if self.truth.low > self.delta else "cannot prove"

    def to_json(self) -> dict[str, Any]:
        return {
            "epsilon": str(self.epsilon),
            "claimed": float(self.delta),
            "low": float(self.truth.low),
            "high": float(self.truth.high),
            "answer": self.answer,
        }

    def refutation(self) -> dict[str, Any]:
        """The event that tells two crowds further apart than is claimed, as JSON."""
        here, there = map(float, self.truth.chances)
        return {
            "crowds": self.truth.crowds,
            "epsilon": float(self.epsilon),
            "chance": here,
            "chance_of_neighbour": there,
            "delta": float(self.truth.low),
            "claimed": float(self.delta),
        }


@dataclass(frozen=True)
class Verdict:
    """The result of `hc.verify`: true if the claim was proved.

    Parameters
    ----------
    answer : str
        "proved", "refuted" or "cannot prove".
    because : str
        The theorem that was used, or why there is no proof.
    points : tuple of Point
        Bounds on the true delta at each epsilon.
    of : str
        What was looked at.
    unproved : tuple of str
        What else the certificate says, which was not.
    effort : int
        Units of work that it took.

    Examples
    --------
    >>> hc.verify(hc.certify(hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6), epsilon=1))
    Verdict: proved
    """

    answer: Answer
    because: str
    points: tuple[CurvePoint, ...] = ()
    of: str = ""
    unproved: tuple[str, ...] = ()
    effort: int = 0

    @property
    def witness(self) -> CurvePoint | None:
        """A point where the claim is false."""
        return next((point for point in self.points if point.answer == "refuted"), None)

    def __repr__(self) -> str:
        return f"Verdict: {self.answer}"

    def __bool__(self) -> bool:
        """Whether the claim was proved; "refuted" and "cannot prove" are both false."""
        return self.answer == "proved"

    def __str__(self) -> str:
        lines = [f"{self.answer}: {self.because}", *([self.of] if self.of else [])]
        lines += [f"not proved: {', '.join(self.unproved)}"] if self.unproved else []
        for point in self.points[:1]:
            claimed = f"claimed {_short(point.delta)}"
            lines.append(f"epsilon={float(point.epsilon):g}: delta is {_between(point.truth)}, {claimed}")
        if (witness := self.witness) is not None:
            here, there = map(_short, witness.truth.chances)
            lines.append(f"{witness.truth.crowds}: an event has chance {here} or more with one and {there} or less")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount verify --format json` prints it."""
        return {
            "answer": self.answer,
            "because": self.because,
            "of": self.of,
            "unproved": list(self.unproved),
            "effort": self.effort,
            "points": [point.to_json() for point in self.points],
            "witness": None if (witness := self.witness) is None else witness.refutation(),
        }


def _between(bounds: Bounds) -> str:
    low, high = _short(bounds.low), _short(bounds.high)
    return low if low == high else f"{low} to {high}"


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"


def verify(certificate: str | dict[str, Any], effort: int = DEFAULT) -> Verdict:
    """Proves, refutes or gives up on a certificate, given as JSON text or as what that says.

    It gives up after this `effort`, in units of about a microsecond; reading the text is not
    counted.
    """
    try:
        claim = read(json.loads(certificate) if isinstance(certificate, str) else certificate)
    except Unreadable as problem:
        return Verdict("cannot prove", str(problem))
    except (ValueError, RecursionError):
        return Verdict("cannot prove", "this is not a certificate, or not even JSON")
    with ctx.workprec(PRECISION), limited(effort) as meter:
        try:
            verdict = _judged(claim)
        except (ArithmeticError, Unreadable, RecursionError) as problem:
            verdict = Verdict("cannot prove", str(problem))
    return replace(verdict, of=str(claim), unproved=claim.unread, effort=meter.spent)


def _judged(claim: Claim) -> Verdict:
    proof = next((proof for prover in PROVERS if (proof := prover(claim))), None)
    if proof is None:
        return Verdict("cannot prove", f"no proof is known here for such reports in the {claim.model} model")
    cut = _cut(claim)

    def each(epsilon: Fraction) -> Bounds:
        return _and_cut(proof.bounds(epsilon), epsilon, cut)

    bounds, because = each, proof.because
    if claim.rounds > 1:
        smallest = min((delta for _, delta in claim.curve if delta), default=Fraction(1, 1 << 60))
        bounds = RoundLosses(each, claim.rounds, smallest).bounds
        because = f"{proof.because}; the losses of {claim.rounds:,} rounds are added up in the worse order"
    points = tuple(CurvePoint(epsilon, delta, bounds(epsilon)) for epsilon, delta in claim.curve)
    answers = {point.answer for point in points}
    if "refuted" in answers:
        return Verdict("refuted", "an event tells two neighbouring crowds further apart than is claimed", points)
    if answers == {"proved"}:
        return Verdict("proved", because, points)
    return Verdict("cannot prove", "the bounds are too wide at some epsilon", points)


def _cut(claim: Claim) -> Fraction:
    """A bound on the chance that any honest person's report is cut to the common length."""
    if claim.messages is None:
        return Fraction(0)
    if claim.values is None:
        raise Unreadable("where anything may be held, messages have no common length")
    return claim.honest * too_many(claim.report, claim.values, claim.messages)


def _and_cut(bounds: Bounds, epsilon: Fraction, cut: Fraction) -> Bounds:
    """The bounds widened by the chance that a report is cut, in either crowd."""
    if not cut:
        return bounds
    either = (1 + most(ball(epsilon).exp())) * cut
    return bounds.widened(either, either)
