r"""Totals that a person changes by whole weights, with discrete Gaussian noise from tables on each.

What a person changes is a vector of whole numbers, read off the programme for every value that they
may hold. The table is held against the discrete Gaussian law of some scale s, in total variation.
That law is continuous Gaussian noise of variance $s^2 - r^2$, rounded at random to k with weight
$e^{-(k-y)^2/2r^2}$, and continuous noise of variance $s^2 + r^2$ is that law with more Gaussian
noise of variance $r^2$: both up to factors within $1 \pm 2.1 e^{-2\pi^2 t^2}$, with $t = r$ and
$t^2 = r^2 s^2 / (r^2 + s^2)$, by Poisson's formula. The divergence lies between those of the two
Gaussian mechanisms, for the longest vector of all.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from flint import arb, fmpz_mat

from headcount.proof.ball_laws import ball, least, most
from headcount.proof.central import check_noise
from headcount.proof.claim import Claim, Proof, TableNoise
from headcount.proof.divergence import Bounds
from headcount.proof.effort import TooLarge, spend
from headcount.proof.noise_sources import NotFixed, fixed

MOST_VALUES = 1 << 12
ROUNDING = 2  # r squared
PAIR, MASS = 2, 40  # units
FALLEN = 8  # the mass by which the scale is measured is this part of the largest, about


def prove(claim: Claim) -> Proof | None:
    release = claim.release
    if claim.model != "central" or release.noise is None or claim.summed or claim.values is None:
        return None
    if release.threshold is not None or not release.touches_empty:
        return None
    check_noise(release.noise)
    try:
        square, totals = _longest(claim, claim.values)
    except NotFixed:
        return None
    noise = release.noise
    nearest = cache(lambda: _nearest_gaussian(noise))

    def bounds(epsilon: Fraction) -> Bounds:
        variance, distance = nearest()
        crowds = f"one person changes {totals:,} totals by weights"
        growth = ball(epsilon).exp()
        high, _ = _gaussian(square, variance - ROUNDING, epsilon)
        above = (1 + most(growth)) * totals * (distance + _uneven(Fraction(ROUNDING)))
        _, (likely, unlikely) = _gaussian(square, variance + ROUNDING, epsilon)
        apart = totals * (distance + _uneven(ROUNDING * variance / (ROUNDING + variance)))
        likely, unlikely = max(Fraction(0), likely - apart), unlikely + apart
        low = max(Fraction(0), likely - most(growth) * unlikely)
        return Bounds(low, min(Fraction(1), high + above), (likely, unlikely), crowds)

    because = (
        "what a person changes was gone through for every value, and the noise is nearly the discrete Gaussian law, "
        "which is rounded Gaussian noise"
    )
    return Proof(bounds, because)


def _longest(claim: Claim, values: int) -> tuple[int, int]:
    """The largest squared length of what a person may change, and how many totals there are."""
    if values > MOST_VALUES:
        raise TooLarge("there are too many values to go through")
    sent = [fixed(claim.report, {"value": value}) for value in range(values)]
    messages = sorted(set().union(*sent))
    spend(len(messages) * values + PAIR * values * values)
    changed = fmpz_mat([[each.get(message, 0) for message in messages] for each in sent]) if messages else None
    if changed is None:
        return 0, 0
    products = changed * changed.transpose()
    own = [int(products[i, i]) for i in range(values)]
    if claim.neighbours == "add-remove":
        return max(own), len(messages)
    pairs = ((i, j) for i in range(values) for j in range(i))
    return max((own[i] + own[j] - 2 * int(products[i, j]) for i, j in pairs), default=0), len(messages)


def _nearest_gaussian(noise: TableNoise) -> tuple[Fraction, Fraction]:
    """The variance of a discrete Gaussian law; the noise's total variation from it, at most."""
    masses, reach = noise.centre.masses, -noise.centre.start
    if masses[0] or masses[-1]:
        raise TooLarge("the noise has no end")
    spend(MASS * len(masses))
    side = masses[reach:]
    far = next((k for k, mass in enumerate(side) if FALLEN * mass < side[0]), 0)
    if not far or not side[far]:
        raise TooLarge("the noise is too narrow to be told from another")
    falls = (ball(side[0]) / ball(side[far])).log()
    variance = Fraction(far * far, 2) / Fraction(least(falls)).limit_denominator(1 << 120)
    if variance <= ROUNDING:
        raise TooLarge("the noise is too narrow for weights")
    ideal = [(-ball(Fraction(k * k) / (2 * variance))).exp() for k in range(reach + 1)]
    # Beyond the reach R each mass is at most the one before it times e^(-R/variance).
    beyond = ideal[-1] / (ball(Fraction(reach) / variance).exp() - 1)
    inside = ideal[0] + 2 * sum(ideal[1:], arb(0))
    whole = inside + 2 * beyond * arb(0.5, 0.5)  # a ball around everything from nothing to all of it
    apart = abs(ball(Fraction(side[0], noise.centre.total)) - ideal[0] / whole)
    for mass, other in zip(side[1:], ideal[1:], strict=True):
        apart += 2 * abs(ball(Fraction(mass, noise.centre.total)) - other / whole)
    return variance, most(apart + 2 * beyond / whole)


def _uneven(square: Fraction) -> Fraction:
    """How far, in total variation, a Gaussian lattice of this variance may be from even."""
    return most(ball(Fraction(21, 10)) * (-2 * arb.pi() ** 2 * ball(square)).exp())


def _gaussian(square: int, variance: Fraction, epsilon: Fraction) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The Gaussian mechanism's divergence from above; its event's chances, at least and at most."""
    if not square:
        return Fraction(0), (Fraction(0), Fraction(0))
    mu, here = (ball(square) / ball(variance)).sqrt(), ball(epsilon)
    root = arb(2).sqrt()
    likely = ((here / mu - mu / 2) / root).erfc() / 2
    unlikely = ((here / mu + mu / 2) / root).erfc() / 2
    return max(Fraction(0), most(likely - here.exp() * unlikely)), (least(likely), most(unlikely))
