"""A Spark cluster in processes of its own, whose tasks are killed, overtaken, or lose what they had written.

Run as a script with a master, a folder, and troubles with a kind of coins ("killed keyed"), it prints for each as JSON
the tally, and what every attempt at every partition drew. The coins are the spies: every task takes them along.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from headcount.planner.planning import plan_for
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import Coins, KeyedCoins, SecretCoins, _KeystreamCoins
from headcount.protocols.base.plan import Plan
from headcount.questions.count import Count

PEOPLE, PARTITIONS = 4_000, 2
KEY = b"a key that only this test knows."
PATIENCE = 60.0
COINS = {"keyed": KeyedCoins(KEY), "fresh": SecretCoins()}


class Spying(_KeystreamCoins):
    """Coins that write down what is drawn from them in which attempt, and make trouble on the way."""

    secret = True

    def __init__(self, coins: Coins, folder: Path, trouble: str, disk: Path, earlier: frozenset[Path]) -> None:
        self.coins, self.folder, self.trouble, self.disk, self.earlier = coins, folder, trouble, disk, earlier
        self.number, self.first, self.log = -1, False, folder / "nothing"

    def part(self, number: int) -> Spying:
        part = Spying(self.coins.part(number), self.folder, self.trouble, self.disk, self.earlier)
        part.number = number
        part.log = self.folder / f"drawn-{number}-{os.getpid()}-{time.monotonic_ns()}"
        part.first = _claimed(self.folder / f"first-{number}")
        return part

    def written(self) -> list[Path]:
        return [file for file in written(self.disk) if file not in self.earlier]

    def stream(self, size: int) -> np.ndarray:
        words = self.coins.stream(size)
        with self.log.open("a") as log:
            log.write(sha256(words.tobytes()).hexdigest() + "\n")
        trouble, self.trouble = self.trouble, "none"  # once is enough
        TROUBLES[trouble](self)
        return words


def _claimed(path: Path) -> bool:
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _wait(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not ready() and time.monotonic() < until:
        time.sleep(0.05)


def _nothing(_coins: Spying) -> None:
    pass


def _failed(coins: Spying) -> None:
    """Partition 1 fails after it has drawn."""
    if coins.number == 1 and coins.first:
        raise RuntimeError("this attempt fails")


def _killed(coins: Spying) -> None:
    """The executor of partition 1 dies after it has drawn: it is the parent of the process that forks this one."""
    if coins.number == 1 and coins.first:
        parent = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(int(parent), signal.SIGKILL)
        time.sleep(PATIENCE)


def _overtaken(coins: Spying) -> None:
    """Partition 0 lingers until a second attempt at it has drawn too."""
    if coins.number == 0:
        _wait(lambda: len([*coins.folder.glob("drawn-0-*")]) > 1)


def _lost(coins: Spying) -> None:
    """Partition 1 waits until partition 0 has handed its tally over, and takes it away from whoever would add it up."""
    if coins.number == 1 and coins.first:
        _wait(lambda: len(coins.written()) > 1)
        for file in coins.written():
            file.unlink()


def written(disk: Path) -> list[Path]:
    """What tasks have handed over, to be fetched by those who add up: the data of each, and an index of these."""
    return [*(disk / "disk").rglob("shuffle_*.data"), *(disk / "disk").rglob("shuffle_*.index")]


TROUBLES = {"none": _nothing, "failed": _failed, "killed": _killed, "overtaken": _overtaken, "lost": _lost}


def plan() -> Plan:
    return plan_for(Count(), Crowd(PEOPLE), Budget(1.0), "local")


def parts() -> list[np.ndarray]:
    """What the partitions hold, in the order in which people are drawn for."""
    ones = np.arange(PEOPLE) % 3 == 0
    return [np.sort(part) for part in np.split(ones, PARTITIONS)]


def same_in_every_attempt(drawn: dict[str, list[list[str]]]) -> bool:
    """Whether attempts at the same partition drew the same words, as far as they got."""
    return all(
        all(a == b for a, b in zip(one, other, strict=False))
        for attempts in drawn.values()
        for one, other in pairwise(attempts)
    )


def main(master: str, folder: Path, wanted: list[str]) -> dict[str, Any]:
    from pyspark.sql import SparkSession

    light = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # none of it runs for long
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2",
        "spark.executor.memory": "512m", "spark.local.dir": str(folder / "disk"), "spark.driver.host": "127.0.0.1",
        "spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "100ms", "spark.cores.max": "2",
        "spark.speculation": "true", "spark.speculation.quantile": "0.4", "spark.speculation.multiplier": "1.1",
        "spark.speculation.minTaskRuntime": "100ms", "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
        "spark.driver.extraJavaOptions": light, "spark.executor.extraJavaOptions": light,
    }  # fmt: skip
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        return {name: suffered(session, folder, *name.split()) for name in wanted}
    finally:
        session.stop()


def suffered(session: Any, disk: Path, trouble: str, kind: str) -> dict[str, Any]:
    """The tally of the crowd in spite of this trouble, and what every attempt drew."""
    from headcount.engines.engine import Rows
    from headcount.engines.spark import SparkEngine

    folder = disk / f"{trouble}-{kind}"
    folder.mkdir()
    frame = session.range(0, PEOPLE, 1, PARTITIONS).selectExpr("id % 3 = 0 AS yes")
    engine = SparkEngine()
    answers = engine.answers(Count(), Rows(frame, column="yes"))
    assert answers.size == PEOPLE
    earlier = frozenset(written(disk))
    tally = engine.tally(plan(), answers, Spying(COINS[kind], folder, trouble, disk, earlier))
    logs = {str(part): [*map(_log, sorted(folder.glob(f"drawn-{part}-*")))] for part in range(PARTITIONS)}
    return {"reports": tally.reports, "totals": tally.totals.tolist(), "drawn": logs}


def _log(file: Path) -> list[str]:
    return file.read_text().split()


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])))
