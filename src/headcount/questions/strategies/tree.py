r"""A tree over ordered codes: a code touches its node on every level, and a range is few nodes.

Level $l$ has $b_1 \cdots b_l$ nodes, $b$ the radices. With cells of variance $s_l$, 1 unless levels
differ, the best linear unbiased estimate takes two passes: upwards, each node's own count is
averaged with the sum of its children, $V_h = s_h,\; V_l = 1 / (1/s_l + 1/(b_{l+1} V_{l+1}))$;
downwards, what a parent and its children disagree by is divided evenly among the children. Where
the number of people is public, the root is known and costs nothing.

Siblings' errors then are an even share of their parent's and parts $\xi$ of their own with
covariance $V_l(I - J/b_l)$, which are uncorrelated between families and levels: all variances below
follow.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from operator import mul

import numpy as np

from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.strategies.strategy import Strategy, Terms

NOTHING = 1e-12  # beside the weight of a code


@dataclass(frozen=True)
class Tree(Strategy):
    """A tree with these radices over a number of codes, with perhaps a few surplus leaves.

    With a `public` number of people the root is known; otherwise the first level stands for itself.
    """

    codes: int
    radices: tuple[int, ...]
    public: bool = True
    noise: tuple[float, ...] = ()

    @property
    def families(self) -> int:
        return len(self.radices)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """How many there are on each level."""
        return tuple(accumulate(self.radices, mul))

    @property
    def leaves(self) -> int:
        return self.nodes[-1]

    @property
    def size(self) -> int:
        return sum(self.nodes)

    @property
    def sizes_of_families(self) -> tuple[int, ...]:
        return self.nodes

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first cell of each level."""
        return tuple(accumulate(self.nodes[:-1], initial=0))

    def cells(self, value: Field) -> tuple[Field, ...]:
        return tuple(
            _plus(value if nodes == self.leaves else value // (self.leaves // nodes), start)
            for nodes, start in zip(self.nodes, self.starts, strict=True)
        )

    def counts(self, held: Ints) -> Ints:
        leaves = np.append(held, np.zeros(self.leaves - held.size, dtype=held.dtype))
        return np.concatenate([leaves.reshape(nodes, -1).sum(axis=1) for nodes in self.nodes])

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """The variance of a node of each level, from its own count and those below it."""
        found = [self._own[-1]]
        for radix, own in zip(self.radices[:0:-1], self._own[-2::-1], strict=True):
            found.append(1.0 / (1.0 / own + 1.0 / (radix * found[-1])))
        return tuple(reversed(found))

    @property
    def _own(self) -> tuple[float, ...]:
        """The variance of a cell of each level."""
        return self.noise or (1.0,) * self.families

    def _levels(self, cells: Floats) -> list[Floats]:
        return np.split(cells, self.starts[1:], axis=-1)

    def rebuilt(self, cells: Floats, people: int) -> Floats:
        counted, variances = self._levels(cells), self.variances
        upward = [counted[-1]]
        for level in range(self.families - 2, -1, -1):
            children = _families(upward[-1], self.radices[level + 1]).sum(axis=-1)
            rest = 1.0 / (self.radices[level + 1] * variances[level + 1])
            upward.append(variances[level] * (counted[level] / self._own[level] + rest * children))
        upward.reverse()
        found = upward[0] if not self.public else _agreed(upward[0], np.array([float(people)]), self.radices[0])
        for level in range(1, self.families):
            found = _agreed(upward[level], found, self.radices[level])
        return found[..., : self.codes]

    def coefficients(self, weights: Floats) -> Floats:
        """The two passes transposed: deviations from siblings' mean, a share of the parent's."""
        leaves = np.append(weights, np.zeros(self.leaves - weights.size))
        found: list[Floats] = []
        carried = np.zeros(1)
        for level, nodes in enumerate(self.nodes):
            mean = leaves.reshape(nodes, -1).mean(axis=1)
            own = mean - self._expected(mean, level)
            carried = own + np.repeat(carried, self.radices[level])
            found.append(carried * self.weight(level))
            carried = carried * self.passed(level)
        return np.concatenate(found)

    def squares(self, weights: Floats) -> Floats:
        mean = float(weights.sum()) / self.leaves if self.public else 0.0
        return (weights - mean) ** 2

    def _expected(self, mean: Floats, level: int) -> Floats:
        """The mean weight of each node's siblings, itself included."""
        if level == 0 and not self.public:
            return np.zeros(mean.size)
        radix = self.radices[level]
        return np.repeat(_families(mean, radix).mean(axis=1), radix)

    def weight(self, level: int) -> float:
        """The weight of a node's own count in what is known of it."""
        return self.variances[level] / self._own[level]

    def prefix(self, codes: int) -> Terms:
        """Without going through all nodes: only the path to the prefix's end parts siblings, and
        what is below any other node counts for a share of what that counts."""
        found: list[tuple[int, float, int]] = []
        carried, rest = 0.0, codes if codes < self.leaves or not self.public else 0
        for level, (radix, nodes) in enumerate(zip(self.radices, self.nodes, strict=True)):
            below = self.leaves // nodes
            whole, rest = divmod(rest, below)
            mean = (whole + rest / below) / radix if level or self.public else 0.0
            sides = [(1.0, whole), (0.0, radix - whole - (whole < radix)), (rest / below, int(whole < radix))]
            shares = [(carried + weight - mean, many) for weight, many in sides]
            for each, many in shares[:2]:
                found += self._below(level, each, many)
            found.append((level, shares[2][0] * self.weight(level), shares[2][1]))
            carried = shares[2][0] * self.passed(level)
        levels, coefficients, times = np.array(found).T
        used = (times > 0) & (np.abs(coefficients) > NOTHING)
        own = np.array(self._own)[levels.astype(np.int64)]
        alike = [used & (own == self._own[law]) for law in self.laws]
        return tuple((coefficients[each], times[each].astype(np.int64)) for each in alike)

    def _below(self, level: int, carried: float, many: int) -> Iterator[tuple[int, float, int]]:
        """The coefficients of a number of nodes of a level, and of all nodes below them."""
        for deeper in range(level, self.families):
            yield deeper, carried * self.weight(deeper), many
            if deeper + 1 < self.families:
                carried, many = carried * self.passed(deeper), many * self.radices[deeper + 1]

    def passed(self, level: int) -> float:
        """The share of a node's weight that its children get."""
        if level + 1 == self.families:
            return 0.0
        return self.variances[level] / (self.radices[level + 1] * self.variances[level + 1])

    @cached_property
    def prefix_variances(self) -> Floats:
        """The variance of the rebuilt number of people in the first 0, 1, 2, ... codes."""
        place = np.arange(self.codes + 1, dtype=np.float64)
        total = np.zeros(self.codes + 1)
        for level, (radix, nodes) in enumerate(zip(self.radices, self.nodes, strict=True)):
            below = self.leaves // nodes
            within = np.mod(place, radix * below) / below  # in children of the node that the prefix ends in
            whole = np.floor(within)
            known = within**2 / radix if level or self.public else 0.0
            total += self.variances[level] * (whole + (within - whole) ** 2 - known)
        # A prefix that ends with the last leaf of the root has wrapped around to nothing.
        total[place == self.leaves] = 0.0 if self.public else self.radices[0] * self.variances[0]
        return total

    @property
    def mean_prefix(self) -> float:
        """The mean variance of a prefix, over all that end within the tree."""
        return (
            math.fsum(
                variance * (self.nodes[level] // self.radices[level]) * self._prefixes(level)
                for level, variance in enumerate(self.variances)
            )
            / self.leaves
        )

    def _prefixes(self, level: int) -> float:
        """The sum over all prefixes ending in one family of d + a^2 - x^2/b: `prefix_variances`."""
        b, m = self.radices[level], self.leaves // self.nodes[level]
        whole, part = m * b * (b - 1) / 2.0, b * (m - 1) * (2 * m - 1) / (6.0 * m)
        square = b * (b * m - 1) * (2 * b * m - 1) / (6.0 * m)
        return whole + part - (square / b if level or self.public else 0.0)

    @property
    def mean_range(self) -> float:
        r"""The mean variance of a range, over all of them: $\sum_{i<j} \mathrm{Var}(P_j - P_i)$ is
        $B+1$ times the sum of the prefixes' variances less the variance of their sum."""
        total = math.fsum(
            variance * (nodes // radix) * (self.leaves // nodes) ** 2 * self._squares(level)
            for level, (variance, radix, nodes) in enumerate(zip(self.variances, self.radices, self.nodes, strict=True))
        )
        prefixes, last = self.leaves * self.mean_prefix, 0.0
        if not self.public:
            last = self.radices[0] * self.variances[0]
        return ((self.leaves + 1) * (prefixes + last) - total) / (self.leaves * (self.leaves + 1) / 2.0)

    def _squares(self, level: int) -> float:
        """The squares of the children's mean weights in the sum of all prefixes, in units of a
        child: about their mean, if that is known, and otherwise as they are."""
        b, m = self.radices[level], self.leaves // self.nodes[level]
        about_mean = b * (b * b - 1) / 12.0
        if level or self.public:
            return about_mean
        middle = (b + (1.0 / m)) / 2.0  # the mean weight of all leaves
        return about_mean + b * middle**2

    @property
    def leaf(self) -> float:
        """The variance of a single code."""
        found = zip(self.variances, self.radices, self.nodes, strict=True)
        own = [(1.0 - 1.0 / radix, V * (nodes / self.leaves) ** 2) for V, radix, nodes in found]
        return math.fsum(part * V if level or self.public else V for level, (part, V) in enumerate(own))


def _plus(field: Field, start: int) -> Field:
    return field + start if start else field


def _families(level: Floats, radix: int) -> Floats:
    return level.reshape(*level.shape[:-1], -1, radix)


def _agreed(children: Floats, parents: Floats, radix: int) -> Floats:
    """The children, each with an even share of what they lack of their parent."""
    families = _families(children, radix)
    lacking = (parents - families.sum(axis=-1)) / radix
    return np.asarray((families + lacking[..., None]).reshape(children.shape))


def radices_over(codes: int, levels: int) -> Iterator[tuple[int, ...]]:
    """Falling radices of similar size, for trees with these levels and few surplus leaves."""
    middle = codes ** (1.0 / levels)
    sizes = [b for b in _radices(codes) if middle / 4.0 <= b <= 4.0 * middle or levels == 1]
    fewest = codes + max(codes // 16, 1)

    @cache
    def grown(product: int, left: int, most: int) -> tuple[tuple[int, ...], ...]:
        """What may follow radices with this product: so many more, none larger than `most`."""
        last = -(-codes // product)
        if left == 1:
            return ((last,),) if 2 <= last <= most and product * last <= fewest else ()
        largest = min(most, last - 1)  # which leaves something for the other levels
        tried = sizes[bisect_left(sizes, (codes / product) ** (1.0 / left) - 1.0) : bisect_right(sizes, largest)]
        return tuple(
            (radix, *rest)
            for radix in tried
            if radix**left * product >= codes
            for rest in grown(product * radix, left - 1, radix)
        )

    if codes == 1 and levels == 1:
        yield (1,)
    yield from grown(1, levels, codes)


def _radices(codes: int) -> list[int]:
    """Round numbers, and the divisors."""
    round_ones = {odd << power for odd in (1, 3, 5) for power in range(codes.bit_length())}
    divisors = {d for d in range(2, min(codes, 4_096) + 1) if codes % d == 0}
    return sorted(b for b in round_ones | divisors if 2 <= b <= codes)
