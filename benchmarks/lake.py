"""Reports in a lake: uploads opened, mixed and written; messages opened and counted, beside cryptography alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import headcount as hc
import sealing
from headcount.protocols.base.report_size import Wire
from headcount_service import party
from headcount_service.analyser.analyser import inner_key
from headcount_service.lake.counting import analyse, count
from headcount_service.lake.messages import Mixed
from headcount_service.lake.session import session
from headcount_service.lake.shuffling import LakeShuffler, read_uploads
from headcount_service.lake.uploads import write_uploads
from headcount_service.lake.work import loaded
from headcount_service.wire.collection import Admission, Collection
from headcount_service.wire.report import INNER
from headcount_service.wire.suites import private_bytes, unseal
from page import Section, met
from timing import Spread, agrees, ratio, seconds

PEOPLE = 200_000
ROUNDS = 3
OF_ALONE = 0.8
CORES = os.cpu_count() or 1


def measure(quick: bool) -> Section:
    people, rounds = (PEOPLE // 10, 2) if quick else (PEOPLE, ROUNDS)
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    with TemporaryDirectory(prefix="headcount-bench-") as name, session(f"local[{CORES}]") as spark:
        folder = Path(name)
        shuffler, analyser = (party.create(folder / role, role).open() for role in ("shuffler", "analyser"))
        collection, offer = _agreed(shuffler.shuffler(), analyser.analyser(), people)
        sealing.write_uploads(folder / "uploads", offer, people)
        _as_parquet(folder, collection)
        mixed = Mixed(spark, str(folder / "mixed"))
        uploads = read_uploads(spark, [str(folder / "lake")])
        mixing = LakeShuffler(shuffler.shuffler())
        shuffling = Took.by(lambda: mixing.shuffle(collection.id, 1, uploads, mixed))
        times = _opening(mixed, collection, analyser.keys.private(inner_key(collection.id, 1)), rounds)
        analysing = Took.by(lambda: _told(analyser.analyser(), collection, mixed, people))
        for each in (shuffler, analyser):
            each.close()
    share = ratio([each.cores for each in times["alone"]], [each.cores for each in times["lake"]])
    return Section(
        "Reports in a lake",
        f"{people:,} uploads of one message each, in Parquet, on Spark with {CORES} cores here. The shuffler "
        "opens them, takes each person's once, mixes, writes, and reads again what it wrote; the analyser reads mixed "
        "messages, opens them, takes each once and counts. cryptography alone opens the same messages, in as many "
        "processes, from memory. A core's rate is by the processor time of all processes.",
        ["measured", "a second", "a second of a core", "target", ""],
        [
            _row("uploads mixed", [shuffling], people),
            _row("messages opened by cryptography alone", times["alone"], people),
            _row("messages opened and counted", times["lake"], people),
            ["as a part of the former", "", f"{share:.2f}", f"at least {OF_ALONE}", met(share.median >= OF_ALONE)],
            _row("all that the analyser does, from the manifest to the release", [analysing], people),
        ],
        "cryptography's opening; the rest is reading Parquet, handing it to Python, and bringing equal ids together.",
    )  # fmt: skip


@dataclass(frozen=True)
class Took:
    """Seconds on the clock, and of cores, by this process and all that it has started."""

    clock: float
    cores: float

    @classmethod
    def by(cls, work: Callable[[], object]) -> Took:
        before = _processor()
        clock = seconds(work)
        return cls(clock, _processor() - before)


def _processor() -> float:
    """Seconds of cores that the processes from this one down have used."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            parents[pid], used[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    total = 0
    for pid in used:
        above = pid
        while above not in (0, os.getpid()):
            above = parents.get(above, 0)
        total += used[pid] if above else 0
    return total / os.sysconf("SC_CLK_TCK")


def _row(name: str, times: list[Took], number: int) -> list[str]:
    clock, cores = (
        Spread.of([number / value for value in values]) for values in zip(*map(astuple, times), strict=True)
    )
    return [name, f"{clock:,.0f}", f"{cores:,.0f}", "none", ""]


def _agreed(shuffler: Any, analyser: Any, people: int) -> tuple[Collection, Any]:
    protocol, budget = hc.protocol("randomised-response", n=people, epsilon=1), hc.Budget(1, 0)
    plan = hc.Plan(protocol, budget, Wire.of(protocol, budget))
    analyser.endow("people", 2, 0)
    keys = {"shuffler": shuffler.signer.public, "analyser": analyser.signer.public}
    terms = {"admission": Admission.ANYONE, "fixed": False}
    collection = Collection(plan, "Yes?", "people", int(shuffler.clock()), 86_400, **keys, **terms)
    shuffler.register(collection.to_json(), analyser.create(collection.to_json()))
    return collection, shuffler.offer(collection.id)


def _as_parquet(folder: Path, collection: Collection) -> None:
    """A file for every core, and some more."""
    content, size = (folder / "uploads").read_bytes(), collection.report_format(1).upload_bytes
    bodies = [content[at : at + size] for at in range(0, len(content), size)]
    for number in range(4 * CORES):
        write_uploads(folder / "lake" / f"{number}.parquet", bodies[number :: 4 * CORES])


def _opening(mixed: Mixed, collection: Collection, key: Any, rounds: int) -> dict[str, list[Took]]:
    """Both in turn, and each once before that: workers are started, and Java has seen its work."""
    report_format, protocol = collection.report_format(1), collection.plan.protocol
    messages = [row["message"] for row in mixed.messages.collect()]
    with ExitStack() as kept:
        pools = [kept.enter_context(ProcessPoolExecutor(1, get_context("spawn"))) for _ in range(CORES)]
        for core, pool in enumerate(pools):
            pool.submit(
                _keep, report_format.suite, report_format.info(INNER), private_bytes(key), messages[core::CORES]
            ).result()
        contenders: dict[str, Callable[[], object]] = {
            "alone": lambda: [each.result() for each in [pool.submit(_open_kept) for pool in pools]],
            "lake": lambda: count(mixed.messages, report_format, protocol, key),
        }
        for contender in contenders.values():
            contender()
        times: dict[str, list[Took]] = {name: [] for name in contenders}
        for _ in range(rounds):
            for name, contender in contenders.items():
                times[name].append(Took.by(contender))
    return times


def _told(analyser: Any, collection: Collection, mixed: Mixed, people: int) -> None:
    told = json.loads(analyse(analyser, collection, mixed))
    assert told["people"] == people
    agrees("the answer", told["estimate"]["value"], people, collection.plan.protocol.rmse())


HELD: list[Any] = []


def _keep(suite: str, bound: bytes, key: bytes, messages: list[bytes]) -> bool:
    HELD[:] = [suite, bound, key, messages]
    return True


def _open_kept() -> int:
    name, bound, stored_key, messages = HELD
    key = loaded(stored_key)
    return sum(len(unseal(name, message, key, bound)) for message in messages)
