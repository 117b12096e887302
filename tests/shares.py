"""Which worker runs which tests: those that need the same costly server come first in the share of one worker.

Each worker of `--dist worksteal` begins with an equal share of the tests, in their order, and takes from the end of
another's when it is done: what comes first in a share stays there, and each server is started by one worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")
SERVERS = ("spark", "browser", "postgresql")


def server_of(item: pytest.Item) -> int | None:
    """The number of the server that a test needs."""
    fixtures = getattr(item, "fixturenames", ())
    if "spark" in item.nodeid or "spark" in fixtures:
        return SERVERS.index("spark")
    if "browser" in fixtures or "trial" in fixtures:
        return SERVERS.index("browser")
    if "postgres" in fixtures or "postgresql" in item.nodeid:
        return SERVERS.index("postgresql")
    return None


def in_shares(items: Iterable[T], server_of: Callable[[T], int | None], workers: int) -> list[T]:
    """The same tests, in an order in which the share of each worker begins with the tests of its servers."""
    firsts: list[list[T]] = [[] for _ in range(workers)]
    others: list[T] = []
    for item in items:
        server = server_of(item)
        (others if server is None else firsts[server % workers]).append(item)
    ordered: list[T] = []
    unshared = len(others) + sum(map(len, firsts))
    for first, workers_left in zip(firsts, range(workers, 0, -1), strict=True):
        share = unshared // workers_left
        room = max(0, share - len(first))
        ordered += [*first, *others[:room]]
        del others[:room]
        unshared -= share
    return ordered + others
