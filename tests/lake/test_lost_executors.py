"""Executors are killed in the middle of their work: what is mixed and what is counted stays the same."""

import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from lakes import Lake

from headcount_service.analyser.analyser import inner_key
from headcount_service.lake.counting import count
from headcount_service.lake.shuffling import Came
from stress import STRESS

MASTER = "local-cluster[2,1,1024]"
PEOPLE = 60


@dataclass(frozen=True)
class Killing:
    """Hands rows on, and once, in the middle, kills the executor that it runs in."""

    mark: str

    def work(self, batches):
        for batch in batches:
            half = batch.num_rows // 2
            yield batch.slice(0, half)
            if half and self._first():
                os.kill(_executor(), signal.SIGKILL)
            yield batch.slice(half)

    def _first(self):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def _executor():
    """The Java process that this worker belongs to."""
    pid = os.getpid()
    while "CoarseGrainedExecutorBackend" not in (Path("/proc") / str(pid) / "cmdline").read_text():
        pid = int((Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
        assert pid > 1
    return pid


def executors(aside):
    """Those that work for the session of this module."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command, environment = ((process / part).read_bytes() for part in ("cmdline", "environ"))
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and str(aside).encode() in environment:
            found.append(int(process.name))
    return found


def kill_when(appears, aside):
    """Kills one of them as soon as there is something at this place."""

    def watch():
        until = time.monotonic() + 300
        while not appears.exists() and time.monotonic() < until:
            time.sleep(0.005)
        for pid in executors(aside)[:1]:
            os.kill(pid, signal.SIGKILL)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    return watching


@STRESS
def test_lost_executors_change_nothing(parties, spark, folder, aside):
    lake = Lake.of(parties, spark, folder)
    reports = lake.reports(*(n % 12 for n in range(PEOPLE)))
    lake.put(*(each.body for each in reports), reports[0].body)
    killing = lake.uploads().repartition(3).mapInArrow(Killing(str(folder / "report_format")).work, "upload binary")
    watching = kill_when(folder / "mixed" / "messages" / "_temporary", aside)
    assert lake.shuffle(uploads=killing) == Came(taken=PEOPLE, repeated=1)
    watching.join()
    assert (folder / "report_format").exists()
    assert sorted(lake.rows()) == sorted(message for each in reports for message in each.messages)
    protocol, key = lake.collection.plan.protocol, parties.analyser.keys.private(inner_key(lake.collection.id, 1))
    report_format = lake.collection.report_format(1)
    killing = lake.mixed().messages.mapInArrow(Killing(str(folder / "counting")).work, "message binary")
    tally, _ = count(killing, report_format, protocol, key)
    assert (folder / "counting").exists()
    assert tally.totals.tolist() == [PEOPLE // 12] * 12
