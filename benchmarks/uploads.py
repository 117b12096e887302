"""Reports as they come in: how many a second are taken, on the disk, and how soon; and what becomes of too many."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sealing
from headcount_service.wire.collection import Collection
from page import Section, met
from parties import DATABASES, Serving, serving
from timing import Spread, agrees

HERE = Path(__file__).parent
RATE, CONNECTIONS, MILLISECONDS = 2_000.0, 128, 100.0
MANY, MOST_MILLISECONDS, MEGABYTES, RECOVERED = 1_024, 500.0, 400.0, 5.0


@dataclass(frozen=True)
class Seen:
    """The outcome of every upload, by the time it was due."""

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

    def recovery(self, milliseconds: float) -> float:
        """Seconds from the first that was due until all are taken, and 99% of each second's within this time."""
        for start in np.arange(self.due.min(), self.due.max() - 1.0, 0.1):
            rest = [self.between(at, at + 1.0) for at in np.arange(start, self.due.max() - 1.0, 1.0)]
            if all((r.status == 200).all() and r.milliseconds(0.99) <= milliseconds for r in rest):
                return float(start - self.due.min())
        return float("inf")

    @property
    def rate(self) -> float:
        """Of those that were taken, from the first that was due to the last answer."""
        accepted = self.status == 200
        return np.count_nonzero(accepted) / float((self.due + self.taken)[accepted].max() - self.due.min())


def sent(
    served: Serving, collection: Collection, connections: int, *phases: tuple[float, float], door: str = "wait",
    before: Callable[[], object] = lambda: None,
) -> Seen:  # fmt: skip
    """Uploads at these rates, for this many seconds each; sealed before the clock starts."""
    offer = served.desk.shuffler.ask("GET", f"/v1/collections/{collection.id}")
    uploads, out = served.folder / "uploads", served.folder / "seen.npz"
    sealing.write_uploads(uploads, offer, sum(round(rate * seconds) for rate, seconds in phases))
    command = [
        sys.executable, str(HERE / "generator.py"), "127.0.0.1", str(served.ports["shuffler"]),
        f"/v1/collections/{collection.id}/batches/1/reports", str(uploads),
        str(collection.report_format(1).upload_bytes), str(connections), str(out), door,
        *(f"{rate}x{seconds}" for rate, seconds in phases),
    ]  # fmt: skip
    before()
    subprocess.run(command, check=True)
    with np.load(out) as found:
        return Seen(found["due"], found["taken"], found["status"])


def measure(quick: bool) -> Section:
    long, rounds = (4.0, 1) if quick else (15.0, 3)
    rows = [_durable(database, long, rounds) for database in DATABASES]
    return Section(
        "Reports as they come in",
        f"{RATE:,.0f} uploads a second for {long:.0f} s from {CONNECTIONS} connections to a served shuffler, "
        f"{rounds} time{'s' * (rounds > 1)}: sealed beforehand and sent by a process of its own on the same cores, "
        "each when it is due, whether or not the others were answered. An answer means that the report is on the "
        "disk; how long it took is counted from when the upload was due. Load is that of all processes.",
        ["database", "taken", "half within", "99% within", "errors", "core of the shuffler", "load", "target", ""],
        rows,
        "One upload is opened in some 50 µs and comes by HTTP in some 100; the shuffler is one process and gives its "
        "answers in turn.",
    )


def _durable(database: str, long: float, rounds: int) -> list[str]:
    taken, half, most, errors, core, load = [], [], [], 0, [], []
    with serving(database) as served:
        for _ in range(rounds):
            collection = served.collection(1_000)
            before = served.processor("shuffler")
            seen = sent(served, collection, CONNECTIONS, (RATE, long))
            core.append((served.processor("shuffler") - before) / len(seen.due) * RATE)
            taken.append(seen.rate)
            half.append(seen.milliseconds(0.5))
            most.append(seen.milliseconds(0.99))
            errors += len(seen.due) - seen.answered(200)
            load.append(os.getloadavg()[0])
            kept(served, collection, seen)
    within = Spread.of(most)
    holds = within.median <= MILLISECONDS and not errors
    return [
        database, f"{Spread.of(taken):,.0f}/s", f"{Spread.of(half):.0f} ms", f"{within:.0f} ms", str(errors),
        f"{Spread.of(core):.2f}", f"{Spread.of(load):.1f}",
        f"{RATE:,.0f}/s, 99% within {MILLISECONDS:.0f} ms, no errors", met(holds),
    ]  # fmt: skip


def overload(quick: bool) -> Section:
    phases = [(RATE, 3.0), (5.0 * RATE, 4.0 if quick else 10.0), (RATE, 8.0)]
    starts = np.cumsum([0.0, *(seconds for _, seconds in phases)])
    with serving("SQLite") as served:
        collection = served.collection(1_000)
        seen = sent(served, collection, MANY, *phases, door="leave")
        kept(served, collection, seen)
        peak = served.megabytes("shuffler")
    load = os.getloadavg()[0]
    flood, after = seen.between(starts[1], starts[2]), seen.between(starts[2], starts[3])
    within, answers = flood.milliseconds(0.99), flood.answered(200) + flood.answered(503)
    recovery = after.recovery(max(MILLISECONDS, 2.0 * seen.between(starts[0], starts[1]).milliseconds(0.99)))
    errors = len(flood.due) - answers - flood.answered(0)
    holds = (
        within < MOST_MILLISECONDS and peak < MEGABYTES and recovery < RECOVERED and not errors
        and flood.answered(503) > 0
    )  # fmt: skip
    return Section(
        "Too many reports",
        f"Five times as many, {5 * RATE:,.0f} a second, from {MANY:,} connections, over SQLite; an upload that finds "
        f"no free connection goes away, as from a full listen queue. Then {RATE:,.0f} a second again. What was "
        "released was just what had been acknowledged. It has recovered when all are taken again, 99% within "
        f"{MILLISECONDS:.0f} ms or twice what it was before.",
        ["taken", "99% of them within", "sent away with 503", "found no connection", "errors", "memory", "recovered in",
         "load", "target", ""],
        [[
            f"{flood.answered(200) / phases[1][1]:,.0f}/s", f"{within:.0f} ms",
            f"{flood.answered(503) / phases[1][1]:,.0f}/s", f"{flood.answered(0) / phases[1][1]:,.0f}/s", str(errors),
            f"{peak:.0f} MB", f"{recovery:.1f} s", f"{load:.1f}",
            f"{MOST_MILLISECONDS:.0f} ms, {MEGABYTES:.0f} MB, {RECOVERED:.0f} s", met(holds),
        ]],
        "Whoever is sent away costs the shuffler some 100 µs too, most of it HTTP.",
    )  # fmt: skip


def kept(served: Serving, collection: Collection, seen: Seen) -> None:
    """Refuses to time a service that loses what it has acknowledged, or counts what it has not."""
    served.desk.close(collection.id)
    told = served.desk.release(collection.id)
    unheard = int(np.count_nonzero(seen.status == 0))  # sent away at the door, or not answered when it was over
    assert seen.answered(200) <= told["people"] <= seen.answered(200) + unheard
    agrees("the answer", told["estimate"]["value"], told["people"], told["people"] ** 0.5)
