"""Prometheus metrics of a party. No series depends on an answer; label values come from lists."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

KEPT = 15.0  # seconds
REPORTS = ("enough", "short", "late")  # what an open batch has; `late` is short near the end of its window
SHUFFLERS = {
    "waiting": ("headcount_waiting", "Reports that wait for the disk."),
    "share": ("headcount_least_share", "Reports of an open batch as a share of the least it needs: the smallest."),
    "expires": ("headcount_key_expiry_seconds", "When the first announced key expires, in seconds since 1970."),
}
ANALYSERS = {
    "left": ("headcount_budget_left", "The share of a population's budget that is left: the smallest."),
    "free": ("headcount_budget_free", "The same, less what open collections will be charged: the smallest."),
}

Gauges = Mapping[str, Any]


class Metrics:
    """The metrics of one party, in a registry of its own."""

    def __init__(self, party: str) -> None:
        self.registry = CollectorRegistry()
        self._answers = Counter(
            "headcount_answers", "Requests that were answered.", ["party", "route", "status"], registry=self.registry
        )
        self._steps = Counter(
            "headcount_steps", "Steps of batches that were tried.", ["party", "outcome"], registry=self.registry
        )
        self._batches = Gauge(
            "headcount_open_batches",
            "Open batches, by whether they have the least reports that they need.",
            ["party", "reports"],
            registry=self.registry,
        )
        own = SHUFFLERS if party == "shuffler" else ANALYSERS
        self._gauges = {
            figure: Gauge(name, words, ["party"], registry=self.registry) for figure, (name, words) in own.items()
        }
        self.party = party
        self._answered: dict[tuple[str, int], Counter] = {}

    def count_answer(self, route: str, status: int) -> None:
        kind = route, status // 100
        if kind not in self._answered:  # to find one among its labels takes longer than to count
            self._answered[kind] = self._answers.labels(self.party, route, f"{status // 100}xx")
        self._answered[kind].inc()

    def count_step(self, outcome: str) -> None:
        self._steps.labels(self.party, outcome).inc()

    def set(self, figure: str, value: float | None) -> None:
        """A gauge; one that nothing is known for is not shown."""
        gauge = self._gauges[figure]
        gauge.clear()
        if value is not None:
            gauge.labels(self.party).set(value)

    def set_batches(self, numbers: dict[str, int]) -> None:
        for reports in REPORTS:
            self._batches.labels(self.party, reports).set(numbers[reports])

    def page(self) -> bytes:
        return generate_latest(self.registry)


class CachedGauges:
    """Gauges computed at most once in a few seconds: counting reports and prices is slow."""

    def __init__(self, compute: Callable[[], Gauges], clock: Callable[[], float] = time.monotonic) -> None:
        self._compute, self._clock = compute, clock
        self._found: Gauges = {}
        self._until = -1.0

    def __call__(self) -> Gauges:
        if self._clock() >= self._until:
            self._found = self._compute()
            self._until = self._clock() + KEPT
        return self._found
