"""Linear combinations of cells: exact laws, exact intervals."""

import numpy as np
import pytest

import headcount as hc
from headcount.answers import linear
from headcount.answers.linear import CellError, CellErrors, ErrorLaw
from headcount.privacy import laws
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Law, Noise
from headcount.questions.strategies.strategy import distinct
from headcount.questions.strategies.tree import Tree

POISSON = Noise.of(laws.poisson(180.3), centre=180.3)
LAPLACE = Noise.of(laws.discrete_laplace(0.25), centre=0.0)


def first(codes: int, of: int = 1_024) -> np.ndarray:
    return (np.arange(of) < codes).astype(float)


@pytest.mark.parametrize(
    ("noise", "radices", "weights", "low", "high"),
    [
        (LAPLACE, (32, 32), first(341), -1.965, 1.965),
        (POISSON, (4,) * 5, first(341), -1.954, 1.966),
        (LAPLACE, (32, 32), first(1), -2.11, 2.11),
        (LAPLACE, (1_024,), first(1), -2.12, 2.12),
    ],
)
def test_tails_of_trees_are_not_those_of_normal_laws(
    noise: Noise, radices: tuple[int, ...], weights: np.ndarray, low: float, high: float
) -> None:
    tree, errors = Tree(1_024, radices), CellErrors([noise])
    coefficients = tree.coefficients(weights)
    law = errors.combined((distinct(coefficients),))
    assert law.std_error == pytest.approx(errors.std_error * np.sqrt((coefficients**2).sum()))
    assert law.noise.std_error == pytest.approx(law.std_error, rel=1e-3)
    assert np.array(law.tails(0.025)) / law.std_error == pytest.approx([low, high], abs=0.006)


@pytest.mark.parametrize(
    "tree",
    [
        Tree(1_024, (4,) * 5),
        Tree(1_000, (32, 32)),
        Tree(24, (4, 3, 2), public=False),
        Tree(24, (4, 3, 2), noise=(1.0, 1.25, 1.0)),
    ],
)
def test_a_prefix_has_the_coefficients_of_its_weights(tree: Tree) -> None:
    for codes in range(0, tree.codes + 1, max(1, tree.codes // 37)):
        for found, expected in zip(tree.prefix(codes), tree.terms(first(codes, tree.codes)), strict=True):
            assert np.sort(np.repeat(*found)) == pytest.approx(np.repeat(*expected), abs=1e-10)


def test_cells_that_count_alike_keep_their_lattice() -> None:
    """The sum of five Poisson errors is one; a smooth law would promise half a step too little."""
    five = CellErrors([POISSON]).combined(((np.array([1.0]), np.array([5])),))
    exact = ErrorLaw(Noise.of(laws.poisson(5 * 180.3), centre=5 * 180.3), 0.0)
    for chance in (0.005, 0.025, 0.2):
        assert five.tails(chance) == pytest.approx(exact.tails(chance), abs=1e-9)


def test_different_coefficients_on_a_grid() -> None:
    """Against the law enumerated, of three cells of which two count half."""
    coin = Law(-1, np.array([0.2, 0.6, 0.2]))
    errors = CellErrors([Noise.of(coin, centre=0.0)])
    law = errors.combined(((np.array([1.0, -0.5]), np.array([1, 2])),))
    halves = coin + coin
    sums = {a - b / 2: 0.0 for a in coin.values.tolist() for b in halves.values.tolist()}
    for a, mass in zip(coin.values.tolist(), coin.masses.tolist(), strict=True):
        for b, other in zip(halves.values.tolist(), halves.masses.tolist(), strict=True):
            sums[a - b / 2] += mass * other
    for value, mass in sums.items():
        near = np.abs(law.noise.values - value) < 0.1
        assert law.noise.masses[near].sum() == pytest.approx(mass, abs=1e-9)


def test_a_sum_of_categories_is_covered_as_often_as_promised() -> None:
    protocol = hc.protocol("poisson-histogram", hc.Histogram(6), n=500, epsilon=1, delta=1e-6)
    held, weights = np.array([200, 100, 80, 60, 40, 20]), [1, 1, 0, 0, 0, 1]
    covered = 0
    for totals in protocol.sample(held, SeededCoins(2), 400):
        tally = hc.Tally(500, totals, released=True)
        low, high = protocol.estimate(tally).linear(weights).interval()
        covered += low <= 320 <= high
    assert 0.9 < covered / 400 < 0.99


def test_what_has_no_known_law_is_refused() -> None:
    answer = hc.histogram([0, 1] * 50, categories=2, epsilon=1, model="local")
    with pytest.raises(hc.errors.Unsupported, match="depend on"):
        answer.linear([1, 1])
    central = hc.histogram([0, 1] * 50, categories=2, epsilon=1, model="central")
    with pytest.raises(hc.errors.BadArgument, match="give 2"):
        central.linear([1, 1, 1])
    assert central.linear([1, -1]).value == pytest.approx(central.values[0] - central.values[1])


def test_a_tail_forgotten_is_noticed() -> None:
    """The broken twin: the error with normal tails covers a leaf too seldom."""
    law = CellErrors([LAPLACE]).combined(Tree(1_024, (32, 32)).prefix(1))
    inside = np.abs(law.noise.values) <= 1.96 * law.std_error
    assert law.noise.masses[inside].sum() < 0.942


@pytest.mark.parametrize("noise", [LAPLACE, POISSON])
def test_no_error_is_further_off_than_is_ruled_out(noise: Noise) -> None:
    """Against the exact tails, which are looked at only within it; the twin, with the bound of a normal law, is not."""
    tree, errors = Tree(1_024, (32, 32)), CellErrors([noise])
    for codes in (1, 5, 341, 512):
        law = errors.combined(tree.prefix(codes))
        low, high = law.tails(1e-3)
        (furthest,) = errors.furthest(1e-3, np.array([law.std_error**2]))
        assert max(-low, high) < furthest < 2.5 * max(-low, high)
    leaf = CellErrors([LAPLACE]).combined(tree.prefix(1))
    assert leaf.tails(1e-3)[1] > np.sqrt(2.0 * np.log(1e3)) * leaf.std_error


@pytest.mark.parametrize(
    "masses", [[1.0], [0.5, 0.0, 0.5], [1e-9, 1.0, 0.0, 1e-9], np.exp(-np.abs(np.arange(-900, 901)) / 30.0)]
)
def test_errors_are_drawn_by_inversion(masses: list[float]) -> None:
    noise = Noise(np.arange(len(masses), dtype=np.float64), np.array(masses) / np.sum(masses))
    chances = SeededCoins(5).uniform(100_000)
    expected = np.searchsorted(np.cumsum(noise.masses) / noise.masses.sum(), chances, side="right")
    assert (CellError(noise).drawn(chances.size, SeededCoins(5)) == expected).all()


def test_very_many_coefficients_count_as_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Tree(1 << 13, (32, 16, 16)).terms(np.arange(1 << 13) + 0.5)
    few, spread = CellErrors([LAPLACE]).combined(terms), CellErrors([LAPLACE]).spread(terms)
    assert terms[0][0].size > linear.MANY
    monkeypatch.setattr(linear, "MANY", 1 << 13)
    every = CellErrors([LAPLACE]).combined(terms)
    for chance in (0.025, 1e-6):
        assert few.tails(chance) == pytest.approx(every.tails(chance), abs=1e-6 * spread)
