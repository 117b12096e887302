"""What a device does: randomise, seal and keep a report; and the demonstration, in which thousands of them do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import headcount as hc
from headcount.protocols.base.report_size import Wire
from headcount_service.client.device import Client
from headcount_service.wire.collection import Admission, Collection
from headcount_service.wire.keys import Announced, Keys
from headcount_service.wire.suites import new_key, public_bytes, seal
from page import Section, met
from timing import Spread, interleaved, ratio, seconds

MESSAGES = (1, 32)
SEALS, DEMO = 5_000.0, 20.0


def measure(quick: bool) -> Section:
    rounds, rows, limits = 3 if quick else 7, [], []
    with TemporaryDirectory(prefix="headcount-bench-") as name:
        for messages in MESSAGES:
            reports = (100 if quick else 400) // (1 + messages // 8)
            prepare, alone = _contenders(Path(name), messages, reports)
            prepare()
            times = interleaved({"ours": prepare, "alone": alone}, rounds)
            rate = Spread.of([reports / each for each in times["ours"]])
            seals = Spread.of([(messages + 1) * reports / each for each in times["ours"]])
            few = messages == 1
            rows.append([
                f"reports of {messages} message{'s' * (not few)}", f"{rate:,.0f}/s", f"{seals:,.0f}/s",
                "none" if few else f"{SEALS:,.0f} seals/s", "" if few else met(seals.median >= SEALS),
            ])  # fmt: skip
            limits.append(f"{ratio(times['ours'], times['alone']):.1f}")
    demo = seconds(lambda: subprocess.run([sys.executable, "-m", "headcount", "demo"], check=True, capture_output=True))
    rows.append(["`headcount demo`, from start to end", f"{demo:.0f} s", "", f"below {DEMO:.0f} s", met(demo < DEMO)])
    return Section(
        "Devices",
        "`Client.prepare` in one process, a new device for every report: the collection and its keys are checked, the "
        "answer is randomised and sealed, and the report is on the disk. A report takes a seal for each message and "
        "one more. The demonstration asks 200 simulated people over loopback and proves the answer.",
        ["measured", "reports", "seals", "target", ""],
        rows,
        f"cryptography's seals; a report takes {' and '.join(limits)} times as long as they do alone. The rest is two "
        "signatures to verify, a folder, and a file that must be on the disk.",
    )


def _contenders(folder: Path, messages: int, reports: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """Reports of this many messages, and just as many seals."""
    offer, collection = _offer(folder, messages)
    suite, numbers = collection.wire.suite, count()
    key = new_key(suite).public_key()
    content, bound = bytes(18), bytes(54)

    def prepare() -> None:
        for _ in range(reports):
            Client(folder / f"{messages}-{next(numbers)}").prepare(offer, collection.id, 1)

    def alone() -> None:
        for _ in range(reports * (messages + 1)):
            seal(suite, content, key, bound)

    return prepare, alone


def _offer(folder: Path, messages: int) -> tuple[dict[str, Any], Collection]:
    """The offer of a shuffler for a collection of this many messages from everybody."""
    analyser, shuffler = (Keys(folder / f"{role}-{messages}").signer() for role in ("analyser", "shuffler"))
    protocol, budget = hc.protocol("randomised-response", n=1_000, epsilon=1), hc.Budget(1, 0)
    plan = hc.Plan(protocol, budget, Wire(messages))
    collection = Collection(
        plan, "Yes?", "people", int(time.time()), 3_600, shuffler.public, analyser.public, admission=Admission.ANYONE
    )
    suite, expires = collection.wire.suite, int(time.time()) + 86_400

    def announced(role: str, purpose: str) -> dict[str, Any]:
        key = public_bytes(new_key(suite).public_key()).hex()
        return Announced(role, purpose, 1, suite, key, expires).to_json()

    offer = {
        "collection": collection.to_json(), "batch": 1,
        "analyser": analyser.signed("announcement", announced("analyser", collection.purpose(1))),
        "shuffler": shuffler.signed("announcement", announced("shuffler", "")),
    }  # fmt: skip
    return offer, collection
