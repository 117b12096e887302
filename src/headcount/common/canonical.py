"""One way to write a JSON value down, so that the same value always has the same hash."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def canonical(value: Any) -> str:
    """The value as JSON with sorted keys, no spaces, ASCII only.

    Floats are written so that they are read back exactly.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text with no name twice, no infinite number and no great depth."""
    try:
        return json.loads(text, object_pairs_hook=_entries, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("too deep") from None


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(name)


def fingerprint(value: Any, before: str = "") -> str:
    """SHA-256 of the canonical JSON; in a chain, of the hash `before` it and then of the JSON."""
    return sha256((before + canonical(value)).encode()).hexdigest()
