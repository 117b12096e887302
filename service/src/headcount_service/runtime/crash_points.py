"""Crash points: where a test may kill the process, as a power failure would."""

from __future__ import annotations

import os

POINTS = (
    "before taking reports", "after taking reports",
    "before sealing", "after sealing", "before mixing", "while mixing",
    "before it is mixed", "when it is mixed", "after mixing",
    "before delivering", "while delivering", "after delivering", "after noting the receipt",
    "before purging", "after purging",
    "before a part", "after a part", "before completing", "after completing",
    "before reserving", "after reserving", "after the witness",
    "before claiming", "after claiming", "before releasing", "after releasing", "after forgetting",
    "while retiring", "before agreeing", "after a notice", "after telling",
)  # fmt: skip
TOLD = os.environ.get("HEADCOUNT_CRASH_AT")


def point(name: str) -> None:
    """Ends the process here, as a power failure would, if that was asked for."""
    if TOLD is not None and name == TOLD:
        os._exit(137)
