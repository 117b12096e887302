"""Random linear hash functions: x goes to ((u x + v) mod prime) mod buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.programme import Field
from headcount.programme.law import Ints

U, V = Field.named("u"), Field.named("v")  # u counts from 0 and stands for u + 1
BLOCK = 1 << 13  # messages whose columns stay in the processor's nearest cache


def hashed(value: Field, prime: int, buckets: int) -> Field:
    """The bucket of the value under the function that was drawn."""
    return ((U + 1) * value + V) % prime % buckets


def collision(prime: int, buckets: int) -> float:
    """The chance that two values collide: of prime (prime - 1) pairs of residues, those alike."""
    whole, rest = divmod(prime, buckets)
    return whole * (rest + prime - buckets) / (prime * (prime - 1))


def next_prime(least: int) -> int:
    """The first prime from `least` on."""
    candidate = max(2, least)
    while any(candidate % divisor == 0 for divisor in range(2, int(candidate**0.5) + 1)):
        candidate += 1
    return candidate


def hashes(prime: int, buckets: int) -> dict[str, tuple[int, int]]:
    """The ranges of a message's fields."""
    return {"u": (1, prime - 1), "v": (0, prime - 1), "bucket": (0, buckets - 1)}


def support(messages: npt.NDArray[Any], values: int, prime: int, buckets: int) -> Ints:
    """How many messages have the bucket of each value.

    From one value to the next u is added, and the prime taken away where it is exceeded: unsigned
    integers wrap around, so that the smaller of the two is the residue. No column is wider than it
    must be.
    """
    width = np.min_scalar_type(2 * prime)
    found = np.zeros(values, dtype=np.int64)
    for start in range(0, messages.size, BLOCK):
        block = messages[start : start + BLOCK]
        step, place, told = (block[name].astype(width) for name in ("u", "v", "bucket"))
        less, whole, same = np.empty_like(place), np.empty_like(place), np.empty(place.size, dtype=np.bool_)
        for value in range(values):
            np.floor_divide(place, width.type(buckets), out=whole)
            np.multiply(whole, width.type(buckets), out=whole)
            np.add(whole, told, out=whole)
            np.equal(whole, place, out=same)
            found[value] += np.count_nonzero(same)
            np.add(place, step, out=place)
            np.subtract(place, width.type(prime), out=less)
            np.minimum(place, less, out=place)
    return found
