"""Executors are killed, overtaken, and lose what they had written: still nobody's noise is drawn twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import troubles

import needs
from headcount.engines.memory import MemoryEngine
from headcount.programme.coins import KeyedCoins
from stress import STRESS

HERE = Path(__file__).parent
ON_ONE_MACHINE = "local-cluster[2,1,1024]"
LONGEST = 900.0


def told(script: str, *words: str, home: Path | None = None) -> Any:
    """What a script prints; it and its processes have a group of their own, which ends with it."""
    needs.java()
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **({"SPARK_HOME": str(home)} if home else {}),
    }
    command = [sys.executable, str(HERE / script), *words]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, problems = process.communicate(timeout=LONGEST)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, problems[-3_000:]
    return json.loads(out)


def home_in(folder: Path) -> Path:
    """Spark's own files, but for what its workers write beside them."""
    needs.java()
    import pyspark

    installed, home = Path(pyspark.__file__).parent, folder / "home"
    home.mkdir()
    (folder / "disk").mkdir()
    for name in ("bin", "jars", "python"):
        (home / name).symlink_to(installed / name)
    return home


@pytest.fixture(scope="module")
def suffered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("spark")
    wanted = [f"{trouble} {kind}" for trouble in ("killed", "lost") for kind in ("keyed", "fresh")]
    return told("troubles.py", ON_ONE_MACHINE, str(folder), *wanted, home=home_in(folder))


def undisturbed() -> Any:
    return MemoryEngine().tally(troubles.plan(), troubles.parts(), KeyedCoins(troubles.KEY))


def attempts(outcome: dict[str, Any]) -> int:
    return max(len(partition) for partition in outcome["drawn"].values())


def is_as_if_nothing_had_happened(outcome: dict[str, Any]) -> bool:
    same_words = troubles.same_in_every_attempt(outcome["drawn"])
    calm = undisturbed()
    return same_words and outcome["reports"] == calm.reports and np.array_equal(outcome["totals"], calm.totals)


def test_an_attempt_that_failed_is_repeated_with_the_same_coins(spark, tmp_path):
    """And with coins that are fresh in every attempt that is noticed."""
    calm, keyed, fresh = (
        troubles.suffered(spark, tmp_path, *words)
        for words in (("none", "keyed"), ("failed", "keyed"), ("failed", "fresh"))
    )
    assert [*map(attempts, (calm, keyed, fresh))] == [1, 2, 2]
    assert is_as_if_nothing_had_happened(calm)
    assert is_as_if_nothing_had_happened(keyed)
    assert not troubles.same_in_every_attempt(fresh["drawn"])
    assert not is_as_if_nothing_had_happened(fresh)


@STRESS
@pytest.mark.parametrize("trouble", ["killed", "lost"])
def test_a_partition_that_is_drawn_for_again_draws_the_same(suffered, trouble):
    """An executor dies with a task half done; or a tally is lost after others may have fetched their part of it."""
    outcome = suffered[f"{trouble} keyed"]
    assert attempts(outcome) > 1
    assert is_as_if_nothing_had_happened(outcome)


@STRESS
@pytest.mark.parametrize("trouble", ["killed", "lost"])
def test_coins_that_are_fresh_in_every_attempt_are_caught(suffered, trouble):
    outcome = suffered[f"{trouble} fresh"]
    assert attempts(outcome) > 1
    assert not troubles.same_in_every_attempt(outcome["drawn"])
    assert not is_as_if_nothing_had_happened(outcome)


@STRESS
def test_an_overtaken_attempt_draws_the_same(tmp_path):
    """Spark runs a second attempt on another host only: the two workers have an address each."""
    home = home_in(tmp_path)
    with standalone(home, tmp_path) as master:
        outcomes = told("troubles.py", master, str(tmp_path), "overtaken keyed", "overtaken fresh", home=home)
    for outcome in outcomes.values():
        assert attempts(outcome) > 1
    assert is_as_if_nothing_had_happened(outcomes["overtaken keyed"])
    assert not troubles.same_in_every_attempt(outcomes["overtaken fresh"]["drawn"])


@contextmanager
def standalone(home: Path, folder: Path) -> Iterator[str]:
    """A master and two workers, at two addresses of this machine."""
    port = "7177"
    kinds = [("master.Master", "127.0.0.1", ["--port", port, "--webui-port", "0"])] + [
        ("worker.Worker", host, ["--cores", "1", "--memory", "1g", "--webui-port", "0", f"spark://127.0.0.1:{port}"])
        for host in ("127.0.0.2", "127.0.0.3")
    ]
    running = []
    try:
        for kind, host, words in kinds:
            where = folder / host
            where.mkdir()
            environment = {
                **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": host, "SPARK_WORKER_DIR": str(where),
                "SPARK_LOCAL_DIRS": str(folder / "disk"), "PYSPARK_PYTHON": sys.executable,
            }  # fmt: skip
            command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", "--host", host, *words]
            running.append(
                subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
            )
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


@STRESS
def test_questions_over_spark_connect():
    """An interval misses its truth once in a million runs; five of them, and a histogram within the same."""
    answers = told("connected.py")
    assert answers["frame"].startswith("pyspark.sql.connect")
    _, low, high = answers["count"]
    assert low <= 1_000 <= high
    assert all(abs(count - 750) < 60 for count in answers["histogram"])
    assert "outside the bounds" in answers["refused"]
    assert sum(answers["drawn"]) == 3_000
