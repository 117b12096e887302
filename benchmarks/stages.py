"""The cost of each stage at several sizes: seconds of a core, megabytes, bytes on the disk."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pysqlite3

import devices
import headcount as hc
from headcount.protocols.base.report_size import IDENTITY
from headcount_service.party import SETTINGS
from headcount_service.wire.keys import Announced
from headcount_service.wire.report import NO_CREDENTIAL, Report
from messages import Stage, filled, timed, until
from messages import _state as state
from model import Line
from parties import ROLES, Serving, serving
from timing import agrees, seconds
from uploads import CONNECTIONS, RATE, kept, sent

Points = list[tuple[float, float]]
TICKS = os.sysconf("SC_CLK_TCK")
SMALL = hc.Budget(0.1, 1e-9)


@dataclass
class Measured:
    """Points of every line, by its name; at sizes that were asked for."""

    points: dict[str, Points] = field(default_factory=dict)

    def add(self, name: str, size: float, cost: float) -> None:
        self.points.setdefault(name, []).append((size, cost))

    def line(self, name: str) -> Line:
        return Line.through(self.points[name])


def uploading(seen: Measured, database: str, sizes: Sequence[int]) -> None:
    """Seconds of a core, the database's own included, for this many uploads that come as fast as in the benchmark."""
    with serving(database) as served:
        server = _database_processes(served)
        for size in sizes:
            collection = served.collection(min(1_000, size))
            before = served.processor("shuffler") + _used(server)
            came = sent(served, collection, CONNECTIONS, (RATE, size / RATE))
            seen.add(f"uploads, {database}", size, served.processor("shuffler") + _used(server) - before)
            kept(served, collection, came)


def batches(seen: Measured, database: str, sizes: Sequence[int]) -> None:
    """From the end of a batch of one message each to the answer."""
    for size in sizes:
        with serving(database) as served:
            collection, stages = served.collection(size), dict[str, Stage]()
            server, empty = _database_processes(served), {role: _kept(served, role) for role in ROLES}
            filled(served, collection, size)
            full = _kept(served, "shuffler")
            for role in ROLES:
                served.forget_peak(role)
            used = [_used(server)]
            with timed(served, stages, "mixing"):
                served.desk.shuffler.ask("POST", f"/v1/collections/{collection.id}/close")
                until(lambda: state(served, collection) not in ("open", "sealed"))  # noqa: B023
            used.append(_used(server))
            with timed(served, stages, "handing on"):
                until(lambda: state(served, collection) == "purged")  # noqa: B023
            used.append(_used(server))
            delivered, counted = _kept(served, "analyser"), _used(server)
            with timed(served, stages, "opening and counting"):
                told = served.desk.release(collection.id)
            assert told["people"] == size
            agrees("the answer", told["estimate"]["value"], size, collection.plan.protocol.rmse())
            used.append(used[-1] + _used(server) - counted)
            for (name, stage), (before, after) in zip(stages.items(), pairwise(used), strict=True):
                seen.add(f"{name}, {database}", size, stage.cores + after - before)
            through = sum(stage.seconds for stage in stages.values())
            seen.add(f"a batch, time, {database}", size, through)
            for role in ROLES:
                seen.add(f"memory of the {role}, {database}", size, served.megabytes(role))
            seen.add(f"on the disk before mixing, {database}", size, full - empty["shuffler"])
            seen.add(f"on the analyser's disk, {database}", size, delivered - empty["analyser"])
            seen.add(f"on the disk after purge, {database}", size, _kept(served, "shuffler") - empty["shuffler"])


def sealing(seen: Measured, messages: Sequence[int], reports: int) -> None:
    """Seconds of a device's core for a report of this many messages: drawn, sealed twice, not yet on the disk."""
    for number in messages:
        with TemporaryDirectory(prefix="headcount-bench-") as name:
            offer, collection = devices._offer(Path(name), number)
        report_format, protocol = collection.report_format(1), collection.plan.protocol
        inner = Announced.from_json(offer["analyser"], collection.analyser, "analyser").public
        outer = Announced.from_json(offer["shuffler"], collection.shuffler, "shuffler")
        start = time.process_time()
        for _ in range(reports):
            drawn = protocol.randomise([1]).messages
            report = Report(os.urandom(IDENTITY), NO_CREDENTIAL, b"".join(report_format.seal_messages(drawn, inner)))
            report_format.seal_report(report, outer.public, outer.number)
        seen.add("sealing, by messages", number, (time.process_time() - start) / reports)


def charging(seen: Measured, earlier: Sequence[int]) -> None:
    """Seconds of a charge after this many earlier ones, of two questions in turn, in a file."""
    questions = [
        hc.Plan(hc.protocol(name, n=10**6, epsilon=SMALL.epsilon, delta=SMALL.delta), SMALL)
        for name in ("zsum", "correlated-count")
    ]
    with TemporaryDirectory(prefix="headcount-bench-") as name:
        path = Path(name) / "ledger"
        ledger = hc.Ledger.create(path, epsilon=50, delta=1e-5)
        ledger.require(*questions)  # whose prices are computed once
        for number in range(max(earlier) + 2):
            start = time.process_time()
            ledger.charge(questions[number % 2])
            taken = time.process_time() - start
            if any(number - mark in (0, 1) for mark in earlier):
                seen.add("a charge, by earlier ones", number, taken)
        seen.add("reading a ledger again", ledger.questions, seconds(lambda: hc.Ledger.open(path)))
        seen.add("bytes of a ledger", ledger.questions, path.stat().st_size)


def files(seen: Measured, sizes: Sequence[int]) -> None:
    """Seconds of a core to count this many rows of a Parquet file."""
    for size in sizes:
        with TemporaryDirectory(prefix="headcount-bench-") as name:
            path = Path(name) / "rows.parquet"
            ones = np.random.default_rng(1).integers(0, 3, size) == 0  # noqa: TID251
            pq.write_table(pa.table({"clicked": ones}), path)
            for kind in ("geometric", "zsum"):
                plan = hc.Plan(hc.protocol(kind, n=size, epsilon=1, delta=1e-6), hc.Budget(1, 1e-6))
                _cored(lambda: hc.run(plan, path, column="clicked"))  # noqa: B023  (the first warms up)
                seen.add(f"rows of a file, {kind}", size, _cored(lambda: hc.run(plan, path, column="clicked")))  # noqa: B023


def _cored(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _address(served: Serving, role: str) -> str:
    return re.search(r'database = "(.*)"', (served.folder / role / SETTINGS).read_text())[1]  # type: ignore[index]


def _kept(served: Serving, role: str) -> float:
    """Bytes of the database that are in use; those of a table that was dropped are free again."""
    address = _address(served, role)
    if address.startswith("postgresql"):
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CHECKPOINT")
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
            return float(row[0]) if row else 0.0
    connection = pysqlite3.connect(served.folder / role / "party.db")
    used = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count")}
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    return float((used["page_count"] - used["freelist_count"]) * size)


def _database_processes(served: Serving) -> int | None:
    """The first process of the PostgreSQL server that the shuffler uses; None with SQLite, which has none."""
    found = re.search(r"host=(.*)", _address(served, "shuffler"))
    return int((Path(found[1]) / "data" / "postmaster.pid").read_text().split()[0]) if found else None


def _used(server: int | None) -> float:
    """Seconds of a core that a server, its processes and those of them that have ended have used so far."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat") if server else []:
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        own = int(path.parent.name) == server
        if own or int(fields[1]) == server:
            total += sum(map(int, fields[11:15] if own else fields[11:13]))
    return total / TICKS
