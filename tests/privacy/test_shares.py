"""Split-and-mix: the components against all assignments of shares, the bound against the whole law of tiny crowds."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import pytest

from headcount.errors import BadArgument
from headcount.privacy import exact_tables as tables
from headcount.privacy import share_distance as module
from headcount.privacy.share_distance import fewest_shares, published_shares, share_distance
from headcount.protocols.shuffle.split_and_mix import SplitAndMix


def components(n: int, owners: tuple[int, ...], group: int) -> int:
    """The graph that joins the owner of share t, t // group, to its other owner."""
    root = list(range(n))
    for share, other in enumerate(owners):
        first, second = root[share // group], root[other]
        root = [first if r == second else r for r in root]
    return len(set(root))


def excess(n: int, modulus: int, group: int) -> Fraction:
    """E[q**(C-1)] - 1 over all assignments of n * group shares, `group` to each."""
    assignments = [o for o in product(range(n), repeat=n * group) if all(o.count(i) == group for i in range(n))]
    return Fraction(sum(modulus ** (components(n, o, group) - 1) for o in assignments), len(assignments)) - 1


@pytest.mark.parametrize(
    ("n", "shares"), [(2, 2), (2, 3), (2, 4), (2, 6), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3), (5, 2)]
)
@pytest.mark.parametrize("modulus", [2, 5, 10**9])
def test_the_recurrence_counts_components(n: int, shares: int, modulus: int) -> None:
    # Groups of m shares instead of m - 1 would be far smaller, and so would F_n without the modulus on each component.
    exact = excess(n, modulus, shares - 1)
    assert share_distance(n, modulus, shares) == pytest.approx(min(1.0, math.sqrt(exact)), rel=3e-8)
    assert math.exp(module._head(n, modulus, shares - 1)[-1]) == pytest.approx(float(exact), rel=1e-9)


def view(values: tuple[int, ...], modulus: int, shares: int) -> dict[tuple[int, ...], Fraction]:
    """How often each residue is received, for a crowd holding these values."""
    law = {(0,) * modulus: Fraction(1)}
    for value in values:
        one = Counter[tuple[int, ...]]()
        for free in product(range(modulus), repeat=shares - 1):
            sent = [*free, (value - sum(free)) % modulus]
            one[tuple(sent.count(r) for r in range(modulus))] += 1
        wider: dict[tuple[int, ...], Fraction] = {}
        for (seen, mass), (more, ways) in product(law.items(), one.items()):
            total = tuple(a + b for a, b in zip(seen, more, strict=True))
            wider[total] = wider.get(total, Fraction(0)) + mass * Fraction(ways, modulus ** (shares - 1))
        law = wider
    return law


def farthest(n: int, modulus: int, shares: int) -> Fraction:
    """The largest total variation between two crowds with the same total."""
    by_total: dict[int, list[dict[tuple[int, ...], Fraction]]] = {}
    for values in product(range(modulus), repeat=n):
        if list(values) == sorted(values):
            by_total.setdefault(sum(values) % modulus, []).append(view(values, modulus, shares))

    def distance(p: dict[tuple[int, ...], Fraction], q: dict[tuple[int, ...], Fraction]) -> Fraction:
        return sum((max(mass - q.get(seen, Fraction(0)), Fraction(0)) for seen, mass in p.items()), Fraction(0))

    return max(distance(p, q) for laws in by_total.values() for p in laws for q in laws)


@pytest.mark.parametrize(
    ("n", "modulus", "shares"),
    [(2, 2, 3), (2, 2, 5), (2, 3, 4), (2, 3, 6), (2, 4, 5), (2, 5, 5), (3, 2, 3), (3, 2, 5), (3, 3, 4), (4, 2, 4)],
)
def test_no_crowds_with_the_same_total_look_further_apart(n: int, modulus: int, shares: int) -> None:
    assert farthest(n, modulus, shares) <= share_distance(n, modulus, shares)


def test_the_average_case_is_not_enough_for_the_worst_crowds() -> None:
    # The tempting bound with m shares a group, half the root, is exceeded: what a broken index would claim.
    average = 0.5 * math.sqrt(excess(2, 3, 4))
    assert farthest(2, 3, 4) > average


@pytest.mark.parametrize(
    ("people", "modulus", "bits", "needed", "published"),
    [(10**4, 2**32, 40, 10, 12), (1000, 2**30, 80, 19, 25)],
)
def test_the_number_of_shares(people: int, modulus: int, bits: int, needed: int, published: int) -> None:
    # The published average-case formula, one less, would give 11 and 24.
    assert fewest_shares(people, modulus, 2.0**-bits) == needed
    assert share_distance(people, modulus, needed) <= 2.0**-bits < share_distance(people, modulus, needed - 1)
    assert published_shares(people, modulus, 2.0**-bits) == published


@pytest.mark.parametrize(
    ("people", "modulus", "shares"),
    [(300, 2, 3), (300, 2**20, 5), (1000, 2, 3), (900, 100, 4), (1500, 2**30, 6), (1500, 2**30, 19), (1000, 2**60, 8)],
)
def test_a_large_crowd_is_bounded_closely(people: int, modulus: int, shares: int) -> None:
    # A bound that dropped the larger k, or took F_k = 1 for the small ones, would fall below.
    whole = module._head(people, modulus, shares - 1)[-1] / 2.0
    for size in module.HEADS:
        head = module._head(size, modulus, shares - 1)
        bound = module._large(people, modulus, shares - 1, head) if size < people else None
        if bound is not None:
            assert whole - 1e-10 <= bound / 2.0 <= whole + 3.0 / people + 1e-8


def test_bounds_are_there_for_small_and_large_crowds_and_fall_with_shares_and_people() -> None:
    for people in (2, 64, 65, 10**9):
        distances = [share_distance(people, 2**40, shares) for shares in range(1, 30, 2)]
        assert all(later <= earlier for earlier, later in pairwise(distances))
    crowds = [share_distance(people, 2**40, 12) for people in (50, 64, 65, 100, 10**4, 10**6, 10**9)]
    assert crowds == sorted(crowds, reverse=True)


def test_the_leading_term_is_an_estimate_and_not_a_bound() -> None:
    people, modulus, group = 100, 10**6, 4
    leading = modulus * people ** (1 - group) * math.factorial(group) / group**group
    assert leading < share_distance(people, modulus, group + 1) ** 2 == pytest.approx(0.100, abs=5e-4)


def test_nobody_hides_alone_or_in_a_single_share() -> None:
    assert share_distance(1, 10, 1) == share_distance(7, 1, 1) == 0.0
    assert share_distance(7, 10, 1) == 1.0
    assert fewest_shares(1, 10, 1e-9) == 1
    for refused in ((0, 10, 3), (5, 0, 3), (5, 10, 0)):
        with pytest.raises(BadArgument):
            share_distance(*refused)
    with pytest.raises(BadArgument, match="positive"):
        fewest_shares(5, 10, 0.0)
    with pytest.raises(BadArgument, match="19"):
        published_shares(18, 10, 0.1)


def test_the_number_of_messages_is_that_of_the_programme_and_known_without_it(monkeypatch) -> None:
    tiny = SplitAndMix.tiny()
    assert tiny.messages_per_person == tiny.programme.mean({"value": 0}) == tiny.shares

    def unaffordable(*_: object) -> None:
        raise AssertionError("a large crowd's table has millions of cells")

    monkeypatch.setattr(tables, "negative_binomial", unaffordable)
    assert SplitAndMix.tiny().messages_per_person == tiny.shares
