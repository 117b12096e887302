r"""Shuffled bits, each of which is flipped with one chance f: how many ones there are.

Among `others` bits of which k are ones the total is Bin(k, 1-f) + Bin(others-k, f), and the person
adds some flipped bits of their own. The law of such a total has a monotone likelihood ratio in the
number of ones behind it. So for two numbers of ones the worst event is "at most t", and it is worst
where all of the person's bits change. Numbers of ones are covered in stretches.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from flint import arb, arb_poly, ctx

from headcount.proof.ball_laws import ball, binomial, least, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import Bounds
from headcount.proof.doubles import Window, WindowDifference
from headcount.proof.effort import TooLarge, spend
from headcount.proof.enumeration import Sent, law
from headcount.proof.expression import Expression, is_linear
from headcount.proof.programme import All, Copies, Let, Maybe, Rounded, Step, reads, sends_one
from headcount.proof.stretches import every_number

SPARE_BITS = 24  # windows are this factor larger than a claim needs, and
FEW = 5_000  # where every number of ones is looked at by itself,
MORE_BITS = 80  # this factor larger
PRECISION = 128
FIRST = 1_000  # about as many stretches are needed
DOUBLES_BITS = 40  # or, in doubles, this factor larger
MOST_BITS = 10_000  # of one person
PRODUCTS = 10  # units for a mass of each factor in a product of laws
MOST_OTHERS = 10**10  # bits, which already take a window of some 10**6 totals


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace":
        return None
    found = _flipped(claim.report, claim.values)
    if found is None:
        return None
    flip, bits = found
    if not 0 < flip < Fraction(1, 2) or not 1 <= bits <= MOST_BITS:
        return None
    if (claim.honest - 1) * bits > MOST_OTHERS:
        raise TooLarge("there are too many bits to work out their totals")
    totals = Totals(flip, bits, (claim.honest - 1) * bits, claim.claimed)
    return Proof(totals.bounds, f"every number of ones among the others' {totals.others:,} bits is covered")


def _flipped(step: Step, values: int | None) -> tuple[Fraction, int] | None:
    """The chance of a flip and how many bits a person sends, all of which change at worst."""
    match step:
        case Let(name, Rounded(Expression("name", ("value",)), steps, levels), inner) if values == steps + 1:
            if not reads(inner) <= {name}:
                return None
            return _row(inner, name, levels) or (_one(inner, name) if levels == 1 else None)
    if values is None:
        return None
    return _row(step, "value", values - 1) or (_one(step, "value") if values == 2 else None)


def _one(step: Step, name: str) -> tuple[Fraction, int] | None:
    """A single bit."""
    if not sends_one(step):
        return None
    zero, one = (law(step, {name: value}) for value in (0, 1))
    flip = zero.get((((1,), 1),), Fraction(0))
    return (flip, 1) if (zero, one) == (_bit(flip), _bit(1 - flip)) else None


def _bit(one: Fraction) -> dict[Sent, Fraction]:
    return {(((bit,), 1),): chance for bit, chance in ((0, 1 - one), (1, one)) if chance}


def _row(step: Step, name: str, last: int) -> tuple[Fraction, int] | None:
    """Ones and zeros of a constant total, each flipped."""
    match step:
        case All((Copies(Expression() as ones, Maybe(flip, _, _) as one), Copies(Expression() as zeros, zero))):
            ends = [(ones.at({name: value}), zeros.at({name: value})) for value in (0, last)]
            bits = ends[0][1]
            if ends != [(0, bits), (bits, 0)] or not (is_linear(ones) and is_linear(zeros)):
                return None
            if reads(one) | reads(zero) or (law(one, {}), law(zero, {})) != (_bit(1 - flip), _bit(flip)):
                return None
            return flip, bits
    return None


class Totals:
    """The worst number of ones among the others, for all epsilons of a curve at once."""

    def __init__(self, flip: Fraction, bits: int, others: int, claimed: dict[Fraction, Fraction]) -> None:
        self.flip, self.bits, self.others, self._claimed = ball(flip), bits, others, claimed
        smallest = min((delta for delta in self._claimed.values() if delta), default=Fraction(1, 1 << 100))
        spare = SPARE_BITS + (MORE_BITS if others < FEW else 0)
        self._window = spare + (smallest.denominator // smallest.numerator).bit_length()
        self._growths = {epsilon: ball(epsilon).exp() for epsilon in self._claimed}

    def bounds(self, epsilon: Fraction) -> Bounds:
        return Bounds.at_most(Fraction(0)) if self._alone(epsilon) else self._found[epsilon]

    def _alone(self, epsilon: Fraction) -> bool:
        """Whether a person's own bits are private at this epsilon without any others."""
        return bool(self._growths[epsilon] >= ((1 - self.flip) / self.flip) ** self.bits)

    @cached_property
    def _found(self) -> dict[Fraction, Bounds]:
        with ctx.workprec(PRECISION):
            first = self.others // FIRST
            return every_number(self.others, self._claimed, self._at, self._covered, first, self.bits)

    def _covered(self, k: int, others: int) -> dict[Fraction, Bounds]:
        """Upper bounds in doubles, where stretches are many and the claim leaves room."""
        if self.others < FEW:
            return self._at(k, others)
        found = _InDoubles(self.flip, self.bits, k, others, self._window + DOUBLES_BITS)
        highs = {epsilon: found.excess(float(growth.mid())) for epsilon, growth in self._growths.items()}
        if None in highs.values():
            return self._at(k, others)
        return {e: Bounds.at_most(Fraction(high)) for e, high in highs.items() if high is not None}

    def _at(self, k: int, others: int) -> dict[Fraction, Bounds]:
        """All of the person's bits change, among k ones and others that are zeros."""
        views = self._views(k, others)
        crowds = f"one person's bits are all 0 or all 1; of the {others:,} bits of others {k:,} are 1"
        return {epsilon: views.excess(growth).among(crowds) for epsilon, growth in self._growths.items()}

    def _views(self, k: int, others: int) -> _Views:
        spend(4 * self.bits)
        ones, zeros = binomial(k, 1 - self.flip, self._window), binomial(others - k, self.flip, self._window)
        total = arb_poly(ones.masses) * arb_poly(zeros.masses)
        own, odds = [(1 - self.flip) ** self.bits], self.flip / (1 - self.flip)
        for j in range(self.bits):
            own.append(own[-1] * odds * (self.bits - j) / (j + 1))
        spend(PRODUCTS * (len(ones.masses) + len(zeros.masses) + len(own)))
        without, with_ones = total * arb_poly(own), total * arb_poly(own[::-1])
        return _Views(list(without), list(with_ones), ones.outside + zeros.outside)


class _InDoubles:
    """The totals without the person's ones, k - X + Y, and with them, in doubles."""

    def __init__(self, flip: arb, bits: int, k: int, others: int, window: int) -> None:
        def law(ones: int, zeros: int) -> WindowDifference:
            return WindowDifference(*(Window.binomial(trials, flip, window) for trials in (ones, zeros)))

        self._without, self._with = law(k, others - k + bits), law(k + bits, others - k)
        self._bits = bits
        self._off = 8.0 * max(self._without.loss, self._with.loss)
        self._outside = self._without.outside + self._with.outside

    def excess(self, growth: float) -> float | None:
        """An upper bound on the worst event's excess; None if it is not sure which event that is.

        The likelihood ratio falls: the worst is "at most s" for the last s that is likelier without
        the ones. It is found by halving, and surely lies within one of what is found if the next
        but one on either side is clear.
        """
        low, high = self._ends
        while low < high:
            s = (low + high + 1) // 2
            low, high = (s, high) if self._likelier(s, growth) > 0.0 else (low, s - 1)
        if not (self._likelier(low - 1, growth * (1.0 + self._off)) > 2.0 * self._outside * growth):
            return None
        if not (self._likelier(low + 2, growth * (1.0 - self._off)) < -2.0 * self._outside * growth):
            return None
        return max(self._high(s, growth) for s in (low - 1, low, low + 1))

    @property
    def _ends(self) -> tuple[int, int]:
        x, y = self._without.x, self._without.y
        return y.start - x.start - x.masses.size, y.start + y.masses.size - x.start

    def _likelier(self, s: int, growth: float) -> float:
        return self._without.mass(s) - growth * self._with.mass(s - self._bits)

    def _high(self, s: int, growth: float) -> float:
        here, there = self._without.upto(s), self._with.upto(s - self._bits)
        return max(0.0, here - growth * there) + self._off * (here + growth * there) + (1.0 + growth) * self._outside


class _Views:
    """The laws of the total without and with the person's ones, and the mass outside."""

    def __init__(self, without: list[arb], with_ones: list[arb], outside: arb) -> None:
        spend(len(without) + len(with_ones))
        self._p, self._q, self._outside = without, with_ones, most(outside)
        self._p_upto, self._q_upto = list(accumulate(without)), list(accumulate(with_ones))

    def excess(self, growth: arb) -> Bounds:
        """P[at most t] - e**epsilon P'[at most t] at the last t likelier without the ones."""
        missed = (1 + most(growth)) * self._outside
        t = self._last(growth)
        if t < 0:
            return Bounds.at_most(self._summed(growth) + missed)
        here, there = self._p_upto[t], self._q_upto[t]
        excess = here - growth * there
        high = most(excess) if self._is_worst(t, growth, missed) else self._summed(growth)
        low, chances = least(excess) - missed, (least(here), most(there) + self._outside)
        return Bounds(max(Fraction(0), low), max(Fraction(0), high) + missed, chances)

    def _last(self, growth: arb) -> int:
        low, high = -1, len(self._p) - 1
        while low < high:
            t = (low + high + 1) // 2
            low, high = (t, high) if self._p[t].mid() > (growth * self._q[t]).mid() else (low, t - 1)
        return low

    def _is_worst(self, t: int, growth: arb, missed: Fraction) -> bool:
        """Whether t is surely the last that is likelier without the ones: the ratio falls."""
        margin = ball(missed)
        if t + 1 >= len(self._p):
            return False
        return bool(self._p[t] - growth * self._q[t] > margin and self._p[t + 1] - growth * self._q[t + 1] < -margin)

    def _summed(self, growth: arb) -> Fraction:
        spend(2 * len(self._p))
        excess = (p - growth * q for p, q in zip(self._p, self._q, strict=True))
        return most(sum((over.max(arb(0)) for over in excess if not over <= 0), arb(0)))
