"""Random linear hash functions: x goes to ((u x + v) mod prime) mod buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.field import Field
from headcount.core.table import Ints

U, V = Field.named("u"), Field.named("v")  # u counts from 0 and stands for u + 1
BLOCK = 1 << 20


def hashed(value: Field, prime: int, buckets: int) -> Field:
    """The bucket of the value under the function that was drawn."""
    return ((U + 1) * value + V) % prime % buckets


def collision(prime: int, buckets: int) -> float:
    """The chance that two different values meet: of prime (prime - 1) pairs of different residues, those alike."""
    whole, rest = divmod(prime, buckets)
    return whole * (rest + prime - buckets) / (prime * (prime - 1))


def next_prime(least: int) -> int:
    """The first prime from `least` on."""
    candidate = max(2, least)
    while any(candidate % divisor == 0 for divisor in range(2, int(candidate**0.5) + 1)):
        candidate += 1
    return candidate


def support(messages: npt.NDArray[Any], values: int, prime: int, buckets: int) -> Ints:
    """How many messages have the bucket of each value."""
    found = np.zeros(values, dtype=np.int64)
    domain = np.arange(values, dtype=np.int64)
    size = max(1, BLOCK // values)
    for start in range(0, messages.size, size):
        part = messages[start : start + size]
        u, v, bucket = (part[name].astype(np.int64)[:, None] for name in ("u", "v", "bucket"))
        found += np.count_nonzero((u * domain + v) % prime % buckets == bucket, axis=0)
    return found
