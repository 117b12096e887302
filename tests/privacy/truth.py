"""Laws and losses worked out a second time, slowly, in fixed-point integers and mpmath; nothing of the library's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath.ctx_mp import MPContext

mp = MPContext()
mp.dps = 60

BITS = 256
NEGLIGIBLE = 1 << (BITS - 200)
Ratio = tuple[int, int]


def exact(number: Any) -> Any:
    if isinstance(number, Fraction):
        return mp.mpf(number.numerator) / number.denominator
    return mp.mpf(number) if isinstance(number, int) else mp.mpf(float(number))


def fixed(number: Any) -> int:
    return int(mp.ldexp(number, BITS))


def real(units: int) -> Any:
    return mp.ldexp(mp.mpf(int(units)), -BITS)


@dataclass(frozen=True)
class Masses:
    """P[start + i] = units[i] / 2**256, in Python's integers."""

    start: int
    units: np.ndarray

    def shifted(self, by: int) -> Masses:
        return Masses(self.start + by, self.units)

    def mirrored(self) -> Masses:
        return Masses(1 - self.start - self.units.size, self.units[::-1])

    def __add__(self, other: Masses) -> Masses:
        return Masses(self.start + other.start, np.convolve(self.units, other.units) >> BITS)

    def floats(self) -> np.ndarray:
        return np.array([unit / (1 << BITS) for unit in self.units])

    def outside(self, first: int, last: int) -> Any:
        """The mass that a window leaves out."""
        below, above = max(0, first - self.start), max(0, last + 1 - self.start)
        return real(sum(self.units[:below]) + sum(self.units[above:]))


def _walk(mode: int, peak: Any, step: Callable[[int], Ratio], low: int, high: float) -> Masses:
    """All masses that matter, from the largest one outwards; `step(k)` is P[k + 1] / P[k]."""
    above, below = [fixed(peak)], []
    k = mode
    while k < high and above[-1] > NEGLIGIBLE:
        up, down = step(k)
        above.append(above[-1] * up // down)
        k += 1
    k, mass = mode, above[0]
    while k > low and mass > NEGLIGIBLE:
        up, down = step(k - 1)
        mass = mass * down // up
        below.append(mass)
        k -= 1
    return Masses(k, np.array([*reversed(below), *above], dtype=object))


def binomial_mass(n: int, chance: float, k: int) -> Any:
    p = exact(chance)
    ways = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    return mp.exp(ways + k * mp.log(p) + (n - k) * mp.log(1 - p))


def poisson_mass(mean: Any, k: int) -> Any:
    m = exact(mean)
    return mp.exp(k * mp.log(m) - m - mp.loggamma(k + 1))


def negative_binomial_mass(shape: Any, decay: Any, k: int) -> Any:
    r, p = exact(shape), exact(decay)
    return mp.exp(mp.loggamma(k + r) - mp.loggamma(k + 1) - mp.loggamma(r) + r * mp.log(1 - p) + k * mp.log(p))


def discrete_laplace_mass(rate: Any, k: int) -> Any:
    a = mp.exp(-exact(rate))
    return (1 - a) / (1 + a) * a ** abs(k)


def binomial(n: int, chance: float) -> Masses:
    yes = Fraction(float(chance))
    up, down = yes.numerator, yes.denominator - yes.numerator
    mode = min(n, int((n + 1) * yes))
    return _walk(mode, binomial_mass(n, chance, mode), lambda k: (up * (n - k), down * (k + 1)), 0, n)


def poisson(mean: Any) -> Masses:
    m = Fraction(mean)
    mode = int(m)
    peak = poisson_mass(m, mode)
    return _walk(mode, peak, lambda k: (m.numerator, m.denominator * (k + 1)), 0, float("inf"))


def negative_binomial(shape: Any, decay: Any) -> Masses:
    r, p = Fraction(shape), Fraction(decay)
    mode = max(0, int((r - 1) * p / (1 - p)))
    peak, below = negative_binomial_mass(r, p, mode), p.denominator * r.denominator

    def step(k: int) -> Ratio:
        return p.numerator * (k * r.denominator + r.numerator), (k + 1) * below

    return _walk(mode, peak, step, 0, float("inf"))


def logarithmic(decay: Any) -> Masses:
    """P[k] = -p^k / (k log(1 - p)) from k = 1 on."""
    p = Fraction(decay)
    peak = -exact(p) / mp.log(1 - exact(p))
    law = _walk(1, peak, lambda k: (p.numerator * k, p.denominator * (k + 1)), 1, float("inf"))
    return Masses(0, np.insert(law.units, 0, 0))


def hockey_stick(p: Masses, q: Masses, epsilon: float) -> Any:
    """The sum of P - e**epsilon Q where that is positive."""
    factor = fixed(mp.exp(exact(epsilon)))
    start = min(p.start, q.start)
    size = max(law.start + law.units.size for law in (p, q)) - start
    first, second = (np.full(size, 0, dtype=object) for _ in range(2))
    for side, law in ((first, p), (second, q)):
        side[law.start - start : law.start - start + law.units.size] = law.units
    return real(sum(np.maximum(first - (factor * second >> BITS), 0)))


def both_orders(p: Masses, q: Masses, epsilon: float) -> tuple[Any, Any]:
    return hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)


def shifted(law: Masses, epsilon: float) -> tuple[Any, Any]:
    """A count plus this noise against the next count plus the same noise."""
    return both_orders(law, law.shifted(1), epsilon)


def shifted_discrete_laplace(rate: Fraction, shift: int, epsilon: float) -> tuple[Any, Any]:
    """The violating outcomes are found one by one, and their masses added up in closed form."""
    r, eps = exact(rate), exact(epsilon)
    violating = [k for k in range(-1, shift + 2) if r * (abs(k - shift) - abs(k)) > eps]
    if not violating:
        return mp.mpf(0), mp.mpf(0)
    a, last = mp.exp(-r), violating[-1]

    def upto(k: int) -> Any:
        return a**-k / (1 + a) if k < 0 else 1 - a ** (k + 1) / (1 + a)

    divergence = upto(last) - mp.exp(eps) * upto(last - shift)
    return divergence, divergence


def discrete_laplace(rate: Any) -> Masses:
    fall = Fraction(fixed(mp.exp(-exact(rate))), 1 << BITS)
    upward = _walk(0, discrete_laplace_mass(rate, 0), lambda _: (fall.numerator, fall.denominator), 0, float("inf"))
    return Masses(1 - upward.units.size, np.concatenate([upward.units[:0:-1], upward.units]))


def moved(law: Masses, epsilon: float) -> tuple[Any, Any]:
    """Two counts plus this noise each, against one of them up and the other down, over all pairs of outcomes."""
    factor = fixed(mp.exp(exact(epsilon)))
    wider = [np.append(law.units, 0), np.insert(law.units, 0, 0)]  # at the same outcomes: as it is, and one further up
    as_they_are, otherwise = (np.multiply.outer(first, second) >> BITS for first, second in (wider, wider[::-1]))
    forward = np.maximum(as_they_are - (factor * otherwise >> BITS), 0).sum()
    backward = np.maximum(otherwise - (factor * as_they_are >> BITS), 0).sum()
    return real(forward), real(backward)


def flipped_bit(keep: float, epsilon: float) -> tuple[Any, Any]:
    p = exact(keep)
    divergence = max(p - mp.exp(exact(epsilon)) * (1 - p), mp.mpf(0))
    return divergence, divergence


def shuffled_bits(flip: float, others: int, ones: int, epsilon: float, bits: int = 1) -> tuple[Any, Any]:
    """So many flipped bits, all ones or all zeros, among others, `ones` of which are a one."""
    rest = binomial(others - ones, flip)
    if ones:
        rest = rest + binomial(ones, flip).mirrored()
    victim = binomial(bits, flip)
    return both_orders(rest + victim.mirrored().shifted(bits), rest + victim, epsilon)


def sampled_counts(rate: float, threshold: int, most: int, epsilon: float) -> tuple[Any, Any]:
    """One holder more against one fewer, for every number of holders below `most`; small counts look alike."""
    yes = fixed(exact(rate))
    no = (1 << BITS) - yes
    factor = fixed(mp.exp(exact(epsilon)))
    law = np.array([1 << BITS], dtype=object)
    worst = [0, 0]
    for _ in range(most):
        wider = np.append(law, 0)
        following = (wider * no + np.insert(law, 0, 0) * yes) >> BITS
        fewer, more = (np.insert(side[threshold:], 0, side[:threshold].sum()) for side in (wider, following))
        for i, (p, q) in enumerate(((more, fewer), (fewer, more))):
            worst[i] = max(worst[i], int(sum(np.maximum(p - (factor * q >> BITS), 0))))
        law = following
    return real(worst[0]), real(worst[1])


def cancelling_view(own: Masses, flood: Masses, least: float = 1e-40) -> tuple[np.ndarray, np.ndarray]:
    """(x + A + Z, B + Z) for x = 1 and for x = 0, over the whole joint law: row A - B, column B + Z."""
    a, z = (law.floats()[law.floats() > least] for law in (own, flood))
    rows = np.zeros((2 * a.size + 1, a.size + z.size))
    for i, first in enumerate(a):
        for j, second in enumerate(a):
            rows[i - j + a.size, j : j + z.size] += first * second * z
    return rows[:-1], rows[1:]


def cancelling_noise(own: Masses, flood: Masses, epsilon: float) -> tuple[float, float]:
    q, p = cancelling_view(own, flood)
    factor = float(mp.exp(exact(epsilon)))
    return float(np.maximum(p - factor * q, 0.0).sum()), float(np.maximum(q - factor * p, 0.0).sum())


def two_cancelling_noises(own: Masses, flood: Masses, epsilon: float) -> tuple[float, float]:
    """Two such views, of a count that goes up and of one that goes down, over all pairs of outcomes.

    Outcomes whose likelihood ratios agree to nine digits are taken together.
    """
    p, q = _by_ratio(*cancelling_view(own, flood, 1e-22))
    factor = float(mp.exp(exact(epsilon)))
    worst = [0.0, 0.0]
    for here, there in zip(p, q, strict=True):
        up, down = here * q, there * p
        worst[0] += float(np.maximum(up - factor * down, 0.0).sum())
        worst[1] += float(np.maximum(down - factor * up, 0.0).sum())
    return worst[0], worst[1]


def _by_ratio(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p + q > 0.0, np.round(np.log(p) - np.log(q), 9), 0.0)
    _, place = np.unique(ratio.ravel(), return_inverse=True)
    return np.bincount(place, p.ravel()), np.bincount(place, q.ravel())
