"""Random hash functions with few values' buckets dependent: linear ones of a value's cube.

Any two different values are hashed as by a linear function, since cubing is a permutation modulo
the prime. Of values in arithmetic progression, as the bins of a range are, a linear function maps
three into one bucket too often, and their cubes are in no progression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from headcount.programme import Brick, Emit, Field
from headcount.programme.field import Values
from headcount.programme.law import Ints
from headcount.protocols.shared.hashing import LinearHash, U, V, next_prime

AT_ONCE, CELLS = 1 << 12, 1 << 20  # messages, and numbers that are worked out at a time


@dataclass(frozen=True)
class CubicHash(LinearHash):
    """The functions h(x) = (((u+1) x**3 + v) mod prime) mod buckets; the bucket comes first."""

    @classmethod
    def over(cls, values: int, buckets: int) -> Self:
        """The functions for this many values; cubing is a permutation modulo their prime."""
        return cls(_prime(values), buckets)

    @property
    def functions(self) -> int:
        """How many there are."""
        return self.prime * (self.prime - 1)

    @property
    def triple_collision(self) -> float:
        """The average chance that three values collide: each residue is in exactly one bucket."""
        full, more = divmod(self.prime, self.buckets)
        ways = sum(many * math.perm(size, 3) for many, size in ((more, full + 1), (self.buckets - more, full)))
        return ways / math.perm(self.prime, 3)

    def of(self, value: Field) -> Field:
        """The bucket of the value under the function that was drawn."""
        return super().of(value * value % self.prime * value % self.prime)

    @staticmethod
    def emit(bucket: Field) -> Brick:
        return Emit(bucket, U, V)

    def agreeing(self, u: Values, v: Values, bucket: Values, values: int) -> Ints:
        """How many messages agree with each value.

        The cubes that agree with a message are (r - v)/(u+1) for the residues r = bucket, bucket +
        buckets, …: as many steps as there are values to a bucket, whatever the number of values.
        """
        found = np.zeros(self.prime, dtype=np.int64)
        steps = np.arange(-(-self.prime // self.buckets))
        for first in range(0, u.size, AT_ONCE):
            part = slice(first, first + AT_ONCE)
            inverse = self._inverses(u[part].astype(np.int64) + 1)
            residue = bucket[part].astype(np.int64)
            start = (residue - v[part].astype(np.int64)) % self.prime * inverse % self.prime
            stride = self.buckets * inverse % self.prime
            last = residue + int(steps[-1]) * self.buckets < self.prime  # whether there is a last one
            for some in np.array_split(steps[:-1], -(-steps.size * residue.size // CELLS)):
                cubes = (start[:, None] + stride[:, None] * some) % self.prime
                found += np.bincount(cubes.ravel(), minlength=self.prime)
            cubes = (start[last] + stride[last] * steps[-1]) % self.prime
            found += np.bincount(cubes, minlength=self.prime)
        return found[self._cubes[:values]]

    def _inverses(self, numbers: Ints) -> Ints:
        """Modulo the prime, by Fermat's theorem."""
        found, power, exponent = np.ones_like(numbers), numbers, self.prime - 2
        while exponent:
            if exponent & 1:
                found = found * power % self.prime
            power, exponent = power * power % self.prime, exponent >> 1
        return found

    @cached_property
    def _cubes(self) -> Ints:
        values = np.arange(self.prime, dtype=np.int64)
        return np.asarray(values * values % self.prime * values % self.prime)


@lru_cache(maxsize=64)
def _prime(values: int) -> int:
    prime = next_prime(max(values, 3))
    while prime % 3 == 1:
        prime = next_prime(prime + 1)
    return prime
