"""Hours in short: half the load for a while, and whether anything grows that should not.

Run as a script: `python benchmarks/soak.py [seconds]`. It ends with an error if memory, open files or the log beside
the database grow, or if the release is not what was acknowledged.
"""

from __future__ import annotations

import sys
import time
from threading import Event, Thread

import numpy as np

from parties import Serving, serving
from uploads import CONNECTIONS, RATE, kept, sent

EVERY = 1.0  # seconds between looks
SETTLED = 0.25  # the first part of the time, in which caches fill
MEGABYTES_A_MINUTE, WAL = 2.0, 64.0


def watch(served: Serving, ended: Event, seen: list[tuple[float, float, float, float]]) -> None:
    """When, memory in megabytes, open files, and megabytes of the log."""
    log = served.folder / "shuffler" / "party.db-wal"
    while not ended.wait(EVERY):
        wal = log.stat().st_size / 2**20 if log.exists() else 0.0
        seen.append((time.monotonic(), served.megabytes("shuffler", peak=False), served.files("shuffler"), wal))


def main(seconds: float) -> None:
    with serving("SQLite") as served:
        collection = served.collection(1_000)
        ended, looks = Event(), list[tuple[float, float, float, float]]()
        watcher = Thread(target=watch, args=(served, ended, looks))
        seen = sent(served, collection, CONNECTIONS, (RATE / 2.0, seconds), before=watcher.start)
        ended.set()
        watcher.join()
        kept(served, collection, seen)
    at, memory, files, wal = np.array(looks[int(SETTLED * len(looks)) : -2]).T
    slope = 60.0 * float(np.polyfit(at - at[0], memory, 1)[0])
    errors = len(seen.due) - seen.answered(200)
    print(
        f"{len(seen.due):,} reports in {seconds:.0f} s, {errors} errors, 99% within {seen.milliseconds(0.99):.0f} ms; "
        f"memory {memory.max():.0f} MB, growing by {slope:.2f} MB a minute; open files {files.min():.0f} to "
        f"{files.max():.0f}; log at most {wal.max():.0f} MB"
    )
    if errors or slope > MEGABYTES_A_MINUTE or files.max() > files.min() or wal.max() > WAL:
        raise SystemExit("something grows that should not, or was refused")


if __name__ == "__main__":
    main(float(sys.argv[1]) if sys.argv[1:] else 120.0)
