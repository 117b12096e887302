"""Reports as they come in: how many a second are taken, on the disk, and how soon; and what becomes of too many."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sealing
from headcount.service.collection import Collection
from parties import Serving

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Seen:
    """What became of every upload, by when it was due."""

    due: np.ndarray
    taken: np.ndarray  # seconds from then to the answer
    status: np.ndarray

    def between(self, start: float, end: float) -> Seen:
        here = (self.due >= start) & (self.due < end)
        return Seen(self.due[here], self.taken[here], self.status[here])

    def answered(self, status: int) -> int:
        return int(np.count_nonzero(self.status == status))

    def milliseconds(self, quantile: float, status: int = 200) -> float:
        here = self.taken[self.status == status]
        return 1_000.0 * float(np.quantile(here, quantile)) if here.size else float("nan")

    @property
    def rate(self) -> float:
        """Of those that were taken, from the first that was due to the last answer."""
        accepted = self.status == 200
        return np.count_nonzero(accepted) / float((self.due + self.taken)[accepted].max() - self.due.min())


def sent(served: Serving, collection: Collection, connections: int, *phases: tuple[float, float], door: str = "wait") -> Seen:
    """Uploads at these rates, for so many seconds each; sealed before the clock starts."""
    offer = served.desk.shuffler.ask("GET", f"/v1/collections/{collection.id}")
    uploads, out = served.folder / "uploads", served.folder / "seen.npz"
    sealing.write_uploads(uploads, offer, sum(round(rate * seconds) for rate, seconds in phases))
    command = [
        sys.executable, str(HERE / "generator.py"), "127.0.0.1", str(served.ports["shuffler"]),
        f"/v1/collections/{collection.id}/batches/1/reports", str(uploads),
        str(collection.envelope(1).upload_bytes), str(connections), str(out), door,
        *(f"{rate}x{seconds}" for rate, seconds in phases),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    with np.load(out) as found:
        return Seen(found["due"], found["taken"], found["status"])
