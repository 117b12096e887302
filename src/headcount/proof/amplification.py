r"""Proof for one message a person behind a shuffler, by the privacy blanket [BBGN19, Lemma 5.3].

Let p and q be the laws of the victim's message under two values, and w any measure of which every
law of a message has at least as much everywhere. Whatever the others hold,
$$\delta(\epsilon) \le \sum_{w = 0} (p - e^\epsilon q)_+ + \frac1n E[(S_n)_+],$$
where $S_n$ is a sum of n independent steps $g = (p - e^\epsilon q)/w$ of chance w, or 0. If only few sums are possible
they are gone through. Otherwise, for any t > 0, by Laplace's transform
$E[(S + y)_+]\,e^{-ty}$ is that of $M(t + i\omega)^n/(t + i\omega)^2$ with $M(z) = E[e^{zg}]$, and Poisson's formula
says of a sum of the latter over multiples of any $2\pi/Y$, divided by Y, that it is the sum of the former over
multiples of Y: no less than the term at y = 0. Gaussian noise, of mean 0, only adds to $E[(S)_+]$, and has the terms
vanish.

[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import comb

from flint import acb, arb

from headcount.proof.ball_laws import ball, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.compared_values import Chances
from headcount.proof.divergence import Bounds
from headcount.proof.effort import TooLarge, spend
from headcount.proof.local import compared
from headcount.proof.programme import sends_one

BECAUSE = "one message a person: those of others that may be anybody's hide it, by the privacy blanket"
FEW = 1 << 16  # multisets of steps, which are gone through one by one
NOISES = (0.014, 0.0035, 0.001)  # of 1/t: less, which takes longer, where a claim is nearly proved
NEARLY = Fraction(1, 100)  # of the claim, by which a bound may exceed it then
APART, VANISHED = 10.0, 6.0
TERM = 12  # units for a term, and for each of its steps
Steps = Sequence[tuple[arb, Fraction]]


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace" or claim.values is None or not sends_one(claim.report):
        return None
    found = {
        frozenset(order.items()): order
        for kind in compared(claim.report, claim.values).worst()
        for order in _orders(kind)
    }

    claimed = claim.claimed

    def high(epsilon: Fraction, noise: float) -> Fraction:
        return max(_lost(kind, ball(epsilon).exp(), claim.honest, noise) for kind in found.values())

    def bounds(epsilon: Fraction) -> Bounds:
        least = high(epsilon, NOISES[0])
        for noise in NOISES[1:]:
            if epsilon in claimed and claimed[epsilon] < least <= (1 + NEARLY) * claimed[epsilon]:
                least = min(least, high(epsilon, noise))
        return Bounds.at_most(least)

    return Proof(bounds, BECAUSE)


def _orders(kind: Chances) -> tuple[Chances, Chances]:
    exchanged: Chances = Counter()
    for (p, q, w), times in kind.items():
        exchanged[q, p, w] += times
    return kind, exchanged


def _lost(kind: Chances, growth: arb, people: int, noise: float) -> Fraction:
    """The smaller of the blanket's bound for two laws and the measure, and the message's alone."""
    alone, apart, steps = Fraction(0), Fraction(0), defaultdict[tuple[Fraction, Fraction], Fraction](Fraction)
    for (p, q, w), times in kind.items():
        excess = max(Fraction(0), most(times * (ball(p) - growth * ball(q))))
        alone += excess
        if w:
            steps[p / w, q / w] += times * w
        else:
            apart += excess
    walk = [(ball(p) - growth * ball(q), chance) for (p, q), chance in steps.items()]
    return min(alone, apart + _mean_positive_part([(step, each) for step, each in walk if step != 0], people, noise))


def _mean_positive_part(steps: Steps, people: int, noise: float) -> Fraction:
    """A bound on E[(S_n)_+] / n."""
    if not any(step > 0 or not step <= 0 for step, _ in steps):
        return Fraction(0)
    if comb(people + len(steps), len(steps)) <= FEW:
        spend(2 * TERM * comb(people + len(steps), len(steps)))
        none = 1 - sum((chance for _, chance in steps), Fraction(0))
        return most(_one_by_one(steps, people, arb(0), arb(1), ball(none)) / people)
    return most(_transformed(steps, people, noise) / people)


def _one_by_one(steps: Steps, left: int, reached: arb, mass: arb, none: arb) -> arb:
    """Over every multiset of the steps that are left: those of the first, and of the others."""
    if not steps:
        return mass * none**left * reached.max(arb(0))
    (step, chance), *others = steps
    total = arb(0)
    for times in range(left + 1):
        chosen = mass * comb(left, times) * ball(chance) ** times
        total += _one_by_one(others, left - times, reached + times * step, chosen, none)
    return total


def _transformed(steps: Steps, people: int, part: float) -> arb:
    """Poisson's sum, with noise that is this part of 1/t."""
    t, spread = _saddle([(float(step), float(chance)) for step, chance in steps], people)
    noise, apart = part / t, APART * spread
    last = math.ceil(VANISHED / noise * apart / (2.0 * math.pi))
    spend(TERM * last * (2 + len(steps)))
    turn = 2 * arb.pi() / arb(apart)
    law = [(step, ball(chance)) for step, chance in steps]
    none = 1 - sum((chance for _, chance in law), arb(0))
    half, total = arb(noise) ** 2 / 2, arb(0)
    for k in range(last + 1):
        z = acb(t, turn * k)
        transform = sum((chance * (z * step).exp() for step, chance in law), acb(none))
        term = (transform**people * (half * z * z).exp() / (z * z)).real
        total += term if k == 0 else 2 * term
    largest = sum((chance * (t * step).exp() for step, chance in law), none) ** people
    end = turn * last  # beyond which the terms are less than those of an integral from here on
    cut = largest * (half * (arb(t) ** 2 - end**2)).exp() / end * 2 / turn
    return (total + cut) / arb(apart)


def _saddle(steps: list[tuple[float, float]], people: int) -> tuple[float, float]:
    """About where M(t)^n / t^2 is least, and the standard deviation there; any would do."""

    def moments(t: float) -> tuple[float, float, float]:
        top = max(0.0, max(t * step for step, _ in steps))
        weights = [(step, chance * math.exp(t * step - top)) for step, chance in steps]
        whole = sum(weight for _, weight in weights) + math.exp(-top) * (1.0 - sum(chance for _, chance in steps))
        mean, square = (sum(step**power * weight for step, weight in weights) / whole for power in (1, 2))
        return whole, mean, square

    low = 1.0 / (people * max(step for step, _ in steps))
    while people * moments(2.0 * low)[1] < 1.0 / low:
        low *= 2.0
    high = 2.0 * low
    for _ in range(20):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if people * moments(middle)[1] < 2.0 / middle else (low, middle)
    _, mean, square = moments(low)
    if not math.isfinite(low * low * square):
        raise TooLarge("the steps of the walk are too far apart")
    return low, math.sqrt(people * (square - mean**2) + 2.0 / low**2)
