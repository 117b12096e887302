"""Logs: JSON lines of allow-listed fields, never an address, a body, a token or an answer."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

FIELDS = frozenset({
    "event", "level", "party", "route", "status", "problem", "collection", "batch", "state", "reports", "messages",
    "seconds", "number", "listen", "version",
})  # fmt: skip


LEVELS = {"step failed": "warning", "reports failed": "warning", "failed": "error"}  # info unless told


class _Lines:
    """Standard error, whatever that is at the moment; a line is written at once."""

    def info(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    warning = error = info


def only_listed(_: Any, __: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    """Drop fields that are not on the list, and values that are no number or short word."""
    return {name: value for name, value in event.items() if name in FIELDS and _plain(value)}


def _plain(value: Any) -> bool:
    return isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) <= 80)


_logger = structlog.wrap_logger(
    _Lines(),
    processors=[structlog.processors.add_log_level, only_listed, structlog.processors.JSONRenderer(sort_keys=True)],
)


def log(event: str, **fields: Any) -> None:
    getattr(_logger, LEVELS.get(event, "info"))(event, **fields)


def log_state(party: str, collection: str, batch: int, state: str) -> None:
    """Logs the new state of a batch, and nothing of its reports, not even how many there are."""
    log("batch", party=party, collection=collection, batch=batch, state=state)
