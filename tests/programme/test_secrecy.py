"""No two processes, threads or copies ever share a word."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from headcount.programme.coins import Coins, DeviceCoins, SecretCoins, SeededCoins

pytestmark = pytest.mark.usefixtures("system_entropy")


def test_seeded_coins_say_that_they_are_not_secret() -> None:
    assert (SeededCoins(1).secret, SecretCoins().secret, DeviceCoins().secret) == (False, True, True)


def in_a_child(work: Callable[[], bytes]) -> bytes:
    """What a forked process makes of it."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        os.write(writing, work())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        heard = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return heard


def words_of_a_family(coins: Coins, size: int) -> list[int]:
    """Those of a process that has already drawn, of two children, and of the process again."""

    def drawn() -> bytes:
        return coins.words(size).tobytes()

    family = [drawn(), in_a_child(drawn), in_a_child(drawn), drawn()]
    return np.frombuffer(b"".join(family), dtype="<u8").tolist()


def words_of_threads(make: Callable[[], Coins], size: int) -> list[int]:
    coins = make()
    with ThreadPoolExecutor(8) as threads:
        parts = threads.map(lambda _: coins.words(size).tolist(), range(64))
    return [word for part in parts for word in part]


def all_different(words: list[int]) -> bool:
    return len(set(words)) == len(words)


@pytest.mark.parametrize("size", [16, 128, 129, 4096])
@pytest.mark.parametrize("make", [SecretCoins, DeviceCoins])
def test_secret_coins_never_share_a_word_with_a_forked_child(make: Callable[[], Coins], size: int) -> None:
    assert all_different(words_of_a_family(make(), size))


def test_the_test_of_forks_catches_coins_that_carry_their_state_along() -> None:
    assert not all_different(words_of_a_family(SeededCoins(1), 16))


@pytest.mark.parametrize("size", [16, 4096])
@pytest.mark.parametrize("make", [SecretCoins, DeviceCoins])
def test_secret_coins_never_share_a_word_between_threads(make: Callable[[], Coins], size: int) -> None:
    assert all_different(words_of_threads(make, size))


def test_the_test_of_threads_catches_coins_that_give_everyone_the_same() -> None:
    class Same(SecretCoins):
        def stream(self, size: int) -> np.ndarray:
            return SeededCoins(1).stream(size)

    assert not all_different(words_of_threads(Same, 16))


def test_a_pickle_of_secret_coins_is_the_same_before_and_after_drawing() -> None:
    coins = SecretCoins()
    before = pickle.dumps(coins)
    coins.words(1000)
    assert pickle.dumps(coins) == before


def test_secret_coins_hold_nothing() -> None:
    assert (vars(SecretCoins()), vars(DeviceCoins())) == ({}, {})


def test_an_unpickled_copy_draws_words_of_its_own() -> None:
    coins = SecretCoins()
    copy = pickle.loads(pickle.dumps(coins))
    assert all_different([*coins.words(200).tolist(), *copy.words(200).tolist()])
