"""A table's law is what its integers say, and `Table.of` is as near to the weights as it claims."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tapes import LAST, cell_of

from headcount.programme.chance import WORD
from headcount.programme.table import Table, rounding

few = settings(derandomize=True, max_examples=150, deadline=None)
weight_lists = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 1 << 400)), min_size=1, max_size=40).filter(any)
FALLING = [3**40 // 3**k + 1 for k in range(60)]


def law(table: Table) -> list[Fraction]:
    return [Fraction(mass, table.total) for mass in table.masses]


def distance_to(weights: list[int], table: Table) -> Fraction:
    total = sum(weights)
    return sum((abs(Fraction(w, total) - p) for w, p in zip(weights, law(table), strict=True)), Fraction(0)) / 2


def two_word_law(table: Table) -> list[Fraction]:
    """The chance of each cell when a word in the spill is followed by one for the fine masses."""
    return [
        Fraction(c, WORD) + Fraction(table.spill, WORD) * Fraction(f, WORD)
        for c, f in zip(table.coarse, table.fine, strict=True)
    ]


@few
@given(weight_lists)
def test_of_lies_within_the_stated_distance_of_its_weights(weights: list[int]) -> None:
    assert distance_to(weights, Table.of(weights)) <= Fraction(rounding(len(weights)))


def test_the_check_of_distance_catches_a_table_of_single_words() -> None:
    coarse_only = [(weight << 64) // sum(FALLING) for weight in FALLING]
    coarse_only[0] += WORD - sum(coarse_only)
    assert distance_to(FALLING, Table(0, tuple(coarse_only))) > Fraction(rounding(len(FALLING)))


@few
@given(weight_lists)
def test_masses_of_weights_add_up_to_one(weights: list[int]) -> None:
    table = Table.of(weights)
    assert sum(table.masses) == table.total == WORD << 64


@few
@given(weight_lists)
def test_a_cell_without_weight_has_no_mass(weights: list[int]) -> None:
    weightless = [mass for weight, mass in zip(weights, Table.of(weights).masses, strict=True) if weight == 0]
    assert not any(weightless)


@few
@given(weight_lists)
def test_the_spill_of_weights_is_smaller_than_their_number(weights: list[int]) -> None:
    assert Table.of(weights).spill < len(weights)


def test_masses_are_the_law_of_one_word_and_rarely_a_second() -> None:
    table = Table.of(FALLING)
    assert table.spill > 0
    assert law(table) == two_word_law(table)


def test_without_fine_masses_the_law_is_proportional_to_the_coarse_ones() -> None:
    table = Table(0, (5, 3, 1))
    assert law(table) == [Fraction(5, 9), Fraction(3, 9), Fraction(1, 9)]


def test_an_even_split_needs_no_second_word() -> None:
    table = Table.of([1, 2, 1])
    assert (table.spill, table.fine) == (0, ())


def test_a_single_cell_takes_every_word() -> None:
    table = Table.of([7])
    assert table.coarse == (WORD,)
    assert table.edges.size == 0


def test_an_edge_at_the_end_of_the_words_is_left_out() -> None:
    assert Table(0, (WORD - 1, 1)).edges.tolist() == [WORD - 1]


def test_cells_of_no_mass_at_the_end_add_no_edge() -> None:
    assert Table(0, (1 << 63, 1 << 63, 0, 0)).edges.tolist() == [1 << 63]


def test_edges_are_exact_beyond_the_precision_of_floats() -> None:
    table = Table(0, ((1 << 62) + 1, (1 << 62) + 1), ((1 << 63) - 1, (1 << 63) + 1))
    assert table.edges.tolist() == [(1 << 62) + 1, (1 << 63) + 2]
    assert table.fine_edges.tolist() == [(1 << 63) - 1]


@pytest.mark.parametrize("coarse", [(WORD, 1), (WORD + 1,), (0, 0), ()])
def test_masses_that_cannot_fill_a_word_are_refused(coarse: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="fill a word"):
        Table(0, coarse)


@pytest.mark.parametrize("fine", [(WORD - 1,), (1,), (WORD, 1)])
def test_fine_masses_that_do_not_fill_a_word_are_refused(fine: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="fill a word"):
        Table(0, (WORD - 5,), fine)


@few
@given(weight_lists)
def test_the_guide_names_the_cell_of_every_word_it_decides(weights: list[int]) -> None:
    table = Table.of(weights)
    decided = np.flatnonzero(table.guide >= 0)[:: 1 << 9]
    for leading in decided.tolist():
        ends = {cell_of(table.coarse, leading << 48), cell_of(table.coarse, (leading << 48) | (LAST >> 16))}
        assert ends == {int(table.guide[leading])}
