"""What takes long and is left to `make stress`: the same checks at length, or for every instance there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from headcount.privacy import Model
from headcount.protocols import CATALOGUE
from headcount.protocols.base import Shape

STRESS = pytest.mark.stress
LISTED = Path(__file__).with_name("long.txt")  # instances of tests that take long, where others do not: see measured.py
LONG = frozenset(LISTED.read_text(encoding="utf-8").splitlines())
MANY = 4  # instances on either database
TINIES = [tiny for kind in CATALOGUE for tiny in kind.tinies()]
# Of families of totals, whose views have many outcomes, those of a trusted side are quick enough for conformance.
FAMILIES = [tiny for tiny in TINIES if tiny.task.shape is Shape.K_OF]
TRUSTED_FAMILIES = {id(tiny) for tiny in FAMILIES if tiny.model is Model.CENTRAL and tiny.task.public}
PLAIN = {tiny.name: tiny for tiny in TINIES if tiny not in FAMILIES}  # the last of each
ONLY_FAMILIES = {tiny.name: tiny for tiny in reversed(FAMILIES) if tiny.name not in PLAIN}  # the first of each
ONE_EACH = {id(tiny) for tiny in (*PLAIN.values(), *ONLY_FAMILIES.values())}


def lengths(names: str | tuple[str, ...], quick: Any, long: Any, times: int = 1) -> pytest.MarkDecorator:
    """The test for a size that is quick, and under stress for a long one: if it draws anew, so many times."""
    several = isinstance(names, tuple)
    again = [("long" if times == 1 else f"long-{turn}", long, STRESS) for turn in range(1, times + 1)]
    sizes = [("quick", quick, ()), *again]
    given = [pytest.param(*(size if several else (size,)), id=called, marks=marks) for called, size, marks in sizes]
    return pytest.mark.parametrize(names, given)


def some(every: Iterable[Any], quick: Callable[[Any], bool]) -> list[Any]:
    """Values to parametrise with: the quick ones always, the others under stress."""
    return [each if quick(each) else pytest.param(*_arguments(each), marks=STRESS) for each in every]


def _arguments(each: Any) -> tuple[Any, ...]:
    return each if isinstance(each, tuple) else (each,)


def in_turn(items: Iterable[pytest.Item]) -> None:
    """Of a test with many instances each runs on one database, in turn; on the other under stress."""
    groups: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        given = getattr(item, "callspec", None)
        if given is not None and "databases" in given.params and item.get_closest_marker("stress") is None:
            others = sorted((name, str(value)) for name, value in given.params.items() if name != "databases")
            groups[item.nodeid.partition("[")[0]][str(others)].append(item)
    for instances in groups.values():
        if len(instances) >= MANY:
            for number, both in enumerate(instances.values()):
                for item in both:
                    if item is not both[number % len(both)]:
                        item.add_marker(STRESS)


def called(tiny: Any) -> str:
    return f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}"


def tinies(quick: Callable[[Any], bool] = lambda tiny: id(tiny) in ONE_EACH) -> pytest.MarkDecorator:
    """The tiny instances of the catalogue: one of each protocol, and under stress all of them."""
    return pytest.mark.parametrize("tiny", some(TINIES, quick), ids=called)
