"""Laws in ball arithmetic, with a bound on the mass outside of their windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from headcount.proof.effort import TooLarge, spend

LGAMMAS = 50  # units for three of them
NEGLIGIBLE_BITS = 128  # windows end where less than 2**-128 of the mass is left
MOST_DIGITS = 1 << 20
MOST_MASSES = 1 << 22  # on one side of a window


def ball(value: Fraction | int) -> arb:
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


def most(value: arb) -> Fraction:
    """An upper bound of the value."""
    return _exactly(value.upper())


def least(value: arb) -> Fraction:
    """A lower bound of the value."""
    return _exactly(value.lower())


def _exactly(point: arb) -> Fraction:
    if not point.is_finite():
        raise ArithmeticError("more precision is needed")
    mantissa, exponent = point.mid().man_exp()
    if abs(int(exponent)) > MOST_DIGITS:
        raise ArithmeticError("a number is too large or too small to be written down")
    spend(abs(int(exponent)) >> 6)
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(frozen=True)
class BallLaw:
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
    ) -> BallLaw:
        """The law from one mass and the falling ratios up(k) = mass(k + 1) / mass(k).

        Beyond the end the masses fall at least as fast as a geometric law with the ratio at the
        end.
        """
        if not mass > 0:
            raise ArithmeticError("more precision is needed")
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
        _append(masses, mass)
    return masses, arb(0)


def _append(masses: list[arb], mass: arb) -> None:
    if len(masses) >= MOST_MASSES:
        raise TooLarge("a law is spread over too many numbers")
    masses.append(mass)


def binomial(trials: int, chance: arb, bits: int = NEGLIGIBLE_BITS) -> BallLaw:
    """Bin(trials, chance): mass k + 1 over mass k is (n - k) / (k + 1) times p / (1 - p)."""
    if not 0 < chance < 1 or not trials:
        if chance == 0 or not trials:
            return BallLaw(0, [arb(1)], arb(0))
        if chance == 1:
            return BallLaw(trials, [arb(1)], arb(0))
        raise ArithmeticError("a chance must be certain to lie between 0 and 1")
    odds = chance / (1 - chance)
    mode, mass = likeliest(trials, chance)
    return BallLaw.around(mode, mass, lambda k: odds * (trials - k) / (k + 1), (0, trials), bits)


def likeliest(trials: int, chance: arb) -> tuple[int, arb]:
    """About the likeliest number of successes, and its mass."""
    spend(LGAMMAS)
    mode = min(trials, int((trials + 1) * least(chance)))
    choose = arb(trials + 1).lgamma() - arb(mode + 1).lgamma() - arb(trials - mode + 1).lgamma()
    return mode, (choose + mode * chance.log() + (trials - mode) * (1 - chance).log()).exp()


def poisson(mean: arb) -> BallLaw:
    mode = int(least(mean))
    mass = (mode * mean.log() - mean - arb(mode + 1).lgamma()).exp()
    return BallLaw.around(mode, mass, lambda k: mean / (k + 1), (0, None))


def negative_binomial(shape: arb, decay: arb) -> BallLaw:
    """NB(shape, decay): mass k + 1 over mass k is decay (k + shape) / (k + 1).

    It falls with k if the shape is above 1.

    Below it rises, but never to decay: masses from 0 on.
    """
    if shape > 1:
        mode = floor((shape - 1) * decay / (1 - decay))
        choose = (mode + shape).lgamma() - shape.lgamma() - arb(mode + 1).lgamma()
        mass = (choose + shape * (1 - decay).log() + mode * decay.log()).exp()
        return BallLaw.around(mode, mass, lambda k: decay * (k + shape) / (k + 1), (0, None))
    mass = ((1 - decay).log() * shape).exp()
    masses, k, small = list[arb](), 0, arb(2) ** -NEGLIGIBLE_BITS
    while True:
        spend(2)
        _append(masses, mass)
        factor = decay * (k + shape) / (k + 1)
        mass, k = mass * factor, k + 1
        steepest = factor.max(decay)
        if steepest < 1 and mass < small:
            return BallLaw(0, masses, mass / (1 - steepest))


def geometric_more(law: BallLaw, ratio: arb) -> BallLaw:
    """The law of Z + G where P[G = k] = (1 - x) x^k: h(v) = (1 - x) P[Z = v] + x h(v - 1)."""
    masses, mass, small = list[arb](), arb(0), arb(2) ** -NEGLIGIBLE_BITS
    spend(len(law.masses))
    for z in law.masses:
        mass = (1 - ratio) * z + ratio * mass
        masses.append(mass)
    while not mass < small:
        spend(1)
        mass = ratio * mass
        _append(masses, mass)
    return BallLaw(law.start, masses, law.outside + mass / (1 - ratio))


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
        """The tail beyond all trials, which is empty."""
        return cls(rate, trials, trials + 1, rate**trials, arb(0))

    @classmethod
    def at(cls, rate: arb, trials: int, v: int) -> Tail:
        law = binomial(trials, rate)
        lost = law.outside * arb(0, 1)
        tail = sum((law.at(k) for k in range(max(v, law.start), law.stop)), lost)
        return cls(rate, trials, v, law.at(v - 1) if law.start < v <= law.stop else lost, tail)

    def one_more_trial(self) -> None:
        spend(2)
        self.tail = self.tail + self.rate * self.mass
        self.trials += 1
        self.mass = self.mass * (1 - self.rate) * self.trials / (self.trials - self.v + 1)

    @property
    def rest(self) -> arb:
        """E[B; B >= v] is trials times the rate times the tail, and this."""
        return self.rate * (self.trials - self.v + 1) * self.mass

    def move_beyond(self, level: Fraction) -> bool:
        """Moves v to the first above the level; False if there is none up to the trials."""
        while self.v <= level and self.v <= self.trials:
            self.one_more_success()
        return self.v <= self.trials

    def one_more_success(self) -> None:
        spend(2)
        self.mass = self.mass * self.rate / (1 - self.rate) * (self.trials - self.v + 1) / self.v
        self.tail = self.tail - self.mass
        self.v += 1


def middle(value: arb) -> Fraction:
    """The middle to 2**-200: on which side of an integer it lies may be decided either way."""
    return Fraction(floor(value * arb(2) ** 200), 1 << 200)


def floor(value: arb) -> int:
    """The integer below the middle of the ball."""
    whole = value.mid().floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError("more precision is needed")
    return int(whole)
