"""Many pairs on a grid, between bounds that hold: against every outcome, one by one."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest
from flint import arb, ctx

from headcount.proof.divergence import BallPair, either_order
from headcount.proof.many_pairs import ManyPairs
from headcount.proof.verify import PRECISION

WEIGHTS = {
    "skewed": ([3, 2, 1, 1], [1, 3, 2, 1]),
    "lattice": ([4, 2, 1, 1], [2, 4, 1, 1]),
    "alone": ([1, 5, 2], [0, 3, 5]),
    "the same": ([1, 2], [1, 2]),
}
EPSILONS = [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2)]


@pytest.fixture(autouse=True)
def precise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctx, "prec", PRECISION)


def pair(name: str) -> BallPair:
    p, q = WEIGHTS[name]
    return BallPair([arb(mass) / sum(p) for mass in p], [arb(mass) / sum(q) for mass in q])


def brute(names: list[str], epsilon: Fraction) -> float:
    laws = [[(a / sum(p), b / sum(q)) for a, b in zip(p, q, strict=True)] for p, q in (WEIGHTS[name] for name in names)]
    growth = float(arb(float(epsilon)).exp())
    both = ((prod(a for a, _ in each), prod(b for _, b in each)) for each in product(*laws))
    return sum(max(0.0, p - growth * q) for p, q in both)


@pytest.mark.parametrize("names", [["skewed"] * 4, ["lattice"] * 6, ["alone"] * 3, ["skewed", "lattice", "alone"]])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_bounds_hold_and_are_narrow(names: list[str], epsilon: Fraction) -> None:
    pairs = ManyPairs([(pair(name), names.count(name)) for name in dict.fromkeys(names)])
    truth, found = brute(names, epsilon), pairs.divergence(epsilon)
    assert float(found.low) - 1e-12 <= truth <= float(found.high) + 1e-12
    assert float(found.high) <= 1.01 * truth + 1e-4
    assert float(found.low) >= 0.99 * truth - 1e-4


def test_two_pairs_are_as_they_are_exactly() -> None:
    first, second = pair("skewed"), pair("alone")
    found, exact = (
        ManyPairs([(first, 1), (second, 1)]).worst(Fraction(1, 2)),
        either_order(Fraction(1, 2), first, second),
    )
    assert found.low <= exact.high
    assert exact.low <= found.high
    assert float(found.high) == pytest.approx(float(exact.high), rel=1e-2)


def test_what_does_not_differ_tells_nothing() -> None:
    found = ManyPairs([(pair("the same"), 5)]).worst(Fraction(0))
    assert found.low == 0
    assert float(found.high) < 1e-6


@pytest.mark.parametrize("broken", ["here", "there"])
def test_an_event_is_one_under_both_laws(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: were either law's places moved, the lower bound would not be one."""
    pairs = ManyPairs([(pair("lattice"), 4)])
    start, masses = getattr(pairs, f"_{broken}")
    moved = start + (1 if broken == "here" else -1) * 200
    monkeypatch.setitem(pairs.__dict__, f"_{broken}", (moved, masses))
    found = [pairs.divergence(epsilon) for epsilon in EPSILONS]
    truths = [brute(["lattice"] * 4, epsilon) for epsilon in EPSILONS]
    assert any(float(each.low) > truth + 1e-9 for each, truth in zip(found, truths, strict=True))
