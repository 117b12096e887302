"""Several processes of one shuffler on PostgreSQL: what an upload takes of a core, with one of them and with two."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

import sealing
from headcount_service.wire.collection import Collection
from page import Section, met
from parties import Serving, free_port, process, processor, serving
from timing import Spread
from uploads import CONNECTIONS, HERE

RATE = 150.0  # uploads a second to each process
MORE = 1.15  # times as much of a core as with one, at most


def measure(quick: bool) -> Section:
    long, rounds = (4.0, 2) if quick else (15.0, 5)
    taken: dict[int, list[float]] = {1: [], 2: []}
    with serving("PostgreSQL") as served, _second(served) as second:
        ports = {served.ports["shuffler"]: served.pids["shuffler"], **second}
        for _ in range(rounds):
            for number in taken:
                taken[number].append(_core(served, dict([*ports.items()][:number]), long))
    ratio = Spread.of([two / one for one, two in zip(taken[1], taken[2], strict=True)])
    rows = [
        [str(number), f"{number * RATE:,.0f}/s", f"{Spread.of([1e6 * each for each in found]):.0f} µs", "", ""]
        for number, found in taken.items()
    ]
    rows.append(["two, by one", "", f"{ratio:.2f}", f"at most {MORE}", met(ratio.median <= MORE)])
    return Section(
        "Several processes of a shuffler",
        f"{RATE:,.0f} uploads a second to each of one or two processes on one PostgreSQL, for {long:.0f} s, in turns. "
        "What an upload takes of a core is what all of the shuffler's processes used; where there are cores for them, "
        "twice as many processes take twice as many uploads. Nobody is counted twice.",
        ["processes", "uploads", "core for an upload", "target", ""],
        rows,
        "PostgreSQL itself, which is not counted here, has its own processes.",
    )


@contextmanager
def _second(served: Serving) -> Iterator[dict[int, int]]:
    port = free_port()
    with process(served.folder / "shuffler", "--listen", f"127.0.0.1:{port}") as pid:
        yield {port: pid}


def _core(served: Serving, ports: dict[int, int], long: float) -> float:
    """Seconds of a core for an upload, over all of these processes, with as many uploads to each."""
    collection, number = served.collection(1_000), round(RATE * long)
    offer = served.desk.shuffler.ask("GET", f"/v1/collections/{collection.id}")
    files = [served.folder / f"uploads{port}" for port in ports]
    for file in files:
        sealing.write_uploads(file, offer, number)
    before = sum(map(processor, ports.values()))
    with ExitStack() as running:
        for port, file in zip(ports, files, strict=True):
            running.enter_context(_sending(collection, port, file, long))
    used = sum(map(processor, ports.values())) - before
    taken = sum(_taken(file) for file in files)
    served.desk.close(collection.id)
    assert served.desk.release(collection.id)["people"] == taken
    return used / taken


def _taken(file: Path) -> int:
    with np.load(f"{file}.npz") as found:
        return int(np.count_nonzero(found["status"] == 200))


@contextmanager
def _sending(collection: Collection, port: int, file: Path, long: float) -> Iterator[None]:
    """A generator of its own for each process, as long as this lasts."""
    command = [
        sys.executable, str(HERE / "generator.py"), "127.0.0.1", str(port),
        f"/v1/collections/{collection.id}/batches/1/reports", str(file), str(collection.report_format(1).upload_bytes),
        str(CONNECTIONS // 4), f"{file}.npz", "wait", f"{RATE}x{long}",
    ]  # fmt: skip
    generator = subprocess.Popen(command)
    yield
    if generator.wait():
        raise RuntimeError("the uploads could not be sent")
