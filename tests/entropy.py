"""Secret coins of the quick tier come from the name of the test: what passes once passes in every run.

A plugin of pytest. Where the product asks the operating system for randomness, it gets a stream that the test's name
decides; what a module draws when it is imported, and what a fixture draws that tests share, come from streams of their
own, whichever test comes first. Under stress, and with the fixture `system_entropy`, the operating system is asked.
Other processes always ask it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import Lock
from types import SimpleNamespace

import pytest

from headcount.programme import coins
from headcount.programme.coins import SeededCoins


class Entropy:
    """The operating system's randomness, or that of a name."""

    def __init__(self) -> None:
        self._lock, self._coins = Lock(), None

    def urandom(self, size: int) -> bytes:
        with self._lock:
            return os.urandom(size) if self._coins is None else self._coins.stream(size).tobytes()

    @contextmanager
    def of(self, name: str | None) -> Iterator[None]:
        """Within it everything is drawn for this name; without one, by the operating system."""
        before, self._coins = self._coins, None if name is None else _named(name)
        try:
            yield
        finally:
            self._coins = before


def _named(name: str) -> SeededCoins:
    last = name.encode(errors="surrogatepass")[-1_000:]  # where instances of a test differ; names may be of any length
    return SeededCoins(int.from_bytes(last))


ENTROPY = Entropy()


def pytest_configure() -> None:
    coins.os = SimpleNamespace(urandom=ENTROPY.urandom)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, object, object]:
    with ENTROPY.of(collector.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with ENTROPY.of(None if item.get_closest_marker("stress") else item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> Generator:
    if fixturedef.scope == "function":
        return (yield)
    with ENTROPY.of(f"{fixturedef.baseid}::{fixturedef.argname} {request.param_index}"):
        return (yield)


@pytest.fixture
def system_entropy() -> Iterator[None]:
    """For tests of secrecy itself."""
    with ENTROPY.of(None):
        yield
