"""A large batch on its way from reports to the answer: mixed, delivered over HTTP, opened and counted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import sealing
from headcount.protocols.base.report_size import IDENTITY
from headcount_service.party import SETTINGS, Party
from headcount_service.shuffler.shuffler import Answer
from headcount_service.wire.collection import Collection
from headcount_service.wire.report import INNER, NO_CREDENTIAL, Report
from headcount_service.wire.suites import new_key, seal, unseal
from page import Section, met
from parties import ROLES, Serving, serving
from timing import Spread, agrees

MESSAGES = 10**6
TOGETHER = 10_000  # kept in a transaction while the batch is filled
PER_CORE, MINUTES, MEGABYTES = 10_000.0, 3.0, 1_024.0
OPENED_ALONE = 20_000


@dataclass
class Stage:
    """How long it took, and for how much of a core."""

    seconds: float = 0.0
    core: dict[str, float] = field(default_factory=dict)

    @property
    def cores(self) -> float:
        return sum(self.core.values())


def measure(quick: bool) -> Section:
    number = MESSAGES // 20 if quick else MESSAGES
    stages: dict[str, Stage] = {}
    with serving("SQLite") as served:
        collection = served.collection(number)
        filled(served, collection, number)
        for role in ROLES:
            served.forget_peak(role)
        desk = served.desk
        with timed(served, stages, "mixing"):
            desk.shuffler.ask("POST", f"/v1/collections/{collection.id}/close")
            until(lambda: _state(served, collection) not in ("open", "sealed"))
        with timed(served, stages, "delivery over HTTP"):
            until(lambda: _state(served, collection) in ("delivered", "purged"))
        alone = _opened_alone(collection)
        with timed(served, stages, "opening and counting"):
            told = desk.release(collection.id)
        peaks = {role: served.megabytes(role) for role in ROLES}
        assert told["people"] == number
        agrees("the answer", told["estimate"]["value"], number, collection.plan.protocol.rmse())
    rows = [
        [f"{name}", f"{stage.seconds:.1f} s", f"{number / stage.seconds:,.0f}/s", f"{number / stage.cores:,.0f}/s"]
        for name, stage in stages.items()
    ]
    total, cores = sum(s.seconds for s in stages.values()), sum(s.cores for s in stages.values())
    holds = (
        number / cores >= PER_CORE and total * MESSAGES / number < 60.0 * MINUTES and max(peaks.values()) < MEGABYTES
    )
    rows.append(["all", f"{total:.1f} s", f"{number / total:,.0f}/s", f"{number / cores:,.0f}/s"])
    opening = stages["opening and counting"].cores / number
    return Section(
        "A large batch",
        f"{number:,} messages, one from everybody, in a served shuffler over SQLite: from the end of the batch to the "
        "released answer, which is what everybody's reports come to. A core's rate is by the processor time that both "
        f"parties used. Memory, at most: shuffler {peaks['shuffler']:.0f} MB, analyser {peaks['analyser']:.0f} MB.",
        ["stage", "time", "messages", "messages per core", "target", ""],
        [
            *([*row, "", ""] for row in rows[:-1]),
            [*rows[-1], f"{PER_CORE:,.0f}/s per core, {MESSAGES:,} within {MINUTES:.0f} minutes and "
             f"{MEGABYTES / 1024:.0f} GB", met(holds)],
        ],
        f"Opening: cryptography alone opens {Spread.of([1 / each for each in alone]):,.0f} of these messages a second "
        f"on one core; opening and counting takes {Spread.of([opening / each for each in alone]):.2f} times as long.",
    )  # fmt: skip


def filled(served: Serving, collection: Collection, number: int) -> None:
    """As many reports in the shuffler's database, through the statement that uploads go through."""
    offer = served.desk.shuffler.ask("GET", f"/v1/collections/{collection.id}")
    opened = Party.read(served.folder / "shuffler" / SETTINGS).open()
    shuffler, sealed = opened.shuffler(), sealing.messages(offer, number)
    while some := list(islice(sealed, TOGETHER)):
        reports = [Report(os.urandom(IDENTITY), NO_CREDENTIAL, message) for message in some]
        [answers] = shuffler.store({(collection.id, offer["batch"]): reports}).values()
        assert set(answers) == {Answer.TAKEN}
    opened.close()


@contextmanager
def timed(served: Serving, stages: dict[str, Stage], name: str) -> Iterator[None]:
    before, start = {role: served.processor(role) for role in ROLES}, time.perf_counter()
    yield
    core = {role: served.processor(role) - before[role] for role in ROLES}
    stages[name] = Stage(time.perf_counter() - start, core)


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.05)


def _state(served: Serving, collection: Collection) -> str:
    told = served.desk.shuffler.ask("GET", f"/v1/collections/{collection.id}/state")
    return str(told["batches"][0]["state"])


def _opened_alone(collection: Collection) -> list[float]:
    """Seconds of a core that cryptography takes to open one message."""
    report_format, key = collection.report_format(1), new_key(collection.wire.suite)
    suite, bound = collection.wire.suite, INNER + bytes(36)
    size = report_format.message_bytes - collection.wire.seal
    sealed = [seal(suite, os.urandom(size), key.public_key(), bound) for _ in range(OPENED_ALONE)]
    taken = []
    for _ in range(3):
        start = time.process_time()
        for each in sealed:
            unseal(suite, each, key, bound)
        taken.append((time.process_time() - start) / len(sealed))
    return taken
