"""A protocol declares which options its `choices` takes; what it declares is what it takes."""

from inspect import signature

import pytest

from headcount.protocols import CATALOGUE
from headcount.protocols.shuffle.recursive_sum import RecursiveSum


def taken(kind):
    return set(signature(kind.choices).parameters) - {"task", "crowd", "budget"}


@pytest.mark.parametrize("kind", CATALOGUE, ids=lambda kind: kind.name)
def test_options_are_those_that_are_taken(kind):
    assert kind.options == taken(kind)


def test_an_option_that_is_not_declared_is_found():
    class Silent(RecursiveSum):
        options = frozenset()

    assert Silent.options != taken(Silent)
