"""What is written down while it runs: only fields that are on this list, and never who, where from or what."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

FIELDS = frozenset({
    "event", "level", "party", "route", "status", "problem", "collection", "batch", "state", "reports", "messages",
    "seconds", "number", "listen", "version",
})  # fmt: skip


def only_listed(_: Any, __: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    """Drops whatever is not listed, and whatever is no number or short word."""
    return {name: value for name, value in event.items() if name in FIELDS and _plain(value)}


def _plain(value: Any) -> bool:
    return isinstance(value, int | float | bool) or (isinstance(value, str) and len(value) <= 80)


_logger = structlog.wrap_logger(
    structlog.PrintLogger(sys.stderr),
    processors=[structlog.processors.add_log_level, only_listed, structlog.processors.JSONRenderer(sort_keys=True)],
)


def log(event: str, **fields: Any) -> None:
    _logger.info(event, **fields)
