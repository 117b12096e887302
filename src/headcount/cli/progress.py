"""A bar on the terminal for work that takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")

PATIENCE = 1.0  # seconds without a word


def track(work: Sequence[T], what: str) -> Iterator[T]:
    """The work, one by one; the bar goes to the error stream, and only if somebody is watching."""
    if not sys.stderr.isatty():
        yield from work
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task, began = bar.add_task(what, total=len(work)), time.monotonic()
    try:
        for one in work:
            yield one
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - began > PATIENCE:
                bar.start()
    finally:
        bar.stop()
