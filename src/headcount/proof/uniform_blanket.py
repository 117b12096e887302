"""Proof for a message uniform on a set given by the value, among uniform messages."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from flint import arb, fmpz

from headcount.proof.ball_laws import ball, most
from headcount.proof.blanket import Blankets, Slots, hidden_by
from headcount.proof.claim import Claim, Proof
from headcount.proof.compared_values import FLOPS
from headcount.proof.effort import spend
from headcount.proof.expression import Expression
from headcount.proof.programme import All, Below, Emit, Let, Step

MOST_VALUES = 1 << 12
MOST_CELLS = 1 << 22


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace" or claim.values is None or claim.values > MOST_VALUES:
        return None
    match claim.report:
        case All((own, *rest)) if (blankets := Blankets.of(tuple(rest))) is not None:
            found = _hashed(own, blankets.message, claim.values) or _tuples(own, blankets.message, claim.values)
            if found is not None:
                what = f"{float(blankets.each + blankets.chance):.4g} random messages a person"
                return hidden_by(_bound(*found, blankets, claim.honest), what)
    return None


def _bound(inside: Fraction, shared: Fraction, blankets: Blankets, people: int) -> Callable[[Fraction], Fraction]:
    """The bound where a value's set has the part `inside`, and shares the part `shared` of it."""

    def bound(epsilon: Fraction) -> Fraction:
        growth, total = ball(epsilon).exp(), Fraction(0)
        for others, chance in blankets.among(people):
            slots = Slots(others + 1, inside * (1 - shared), inside * shared)
            excess = slots.excess(arb(1), growth, growth - 1) / (slots.number * inside)
            total += most(chance) * min(Fraction(1), excess)
        return total

    return bound


def _hashed(own: Step, other: Step, values: int) -> tuple[Fraction, Fraction] | None:
    """The parts for hashing: the residues of two values are any two different ones."""
    match own, other:
        case (
            Let(u, Below(units), Let(v, Below(prime), Emit(sent))),
            Let(a, Below(as_many), Let(b, Below(residues), Let(w, Below(buckets), Emit(blank)))),
        ):
            hashed = ["%", ["%", ["+", ["*", ["+", {"name": u}, 1], {"name": "value"}], {"name": v}], prime], buckets]
            right = (["+", {"name": u}, 1], {"name": v}, hashed)
            same = (["+", {"name": a}, 1], {"name": b}, {"name": w})
        case _:
            return None
    if sent != tuple(map(Expression.read, right)) or blank != tuple(map(Expression.read, same)):
        return None
    if (as_many, residues, units) != (units, prime, prime - 1) or not fmpz(prime).is_prime() or values > prime:
        return None
    each, more = divmod(prime, buckets)  # residues in a bucket, and the number of buckets with one more
    together = more * (each + 1) * each + (buckets - more) * each * (each - 1)
    return Fraction(1, buckets), Fraction(together, prime * (prime - 1))


def _tuples(own: Step, other: Step, values: int) -> tuple[Fraction, Fraction] | None:
    """The parts for tuples of numbers below `size`, written as digits of the message's fields."""
    names, sent = _drawn(own)
    if not names or sent is None or len({*names.values()}) != 1:
        return None
    size = next(iter(names.values()))
    if size * values > MOST_CELLS:
        return None
    digits = [_digits(field, size) for field in sent.fields]
    every = [digit for field in digits for digit in field]
    if sorted(name for digit in every for name in digit.reads - {"value"}) != sorted(names):
        return None
    blank, blanks = _drawn(other)
    if blanks is None or [*blanks.fields] != [Expression("name", (name,)) for name in _in_order(blanks)]:
        return None
    if [blank.get(name) for name in _in_order(blanks)] != [size ** len(field) for field in digits]:
        return None
    parts = {_sets(digit, size, values) for digit in every}
    if len(parts) != 1 or None in parts:
        return None
    inside, shared = next(part for part in parts if part is not None)
    return inside ** len(every), shared ** len(every)


def _drawn(step: Step) -> tuple[dict[str, int], Emit | None]:
    """The names that are drawn evenly, with their bounds, and the message that is then sent."""
    names = {}
    while isinstance(step, Let) and isinstance(step.draw, Below):
        names[step.name] = step.draw.bound
        step = step.step
    return names, step if isinstance(step, Emit) else None


def _in_order(sent: Emit) -> list[str]:
    return [str(field.parts[0]) for field in sent.fields]


def _digits(field: Expression, size: int) -> list[Expression]:
    """The digits a, b, ... of ((0 size + a) size + b) size + ..., in any order."""
    found = []
    while field.operation == "+" and field.parts[0].operation == "*":
        rest, base = field.parts[0].parts
        if base != Expression("integer", (size,)):
            break
        found.append(field.parts[1])
        field = rest
    return found if field == Expression("integer", (0,)) else []


def _sets(digit: Expression, size: int, values: int) -> tuple[Fraction, Fraction] | None:
    """The part of all numbers in a value's set, and of these in another's, if always the same."""
    if len(digit.reads) != 2:
        return None
    spend(size * values + size * values**2 // FLOPS)
    name = next(iter(digit.reads - {"value"}))
    hits = np.zeros((values, size))
    for value in range(values):
        for drawn in range(size):
            place = digit.at({"value": value, name: drawn})
            if not 0 <= place < size:
                return None
            hits[value, place] += 1
    sets = (hits > 0).astype(np.float64)
    each, both = sets.sum(axis=1), sets @ sets.T
    different = both[~np.eye(values, dtype=np.bool_)]
    if len({*each.tolist()}) != 1 or len({*different.tolist()}) > 1 or (hits.max(axis=1) * each != size).any():
        return None  # the last: every number of a set is hit equally often
    shared = Fraction(int(different[0]), int(each[0])) if values > 1 else Fraction(1)
    return Fraction(int(each[0]), size), shared
