"""The analyser's gauges. They name no population: the worst of each is shown."""

from __future__ import annotations

from collections.abc import Iterator

from headcount.service.analyser.analyser import Analyser
from headcount.service.runtime.gauges import Gauges


def of_analyser(analyser: Analyser) -> Gauges:
    """The smallest share of a budget that is left, and the smallest when all is paid that was promised."""
    left = list(_left(analyser))
    return {"left": min((now for now, _ in left), default=None), "free": min((then for _, then in left), default=None)}


def _left(analyser: Analyser) -> Iterator[tuple[float, float]]:
    for name in analyser.populations():
        ledger = analyser.ledger(name)
        yield ledger.remaining, max(0.0, ledger.remaining - ledger.promising(*analyser.reservations.promised(name)))
