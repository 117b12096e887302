"""Gauges for an operator, computed at most once in a few seconds: counting reports and prices takes a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

KEPT = 15.0  # seconds

Gauges = Mapping[str, Any]


class CachedGauges:
    """Gauges that are computed again when they are older than a few seconds."""

    def __init__(self, compute: Callable[[], Gauges], clock: Callable[[], float] = time.monotonic) -> None:
        self._compute, self._clock = compute, clock
        self._found: Gauges = {}
        self._until = -1.0

    def __call__(self) -> Gauges:
        if self._clock() >= self._until:
            self._found = self._compute()
            self._until = self._clock() + KEPT
        return self._found
