"""A bar on the terminal for what takes more than a moment."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Timer
from typing import Any

from rich.console import Console

PATIENCE = 1.0  # seconds without a bar


class ProgressBar:
    """Goes through a list; after a second shows its progress on standard error, if a terminal."""

    def __init__(self, what: str, console: Console | None = None) -> None:
        self.what = what
        self.console = console or Console(stderr=True)

    def __call__(self, items: list[Any]) -> Iterator[Any]:
        if not self.console.is_terminal:
            yield from items
            return
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        texts = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}")
        progress = Progress(*texts, TimeRemainingColumn(), console=self.console, transient=True)
        task = progress.add_task(self.what, total=len(items))
        alarm = Timer(PATIENCE, progress.start)  # also while the first item takes long
        alarm.daemon = True
        alarm.start()
        try:
            for done, item in enumerate(items, 1):
                yield item
                progress.update(task, completed=done)
        finally:
            alarm.cancel()
            alarm.join()
            progress.stop()
