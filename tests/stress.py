"""What takes long and is left to `make stress`: the same checks at length, or for every instance there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def lengths(name: str, quick: Any, long: Any) -> pytest.MarkDecorator:
    """The test for a size that is quick, and under stress for a long one."""
    return pytest.mark.parametrize(name, [pytest.param(quick, id="quick"), pytest.param(long, id="long", marks=STRESS)])


def some(every: Iterable[Any], quick: Callable[[Any], bool]) -> list[Any]:
    """Values to parametrise with: the quick ones always, the others under stress."""
    return [each if quick(each) else pytest.param(each, marks=STRESS) for each in every]


STRESS = pytest.mark.stress
