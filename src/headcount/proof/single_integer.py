"""Shuffled reports of which only one integer is seen, whatever their two laws are.

Everybody sends copies of one message, so that their number is all there is to see; or always as
many messages of two kinds, of which the number of the second tells that of the first. What a person
adds to it has a law for the first value and one for the last, and those of all values between are
mixtures of these two. A mixture tells no more than the worst of what it is mixed from, so that it
is enough if everybody holds the first or the last value. How many hold the last is covered in
stretches, and each of them is summed over all integers, in both orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain

from flint import arb, arb_poly, ctx

from headcount.proof.ball_laws import BallLaw, ball, least, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import Bounds, worst_of
from headcount.proof.effort import Exhausted, TooLarge, spend
from headcount.proof.enumeration import EnumeratedLaw, Message, law, outcomes
from headcount.proof.expression import Expression, Names
from headcount.proof.programme import All, Copies, Each, Emit, Let, Maybe, Rounded, Step, reads
from headcount.proof.stretches import Found, every_number

PRECISION = 192
WINDOW_BITS = 140  # what is less likely than that is lost from a window, and charged
MOST_VALUES = 64
MOST_OTHERS = 10**6
FIRST = 64  # about as many stretches are needed
PRODUCTS = 10  # units for a mass of each factor in a product of laws
COMPARED = 2  # for an integer, in either order, and an epsilon

NOTHING = Bounds(Fraction(0), Fraction(0), (Fraction(0), Fraction(0)))

Added = dict[int, Fraction]  # what one person adds to the integer, with its chances


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace" or claim.honest > MOST_OTHERS:
        return None
    report = _report(claim)
    if report is None:
        return None
    try:
        if not _may_show_one_integer(report[0], [{report[1]: value} for value in (0, report[2] - 1)]):
            return None
        added = _added([law(report[0], {report[1]: value}) for value in range(report[2])])
    except Exhausted:
        raise
    except TooLarge:
        return None
    if added is None or not _are_mixtures(added):
        return None
    crowds = Crowds(added[0], added[-1], claim.honest - 1, claim.claimed)
    because = f"one integer is seen, and every number of people who hold the last value among {crowds.others:,} covered"
    return Proof(crowds.bounds, because)


def _report(claim: Claim) -> tuple[Step, str, int] | None:
    """The step, the name it depends on, and the number of its values: those of a level."""
    match claim.report:
        case Let(name, Rounded(Expression("name", ("value",)), steps, levels), inner) if claim.values == steps + 1:
            if reads(inner) <= {name} and levels < MOST_VALUES:
                return inner, name, levels + 1
    if claim.values is None or not 2 <= claim.values <= MOST_VALUES:
        return None
    return claim.report, "value", claim.values


def _may_show_one_integer(step: Step, ends: list[Names]) -> bool:
    """Whether all messages are equal, or of two kinds in a fixed number: before any law is made."""
    seen = set[Message]()
    for message in chain.from_iterable(_messages(step, names) for names in ends):
        seen.add(message)
        if len(seen) > 2:
            return False
    lengths = {_length(step, names) for names in ends}
    return len(seen) < 2 or (len(lengths) == 1 and None not in lengths)


def _length(step: Step, names: Names) -> int | None:
    """How many messages are sent; None if that depends on what is drawn."""
    spend(1)
    match step:
        case Emit():
            return 1
        case All(parts):
            return _sum(_length(part, names) for part in parts)
        case Maybe(_, then, otherwise):
            return _same(_length(part, names) for part in (then, otherwise))
        case Copies(amount, inner):
            each = _length(inner, names)
            if isinstance(amount, Expression) and each is not None:
                return amount.at(names) * each
            return 0 if each == 0 else None
        case Let(name, draw, inner):
            return _same(_length(inner, {**names, name: drawn}) for drawn, _ in outcomes(draw, names))
        case Each(name, rounds, inner):
            return _sum(_length(inner, {**names, name: i}) for i in range(rounds))
    raise TooLarge("there are too many outcomes to go through one by one")


def _sum(lengths: Iterable[int | None]) -> int | None:
    total = 0
    for length in lengths:
        if length is None:
            return None
        total += length
    return total


def _same(lengths: Iterable[int | None]) -> int | None:
    first, *others = lengths
    return first if all(other == first for other in others) else None


def _messages(step: Step, names: Names) -> Iterator[Message]:
    """Every message that may be sent, some repeatedly; refused for rows and shares."""
    spend(1)
    match step:
        case Emit(fields):
            yield tuple(field.at(names) for field in fields)
        case All(parts):
            for part in parts:
                yield from _messages(part, names)
        case Maybe(_, then, otherwise):
            yield from _messages(then, names)
            yield from _messages(otherwise, names)
        case Copies(amount, inner):
            if not isinstance(amount, Expression) or amount.at(names) > 0:
                yield from _messages(inner, names)
        case Let(name, draw, inner):
            for drawn, _ in outcomes(draw, names):
                yield from _messages(inner, {**names, name: drawn})
        case Each(name, rounds, inner):
            for i in range(rounds):
                yield from _messages(inner, {**names, name: i})
        case _:
            raise TooLarge("there are too many outcomes to go through one by one")


def _added(laws: list[EnumeratedLaw]) -> list[Added] | None:
    """The contribution of each report to the one integer that is seen; None if more than one is."""
    alphabet = sorted({message for report in laws for sent in report for message, _ in sent})
    lengths = {sum(times for _, times in sent) for report in laws for sent in report}
    if not (len(alphabet) == 1 or (len(alphabet) == 2 and len(lengths) == 1)):
        return None
    return [{dict(sent).get(alphabet[-1], 0): mass for sent, mass in report.items()} for report in laws]


def _are_mixtures(added: list[Added]) -> bool:
    """Whether every law is a mixture of the first and the last."""
    first, last = added[0], added[-1]
    apart = {k for k in first.keys() | last.keys() if first.get(k, 0) != last.get(k, 0)}
    if not apart:
        return all(between == first for between in added)
    k = min(apart)
    for between in added:
        share = (between.get(k, Fraction(0)) - first.get(k, 0)) / (last.get(k, Fraction(0)) - first.get(k, 0))
        mixed = {k: (1 - share) * first.get(k, 0) + share * last.get(k, 0) for k in first.keys() | last.keys()}
        if not 0 <= share <= 1 or {k: mass for k, mass in mixed.items() if mass} != between:
            return False
    return True


@dataclass(frozen=True)
class Crowds:
    """The worst number of others who hold the last value, for all epsilons of a curve at once."""

    first: Added
    last: Added
    others: int
    claimed: dict[Fraction, Fraction]

    def bounds(self, epsilon: Fraction) -> Bounds:
        return self._found.get(epsilon, NOTHING)

    @cached_property
    def _found(self) -> Found:
        told = {epsilon: self.claimed[epsilon] for epsilon in self._growths}
        if not told:
            return {}
        with ctx.workprec(PRECISION):
            return every_number(self.others, told, self._at, self._at, self.others // FIRST)

    def _pure(self, growth: arb) -> bool:
        both = [(self.first.get(k, 0), self.last.get(k, 0)) for k in self.first.keys() | self.last.keys()]
        return all(ball(p) <= growth * ball(q) and ball(q) <= growth * ball(p) for p, q in both)

    @cached_property
    def _powers(self) -> tuple[Powers, Powers]:
        return Powers(self.first), Powers(self.last)

    @cached_property
    def _growths(self) -> dict[Fraction, arb]:
        """Powers of e at the epsilons where a report alone loses something; elsewhere none does."""
        every = {epsilon: ball(epsilon).exp() for epsilon in self.claimed}
        return {epsilon: growth for epsilon, growth in every.items() if not self._pure(growth)}

    def _at(self, k: int, others: int) -> Found:
        first, last = self._powers
        rest = together(last.of(k), first.of(others - k))
        one, other = together(rest, first.of(1)), together(rest, last.of(1))
        start, stop = min(one.start, other.start), max(one.stop, other.stop)
        spend((stop - start) * COMPARED * (1 + 2 * len(self.claimed)))
        p, q = ([side.at(k) for k in range(start, stop)] for side in (one, other))
        outside = most(one.outside.max(other.outside))
        crowds = f"one person holds the first value or the last; of {others:,} others {k:,} hold the last"
        return {
            epsilon: worst_of([_excess(p, q, growth, outside), _excess(q, p, growth, outside)]).among(crowds)
            for epsilon, growth in self._growths.items()
        }


def _excess(p: list[arb], q: list[arb], growth: arb, outside: Fraction) -> Bounds:
    """The divergence of P from Q: the event is where P exceeds `growth` times Q."""
    here, there, above = arb(0), arb(0), arb(0)
    for mine, theirs in zip(p, q, strict=True):
        over = mine - growth * theirs
        if over.mid() > 0:
            here, there = here + mine, there + theirs
        if not over <= 0:
            above += over.max(arb(0))
    low = least(here - growth * there) - (1 + most(growth)) * outside
    return Bounds(max(Fraction(0), low), most(above) + outside, (least(here), most(there) + outside))


class Powers:
    """The law of what this many people with one law add up to, by halving; cached."""

    def __init__(self, added: Added) -> None:
        start, stop = min(added), max(added)
        self._known = {
            0: BallLaw(0, [arb(1)], arb(0)),
            1: BallLaw(start, [ball(added.get(k, Fraction(0))) for k in range(start, stop + 1)], arb(0)),
        }

    def of(self, people: int) -> BallLaw:
        if people not in self._known:
            half = self.of(people // 2)
            whole = together(half, half)
            self._known[people] = together(whole, self.of(1)) if people % 2 else whole
        return self._known[people]


def together(one: BallLaw, other: BallLaw) -> BallLaw:
    """The law of the sum, in a window; what falls out of it at either end is charged as lost."""
    spend(PRODUCTS * (len(one.masses) + len(other.masses)))
    masses = list(arb_poly(one.masses) * arb_poly(other.masses))
    masses += [arb(0)] * (len(one.masses) + len(other.masses) - 1 - len(masses))
    small = arb(2) ** -WINDOW_BITS
    lost, first, stop = one.outside + other.outside, 0, len(masses)
    while first < stop and masses[first] < small:
        lost, first = lost + masses[first], first + 1
    while first < stop and masses[stop - 1] < small:
        lost, stop = lost + masses[stop - 1], stop - 1
    return BallLaw(one.start + other.start + first, masses[first:stop], lost)
