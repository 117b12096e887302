"""Affine hashes modulo a prime, and which categories a crowd's buckets support."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.table import Ints

BLOCK = 1 << 13  # reports whose columns stay in the processor's nearest cache


def first_prime(least: int) -> int:
    """From there on."""
    return next(n for n in range(max(2, least), 2 * least + 2) if all(n % k for k in range(2, math.isqrt(n) + 1)))


def supported(messages: npt.NDArray[Any], values: int, prime: int, buckets: int) -> Ints:
    """For each value, how many messages (u, v, bucket) have ((u value + v) mod prime) mod buckets = bucket.

    From one value to the next u is added, and the prime taken away where it is exceeded: unsigned integers wrap around,
    so that the smaller of the two is the residue. No column is wider than it must be.
    """
    width = np.min_scalar_type(2 * prime)
    totals = np.zeros(values, dtype=np.int64)
    for start in range(0, messages.size, BLOCK):
        block = messages[start : start + BLOCK]
        step, place, told = (block[name].astype(width) for name in ("u", "v", "bucket"))
        less, whole, same = np.empty_like(place), np.empty_like(place), np.empty(place.size, dtype=np.bool_)
        for value in range(values):
            np.floor_divide(place, width.type(buckets), out=whole)
            np.multiply(whole, width.type(buckets), out=whole)
            np.add(whole, told, out=whole)
            np.equal(whole, place, out=same)
            totals[value] += np.count_nonzero(same)
            np.add(place, step, out=place)
            np.subtract(place, width.type(prime), out=less)
            np.minimum(place, less, out=place)
    return totals
