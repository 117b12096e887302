r"""The error that people add to an answer by being in cells of their own, where a protocol has any.

An answer is a sum of cells with coefficients $a$. Somebody who is in the cells $x_f$, one of each
family, adds $\sum_f v_f a_{x_f}^2 - (\sum_f a_{x_f})^2$ to its variance: $v_f$ is the second moment
of what their report counts in their own cell, and the square that of its mean, which is what they
count in the answer. Of a distribution this depends on the code; of a margin's cells, together, it
does not.

In a tree, a node's coefficient in the sum of the first $j$ leaves is $w h(j)$ with $h = d + p h'$:
$w$ and $p$ are those of its level, $h'$ is its parent's, and $d$ the part of the node that lies in
the prefix less that of its parent, which is 0 unless the prefix ends in the parent. There $h'$ is a
straight line, so that sums over all $j$ follow level by level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headcount.programme.law import Floats
from headcount.questions.strategies.margins import Margins
from headcount.questions.strategies.tree import Tree


@dataclass(frozen=True)
class Own:
    """The variance that a person adds to a typical answer: by the worst code, and on average."""

    worst: float
    mean: float

    @classmethod
    def over(cls, codes: Floats) -> Own:
        return cls(float(codes.max()), float(codes.mean()))


@dataclass(frozen=True)
class _Nodes:
    """For a level's nodes: h at the first leaf, its slope there, its sum and its sum of squares."""

    start: Floats
    slope: float
    total: Floats
    squares: Floats

    def children(self, radix: int, leaves: int, passed: float) -> _Nodes:
        """Those of the next level, whose nodes have this many leaves."""
        place, width = np.arange(radix, dtype=np.float64), radix * leaves
        left = (radix - place - 1.0) * leaves  # of the parent, after the child
        whole = (width + 1.0) / 2.0
        total = (leaves + 1.0) / 2.0 + left - whole
        past = (place + 1.0) * leaves
        rising = place * leaves * (leaves + 1.0) / 2.0 + (leaves + 1.0) * (2.0 * leaves + 1.0) / 6.0
        placed = rising + (width * (width + 1.0) - past * (past + 1.0)) / 2.0
        even = (width + 1.0) * (2.0 * width + 1.0) / 6.0
        squares = (leaves + 1.0) * (2.0 * leaves + 1.0) / (6.0 * leaves) + left - 2.0 * placed / width + even / width
        start, slope = self.start[:, None], self.slope
        mixed = start * total + slope * (placed - even)
        return _Nodes(
            (passed * (start + slope * place * leaves) - place / radix).ravel(),
            1.0 / leaves - 1.0 / width + passed * slope,
            (total + passed * self.total[:, None]).ravel(),
            (squares + 2.0 * passed * mixed + passed**2 * self.squares[:, None]).ravel(),
        )


_ROOT = _Nodes(np.zeros(1), 0.0, np.zeros(1), np.zeros(1))


def in_ranges(tree: Tree, own: Sequence[float]) -> Own:
    """In a range, on average over all of them; of a tree whose number of people is public."""
    ends = tree.leaves + 1

    def mean(nodes: _Nodes) -> Floats:
        return (ends * nodes.squares - nodes.total**2) / (tree.leaves * ends / 2.0)

    return _in_tree(tree, own, mean)


def in_prefixes(tree: Tree, own: Sequence[float]) -> Own:
    """In the people before a code, on average over all codes."""
    return _in_tree(tree, own, lambda nodes: nodes.squares / tree.leaves)


def _in_tree(tree: Tree, own: Sequence[float], mean: Callable[[_Nodes], Floats]) -> Own:
    nodes, added = _ROOT, np.zeros(1)
    for level, (radix, many) in enumerate(zip(tree.radices, tree.nodes, strict=True)):
        nodes = nodes.children(radix, tree.leaves // many, tree.passed(level - 1) if level else 0.0)
        added = np.repeat(added, radix) + own[level] * tree.weight(level) ** 2 * mean(nodes)
    return Own.over(added - mean(_ROOT.children(tree.leaves, 1, 0.0)))


def in_codes(tree: Tree, own: Sequence[float]) -> Own:
    """In the people with one code, on average over all codes: the same whichever somebody has."""
    found, squares = 0.0, 0.0
    for level, (radix, many) in enumerate(zip(tree.radices, tree.nodes, strict=True)):
        passed = tree.passed(level - 1) if level else 0.0
        squares = (1.0 - 1.0 / radix) * many / tree.leaves + passed**2 * squares
        found += own[level] * tree.weight(level) ** 2 * squares
    found = (found - (1.0 - 1.0 / tree.leaves)) / tree.leaves
    return Own(found, found)


def in_margins(margins: Margins, own: Sequence[float]) -> Own:
    """In a margin's cell, averaged over its cells and over margins: the same for every code."""
    means = [_in_margin(margins, set(margin), own) / margins.cells_of(margin) for margin in margins.margins]
    mean = math.fsum(means) / len(means)
    return Own(mean, mean)


def _in_margin(margins: Margins, margin: set[int], own: Sequence[float]) -> float:
    """The sum over its cells: coefficients have a part in each residual space of both margins."""
    found = 1.0 / margins.cells_of(tuple(margin)) - 1.0
    for measured, tells, each in zip(margins.measured, margins.tells, own, strict=True):
        for space, variance in margins.variances.items():
            if set(space) <= margin & set(measured):
                sizes = [margins.cells_of(tuple(axes - set(space))) for axes in (margin, set(measured))]
                centred = math.prod(1.0 - 1.0 / margins.sizes[axis] for axis in space)
                found += each * centred * (tells * variance / sizes[1]) ** 2 / sizes[0]
    return found
