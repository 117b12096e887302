"""Dependence that no single frequency shows."""

import numpy as np
import pytest
from broken_protocols import OneCoinForAll, SeededInside, SharedMask

from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SecretCoins, SeededCoins
from headcount.protocols import named
from headcount.questions.histogram import Histogram
from headcount_survey.attacks.independence import bits_of_a_row, find_dependence, independence_p_value
from stress import tinies

WIDE = {"task": Histogram(80), "crowd": Crowd(1_000), "keep": 0.75, "flip": 0.25}


@tinies()
def test_coins_are_not_used_twice(tiny):
    found = find_dependence(tiny, reports=40_000, coins=SeededCoins(1))
    assert not found.dependent, str(found)


def test_all_pairs_of_a_long_row_are_independent():
    found = find_dependence(named("basic-rappor")(**WIDE), coins=SeededCoins(1))
    assert not found.dependent, str(found)
    assert found.tests > 80 * 79 / 2


def test_bytes_that_share_their_coins_are_caught_though_every_bit_is_right():
    twin = SharedMask(**WIDE)
    found = find_dependence(twin, coins=SeededCoins(1))
    assert found.dependent
    assert found.worst.what.startswith("bits")
    values = np.full(100_000, 79, dtype=np.uint8)
    sent = twin.reports(values, SeededCoins(2)).messages.view(np.uint8).reshape(-1, 10)
    bits = np.unpackbits(sent, axis=1, bitorder="little")
    chances = np.where(np.arange(80) == 79, 0.75, 0.25)
    assert (np.abs(bits.mean(axis=0) - chances) < 5.5 * np.sqrt(chances * (1 - chances) / 100_000)).all()


def test_three_bits_that_add_up_are_caught_though_every_pair_is_right():
    bits = SeededCoins(1).below(2, 60_000).reshape(20_000, 3).astype(np.uint8)
    assert min(test.p_value for test in bits_of_a_row(bits)) > 1e-6
    bits[:, 2] = bits[:, 0] ^ bits[:, 1]
    worst = {test.what: test.p_value for test in bits_of_a_row(bits)}
    assert worst["bits 0 and 2 of a row"] > 1e-6
    assert worst["bits 0 and 1 and 2 of a row"] < 1e-100


@pytest.mark.parametrize("twin", [OneCoinForAll, SeededInside], ids=lambda twin: twin.__name__)
def test_people_and_calls_that_share_coins_are_caught(twin):
    assert find_dependence(twin.tiny(), reports=20_000, coins=SeededCoins(1)).dependent


class Repeating(SecretCoins):
    """A buffer that is handed out again and again."""

    def stream(self, size):
        return np.resize(SeededCoins(1).stream(4_096), size)


@pytest.mark.parametrize("name", ["geometric", "zsum", "generalised-response"])
def test_a_buffer_that_repeats_is_caught(name):
    assert find_dependence(named(name).tiny(), reports=20_000, coins=Repeating()).dependent


def test_tables_with_nothing_in_them_say_nothing():
    assert independence_p_value(np.zeros(5_000, dtype=int), np.arange(5_000) % 2) == 1.0
    assert independence_p_value(np.arange(5_000) % 2, np.arange(5_000) % 2) < 1e-100
