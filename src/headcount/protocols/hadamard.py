"""The fast Walsh-Hadamard transform."""

from __future__ import annotations

from headcount.core.table import Ints


def transformed(totals: Ints) -> Ints:
    """For each x, the sum of totals[y] (-1)^<x,y>, in integers; the length is a power of two."""
    result, half = totals.copy(), 1
    while half < totals.size:
        pairs = result.reshape(-1, 2, half)
        even, odd = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = even, odd
        half *= 2
    return result
