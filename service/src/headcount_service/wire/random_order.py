"""Putting things into an order that means nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from headcount.programme.coins import Coins, SecretCoins
from headcount.programme.table import Ints

Thing = TypeVar("Thing")


def random_order(size: int, coins: Coins) -> Ints:
    """A uniform permutation of 0 .. size - 1: the order of as many random 128-bit numbers.

    Two of them are equal with a chance below size**2 / 2**129. The order is not made from a seed,
    of which there would be far fewer than there are orders.
    """
    return np.lexsort(coins.words(2 * size).reshape(2, size))


def in_random_order(things: Sequence[Thing], coins: Coins | None = None) -> list[Thing]:
    return [things[at] for at in random_order(len(things), coins or SecretCoins())]
