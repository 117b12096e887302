"""Does the work of a draw tell what was drawn?

Time is measured badly on a busy machine, so the work is counted: lines run, of this library and of whatever else is
written in Python, and bytes of randomness asked for. A sampler whose loop runs once for each step of the noise shows at
once. Some draws start over now and then; how often must not depend on what is drawn in the end. `clocked` measures
seconds all the same, for benchmarks.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from types import FrameType
from typing import Any

import numpy as np

from headcount.programme.coins import Coins, SecretCoins
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount_survey.attacks.replay import RecordedCoins

Draw = Callable[[Coins], int]


@dataclass(frozen=True, eq=False)
class Work:
    """The draws, and the work of each."""

    drawn: Ints
    took: Floats

    @property
    def correlation(self) -> float:
        """Between the work and the size of what was drawn; 0 where all draws take the same."""
        sizes = np.abs(self.drawn).astype(np.float64)
        if not self.took.std() or not sizes.std():
            return 0.0
        return float(np.corrcoef(sizes, self.took)[0, 1])


def noise_of(protocol: Protocol) -> Draw:
    """The noise that the trusted side adds to one total."""
    tally = Tally(protocol.crowd.size, np.array([protocol.crowd.size]))
    middle = round(protocol.released().scale * protocol.crowd.size)
    return lambda coins: int(protocol.release(tally, coins).totals[0]) - middle


def counted(draw: Draw, *, draws: int = 1_000, coins: Coins | None = None) -> Work:
    """The lines run and the bytes taken, together, by each of these draws."""
    tape = RecordedCoins(int((coins or SecretCoins()).below(1 << 62, 1)[0]))
    draw(tape)  # tables are made only once
    drawn, took = np.empty(draws, dtype=np.int64), np.empty(draws)
    for i in range(draws):
        tape.asked.clear()
        drawn[i], lines = _lines(lambda: draw(tape))
        took[i] = lines + sum(tape.asked)
    return Work(drawn, took)


def _lines(work: Callable[[], int]) -> tuple[int, int]:
    lines = 0

    def run(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return run

    before, collecting = sys.gettrace(), gc.isenabled()
    gc.disable()  # whoever listens to it would be counted too
    sys.settrace(run)
    try:
        return work(), lines
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()


def clocked(draw: Draw, *, draws: int = 100_000, coins: Coins | None = None) -> Work:
    """The seconds that each of these draws took."""
    coins = coins or SecretCoins()
    drawn, took = np.empty(draws, dtype=np.int64), np.empty(draws)
    for i in range(draws):
        start = perf_counter_ns()
        drawn[i] = draw(coins)
        took[i] = perf_counter_ns() - start
    return Work(drawn, took * 1e-9)
