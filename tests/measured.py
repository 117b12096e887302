"""Which instances of tests take long: `make measured` writes their list, and they run under stress.

A test with many instances keeps those that take little. Where an instance stands for an engine, a database, a browser,
a machine or a twin, all of them run always.
"""

from __future__ import annotations

import re
import resource
from collections import defaultdict
from collections.abc import Generator, Iterator

import pytest

from stress import LISTED

LIMIT = 0.1  # seconds of a processor
CONFORMANCE = "::test_conformance"
ALWAYS = re.compile(
    r"tests/(service|web|engines|lake)/|test_machines|twin|suite|catch|caught|noticed|refuted|found_out|wrong"
)


class Measured:
    """What tests take of a processor, with the processes that they have waited for."""

    def __init__(self) -> None:
        self.taken: dict[str, dict[str, float]] = defaultdict(dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        begun = seconds()
        done = yield
        self.taken[group(item.nodeid)][item.nodeid] = seconds() - begun
        return done

    def pytest_sessionfinish(self) -> None:
        LISTED.write_text("".join(f"{name}\n" for name in sorted(long(self.taken))), encoding="utf-8")


def seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def group(name: str) -> str:
    """What an instance is one of: a test, or one check of conformance."""
    test, _, given = name.partition("[")
    check = given.rpartition("-")[2].rstrip("]0123456789")  # a number tells instances of one name apart
    return f"{test}[{check}" if test.endswith(CONFORMANCE) else test


def long(taken: dict[str, dict[str, float]]) -> Iterator[str]:
    """Of each group the instances above the limit, but never all of them: the quickest stay."""
    for test, instances in taken.items():
        if not ALWAYS.search(test):
            stay = 12 if CONFORMANCE in test else 1
            others = sorted(instances, key=instances.__getitem__)[stay:]
            yield from (name for name in others if instances[name] > LIMIT)
