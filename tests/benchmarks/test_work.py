"""The work of a draw does not tell what was drawn."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from draws import by_flips
from headcount.programme.coins import SeededCoins
from headcount.protocols import named
from work import clocked, counted, noise_of

NOISY = [tiny for name in ("geometric", "laplace", "stability-histogram") for tiny in named(name).tinies()]
DRAWS = 2_000


@pytest.mark.parametrize("tiny", NOISY, ids=lambda tiny: f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}")
def test_lines_and_bytes_do_not_follow_the_noise(tiny):
    """Some draws start over, whatever they would have drawn, and take as much again each time."""
    work = counted(noise_of(tiny), draws=DRAWS, coins=SeededCoins(1))
    assert abs(work.correlation) < 5.0 / DRAWS**0.5
    extra = np.unique(work.took - work.took.min())
    assert (extra % extra[1] == 0).all()
    assert len(set(work.drawn.tolist())) > 4


def test_a_loop_that_runs_for_every_step_is_caught():
    work = counted(by_flips, draws=500, coins=SeededCoins(1))
    assert work.correlation > 0.99


def test_seconds_are_measured_too():
    work = clocked(by_flips, draws=50, coins=SeededCoins(1))
    assert (work.took > 0).all()
    assert -1.0 <= work.correlation <= 1.0
