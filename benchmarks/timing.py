"""Contenders timed in turn, so that a noisy machine is noisy for all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True)
class Spread:
    """The median of some repetitions, and the extremes."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        return cls(median(figures), min(figures), max(figures))

    def __format__(self, spec: str) -> str:
        return f"{self.median:{spec}} ({self.low:{spec}} to {self.high:{spec}})"


def agrees(name: str, figure: float, expected: float, error: float) -> None:
    """Refuses to time what draws another law: a wrong sampler is often a fast one. It allows six standard errors."""
    if abs(figure - expected) > 6.0 * error:
        raise AssertionError(f"{name} is {figure:g} and should be {expected:g}, give or take {error:g}")


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of every contender in every round; entry i of each list comes from round i."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            times[name].append(seconds(work))
    return times


def ratio(above: Sequence[float], below: Sequence[float], scale: float = 1.0) -> Spread:
    """above / below, round by round."""
    return Spread.of([scale * a / b for a, b in zip(above, below, strict=True)])
