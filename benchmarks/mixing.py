"""How much memory and time it takes to mix a batch, by its size.

    python benchmarks/mixing.py SQLite 100000 1000000 10000000

Reports have one message of random bytes each, as long as one of a count: mixing does not open them. They are put into
the shuffler's table in the order of their hashes, which is quicker than they would come. Each batch is then mixed by a
process of its own, from the sealed batch to the signed manifest; its greatest resident memory is the system's figure.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import headcount as hc
from headcount.protocols.base.report_size import IDENTITY, Wire
from headcount_service import party
from headcount_service.party import SETTINGS, Party
from headcount_service.shuffler.batches import Batches
from headcount_service.shuffler.shuffler import BATCH, Shuffler
from headcount_service.store.database import one, update_batch
from headcount_service.wire.collection import Admission, Collection
from page import Section, met
from parties import DATABASES, cluster, megabytes

TOGETHER = 20_000  # put into the table in one transaction
MEGABYTES = 1_024.0


def measure(quick: bool) -> Section:
    numbers = [10**5, 10**6] if quick else [10**5, 10**6, 10**7]
    rows = []
    for database in DATABASES:
        for number in numbers:
            found = measured(database, number)
            rows.append([
                database, f"{number:,}", f"{found['megabytes']:.0f} MB", f"{1e6 * found['core'] / number:.1f} µs",
                f"{MEGABYTES:,.0f} MB", met(found["megabytes"] < MEGABYTES),
            ])  # fmt: skip
    return Section(
        "Mixing",
        "A sealed batch of reports with one message each is mixed and signed for, by a process that does nothing else. "
        "Memory is the greatest that was resident; what a report takes of a core is all that the process used.",
        ["database", "reports", "memory", "core for a report", "target", ""],
        rows,
        "Rows come from the database one by one, and each is decrypted; scattering them takes far less.",
    )


def measured(database: str, number: int) -> dict[str, float]:
    """Measurements of a batch of this many reports."""
    with ExitStack() as kept:
        folder = Path(kept.enter_context(TemporaryDirectory(prefix="headcount-bench-")))
        addresses = kept.enter_context(cluster()) if database == "PostgreSQL" else {"shuffler": ""}
        collection = _agreed(folder, addresses["shuffler"])
        opened = Party.read(folder / "shuffler" / SETTINGS).open()
        filled(opened.shuffler(), collection, number)
        opened.close()
        context = get_context("spawn")
        heard, said = context.Pipe(duplex=False)
        child = context.Process(target=mixed, args=(folder / "shuffler", collection.id, said))
        child.start()
        said.close()
        found: dict[str, float] = heard.recv()
        child.join()
        return found


def _agreed(folder: Path, address: str) -> Collection:
    """A count, between parties that are not served."""
    analyser = party.create(folder / "analyser", "analyser").open()
    shuffler = party.create(folder / "shuffler", "shuffler", database=address).open()
    protocol, budget = hc.protocol("randomised-response", n=1_000, epsilon=1), hc.Budget(1, 0)
    keys = {"shuffler": shuffler.keys.signer().public, "analyser": analyser.keys.signer().public}
    plan = hc.Plan(protocol, budget, Wire.of(protocol, budget))
    terms = {"most": 10**8, "admission": Admission.ANYONE}
    collection = Collection(plan, "Yes?", "people", int(time.time()), 3_600, **keys, **terms)
    analyser.analyser().endow("people", 2, 1e-5)
    announced = analyser.analyser().create(collection.to_json())
    shuffler.shuffler().register(collection.to_json(), announced)
    analyser.close()
    shuffler.close()
    return collection


def filled(shuffler: Shuffler, collection: Collection, number: int) -> None:
    """Fill a batch with this many reports and seal it."""
    size = collection.report_format(1).message_bytes
    with shuffler.database.reading() as connection:
        batch = one(connection, BATCH, name=collection.id, number=1)
    for start in range(0, number, TOGETHER):
        rows = []
        for at in range(start, min(start + TOGETHER, number)):
            identity = at.to_bytes(IDENTITY, "big")
            rows.append({"id": identity, "who": identity, "messages": os.urandom(size)})
        with shuffler.database.writing() as connection:
            shuffler.tables.add(connection, batch, rows)
    with shuffler.database.writing() as connection:
        came = shuffler.tables.count(connection, batch)
        update_batch(connection, batch, state="sealed", reports=came, added=0)


class Nobody:
    """Batches are not delivered here."""

    def begin(self, manifest: Any) -> None: ...

    def part(self, collection: str, batch: int, number: int, content: bytes) -> None: ...

    def complete(self, collection: str, batch: int) -> dict[str, Any]:
        return {}

    def notify_purged(self, notice: Any) -> dict[str, Any]:
        return {}


def mixed(folder: Path, name: str, said: Connection) -> None:
    """Mixes the batch, in a process that has done nothing else."""
    opened = Party.read(folder / SETTINGS).open()
    batches = Batches(opened.shuffler(), Nobody())
    before, start = _seconds(), time.perf_counter()
    batches.shuffle(name, 1)
    with opened.database.reading() as connection:
        batch = one(connection, BATCH, name=name, number=1)
    assert batch["state"] == "shuffled"
    said.send(
        {"megabytes": megabytes(os.getpid()), "core": _seconds() - before, "seconds": time.perf_counter() - start}
    )
    opened.close()


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    database, *numbers = sys.argv[1:]
    for number in map(int, numbers):
        found = measured(database, number)
        each = 1e6 * found["core"] / number
        words = f"{found['megabytes']:.0f} MB at most, {each:.1f} µs of a core each, {found['seconds']:.0f} s"
        print(f"{database}: {number:,} reports, {words}", flush=True)


if __name__ == "__main__":
    main()
