r"""Rigorous divergences: laws as balls that contain their masses, and what lies outside of their windows bounded.

A `Pair` is what two neighbouring crowds may look like. For independent pairs,
$D_\epsilon(P_1 P_2 \| Q_1 Q_2)$ is a sum over the outcomes of the first of a prefix of those of the second, sorted by
likelihood ratio. Any choice of prefixes is an event and so a lower bound; log-ratios are known to a few 2**-100, so
that a wrong choice misses next to nothing, which the upper bound adds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from flint import arb, fmpq

from headcount.proof.effort import spend

RATIO_BITS = 100
DOUBT = 8  # units of that, within which it is not sure which of two ratios is the larger
MISSED = Fraction(1, 1 << 94)  # of the mass, at most, where there was a doubt
NEGLIGIBLE_BITS = 180  # windows end where less than 2**-180 of the mass is left
MOST_DIGITS = 1 << 20
ZERO = arb(0)
CERTAIN = 1 << 200  # stands for an infinite log-ratio


def ball(value: Fraction | int) -> arb:
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def most(value: arb) -> Fraction:
    """Certainly at least the value."""
    return _exactly(value.upper())


def least(value: arb) -> Fraction:
    """Certainly at most the value."""
    return _exactly(value.lower())


def _exactly(point: arb) -> Fraction:
    if not point.is_finite():
        raise ArithmeticError("more precision is needed")
    mantissa, exponent = point.mid().man_exp()
    if abs(int(exponent)) > MOST_DIGITS:
        raise ArithmeticError("a number is too large or too small to be written down")
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(frozen=True)
class Bounds:
    """A divergence that certainly lies between the two, and an event that shows the lower one.

    The event has at least the first chance among one crowd and at most the second among its neighbour.
    """

    low: Fraction
    high: Fraction
    chances: tuple[Fraction, Fraction]
    crowds: str = ""

    def widened(self, low: Fraction, high: Fraction) -> Bounds:
        likely, unlikely = self.chances
        return replace(self, low=self.low - low, high=self.high + high, chances=(likely - low, unlikely + low))

    def among(self, crowds: str) -> Bounds:
        return replace(self, crowds=crowds)


def worst_of(found: Iterable[Bounds]) -> Bounds:
    """Of several divergences the largest."""
    every = list(found)
    return replace(max(every, key=lambda bounds: bounds.low), high=max(bounds.high for bounds in every))


@dataclass(frozen=True)
class Law:
    """Masses of the integers from `start` on, and an upper bound on the mass of all others."""

    start: int
    masses: Sequence[arb]
    outside: arb

    def at(self, k: int) -> arb:
        """The mass of an integer within the window; of one outside of it, nothing."""
        return self.masses[k - self.start] if 0 <= k - self.start < len(self.masses) else arb(0)

    @property
    def stop(self) -> int:
        return self.start + len(self.masses)

    @classmethod
    def around(
        cls, mode: int, mass: arb, up: Callable[[int], arb], ends: tuple[int, int | None], bits: int = NEGLIGIBLE_BITS
    ) -> Law:
        """From one mass and the ratios up(k) = mass(k + 1) / mass(k), which fall with k: both ways to where nothing is.

        Beyond the end the masses fall at least as fast as a geometric law with the ratio at the end.
        """
        above, over = _flank(mass, mode, 1, up, ends[1], bits)
        below, under = _flank(mass, mode, -1, lambda k: 1 / up(k - 1), ends[0], bits)
        return cls(mode - len(below), [*reversed(below), mass, *above], over + under)


def _flank(
    mass: arb, k: int, step: int, ratio: Callable[[int], arb], end: int | None, bits: int
) -> tuple[list[arb], arb]:
    masses: list[arb] = []
    small = arb(2) ** -bits
    while k != end:
        spend(2)
        factor = ratio(k)
        mass, k = mass * factor, k + step
        if mass < small and factor < 1:
            return masses, mass / (1 - factor)
        masses.append(mass)
    return masses, arb(0)


def binomial(trials: int, chance: arb, bits: int = NEGLIGIBLE_BITS) -> Law:
    """The ratio of mass k + 1 to mass k is (n - k) / (k + 1) times p / (1 - p), which falls with k."""
    if not 0 < chance < 1 or not trials:
        if chance == 0 or not trials:
            return Law(0, [arb(1)], arb(0))
        if chance == 1:
            return Law(trials, [arb(1)], arb(0))
        raise ArithmeticError("a chance must be certain to lie between 0 and 1")
    odds = chance / (1 - chance)
    mode, mass = likeliest(trials, chance)
    return Law.around(mode, mass, lambda k: odds * (trials - k) / (k + 1), (0, trials), bits)


def likeliest(trials: int, chance: arb) -> tuple[int, arb]:
    """About the likeliest number of successes, and its mass."""
    mode = min(trials, int((trials + 1) * least(chance)))
    choose = arb(trials + 1).lgamma() - arb(mode + 1).lgamma() - arb(trials - mode + 1).lgamma()
    return mode, (choose + mode * chance.log() + (trials - mode) * (1 - chance).log()).exp()


def poisson(mean: arb) -> Law:
    mode = int(least(mean))
    mass = (mode * mean.log() - mean - arb(mode + 1).lgamma()).exp()
    return Law.around(mode, mass, lambda k: mean / (k + 1), (0, None))


def negative_binomial(shape: arb, decay: arb) -> Law:
    """Masses from 0 on. Their ratio is decay (k + shape) / (k + 1); below a shape of 1 it rises, but never to decay."""
    mass = ((1 - decay).log() * shape).exp()
    masses, k, small = [], 0, arb(2) ** -NEGLIGIBLE_BITS
    while True:
        spend(1)
        masses.append(mass)
        factor = decay * (k + shape) / (k + 1)
        mass, k = mass * factor, k + 1
        steepest = factor.max(decay)
        if steepest < 1 and mass < small:
            return Law(0, masses, mass / (1 - steepest))


def geometric_more(law: Law, ratio: arb) -> Law:
    """The law of Z + G where P[G = k] = (1 - x) x^k: h(v) = (1 - x) P[Z = v] + x h(v - 1)."""
    masses, mass, small = [], arb(0), arb(2) ** -NEGLIGIBLE_BITS
    for z in law.masses:
        mass = (1 - ratio) * z + ratio * mass
        masses.append(mass)
    while not mass < small:
        spend(1)
        mass = ratio * mass
        masses.append(mass)
    return Law(law.start, masses, law.outside + mass / (1 - ratio))


@dataclass
class Tail:
    """P[Bin(trials, rate) >= v] and the mass of v - 1, kept up as either grows.

    P[B_{k+1} >= v] = P[B_k >= v] + rate P[B_k = v - 1].
    """

    rate: arb
    trials: int
    v: int
    mass: arb
    tail: arb

    @classmethod
    def all_of(cls, rate: arb, trials: int) -> Tail:
        """More than all trials, which is impossible."""
        return cls(rate, trials, trials + 1, rate**trials, arb(0))

    @classmethod
    def at(cls, rate: arb, trials: int, v: int) -> Tail:
        law = binomial(trials, rate)
        lost = law.outside * arb(0, 1)
        tail = sum((law.at(k) for k in range(max(v, law.start), law.stop)), lost)
        return cls(rate, trials, v, law.at(v - 1) if law.start < v <= law.stop else lost, tail)

    def one_more_trial(self) -> None:
        self.tail = self.tail + self.rate * self.mass
        self.trials += 1
        self.mass = self.mass * (1 - self.rate) * self.trials / (self.trials - self.v + 1)

    @property
    def rest(self) -> arb:
        """E[B; B >= v] is trials times the rate times the tail, and this."""
        return self.rate * (self.trials - self.v + 1) * self.mass

    def move_beyond(self, level: Fraction) -> bool:
        """To the first v above the level, which is not below the last one; False if there is none up to the trials."""
        while self.v <= level and self.v <= self.trials:
            self.one_more_success()
        return self.v <= self.trials

    def one_more_success(self) -> None:
        self.mass = self.mass * self.rate / (1 - self.rate) * (self.trials - self.v + 1) / self.v
        self.tail = self.tail - self.mass
        self.v += 1


def middle(value: arb) -> Fraction:
    """To 2**-200: where it matters on which side of a whole number it lies, nothing is gained or lost."""
    return Fraction(floor(value * arb(2) ** 200), 1 << 200)


def floor(value: arb) -> int:
    """The integer below the middle of the ball."""
    whole = value.mid().floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError("more precision is needed")
    return int(whole)


@dataclass(frozen=True)
class Pair:
    """Masses of the same outcomes under P and under Q, and how much of either lies elsewhere."""

    p: Sequence[arb]
    q: Sequence[arb]
    outside: arb = ZERO

    @classmethod
    def of(cls, first: Law, second: Law) -> Pair:
        """Outcomes in both windows. What lies outside of them may be lost altogether."""
        start, stop = min(first.start, second.start), max(first.stop, second.stop)
        spend(stop - start)
        p, q = [[law.at(k) for k in range(start, stop)] for law in (first, second)]
        return cls(p, q, first.outside.max(second.outside))

    @classmethod
    def shifted(cls, law: Law, by: int = 1) -> Pair:
        return cls.of(law, Law(law.start + by, law.masses, law.outside))

    @cached_property
    def reversed(self) -> Pair:
        """Kept, as what is worked out of it is."""
        return Pair(self.q, self.p, self.outside)

    @cached_property
    def _sorted(self) -> tuple[list[int], list[arb], list[arb]]:
        """The outcomes that P can have, by falling log-ratio: minus that in units of 2**-100, and the masses."""
        possible = ((i, p, q) for i, (p, q) in enumerate(zip(self.p, self.q, strict=True)) if not p.is_zero())
        keyed = sorted((_falling(p, q), i) for i, p, q in possible)
        return [key for key, _ in keyed], [self.p[i] for _, i in keyed], [self.q[i] for _, i in keyed]

    @cached_property
    def _prefixes(self) -> tuple[list[arb], list[arb]]:
        _, p, q = self._sorted
        return list(accumulate(p, initial=arb(0))), list(accumulate(q, initial=arb(0)))


NOTHING = Pair([arb(1)], [arb(1)])


def _falling(p: arb, q: arb) -> int:
    if q == 0:
        return -CERTAIN
    scaled = (q / p).log() * arb(2) ** RATIO_BITS
    if not scaled.rad() < 1:
        raise ArithmeticError("a likelihood ratio is not known well enough; more precision is needed")
    return floor(scaled)


def divergence(epsilon: Fraction, first: Pair, second: Pair = NOTHING) -> Bounds:
    """Of P1 P2 from Q1 Q2: the worst that both together give away beyond epsilon."""
    if len(first.p) > len(second.p):
        first, second = second, first
    growth = ball(epsilon).exp()
    limit = int(epsilon * (1 << RATIO_BITS))
    few, p, q = first._sorted
    many, _, _ = second._sorted
    with_p, with_q = second._prefixes
    here, there, doubtful = arb(0), arb(0), False
    for key, mine, others in zip(few, p, q, strict=True):
        chosen = bisect_left(many, -limit - key)
        here += mine * with_p[chosen]
        there += others * with_q[chosen]
        doubtful |= chosen != bisect_left(many, DOUBT - limit - key) or chosen != bisect_left(
            many, -DOUBT - limit - key
        )
    excess = here - growth * there
    lost = most(first.outside + second.outside)
    high = max(Fraction(0), most(excess)) + lost + (MISSED if doubtful else 0)
    low = max(Fraction(0), least(excess) - (1 + most(growth)) * lost)  # what Q has outside may be where P is
    return Bounds(low, high, (least(here) - lost, most(there) + lost))


def either_order(epsilon: Fraction, first: Pair, second: Pair = NOTHING) -> Bounds:
    return worst_of([divergence(epsilon, first, second), divergence(epsilon, first.reversed, second.reversed)])
