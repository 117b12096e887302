"""Trees against dense least squares."""

import math

import numpy as np
import pytest

from headcount.programme.coins import SeededCoins
from headcount.programme.field import VALUE
from headcount.questions.strategies.identity import Identity
from headcount.questions.strategies.margins import Margins, below, maximal
from headcount.questions.strategies.tree import Tree, radices_over

TREES = [
    Tree(8, (2, 2, 2)),
    Tree(12, (3, 2, 2)),
    Tree(11, (3, 2, 2)),
    Tree(9, (9,)),
    Tree(24, (4, 3, 2)),
    Tree(12, (4, 3), public=False),
    Tree(11, (3, 2, 2), public=False),
    Tree(9, (9,), public=False),
    Tree(12, (1, 3, 4), public=False),
    Tree(24, (4, 3, 2), noise=(1.0, 1.0, 1.25)),
    Tree(11, (3, 2, 2), public=False, noise=(1.0, 4.0, 0.5)),
]


def incidence(tree: Tree) -> np.ndarray:
    """Which leaves are below each cell."""
    rows = np.zeros((tree.size, tree.leaves))
    for nodes, start in zip(tree.nodes, tree.starts, strict=True):
        for leaf in range(tree.leaves):
            rows[start + leaf * nodes // tree.leaves, leaf] = 1.0
    return rows


def least_squares(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The covariance of the leaves and the map from cells to them, with the sum of all leaves known if it is public."""
    rows = incidence(tree)
    basis = np.eye(tree.leaves)
    if tree.public:
        basis = np.linalg.qr(np.c_[np.ones(tree.leaves), np.eye(tree.leaves)[:, 1:]])[0][:, 1:]
    tells = rows.T / np.repeat(tree.noise or (1.0,) * tree.families, tree.nodes)
    covariance = basis @ np.linalg.inv(basis.T @ tells @ rows @ basis) @ basis.T
    return covariance, covariance @ tells


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_two_passes_are_least_squares(tree: Tree) -> None:
    coins, people = SeededCoins(1), 7
    cells = coins.uniform(tree.size)
    _, solve = least_squares(tree)
    even = np.full(tree.leaves, people / tree.leaves if tree.public else 0.0)
    dense = even + solve @ (cells - incidence(tree) @ even)
    assert tree.rebuilt(cells, people) == pytest.approx(dense[: tree.codes])
    many = coins.uniform(3 * tree.size).reshape(3, -1)
    assert tree.rebuilt(many, people)[1] == pytest.approx(tree.rebuilt(many[1], people))


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_transposed_passes_are_the_coefficients(tree: Tree) -> None:
    weights = SeededCoins(2).uniform(tree.codes)
    _, solve = least_squares(tree)
    padded = np.append(weights, np.zeros(tree.leaves - tree.codes))
    assert tree.coefficients(weights) == pytest.approx(solve.T @ padded)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_closed_variances(tree: Tree) -> None:
    covariance, _ = least_squares(tree)
    steps = np.tri(tree.leaves + 1, tree.leaves, -1)  # row i: the first i leaves
    prefixes = np.einsum("ij,jk,ik->i", steps, covariance, steps)
    assert tree.prefix_variances == pytest.approx(prefixes[: tree.codes + 1], abs=1e-9)
    assert tree.mean_prefix == pytest.approx(prefixes[:-1].mean())
    pairs = [(i, j) for i in range(tree.leaves + 1) for j in range(i + 1, tree.leaves + 1)]
    ranges = np.array([steps[j] - steps[i] for i, j in pairs])
    assert tree.mean_range == pytest.approx(np.einsum("ij,jk,ik->i", ranges, covariance, ranges).mean())
    assert tree.leaf == pytest.approx(covariance[0, 0])


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_codes_touch_a_cell_of_each_level_and_come_back(tree: Tree) -> None:
    rows = incidence(tree)
    fields = tree.cells(VALUE)
    assert len(fields) == tree.families
    for code in range(tree.codes):
        assert sorted(field.at({"value": code}) for field in fields) == np.flatnonzero(rows[:, code]).tolist()
    held = SeededCoins(3).below(9, tree.codes)
    counts = tree.counts(held)
    assert counts.tolist() == (rows[:, : tree.codes] @ held).tolist()
    assert tree.rebuilt(counts.astype(np.float64), int(held.sum())) == pytest.approx(held)


def test_identity_changes_nothing() -> None:
    strategy, numbers = Identity(3), np.array([1.0, 2.0, 4.0])
    assert (strategy.families, strategy.size, strategy.cells(VALUE)) == (1, 3, (VALUE,))
    assert strategy.rebuilt(numbers, 7) is numbers
    assert strategy.coefficients(numbers) is numbers


@pytest.mark.parametrize("codes", [1, 2, 3, 7, 64, 100, 997, 1_024, 1 << 16])
def test_radices_cover_all_codes_and_few_leaves_too_many(codes: int) -> None:
    assert list(radices_over(codes, 1)) == [(codes,)]
    for levels in range(2, codes.bit_length()):
        for radices in radices_over(codes, levels):
            assert len(radices) == levels
            assert codes <= math.prod(radices) <= 1.07 * codes + 1


def test_radices_of_the_tables() -> None:
    """The best for ranges at 1,024 codes, by levels."""
    best = {levels: min(radices_over(1_024, levels), key=lambda r: Tree(1_024, r).mean_range) for levels in (3, 5, 10)}
    assert best == {3: (16, 8, 8), 5: (8, 4, 4, 4, 2), 10: (2,) * 10}


TWO = ((0, 1), (1, 2))
TABLES = [
    Margins((2, 3, 4), TWO, TWO),
    Margins((2, 3, 4), TWO, ((0, 1, 2),)),
    Margins((2, 3, 4), ((0, 2),), ((0, 1), (0, 2), (1, 2))),
    Margins((2, 3, 4), TWO, TWO, public=False),
    Margins((2, 3, 4), ((1,),), ((0, 1), (1, 2)), public=False),
    Margins((2, 3, 4), TWO, TWO, noise=(1.0, 3.0)),
]


def touched(table: Margins) -> np.ndarray:
    """Which codes are in each measured cell."""
    rows = np.zeros((table.size, table.codes))
    for code in range(table.codes):
        for cell in table.cells(VALUE):
            rows[cell.at({"value": code}), code] += 1.0
    return rows


def wanted(table: Margins) -> np.ndarray:
    """Which codes are in each cell that is asked for."""
    digits = np.array(np.unravel_index(np.arange(table.codes), table.sizes)).T
    return np.array([
        (digits[:, list(margin)] == cell).all(axis=1)
        for margin in table.margins
        for cell in np.ndindex(*table.shape_of(margin))
    ], dtype=float)  # fmt: skip


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_residual_spaces_are_least_squares(table: Margins) -> None:
    """Against dense least squares: counts come back, variances and coefficients are those of the best estimate."""
    rows, asked, codes = touched(table), wanted(table), table.codes
    assert (rows.sum(axis=0) == table.families).all()
    held = SeededCoins(4).below(50, codes)
    assert table.counts(held).tolist() == (rows @ held).tolist()
    assert table.rebuilt(rows @ held, int(held.sum())) == pytest.approx(asked @ held)
    basis = np.eye(codes)
    if table.public:
        basis = np.linalg.qr(np.c_[np.ones(codes), np.eye(codes)[:, 1:]])[0][:, 1:]
    seen, noise = rows @ basis, np.repeat(table.noise or (1.0,) * table.families, table.sizes_of_families)
    solve = asked @ basis @ np.linalg.pinv((seen.T / noise) @ seen) @ (seen.T / noise)
    weights = SeededCoins(5).uniform(table.parts)
    assert table.coefficients(weights) == pytest.approx(weights @ solve)
    variances = [table.variance(margin) for margin in table.margins for _ in range(table.cells_of(margin))]
    assert variances == pytest.approx(np.diag((solve * noise) @ solve.T))
    two = SeededCoins(6).uniform(2 * table.size).reshape(2, -1)
    assert table.rebuilt(two, 9)[1] == pytest.approx(table.rebuilt(two[1], 9))


def test_margins_below_and_maximal_ones() -> None:
    assert below([(0, 2)]) == ((0,), (2,), (0, 2))
    assert maximal([(1,), (0, 1), (2,), (0, 1)]) == ((2,), (0, 1))
