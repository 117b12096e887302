"""Binomial tails in ball arithmetic: sums of masses with a geometric bound on the rest."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx


def mass(n: int, chance: arb, k: int) -> arb:
    """P[Bin(n, chance) = k]"""
    if not 0 <= k <= n:
        return arb(0)
    if k in (0, n):
        return chance**n if k else (1 - chance) ** n
    ways = arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()
    return (ways + k * chance.log() + (n - k) * (1 - chance).log()).exp()


def above(n: int, chance: arb, k: int) -> arb:
    """P[Bin(n, chance) >= k]"""
    if k <= 0 or k > n:
        return arb(int(k <= 0))
    if k < n * chance:
        return 1 - upto(n, chance, k - 1)
    odds = chance / (1 - chance)
    return _series(mass(n, chance, k), k, n, 1, lambda j: odds * (n - j) / (j + 1))


def upto(n: int, chance: arb, k: int) -> arb:
    """P[Bin(n, chance) <= k]"""
    if k < 0 or k >= n:
        return arb(int(k >= n))
    if k > n * chance:
        return 1 - above(n, chance, k + 1)
    odds = (1 - chance) / chance
    return _series(mass(n, chance, k), k, 0, -1, lambda j: odds * j / (n - j + 1))


def _series(first: arb, k: int, end: int, step: int, ratio: Callable[[int], arb]) -> arb:
    """The first mass and all beyond it, where ratios fall with the distance."""
    total = term = first
    negligible = arb(2) ** -ctx.prec
    while k != end:
        factor = ratio(k)
        term, k = term * factor, k + step
        if factor < 1 and term < total * negligible:
            rest = term / (1 - factor)
            return total + (rest / 2) + (rest / 2) * arb(0, 1)
        total += term
    return total


def shifted(n: int, chance: arb, factor: arb) -> arb:
    """The divergence of Bin(n, chance) from itself moved by one, worse order, at this factor.

    Where mass(k) > factor mass(k - 1) the count is small, and where mass(k) > factor mass(k + 1) it
    is large: either order is violated on one tail.
    """
    odds = chance / (1 - chance)
    low = last_below((n + 1) * odds / (factor + odds))
    high = n - last_below((n + 1) / (factor * odds + 1))
    up = upto(n, chance, low) - factor * upto(n, chance, low - 1)
    down = above(n, chance, high) - factor * above(n, chance, high + 1)
    return up.max(down).max(arb(0))


def last_below(value: arb) -> int:
    whole = value.floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError("more precision is needed")
    return int(whole)
