"""How busy a party is. No series depends on what anybody reported, and labels come from lists."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest


class Metrics:
    """Of one party, in a registry of its own."""

    def __init__(self, party: str) -> None:
        self.registry = CollectorRegistry()
        self._answers = Counter(
            "headcount_answers", "Requests that were answered.", ["party", "route", "status"], registry=self.registry
        )
        self._waiting = Gauge(
            "headcount_waiting", "Reports that wait for the disk.", ["party"], registry=self.registry
        ).labels(party)
        self._steps = Counter(
            "headcount_steps", "Steps of batches that were tried.", ["party", "outcome"], registry=self.registry
        )
        self.party = party

    def answered(self, route: str, status: int) -> None:
        self._answers.labels(self.party, route, f"{status // 100}xx").inc()

    def stepped(self, outcome: str) -> None:
        self._steps.labels(self.party, outcome).inc()

    def waiting(self, reports: int) -> None:
        self._waiting.set(reports)

    def page(self) -> bytes:
        return generate_latest(self.registry)
