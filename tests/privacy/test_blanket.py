"""The blankets' bounds: the formula against its enumeration, and the bound against what a few people really show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import multisets
import numpy as np
import pytest
import truth

from headcount.privacy import trinomial as cells
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.blanket import FakeUsersBlanket, HadamardBlanket, HashedBlanket
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.trinomial import Trinomial, _most_below_half, mean_shortfall

mp = truth.mp


def check_formula(loss: PrivacyLoss, epsilon: float, expected: Any) -> None:
    assert truth.exact(loss.delta(epsilon)) >= expected
    for order in loss.orders(np.array([epsilon])):
        assert order.item() == pytest.approx(float(expected), rel=1e-9, abs=1e-28)


def thrice(n: int, each: Any, third: Any) -> Iterator[tuple[Any, int, int, int]]:
    """Every (N1, N2, N3) and its mass."""
    none = 1 - 2 * each - third
    for i in range(n + 1):
        for j in range(n + 1 - i):
            for k in range(n + 1 - i - j):
                ways = math.factorial(n) // math.prod(math.factorial(m) for m in (i, j, k, n - i - j - k))
                yield ways * each ** (i + j) * third**k * none ** (n - i - j - k), i, j, k


# The shared expectation


def trinomial(slots: int, each: float, third: float, none: float) -> Trinomial:
    return Trinomial(np.array([slots]), np.ones(1), each, third, none)


def check_excess(n: int, each: float, third: float, weights: tuple[float, float, float]) -> None:
    a, b, c = (truth.exact(w) for w in weights)
    law = thrice(n, truth.exact(each), truth.exact(third))
    expected = sum(mass * max(a * i - b * j - c * k, mp.mpf(0)) for mass, i, j, k in law) / n
    found = trinomial(n, each, third, 1.0 - 2.0 * each - third).excess(*weights)
    assert found == pytest.approx(float(expected), rel=1e-10, abs=1e-30)


@pytest.mark.parametrize("weights", [(1.0, 1.0, 0.0), (1.0, 2.7, 1.7), (0.3, 5.0, 0.01), (2.0, 2.0, 3.0)])
@pytest.mark.parametrize(
    ("n", "each", "third"), [(1, 0.3, 0.2), (2, 0.5, 0.0), (5, 0.1, 0.8), (12, 0.01, 0.4), (25, 0.2, 0.1)]
)
def test_the_excess_is_the_enumerated_one(
    n: int, each: float, third: float, weights: tuple[float, float, float]
) -> None:
    check_excess(n, each, third, weights)


def test_values_skipped_in_large_crowds_hardly_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten times fewer than are visited in earnest; a weight that forgets the step would be off by all of it.
    def excesses() -> list[float]:
        of = [
            trinomial(20_000, 0.15, 0.0, 0.7),
            trinomial(2000, 0.05, 0.5, 0.4),
            trinomial(300, 0.01, 0.9, 0.08),
        ]
        return [one.excess(1.0, b, c) for one in of for b, c in ((1.05, 0.0), (1.1, 0.05), (1.3, 0.3), (1.02, 0.001))]

    whole = excesses()
    monkeypatch.setattr(cells, "MOST_PAIRS", 200)
    monkeypatch.setattr(cells, "MOST_CELLS", 20_000)
    assert excesses() == pytest.approx(whole, rel=3e-4)


# Randomised response over several values


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.7, 1.4])
@pytest.mark.parametrize(("lie", "values", "people"), [(0.5, 2, 6), (0.3, 3, 5), (0.9, 4, 20), (0.05, 10, 8)])
def test_the_response_s_bound_is_the_lemma_s(lie: float, values: int, people: int, epsilon: float) -> None:
    # Lemma 5.3 with M ~ Bin(n, lie) and the two cells of the liars; a bound that reveals the victim's lie lacks M.
    g, factor = truth.exact(lie), mp.exp(epsilon)
    total = mp.mpf(0)
    for mass, i, j, k in thrice(people, g / values, g * (values - 2) / values):
        total += mass * max((1 - g) * values * (i - factor * j) - g * (factor - 1) * (i + j + k), mp.mpf(0))
    check_formula(Amplified(MessageLaws.response(lie, values), people), epsilon, total / (g * people))


@pytest.mark.parametrize(("values", "people"), [(2, 1), (2, 3), (2, 5), (3, 1), (3, 3), (3, 5), (4, 2), (4, 4)])
@pytest.mark.parametrize("lie", [Fraction(1, 4), Fraction(5, 8)])
def test_the_response_s_bound_holds_and_is_close(values: int, people: int, lie: Fraction) -> None:
    def reply(value: int) -> multisets.MessageLaw:
        return {y: lie / values + (1 - lie) * (y == value) for y in range(values)}

    loss = Amplified(MessageLaws.response(float(lie), values), people)
    held = itertools.combinations_with_replacement(range(values), people - 1)
    views = [[multisets.shuffled(map(reply, (x, *rest))) for x in (0, 1)] for rest in held]
    for share in (0.0, 0.2, 0.5, 0.8):
        epsilon = share * loss.laws.local_epsilon
        worst = max(multisets.hockey_stick(p, q, epsilon) for p, q in views)
        assert worst * (1 - 1e-12) <= loss.delta(epsilon)
        assert loss.delta(epsilon) <= (1 + 1e-9 if people == 1 else 1.6) * worst  # alone it is exact


def test_among_others_who_hold_a_third_value_the_bound_is_nearly_attained() -> None:
    # A bound without the hidden lie, or over M instead of the M that includes the victim, is off by far more.
    lie, values, people, epsilon = 0.3, 3, 1000, 0.4
    each, lies = lie / values, truth.binomial(people - 1, 2 * lie / values)
    seen = np.zeros((700, 700))
    for i, mass in enumerate(lies.floats().tolist()):
        total = lies.start + i
        if mass > 1e-30:
            split = truth.binomial(total, 0.5)
            first = np.arange(split.start, split.start + split.units.size)
            seen[first, total - first] += mass * split.floats()

    def view(first: float, second: float) -> np.ndarray:
        with_first, with_second = np.roll(seen, 1, axis=0), np.roll(seen, 1, axis=1)
        return (1.0 - first - second) * seen + first * with_first + second * with_second

    p, q = view(1.0 - lie + each, each), view(each, 1.0 - lie + each)
    attained = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
    assert attained <= Amplified(MessageLaws.response(lie, values), people).delta(epsilon) <= 1.02 * attained


def test_the_response_loses_nothing_from_the_local_epsilon_on() -> None:
    loss = Amplified(MessageLaws.response(0.2, 5), 40)
    assert loss.laws.local_epsilon == pytest.approx(math.log(1 + 5 * 0.8 / 0.2))
    beyond = loss.laws.local_epsilon * (1 + 1e-13)  # which is rounded itself
    assert loss.delta(beyond) == loss.delta(50.0) == loss.delta(1000.0) == 0.0
    assert loss.delta(0.99 * loss.laws.local_epsilon) > 0.0
    assert Amplified(MessageLaws.response(1.0, 5), 40).delta(0.0) == 0.0


def test_the_theorem_s_closed_form_is_safe_and_lavish() -> None:
    k, n, delta = 4, 10**5, 1e-6
    for epsilon in (0.3, 1.0):
        lie = max(14 * k * math.log(2 / delta) / ((n - 1) * epsilon**2), 27 * k / ((n - 1) * epsilon))
        assert Amplified(MessageLaws.response(lie, k), n).delta(epsilon) < delta / 100


def test_many_values_lie_in_the_poisson_limit() -> None:
    # A million values and 45 liars for each: two cells of mean 45 that know nothing of each other.
    k, n = 10**6, 10**9
    loss = Amplified(MessageLaws.response(0.045, k), n)
    factor, masses = math.e, truth.poisson(45.0).floats()
    start = truth.poisson(45.0).start
    counts = np.arange(start, start + masses.size)
    hidden = 0.045 * (factor - 1.0) * 0.045 * n / ((1.0 - 0.045) * k)
    plane = np.maximum(counts[:, None] - factor * counts - hidden, 0.0)
    limit = (1.0 - 0.045) * float(masses @ plane @ masses) * k / (0.045 * n)
    assert loss.delta(1.0) == pytest.approx(limit, rel=1e-3)


# Hashed messages


def hashes(q: int, b: int) -> list[tuple[int, int]]:
    return [(u, v) for u in range(1, q) for v in range(q)]


def collision(q: int, b: int) -> Fraction:
    return Fraction(q // b * ((q % b) + q - b), q * (q - 1))


def hashed(q: int, b: int, x: int) -> multisets.MessageLaw:
    return multisets.uniform((u, v, (u * x + v) % q % b) for u, v in hashes(q, b))


@pytest.mark.parametrize(("q", "b"), [(3, 2), (5, 2), (5, 3), (7, 3), (11, 4)])
def test_two_values_collide_as_often_as_the_formula_says(q: int, b: int) -> None:
    same = sum((u * 0 + v) % q % b == (u * 1 + v) % q % b for u, v in hashes(q, b))
    assert Fraction(same, q * (q - 1)) == collision(q, b)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(("people", "blankets"), [(1, 1), (1, 2), (2, 1)])
def test_the_hashed_cover_is_exact_alone_and_a_bound_for_two(people: int, blankets: int, epsilon: float) -> None:
    q, b = 3, 2
    blanket = multisets.uniform((u, v, w) for u, v in hashes(q, b) for w in range(b))
    loss = HashedBlanket(people, float(blankets), b, float(collision(q, b)))
    for rest in itertools.product(range(q), repeat=people - 1):
        p, q_view = (
            multisets.shuffled([*(hashed(q, b, y) for y in (x, *rest)), *[blanket] * (people * blankets)])
            for x in (0, 1)
        )
        found = multisets.hockey_stick(p, q_view, epsilon)
        assert found <= loss.delta(epsilon)
        if people == 1:  # a bound over R messages in place of R + 1 would differ
            assert loss.delta(epsilon) == pytest.approx(found, rel=1e-9, abs=1e-25)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(
    ("people", "blankets", "b", "shared"), [(4, 0.75, 3, 0.2), (3, 1.5, 4, 0.25), (2, 2.5, 5, 0.1)]
)
def test_the_hashed_cover_is_the_enumerated_formula(
    people: int, blankets: float, b: int, shared: float, epsilon: float
) -> None:
    whole, factor = int(blankets), mp.exp(epsilon)
    more, col = truth.exact(blankets) - whole, truth.exact(shared)
    total = mp.mpf(0)
    for extra in range(people + 1):
        chance = mp.binomial(people, extra) * more**extra * (1 - more) ** (people - extra)
        messages = people * whole + extra + 1
        for mass, i, j, k in thrice(messages, (1 - col) / b, col / b):
            total += chance * b * mass * max(i + k - factor * (j + k), mp.mpf(0)) / messages
    check_formula(HashedBlanket(people, blankets, b, shared), epsilon, total)


def test_a_bucket_needs_42_6_blankets() -> None:
    def delta(mean: float) -> float:
        return HashedBlanket(10**6, mean * 1e-3, 1000, 1e-3).delta(1.0)

    assert delta(42.4) > 1e-6 > delta(42.8)


# Hadamard tuples


def hadamard(size: int, row: int, tau: int) -> multisets.MessageLaw:
    columns = [c for c in range(size) if (row & c).bit_count() % 2 == 0]
    return multisets.uniform(itertools.product(columns, repeat=tau))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(
    ("people", "blankets", "tau"), [(1, 1, 1), (1, 2, 1), (1, 4, 1), (1, 1, 2), (2, 1, 1), (2, 2, 1)]
)
def test_the_hadamard_cover_is_exact_alone_and_a_bound_for_two(
    people: int, blankets: int, tau: int, epsilon: float
) -> None:
    blanket = multisets.uniform(itertools.product(range(4), repeat=tau))
    loss = HadamardBlanket(people, blankets, tau)
    for rest in itertools.product((1, 2, 3), repeat=people - 1):
        p, q = (
            multisets.shuffled([*(hadamard(4, y, tau) for y in (x, *rest)), *[blanket] * (people * blankets)])
            for x in (1, 2)
        )
        found = multisets.hockey_stick(p, q, epsilon)
        assert found <= loss.delta(epsilon)
        if people == 1:
            assert loss.delta(epsilon) == pytest.approx(found, rel=1e-9, abs=1e-25)


def test_42_or_43_tuples_each_are_enough_for_the_usual_budget() -> None:
    assert HadamardBlanket(2**20, 42, 20).delta(1.0) > 1e-6 > HadamardBlanket(2**20, 43, 20).delta(1.0)
    assert HadamardBlanket(2**30, 43, 30).delta(1.0) == pytest.approx(
        HadamardBlanket(2**20, 43, 20).delta(1.0), rel=1e-4
    )


# Fake rows


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize(("people", "fakes", "d"), [(1, 0, 2), (1, 1, 2), (1, 3, 2), (1, 2, 3), (2, 2, 2), (2, 1, 3)])
def test_fake_rows_are_exact_alone_and_a_bound_for_two(people: int, fakes: int, d: int, epsilon: float) -> None:
    q = Fraction(1, 4)

    def row(value: int | None) -> multisets.MessageLaw:
        clean = [int(j == value) for j in range(d)]
        flipped = itertools.product((0, 1), repeat=d)
        return {y: math.prod(1 - q if a == b else q for a, b in zip(y, clean, strict=True)) for y in flipped}

    loss = FakeUsersBlanket(float(q), fakes)
    for rest in itertools.product(range(d), repeat=people - 1):
        p, other = (multisets.shuffled([*map(row, (x, *rest)), *[row(None)] * fakes]) for x in (0, 1))
        found = multisets.hockey_stick(p, other, epsilon)
        assert found <= loss.delta(epsilon)
        if people == 1:  # free of d; a bound over k rows in place of k + 1 would differ
            assert loss.delta(epsilon) == pytest.approx(found, rel=1e-9, abs=1e-25)


@pytest.mark.parametrize(
    ("q", "fakes", "epsilon"), [(0.1, 50, 1.0), (0.3, 100, 0.4), (0.02, 300, 2.0), (0.1, 700, 1.5)]
)
def test_fake_rows_are_the_enumerated_formula(q: float, fakes: int, epsilon: float) -> None:
    rows, flip, factor = fakes + 1, truth.exact(q), mp.exp(epsilon)
    counts = range(rows + 1)
    masses = [truth.binomial_mass(rows, q, i) for i in counts]
    weights = [i * (1 - flip) / flip + (rows - i) * flip / (1 - flip) for i in counts]
    total = mp.mpf(0)
    for mass, weight in zip(masses, weights, strict=True):
        if mass > 1e-45:
            total += mass * sum(
                m * (w - factor * weight) for m, w in zip(masses, weights, strict=True) if w > factor * weight
            )
    check_formula(FakeUsersBlanket(q, fakes), epsilon, total / rows)


def test_fake_rows_lose_nothing_from_twice_a_bit_s_epsilon_on() -> None:
    loss = FakeUsersBlanket(0.2, 3)
    assert loss.delta(2.0 * math.log(4.0) * (1 + 1e-13)) == loss.delta(700.0) == 0.0
    assert loss.delta(1.99 * math.log(4.0)) > 0.0
    assert FakeUsersBlanket(0.8, 3).delta(1.0) == pytest.approx(loss.delta(1.0))  # the same rows, all bits turned


def test_the_published_number_of_fakes_is_safe_and_lavish() -> None:
    wide = ((math.e + 1.0) / (math.e - 1.0)) ** 2 * math.log(4e6)
    fakes = 10_000
    q = 0.5 - math.sqrt(0.25 - 33.0 / (5.0 * fakes) * wide)
    assert FakeUsersBlanket(q, fakes).delta(1.0) < 1e-12


# All of them

RESPONSES = [
    (0.3, 2, 1), (1e-6, 10, 3), (0.01, 5, 10**4), (0.9, 3, 10**9), (1e-7, 2, 10**9), (0.001, 10**6, 10**9),
    (1.0 - 1e-12, 7, 1000), (1e-12, 2, 1),
]  # fmt: skip
LOSSES: list[PrivacyLoss] = [
    *(Amplified(MessageLaws.response(lie, values), people) for lie, values, people in RESPONSES),
    HashedBlanket(1, 0.5, 2, 0.4), HashedBlanket(10**9, 43e-4, 10**5, 1e-5), HashedBlanket(1000, 3.25, 50, 0.02),
    HashedBlanket(10**9, 1e-9, 10, 0.1), HadamardBlanket(1, 1, 1), HadamardBlanket(10**9, 60, 30),
    FakeUsersBlanket(0.1, 0), FakeUsersBlanket(0.4, 10**9), FakeUsersBlanket(1e-7, 10**9), FakeUsersBlanket(1e-9, 1),
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_delta_is_a_chance_that_falls_with_epsilon(loss: PrivacyLoss) -> None:
    assert loss.kind == "bound"
    deltas = [loss.delta(epsilon) for epsilon in (0.0, 0.001, 0.1, 1.0, 3.0, 20.0, 50.0, 700.0, 2000.0)]
    assert all(0.0 <= delta <= 1.0 for delta in deltas)
    assert all(after <= before * (1 + 2e-4) for before, after in itertools.pairwise(deltas))
    assert loss.slack(1.0) < 1e-20
    assert loss.epsilon(1e-6) <= loss.epsilon(1e-18)


def test_more_cover_loses_less() -> None:
    grids: list[list[PrivacyLoss]] = [
        [Amplified(MessageLaws.response(0.2, 6), n) for n in (1, 2, 5, 30, 300, 3000)],
        [Amplified(MessageLaws.response(lie, 6), 300) for lie in (0.01, 0.1, 0.3, 0.6, 0.9)],
        [HashedBlanket(100, rho, 20, 0.05) for rho in (0.1, 0.5, 1.0, 2.5, 7.0)],
        [HadamardBlanket(256, rho, 8) for rho in (1, 5, 20, 40)],
        [FakeUsersBlanket(0.1, fakes) for fakes in (0, 1, 10, 100, 1000)],
        [FakeUsersBlanket(q, 200) for q in (0.01, 0.05, 0.2, 0.4)],
    ]
    for losses in grids:
        deltas = [loss.delta(0.5) for loss in losses]
        assert deltas == sorted(deltas, reverse=True)


def test_a_delta_of_1e_minus_18_is_right() -> None:
    # Two Poisson cells of mean 170, in sixty digits; the cover's overlap is one in 2**30.
    law = truth.poisson(170)
    counts = [(law.start + i, truth.real(mass)) for i, mass in enumerate(law.units.tolist())]
    total = sum(a * b * (i - mp.e * j) for i, a in counts for j, b in counts if i > mp.e * j)
    assert 1e-20 < total / 170 < 1e-18
    assert HadamardBlanket(2**30, 170, 30).delta(1.0) == pytest.approx(float(total / 170), rel=1e-5)


def test_what_is_not_looked_at_counts_for_at_least_what_it_is() -> None:
    n = np.repeat(np.array([0.0, 1.0, 2.0, 9.0, 400.0, 10_000.0]), 60)
    reach = n * np.tile(np.linspace(0.0, 1.0, 60), 6) + 1e-3
    exact, most = mean_shortfall(reach, n), _most_below_half(reach, n)
    assert (most >= exact * (1 - 1e-12)).all()
    likely = exact > 1e-12
    assert (most[likely] <= 100.0 * exact[likely]).all()


@pytest.mark.parametrize("blanket", [HadamardBlanket(10_000, 3, 4), HadamardBlanket(200, 2, 3)])
def test_what_many_epsilons_share_changes_none_of_them(blanket):
    epsilon = np.linspace(0.0, 0.5, 12)
    alone = np.array([replace(blanket).orders(epsilon[[at]])[0][0] for at in range(epsilon.size)])
    assert alone == pytest.approx(blanket.orders(epsilon)[0], rel=1e-11, abs=0.0)
