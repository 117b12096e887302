"""A hash chain of JSON lines: each has the hash of itself and of all before it."""

from __future__ import annotations

from typing import Any

from headcount.common.canonical import canonical, fingerprint, read_json
from headcount.errors import Damaged


def complete(content: bytes) -> list[bytes]:
    """The complete lines. After a crash, what follows is a line that was never acknowledged."""
    return content.split(b"\n")[:-1]


def sealed(line: dict[str, Any], before: str) -> tuple[bytes, str]:
    """The line as it is written, and its hash."""
    seal = fingerprint(line, before)
    return ended({**line, "hash": seal}), seal


def ended(line: dict[str, Any]) -> bytes:
    return f"{canonical(line)}\n".encode()


def opened(text: bytes, before: str, place: str) -> tuple[dict[str, Any], str]:
    """The line and its hash; refused unless it is, byte for byte, what was sealed in this place."""
    line = parsed(text, place)
    seal = line.pop("hash", None)
    if seal != fingerprint(line, before) or ended({**line, "hash": seal})[:-1] != text:
        those = "those before it: one was edited, removed or moved" if before else "itself: it was edited"
        raise Damaged(f"{place} does not follow from {those}. Restore the file from a copy, and count what came since")
    return line, seal


def parsed(text: bytes, place: str) -> dict[str, Any]:
    try:
        line = read_json(text)
    except ValueError:
        line = None
    if not isinstance(line, dict):
        raise Damaged(
            f"{place} is not a line of JSON",
            "restore the file from a copy; if the machine lost power while this, the last one, was written, then "
            "nothing was drawn for it, and it may be removed",
        )
    return line
