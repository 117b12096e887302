"""Sums modulo a number: more people than it has room for are refused, and not read as another sum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import headcount as hc
from headcount.errors import TooManyReports
from headcount.programme.coins import SeededCoins
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.shuffle.split_and_mix import _room

ADVICE = hc.advise(hc.Sum.whole((0, 1)), n=100, epsilon=1, delta=1e-6, protocols=["split-and-mix"])


def test_a_sum_that_would_wrap_around_is_refused_before_it_is_charged() -> None:
    ledger = hc.Ledger(epsilon=9, delta=1e-4)
    with pytest.raises(TooManyReports, match="planned for at most"):
        hc.run(ADVICE, np.ones(1_000), ledger=ledger)
    assert ledger.questions == 0


def test_as_many_as_there_is_room_for_are_added_up() -> None:
    most = int(ADVICE.best.protocol.most)
    assert 100 <= most < 1_000
    answer = hc.run(ADVICE, np.ones(most), coins=SeededCoins(5))
    low, high = answer.interval(1 - 1e-9)
    assert low <= most <= high
    with pytest.raises(TooManyReports):
        hc.run(ADVICE, np.ones(most + 1))


@pytest.mark.parametrize("name", [cls.name for cls in CATALOGUE if cls.tiny().nobody().modulus])
@pytest.mark.parametrize("people", [5, 10, 1_000])
def test_whoever_counts_modulo_a_number_says_for_how_many(name: str, people: int) -> None:
    plan: Protocol = hc.protocol(name, hc.Sum((0, 1)), n=people + 50, least=people, epsilon=1.0, delta=1e-6)
    levels, inner, modulus = (plan.parameters[part] for part in ("levels", "inner", "modulus"))
    assert plan.crowd.size <= plan.room < modulus
    assert _room(replace(plan.crowd, size=int(plan.room)), int(levels), inner) <= modulus
