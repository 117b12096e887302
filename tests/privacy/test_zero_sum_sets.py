"""Atoms and their weights: exact linear algebra, and the domination on which the privacy proof rests."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from headcount.errors import BadArgument
from headcount.privacy.zero_sum_sets import ZeroSumSets
from headcount.programme.law import Floats

TOPS = [*range(2, 201), 255, 256, 257, 500, 1000, 1024, 1025]


@pytest.mark.parametrize("top", [1, 2, 3, 7, 20, 64])
def test_zero_sum_sets_turn_as_many_ones_into_any_value(top: int) -> None:
    # A wrong sign or a half rounded the wrong way leaves something over.
    atoms = ZeroSumSets(top)
    elements = dict(zip(atoms.names, atoms.elements, strict=True))
    assert all(sum(numbers) == 0 for numbers in atoms.elements)
    for i in range(2, top + 1):
        left = Counter({1: i})
        for name, count in atoms.columns[i].items():
            for number in elements[name]:
                left[number] += count
        assert {number: count for number, count in left.items() if count} == {i: 1}


@pytest.mark.parametrize("top", [2, 3, 8, 9, 33])
def test_no_atom_is_idle_and_none_is_missing(top: int) -> None:
    atoms = ZeroSumSets(top)
    used = {name for i in range(2, top + 1) for name, count in atoms.columns[i].items() if count}
    assert used == set(atoms.names)
    assert len(atoms.names) == top + math.ceil(top / 2) - 1


def test_the_published_weights_dominate() -> None:
    for top in TOPS:
        atoms = ZeroSumSets(top)
        assert atoms.loads(atoms.published()).max() <= 1.0 + 1e-12


def natural(atoms: ZeroSumSets) -> Floats:
    gamma = atoms.top * (math.ceil(math.log(atoms.top)) + 1)
    return np.ceil(gamma / np.abs(np.array(atoms.names, dtype=np.float64)))


def test_natural_logarithms_do_not_dominate() -> None:
    # The defect of a public implementation, which the check above has to catch: 174 of the 199 tops up to 200.
    overloaded = [top for top in range(2, 201) if ZeroSumSets(top).loads(natural(ZeroSumSets(top))).max() > 1.0 + 1e-12]
    assert overloaded[:2] == [6, 7]
    assert len(overloaded) == 174
    assert ZeroSumSets(128).loads(natural(ZeroSumSets(128))).max() == pytest.approx(4 / 3)


def test_a_sum_of_bits_needs_one_atom() -> None:
    assert ZeroSumSets(1).elements == ((-1, 1),)
    with pytest.raises(BadArgument, match="top"):
        ZeroSumSets(0)
