"""Random linear hash functions: x goes to ((u x + v) mod prime) mod buckets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.programme import Batch, Below, Brick, Emit, Field, Let, Tally
from headcount.programme.law import Ints
from headcount.protocols.base import Protocol

U, V = Field.named("u"), Field.named("v")  # u counts from 0 and stands for u + 1
BLOCK = 1 << 13  # messages whose columns stay in the processor's nearest cache


@dataclass(frozen=True)
class LinearHash:
    """The family of linear hash functions modulo a prime into this number of buckets."""

    prime: int
    buckets: int

    def of(self, value: Field) -> Field:
        """The bucket of the value under the function that was drawn."""
        return ((U + 1) * value + V) % self.prime % self.buckets

    @staticmethod
    def emit(bucket: Field) -> Brick:
        """A message: the function that was drawn, and a bucket."""
        return Emit(U + 1, V, bucket)

    def drawn(self, brick: Brick) -> Brick:
        """The brick with a function of the sender's own."""
        return Let("u", Below(self.prime - 1), Let("v", Below(self.prime), brick))

    @property
    def collision(self) -> float:
        """The chance that two values collide: equal ones of prime (prime - 1) residue pairs."""
        whole, rest = divmod(self.prime, self.buckets)
        return whole * (rest + self.prime - self.buckets) / (self.prime * (self.prime - 1))

    @property
    def triple_collision(self) -> float:
        """The chance that three evenly spaced residues collide.

        From one residue to the next u is added, or u less the prime; either is a multiple of the
        buckets, and the same both times. For the multiples u below half of the prime, all but 2u of
        the first residues do not wrap around; for those of u less the prime as many wrap around
        twice.
        """
        p, b = self.prime, self.buckets
        multiples = (p - 1) // (2 * b)
        return 2 * (multiples * p - b * multiples * (multiples + 1)) / (p * (p - 1))


@dataclass(frozen=True, kw_only=True)
class HashedMessages(Protocol):
    """Protocols whose messages are a linear hash function and one of its buckets."""

    @property
    @abstractmethod
    def hashing(self) -> LinearHash: ...

    @property
    def collision(self) -> float:
        """The chance that two given categories share a bucket."""
        return self.hashing.collision

    @property
    def kinds(self) -> int:
        return (self.hashing.prime - 1) * self.hashing.prime * self.hashing.buckets

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        prime, buckets = self.hashing.prime, self.hashing.buckets
        return {"u": (1, prime - 1), "v": (0, prime - 1), "bucket": (0, buckets - 1)}

    def telling(self) -> npt.NDArray[Any]:
        """Bucket 0 under the function that takes successive categories through its residues."""
        return self.messages_with(u=[self.hashing.buckets % self.hashing.prime or 1])

    def tally(self, batch: Batch) -> Tally:
        prime, buckets = self.hashing.prime, self.hashing.buckets
        return Tally(batch.reports, support(batch.messages, self.task.values, prime, buckets))


def next_prime(least: int) -> int:
    """The first prime from `least` on."""
    candidate = max(2, least)
    while any(candidate % divisor == 0 for divisor in range(2, int(candidate**0.5) + 1)):
        candidate += 1
    return candidate


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
