r"""Binomial, Poisson, negative binomial and discrete Laplace laws, to 1e-11 up to n = 10**9.

The logarithm of a mass is never the difference of large gamma functions: by Loader's saddle-point
expansion [L00] it is a sum of small terms, deviances $x\log(x/\mu) + \mu - x$ for the distance from
the mean and Stirling's remainders. Each law is cut to a window outside of which lies at most `CUT`
of its mass on either side; what is cut is remembered.

[L00] Loader, Fast and Accurate Computation of Binomial Probabilities, 2000.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from headcount.errors import Infeasible
from headcount.programme.law import Floats, Law
from headcount.programme.table import Ints

CUT = 1e-32
LOG_CUT = math.log(CUT)
LONGEST = 1 << 40  # no window reaches further
FEW = 1 << 11  # outcomes that are all looked at
WIDEST = 1 << 23  # nor is one wider, to bound memory and time
BLOCK = 1 << 13
FINE = 1 << 11  # blocks to a noise's scale, for error bars only
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
SIDES, DOUBLING = np.array([[-1], [1]]), 2 ** np.arange(62)


def stirling_remainder(x: Floats) -> Floats:
    """log Gamma(x + 1) - (x + 1/2) log x + x - log(2 pi)/2, for x > 0."""
    y = 1.0 / x
    y2 = y * y
    if x.min(initial=math.inf) >= LARGE:  # the next term is below 1e-18
        return np.asarray(y * (1 / 12 - y2 / 360))
    remainder: Floats = y * (
        1 / 12 - y2 * (1 / 360 - y2 * (1 / 1260 - y2 * (1 / 1680 - y2 * (1 / 1188 - y2 * 691 / 360360))))
    )
    small = x < SMALL
    if not small.any():
        return remainder
    whole = np.minimum(x, SMALL).astype(np.int64)
    if (small & (whole != x)).any():
        remainder[small] = _small_remainder(x[small])
        return remainder
    return np.where(small, SMALL_REMAINDERS[whole], remainder)


def _small_remainder(x: Floats) -> Floats:
    log_gamma = np.array([math.lgamma(k + 1.0) for k in x.tolist()])
    return np.asarray(log_gamma - (x + 0.5) * np.log(x) + x - HALF_LOG_TAU)


SMALL, LARGE = 16, 1_000
SMALL_REMAINDERS = np.append(0.0, _small_remainder(np.arange(1.0, SMALL + 1.0)))


def deviance(x: Floats, mean: Floats | float) -> Floats:
    """x log(x / mean) + mean - x without cancellation, for x >= 0."""
    gap = x - mean
    v = gap / np.maximum(x + mean, 1e-300)
    v2 = v * v
    # For |v| < 0.1: x log((1+v)/(1-v)) - gap = gap*v + 2x (v^3/3 + v^5/5 + ...), eight terms of it
    # at most
    widest = min(float(v2.max(initial=0.0)), 0.01)
    terms = min(8, 1 + math.floor(math.log(1e-17) / math.log(max(widest, 1e-17))))
    series = v2 * (1.0 / (2 * terms + 1))
    for odd in range(2 * terms - 1, 1, -2):
        series += 1.0 / odd
        series *= v2
    series *= 2.0 * x * v
    near: Floats = gap * v
    near += series
    if widest < 0.01:
        return near
    far = x * np.log(np.maximum(x, 1e-300) / np.maximum(mean, 1e-300)) - gap
    return np.where(v2 < 0.01, near, far)


def _log_poisson(x: Floats, mean: float) -> Floats:
    safe = np.maximum(x, 1.0)
    log_mass = -deviance(x, mean) - stirling_remainder(safe) - 0.5 * np.log(safe) - HALF_LOG_TAU
    return np.where(x > 0, log_mass, -mean)


def _log_binomial(x: Floats, n: Floats | float, yes: float, no: float) -> Floats:
    """log of C(n, x) yes^x no^(n-x) for real n and 0 <= x <= n, in blocks that fit the cache."""
    trials = np.asarray(n, dtype=np.float64)
    trials = np.broadcast_to(trials, x.shape) if trials.size != 1 else trials.reshape((1,) * x.ndim)
    if x.size <= BLOCK:
        return _log_binomial_block(x, trials, yes, no)
    flat, all_trials, logs = x.ravel(), trials.ravel(), np.empty(x.size)
    for start in range(0, x.size, BLOCK):
        part = slice(start, start + BLOCK)
        here = all_trials if trials.size == 1 else all_trials[part]
        logs[part] = _log_binomial_block(flat[part], here, yes, no)
    return logs.reshape(x.shape)


def _log_binomial_block(x: Floats, n: Floats, yes: float, no: float) -> Floats:
    rest = n - x
    inside = (x > 0) & (rest > 0)
    if inside.all():
        return _log_binomial_inside(x, rest, n, yes, no)
    all_yes, all_no = (math.log(a) if a < 0.5 else math.log1p(-b) for a, b in ((yes, no), (no, yes)))
    logs = np.asarray(n * np.where(x > 0, all_yes, all_no))
    if inside.any():
        logs[inside] = _log_binomial_inside(x[inside], rest[inside], n.ravel() if n.size == 1 else n[inside], yes, no)
    return logs


def _log_binomial_inside(x: Floats, rest: Floats, n: Floats, yes: float, no: float) -> Floats:
    """The logarithm where neither x nor n - x is zero."""
    remainders = stirling_remainder(n) - stirling_remainder(x) - stirling_remainder(rest)
    deviances = deviance(x, n * yes) + deviance(rest, n * no)
    return np.asarray(remainders - deviances + 0.5 * np.log(n / (x * rest)) - HALF_LOG_TAU)


def _window(log_mass: Callable[[Floats], Floats], mode: int, low: int, high: int | None) -> tuple[int, int]:
    """The nearest integers to the mode whose mass is well below the cut, or the support's ends."""
    room = np.array([[mode - low], [LONGEST if high is None else high - mode]])
    away = np.minimum(DOUBLING, room)  # from the mode, a row for either side; then between the last inside and the next
    while True:
        below = log_mass((mode + SIDES * away).astype(np.float64)) < LOG_CUT - 12.0
        at = np.where(below.any(axis=1), below.argmax(axis=1), away.shape[1])
        around = np.concatenate([np.zeros_like(room), away, away[:, -1:]], axis=1)
        inside, outside = around[(0, 1), at], around[(0, 1), at + 1]
        if (outside - inside).max() <= 1:
            break
        away = np.linspace(inside, outside, 34, axis=1).astype(np.int64)[:, 1:]
    first, last = mode - int(outside[0]), mode + int(outside[1])
    if last - first > WIDEST:
        raise Infeasible("the noise would be spread over millions of outcomes", "use less of it or a larger epsilon")
    return first, last


def _cut(
    log_mass: Callable[[Floats], Floats], mode: float, low: int, high: int | None, known: tuple[int, int] | None = None
) -> Law:
    """The law inside its window, which is searched for unless it is `known`."""
    if known is not None and known[1] - known[0] <= WIDEST:
        start, end = known
        logs = log_mass(np.arange(start, end + 1, dtype=np.float64))
        inside = np.flatnonzero(logs >= LOG_CUT - 12.0)
        first, last = max(start, start + int(inside[0]) - 1), min(end, start + int(inside[-1]) + 1)
        masses = np.exp(logs[first - start : last + 1 - start])
    else:
        first, last = _window(log_mass, max(low, min(math.floor(mode), high or math.floor(mode))), low, high)
        masses = np.exp(log_mass(np.arange(first, last + 1, dtype=np.float64)))
    # Beyond an edge that lies e^-12 below the cut the masses fall faster than geometrically or at
    # the edge's own rate.
    dropped = 0.0
    for outer, inner, at_limit in ((masses[0], masses[1:2], first == low), (masses[-1], masses[-2:-1], last == high)):
        if not at_limit:
            ratio = float(outer / inner[0])
            dropped += float(outer) * ratio / (1.0 - ratio)
    return Law(first, masses, dropped)


def binomial(n: int, chance: float) -> Law:
    if chance <= 0.0 or n == 0:
        return Law(0, np.ones(1))
    if chance >= 1.0:
        return Law(n, np.ones(1))
    known = (0, n) if n <= FEW else binomial_window(n, chance)
    return _cut(lambda x: _log_binomial(x, float(n), chance, 1.0 - chance), (n + 1) * chance, 0, n, known)


def binomials(n: Ints, chance: float, first: int, last: int) -> Floats:
    """Row i: P[Bin(n[i], chance) = first .. last]."""
    trials = n[:, None].astype(np.float64)
    return binomial_masses(np.arange(first, last + 1, dtype=np.float64), trials, chance, 1.0 - chance)


def binomial_masses(x: Floats, n: Floats | float, yes: float, no: float) -> Floats:
    """P[Bin(n, yes) = x], zero outside 0 .. n.

    `no` is 1 - yes, which a subtraction would blur for a `yes` near 1.
    """
    n = np.asarray(n, dtype=np.float64)
    if n.size > 1 or n.ndim > x.ndim:  # otherwise what depends on the trials alone is computed once
        x, n = np.broadcast_arrays(x, n)
    if yes <= 0.0 or no <= 0.0:
        return np.where(x == (n if yes > 0.0 else np.zeros_like(n)), 1.0, 0.0)
    inside = (x >= 0) & (x <= n)
    if inside.all():
        return np.exp(_log_binomial(x, n, yes, no))
    return np.where(inside, np.exp(_log_binomial(np.clip(x, 0.0, n), n, yes, no)), 0.0)


def binomial_window(n: int, chance: float) -> tuple[int, int]:
    """An interval that Bin(n, chance) leaves with less than the cut's chance, by Bernstein."""
    log, mean = 12.0 - LOG_CUT, n * chance
    reach = log / 3.0 + math.sqrt(log**2 / 9.0 + 2.0 * log * mean * (1.0 - chance))
    return max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))


@lru_cache(maxsize=2)  # a plan's loss and its error are of one law
def poisson(mean: float) -> Law:
    return _cut(lambda x: _log_poisson(x, mean), mean, 0, None)


def negative_binomial(shape: float, decay: float) -> Law:
    r"""$P[k] = \binom{k+r-1}{k}(1-p)^r p^k$ with r = `shape` and p = `decay`.

    Floods have windows of 10**5 cells and more, so only the mode is expanded; the rest follows by
    ratios from there.
    """

    def log_mass(x: Floats) -> Floats:
        total = x + shape
        return np.asarray(np.log(shape / total) + _log_binomial(np.full_like(x, shape), total, 1.0 - decay, decay))

    mode = max(0, math.floor((shape - 1.0) * decay / (1.0 - decay)))
    first, last = _window(log_mass, mode, 0, None)
    k = np.arange(first, last, dtype=np.float64)
    ratios = decay * (k + shape) / (k + 1.0)
    steps = np.log(ratios)  # log P[k+1]/P[k]
    near = k[ratios > 0.5]
    steps[ratios > 0.5] = np.log1p(((decay * shape - 1.0) - (1.0 - decay) * near) / (near + 1.0))
    peak = mode - first
    down, up = -np.cumsum(steps[:peak][::-1])[::-1], np.cumsum(steps[peak:])
    masses = np.exp(log_mass(np.array([float(mode)])) + np.concatenate([down, [0.0], up]))
    # Beyond the last cell the ratio is at most the larger of decay and the last ratio; below the
    # first, it falls.
    ratio = max(decay, math.exp(steps[-1]))
    dropped = float(masses[-1]) * ratio / (1.0 - ratio) + (float(masses[0]) * first if first else 0.0)
    return Law(first, masses, dropped)


def discrete_laplace(rate: float, block: int = 1) -> Law:
    """Masses proportional to exp(-rate |k|), or those of the nearest multiples of an odd block."""
    whole = rate * block
    reach = math.ceil(-(LOG_CUT - 12.0) / whole)
    magnitudes = np.abs(np.arange(-reach, reach + 1))
    masses = math.sinh(whole / 2.0) / math.cosh(rate / 2.0) * np.exp(-whole * magnitudes)
    masses[reach] = 1.0 - 2.0 * math.exp(-rate * (block + 1) / 2.0) / (1.0 + math.exp(-rate))
    return Law(-reach, masses, 2.0 * math.exp(-whole * (reach + 1)))


def block(rate: float) -> int:
    """An odd number of steps over which such masses hardly change; 1 where they fall visibly."""
    return 2 * math.floor(1.0 / (2.0 * FINE * rate)) + 1 if rate * FINE < 1.0 else 1


def binomial_above(k: Ints | Floats | int, n: Ints | Floats | int, chance: float) -> Floats:
    """P[Bin(n, chance) > k], with its relative accuracy far into the tail."""
    from scipy.special import betainc  # a fifth of a second to import, and only sampling needs it

    if isinstance(k, int) and isinstance(n, int):
        return np.array(1.0 if k < 0 else 0.0 if k >= n else betainc(k + 1.0, float(n - k), chance))
    # The binomial's own function loses digits as n grows, one in 10**7 at 10**8; this one keeps
    # them.
    inside = np.clip(k, 0, np.maximum(np.asarray(n) - 1, 0))
    tail = betainc(inside + 1.0, np.maximum(n - inside, 1.0), chance)
    return np.where(np.asarray(k) < 0, 1.0, np.where(np.asarray(k) >= n, 0.0, tail))


def binomial_upto(k: Ints | Floats | int, n: Ints | int, chance: float) -> Floats:
    """P[Bin(n, chance) <= k]."""
    from scipy.special import betaincc

    inside = np.clip(k, 0, np.maximum(np.asarray(n) - 1, 0))
    head = betaincc(inside + 1.0, np.maximum(n - inside, 1.0), chance)
    return np.where(np.asarray(k) < 0, 0.0, np.where(np.asarray(k) >= n, 1.0, head))


def smallest_trials(chance: float, successes: int, tail: float) -> int:
    """The smallest n with P[Bin(n, chance) >= successes] > tail."""
    return _first(lambda n: bool(binomial_above(successes - 1, n, chance) > tail), successes)


def largest_trials(chance: float, successes: int, tail: float) -> int:
    """The largest n with P[Bin(n, chance) <= successes] > tail."""
    return _first(lambda n: bool(binomial_upto(successes, n, chance) <= tail), successes + 1) - 1


def _first(holds: Callable[[int], bool], start: int) -> int:
    """The first n from `start` on at which the condition, once true always true, holds."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
