"""One way to write a JSON value down, so that the same value always has the same hash."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def canonical(value: Any) -> str:
    """Keys in order, no spaces, ASCII only. Floats are written so that they are read back exactly."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint(value: Any, before: str = "") -> str:
    """SHA-256 of the canonical JSON; in a chain, of the hash `before` it and then of the JSON."""
    return sha256((before + canonical(value)).encode()).hexdigest()
