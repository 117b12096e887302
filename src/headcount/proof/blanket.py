r"""Proof by the privacy blanket [BBGN19]: one message depends on the value, others do not.

Let the analyser know which messages are blanket, drawn from a law $\omega$ whatever anybody holds, and all the rest.
The victim's is then one of M, of which the others were drawn from $\omega$, and with W's drawn from it too
$$\delta(\epsilon) \le E\Bigl[\frac1M\Bigl(\sum_{i \le M} L(W_i)\Bigr)_+\Bigr],\quad
L(w) = \frac{\mu(w) - e^\epsilon\mu'(w)}{\omega(w)},$$
where $\mu$ and $\mu'$ are the laws of the victim's message under two values. Where every message is blanket with one
chance, that is an expectation over all n people divided by n times the chance. Fewer blanket messages tell more.

[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019,
Lemma 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from headcount.proof.ball_laws import BallLaw, Tail, ball, binomial, middle, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import Bounds
from headcount.proof.effort import spend
from headcount.proof.expression import Expression
from headcount.proof.programme import All, Copies, Maybe, Row, Step, reads

WINDOW_BITS = 110
TERM = 6  # units for a term of an expectation
FEW = 256  # numbers of blanket messages; more are divided into
STRETCHES = 80  # of which each is counted as its fewest
BECAUSE = "one message depends on the value; {what} hide it whatever others hold, by the privacy blanket"


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace" or claim.values is None:
        return None
    found = _rows(claim)
    return None if found is None else hidden_by(*found)


def hidden_by(bound: Callable[[Fraction], Fraction], what: str) -> Proof:
    return Proof(lambda epsilon: Bounds.at_most(bound(epsilon)), BECAUSE.format(what=what))


Found = tuple[Callable[[Fraction], Fraction], str]


@dataclass(frozen=True)
class Blankets:
    """The messages a person sends whatever they hold: `each`, and one more with a chance."""

    each: int
    chance: Fraction
    message: Step

    @classmethod
    def of(cls, parts: tuple[Step, ...]) -> Blankets | None:
        each, chance, messages = 0, Fraction(0), []
        for part in parts:
            match part:
                case Copies(Expression("integer", (times,)), message):
                    each += times
                case Maybe(likely, message, All(())) if not chance:
                    chance = likely
                case _:
                    return None
            messages.append(message)
        if not messages or any(message != messages[0] for message in messages) or "value" in reads(messages[0]):
            return None
        return cls(each, chance, messages[0])

    def among(self, people: int) -> Iterator[tuple[int, arb]]:
        """Numbers of blanket messages, in stretches named by their fewest, and their chances."""
        more = binomial(people, ball(self.chance), WINDOW_BITS) if 0 < self.chance < 1 else None
        if more is None:
            yield people * (self.each + int(self.chance)), arb(1)
            return
        length = 1 if len(more.masses) <= FEW else -(-len(more.masses) // STRETCHES)
        for first in range(0, len(more.masses), length):
            yield people * self.each + more.start + first, sum(more.masses[first : first + length], arb(0))
        yield people * self.each, more.outside


def _rows(claim: Claim) -> Found | None:
    """A row of flipped bits with a one at the value, among rows of blanket messages."""
    match claim.report:
        case All((Row(width, Expression("name", ("value",)), off, on), *rest)) if claim.values == width:
            blankets = Blankets.of(tuple(rest))
        case _:
            return None
    if blankets is None or not isinstance(blankets.message, Row) or not 0 < off < on < 1:
        return None
    if (blankets.message.width, blankets.message.here, blankets.message.off) != (width, None, off):
        return None

    def bound(epsilon: Fraction) -> Fraction:
        found = ((_rows_bound(epsilon, others + 1, on, off), chance) for others, chance in blankets.among(claim.honest))
        return sum((most(chance) * min(Fraction(1), excess) for excess, chance in found), Fraction(0))

    return bound, f"{float(blankets.each + blankets.chance):.4g} rows of nobody a person"


def _rows_bound(epsilon: Fraction, rows: int, on: Fraction, off: Fraction) -> Fraction:
    """The bound for rows of bits, of which N1 and N2 have the bit at the two values set.

    The bits are independent; a set one is likelier by on/off, one that is not by (1 - on)/(1 -
    off).
    """
    growth, chance = ball(epsilon).exp(), ball(off)
    unset = ball((1 - on) / (1 - off))
    gain = ball(on / off) - unset
    second = binomial(rows, chance, WINDOW_BITS)
    start = (growth - 1) * unset * rows / gain
    first = max(0, int(middle(start + growth * second.start)) - 1)
    tail = Tail.at(chance, rows, min(first + 1, rows + 1))
    spend(TERM * len(second.masses))
    total = arb(0)
    for k, mass in enumerate(second.masses, second.start):
        level = start + growth * k
        if not tail.move_beyond(middle(level)):
            break
        total += mass * (rows * chance * tail.tail + tail.rest - level * tail.tail)
    return most(total * gain / rows + second.outside * gain)


@dataclass(frozen=True)
class Slots:
    """Slots that fall independently into cell 1 or 2 (`each`), cell 3 (`third`), or none."""

    number: int
    each: Fraction
    third: Fraction

    def excess(self, gain: arb, loss: arb, third: arb) -> Fraction:
        """A bound on E[(gain N1 - loss N2 - third N3)_+]: given T = N1 + N2, N1 is Bin(T, 1/2)."""
        if not gain > 0:
            return Fraction(0)
        pairs = binomial(self.number, ball(2 * self.each), WINDOW_BITS)
        total = arb(0)
        for t, mass in enumerate(pairs.masses, pairs.start):
            thirds = self._thirds(t)
            spend(TERM * len(thirds.masses))
            total += mass * (_given(t, thirds, gain, loss, third) + gain * t * thirds.outside)
        return most(total + gain * self.number * pairs.outside)

    def _thirds(self, t: int) -> BallLaw:
        left = 1 - 2 * self.each
        if not self.third or t == self.number or not left:
            return BallLaw(0, [arb(1)], arb(0))
        return binomial(self.number - t, ball(self.third / left), WINDOW_BITS)


def _given(t: int, thirds: BallLaw, gain: arb, loss: arb, third: arb) -> arb:
    if not t:
        return arb(0)
    both = gain + loss
    level = (loss * t + third * thirds.start) / both
    if middle(level) >= t:
        return arb(0)
    tail, total = Tail.at(arb(1) / 2, t, int(middle(level)) + 1), arb(0)
    for k, mass in enumerate(thirds.masses, thirds.start):
        level = (loss * t + third * k) / both
        if not tail.move_beyond(middle(level)):
            break
        total += mass * (tail.tail * t / 2 + tail.rest - level * tail.tail)
    return total * both
