"""A ledger's file with a few charges in it, and its lines."""

from __future__ import annotations

from pathlib import Path

import headcount as hc

QUESTIONS = [
    hc.protocol("randomised-response", n=10, keep=0.51),
    hc.protocol("geometric", n=10, scale=20.0),
    hc.protocol("generalised-response", hc.Histogram(["é", "b", "c"]), n=10, keep=0.4),
]
PLAN = hc.advise(hc.Sum((0, 120)), n=100, epsilon=0.25, models="central").best


def filled(path: Path) -> Path:
    """A ledger with four charges, one of them of a plan."""
    ledger = hc.Ledger.open(path, epsilon=5, delta=1e-6)
    for question in (*QUESTIONS, PLAN):
        ledger.charge(question)
    return path


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)
