"""Which word decides what, that the shortcut decides the same, and that draws follow their law independently."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from tapes import LAST, LOW_BITS, MixedTape, SplitTape, Tape, around, chi_square_rejects, cumulative, meaning

from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import BLOCK, SCANNED, Coins, KeyedCoins, SeededCoins
from headcount.programme.table import Table

CHANCES = [
    Chance(0.0), Chance(2.0**-64), Chance(2.0**-16), Chance(2.0**-16 + 2.0**-60), Chance(0.3), Chance(0.5),
    Chance(1.0 - 2.0**-16), Chance(1.0 - 2.0**-53), Chance(1.0),
]  # fmt: skip
FILLED = {
    "a single cell": Table.of([1]),
    "an edge that 16 bits decide": Table.of([1, 1, 2]),
    "edges inside of one prefix": Table(0, (5, 1, LOW_BITS, 0, WORD - 6 - LOW_BITS)),
    "cells of no mass": Table(0, (0, 1 << 63, 0, 0, 1 << 63, 0)),
    "a last cell of one word": Table(-3, (WORD - 2, 1, 1)),
}
SPILLING = {
    "a spill of a few words": Table.of([3**30 // 3**k for k in range(12)], start=4),
    "a spill of one word": Table(0, (1 << 63, (1 << 63) - 1), (1, WORD - 1)),
    "a spill within one prefix": Table(0, (1 << 63, (1 << 63) - (1 << 40)), (1 << 63, 1 << 63)),
    "a spill of many prefixes": Table(0, (3 << 60, 5 << 60), (WORD - 7, 7)),
    "a spill into itself": Table(-2, (3 << 60, 5 << 60, 1)),
    "a spill of one word into itself": Table(0, (1 << 63, (1 << 63) - 1)),
}
MANY = SCANNED + 1
UNEVEN = Table.of([50_000, 30_000, 15_000, 4_000, 900, 90, 9, 1, 1, 0, 3])
UNEVEN_AND_SPILLING = Table(0, (WORD // 3, WORD // 5, WORD // 7, WORD // 11))
DRAWS = 1_000_000


class OffByOne(Tape):
    """A word on the edge falls to the cell before it."""

    def draw(self, table: Table, size: int) -> np.ndarray:
        return np.searchsorted(table.edges, self.words(size), side="left") + table.start

    def bernoulli(self, chance: Chance, size: int) -> np.ndarray:
        return np.array([int(word) <= chance.threshold for word in self.words(size)])


class Echo(SeededCoins):
    """Every two bytes do for two people; one person alone cannot tell."""

    def stream(self, size: int) -> np.ndarray:
        return np.repeat(super().stream(size + 16).view("<u2")[: size // 4 + 1], 2)[: size // 2].view(np.uint8)


def first_words(table: Table) -> list[int]:
    return around(cumulative(table.coarse))


def second_words(table: Table) -> list[int]:
    return [word for word in around(cumulative(table.fine or table.coarse)) if table.fine or word < WORD - table.spill]


def words_for(table: Table) -> list[tuple[int, ...]]:
    return list(product(first_words(table), second_words(table))) if table.spill else [(w,) for w in first_words(table)]


def check_draws_around_edges(tape: type[Tape], table: Table) -> None:
    for words in words_for(table):
        assert tape(words).draw(table, 1).tolist() == [meaning(table, *words)]


def check_bernoulli_around_thresholds(tape: type[Tape]) -> None:
    for chance in CHANCES:
        words = around([chance.threshold])
        assert tape(words).bernoulli(chance, len(words)).tolist() == [word < chance.threshold for word in words]


@pytest.mark.parametrize("table", [*FILLED.values(), *SPILLING.values()], ids=[*FILLED, *SPILLING])
def test_a_word_belongs_to_the_first_cell_whose_edge_lies_above_it(table: Table) -> None:
    check_draws_around_edges(Tape, table)


def test_the_check_of_edges_catches_a_draw_that_is_off_by_one() -> None:
    with pytest.raises(AssertionError):
        check_draws_around_edges(OffByOne, FILLED["an edge that 16 bits decide"])


def test_a_word_says_yes_if_it_lies_below_the_threshold() -> None:
    check_bernoulli_around_thresholds(Tape)


def test_the_check_of_thresholds_catches_a_comparison_that_is_off_by_one() -> None:
    with pytest.raises(AssertionError):
        check_bernoulli_around_thresholds(OffByOne)


@pytest.mark.parametrize("table", [*FILLED.values(), *SPILLING.values()], ids=[*FILLED, *SPILLING])
def test_scanning_and_searching_find_the_same_cells(table: Table) -> None:
    for first, *rest in words_for(table):
        everyone = [first] * MANY + [word for word in rest for _ in range(MANY)]
        assert set(Tape(everyone).draw(table, MANY).tolist()) == {meaning(table, first, *rest)}


def test_only_those_who_spill_take_a_second_word() -> None:
    table = Table(0, (8 << 60, 4 << 60), (8 << 60, 8 << 60))
    tape = Tape([0, 13 << 60, 9 << 60, LAST, 9 << 60, 2 << 60, 77])
    assert tape.draw(table, 4).tolist() == [0, 1, 1, 0]
    assert tape.left == [77]


def test_a_spill_into_itself_is_drawn_until_it_lands() -> None:
    tape = Tape([LAST, 15 << 60, 8 << 60, 5 << 60, 77])
    assert tape.draw(Table(0, (3 << 60, 5 << 60)), 1).tolist() == [1]
    assert tape.left == [77]


def test_a_word_is_eight_bytes_with_the_lowest_first() -> None:
    tape = Tape([0x0807060504030201])
    assert tape.stream(8).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert Tape([0x0807060504030201]).words(1).tolist() == [0x0807060504030201]


def test_a_uniform_float_is_below_one() -> None:
    assert Tape([LAST]).uniform(1).tolist() == [1.0 - 2.0**-53]


def some_words() -> list[int]:
    return SeededCoins(11).words(40).tolist()


@pytest.mark.parametrize("chance", CHANCES)
def test_sixteen_bits_first_say_yes_to_the_same_words(chance: Chance) -> None:
    words = sorted({*around([chance.threshold, (chance.threshold >> 48) << 48]), *some_words()})
    drawn = [SplitTape(word).bernoulli(chance, 3).tolist() for word in words]
    assert drawn == [[word < chance.threshold] * 3 for word in words]


@pytest.mark.parametrize("table", [*FILLED.values(), *SPILLING.values()], ids=[*FILLED, *SPILLING])
def test_sixteen_bits_first_draw_the_same_cells_around_edges(table: Table) -> None:
    for words in words_for(table):
        assert set(SplitTape(*words).draw(table, MANY).tolist()) == {meaning(table, *words)}


@pytest.mark.parametrize("table", FILLED.values(), ids=FILLED)
def test_sixteen_bits_first_draw_the_same_cells_for_any_words(table: Table) -> None:
    for word in some_words():
        assert set(SplitTape(word).draw(table, MANY).tolist()) == {meaning(table, word)}


def test_the_comparison_of_split_words_catches_a_forgotten_tie() -> None:
    class TiesLost(SplitTape):
        def bernoulli(self, chance: Chance, size: int) -> np.ndarray:
            return self.stream(2 * size).view("<u2") < chance.threshold >> 48

    chance, word = Chance(0.3), Chance(0.3).threshold - 1
    assert TiesLost(word).bernoulli(chance, 3).tolist() != [word < chance.threshold] * 3


def test_the_other_bits_go_to_the_people_who_need_them_when_drawing() -> None:
    table = FILLED["edges inside of one prefix"]
    words = [*first_words(table), *some_words(), *first_words(table), *some_words()]
    assert len(words) > SCANNED
    tape = MixedTape(words, cumulative(table.coarse))
    assert tape.draw(table, len(words)).tolist() == [meaning(table, word) for word in words]


def test_the_other_bits_go_to_the_people_who_need_them_when_tossing() -> None:
    chance = Chance(0.3)
    words = [*some_words(), *around([chance.threshold]), *some_words()]
    tape = MixedTape(words, [chance.threshold])
    assert tape.bernoulli(chance, len(words)).tolist() == [word < chance.threshold for word in words]


def law(table: Table) -> np.ndarray:
    return np.array([mass / table.total for mass in table.masses])


def histogram(table: Table, drawn: np.ndarray) -> np.ndarray:
    return np.bincount(drawn - table.start, minlength=len(table.coarse))


def rejects_marginals(table: Table, drawn: np.ndarray) -> bool:
    observed = histogram(table, drawn)
    return chi_square_rejects(observed, drawn.size * np.append(law(table), np.zeros(observed.size - len(table.coarse))))


def rejects_pairs(table: Table, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two draws are each other's business, judged by all pairs of cells."""
    cells = len(table.coarse)
    observed = np.bincount(cells * first + second, minlength=cells**2)
    return chi_square_rejects(observed, first.size * np.outer(law(table), law(table)).ravel())


def in_calls_of(size: int, coins: Coins, table: Table, draws: int) -> np.ndarray:
    return np.concatenate([coins.draw(table, size) for _ in range(draws // size)])


@pytest.mark.parametrize("table", [UNEVEN, UNEVEN_AND_SPILLING], ids=["fine masses", "a spill into itself"])
def test_a_million_draws_follow_the_law(table: Table) -> None:
    assert not rejects_marginals(table, SeededCoins(1).draw(table, DRAWS))


@pytest.mark.parametrize("table", [UNEVEN, UNEVEN_AND_SPILLING], ids=["fine masses", "a spill into itself"])
def test_draws_in_small_calls_follow_the_law(table: Table) -> None:
    assert not rejects_marginals(table, in_calls_of(SCANNED, SeededCoins(2), table, 100_000))


def test_the_test_of_the_law_catches_one_mass_that_is_two_percent_off() -> None:
    other = Table.of([50_000, 30_000, 15_000, 4_080, 820, 90, 9, 1, 1, 0, 3])
    assert rejects_marginals(UNEVEN, SeededCoins(1).draw(other, DRAWS))


@pytest.mark.parametrize("chance", [Chance(0.3), Chance(2.0**-9 + 2.0**-40), Chance(1.0 - 2.0**-10)])
def test_a_million_tosses_follow_the_chance(chance: Chance) -> None:
    yes = np.count_nonzero(SeededCoins(3).bernoulli(chance, DRAWS))
    observed, expected = np.array([yes, DRAWS - yes]), DRAWS * np.array([chance, 1.0 - chance])
    assert not chi_square_rejects(observed, expected)


def test_consecutive_draws_are_independent() -> None:
    drawn = SeededCoins(4).draw(UNEVEN, DRAWS)
    assert not rejects_pairs(UNEVEN, drawn[0::2], drawn[1::2])


def test_the_same_person_in_consecutive_calls_draws_independently() -> None:
    coins = SeededCoins(5)
    first, second = coins.draw(UNEVEN, DRAWS // 2), coins.draw(UNEVEN, DRAWS // 2)
    assert not rejects_pairs(UNEVEN, first, second)


def test_the_two_sides_of_a_block_are_independent() -> None:
    drawn = SeededCoins(6).draw(UNEVEN, 8 * BLOCK)
    assert not rejects_pairs(UNEVEN, drawn[:-BLOCK], drawn[BLOCK:])


def test_words_used_twice_pass_the_test_of_the_law() -> None:
    assert not rejects_marginals(UNEVEN, Echo(4).draw(UNEVEN, DRAWS)[0::2])


def test_the_test_of_pairs_catches_words_used_twice() -> None:
    drawn = Echo(4).draw(UNEVEN, DRAWS)
    assert rejects_pairs(UNEVEN, drawn[0::2], drawn[1::2])


def test_the_test_of_pairs_catches_coins_that_start_again_at_every_call() -> None:
    first, second = (SeededCoins(5).draw(UNEVEN, DRAWS // 2) for _ in range(2))
    assert rejects_pairs(UNEVEN, first, second)


def test_a_seed_gives_the_same_words_again() -> None:
    assert SeededCoins(9).words(500).tolist() == SeededCoins(9).words(500).tolist()


def test_the_size_of_the_calls_does_not_change_the_words() -> None:
    coins = SeededCoins(9)
    in_parts = np.concatenate([coins.words(size) for size in (1, 2, 3, 494)])
    assert in_parts.tolist() == SeededCoins(9).words(500).tolist()


def test_streams_beyond_a_mebibyte_go_on_without_repeating() -> None:
    words = SeededCoins(9).words(1 << 18)
    assert np.unique(words).size == words.size


def test_two_seeds_share_no_word() -> None:
    assert not set(SeededCoins(9).words(500).tolist()) & set(SeededCoins(10).words(500).tolist())


def test_keyed_coins_are_the_same_for_the_same_part_and_no_other():
    """They are secret, and drawn again they are the same: they hang on the key and the part's number alone."""
    coins = KeyedCoins(b"k" * 32)
    assert coins.secret
    assert coins.part(3).words(8).tolist() == pickle.loads(pickle.dumps(coins)).part(3).words(8).tolist()
    streams = [coins.words(8), coins.part(0).words(8), coins.part(1).words(8), coins.part(0).part(1).words(8)]
    streams += [KeyedCoins(b"l" * 32).part(0).words(8), KeyedCoins().part(0).words(8), KeyedCoins().part(0).words(8)]
    assert len({word for stream in streams for word in stream.tolist()}) == 8 * len(streams)


def test_keyed_coins_do_not_show_their_key_and_are_not_copied_once_drawn_from():
    coins = KeyedCoins(b"a secret that must not be printed")
    assert "secret" not in repr(coins)
    coins.words(1)
    with pytest.raises(TypeError, match="cannot be copied"):
        pickle.dumps(coins)


def test_keyed_coins_follow_their_law():
    drawn = KeyedCoins().draw(UNEVEN, DRAWS)
    expected = DRAWS * np.array([mass / UNEVEN.total for mass in UNEVEN.masses])
    assert not chi_square_rejects(np.bincount(drawn, minlength=expected.size), expected)
