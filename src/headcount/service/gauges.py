"""What an operator waits for, as figures that name no collection and no population: the worst of each is shown.

Who asks for them twice within a few seconds gets the same: counting reports and prices takes a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headcount.service.analyser import Analyser
from headcount.service.metrics import REPORTS
from headcount.service.shuffler import Shuffler

KEPT = 15.0  # seconds
LATE = 0.1  # of a window: from then on a batch with too few reports is late

Figures = Mapping[str, Any]


def of_shuffler(shuffler: Shuffler) -> Figures:
    """How many open batches have enough reports, the smallest share of `least` that has come, and the next expiry."""
    batches, shares = dict.fromkeys(REPORTS, 0), []
    for name in shuffler.names():
        told, window = shuffler.state(name), shuffler.collection(name).window
        for batch in told["batches"]:
            if batch["state"] == "open":
                share = batch["reports"] / told["least"]
                closing = batch["closes"] - shuffler.clock() < LATE * window
                batches["enough" if share >= 1 else "late" if closing else "short"] += 1
                shares.append(share)
    keys = [row["expires"] for row in shuffler.outer.table() if row["state"] == "active"]
    return {"batches": batches, "share": min(shares, default=None), "expires": min(keys, default=None)}


def of_analyser(analyser: Analyser) -> Figures:
    """The smallest share of a budget that is left, and the smallest when all is paid that was promised."""
    left = list(_left(analyser))
    return {"left": min((now for now, _ in left), default=None), "free": min((then for _, then in left), default=None)}


def _left(analyser: Analyser) -> Iterator[tuple[float, float]]:
    for name in analyser.populations():
        ledger = analyser.ledger(name)
        yield ledger.remaining, max(0.0, ledger.remaining - ledger.promising(*analyser.reservations.promised(name)))


class Figured:
    """Figures that are computed again when they are older than a few seconds."""

    def __init__(self, figures: Callable[[], Figures], clock: Callable[[], float] = time.monotonic) -> None:
        self._figures, self._clock = figures, clock
        self._found: Figures = {}
        self._until = -1.0

    def __call__(self) -> Figures:
        if self._clock() >= self._until:
            self._found = self._figures()
            self._until = self._clock() + KEPT
        return self._found
