"""Counting in files: beside DuckDB's own aggregates, and people through their randomisers, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headcount as hc
from page import Section, met
from timing import Spread, interleaved, ratio

ROWS = 10_000_000
MOST = 1.2
FASTEST = 50e6  # people a second and core
PEOPLE = """
import json, resource, sys, time
import headcount as hc
file, name, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
plan = hc.Plan(hc.protocol(name, n=rows, epsilon=1, delta=1e-6), hc.Budget(1.0, 1e-6))
hc.run(plan, file, column="bit")
start, spent = time.perf_counter(), time.process_time()
answer = hc.run(plan, file, column="bit")
print(json.dumps({
    "seconds": time.perf_counter() - start, "spent": time.process_time() - spent, "value": answer.value,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


def measure(quick: bool) -> Section:
    import duckdb

    rows, rounds = (ROWS // 10, 5) if quick else (ROWS, 11)
    with tempfile.TemporaryDirectory(prefix="headcount-bench-") as name:
        folder = Path(name)
        with duckdb.connect() as database:
            for keys in (1_000, 1_000_000):
                _written(database, folder / f"{keys}.parquet", rows, keys)
            bare = {what: (path, query.format(path), asked) for what, path, query, asked in _questions(folder)}
            table = [_beside(database, what, *rest, rounds) for what, rest in bare.items()]
            table += [_people(database, folder, protocol, rows) for protocol in ("zsum", "randomised-response")]
            table.append(_people(database, folder, "zsum", 10**8 if quick else 10**9))
    return Section(
        "Counting in files",
        f"`hc.run(plan, file, column=…)` on a Parquet file of {rows:,} rows, beside DuckDB's own aggregate of the same "
        "column, both on all cores, in one process and in turn. Below, people through their own randomisers, by the "
        "processor's time, in a fresh process each.",
        ("question", "headcount", "peer", "ratio (spread)", "peak memory", "target", ""),
        table,
        "The engine's own aggregate. What is left is a look at the file's footer, the check that every value is within "
        "its bounds, a cast to whole steps, and noise for every group.",
    )  # fmt: skip


def _written(database: Any, path: Path, rows: int, keys: int) -> None:
    columns = f"(hash(i) % {keys})::INTEGER AS k, (hash(i + 7) % 1000000) / 1e4 AS x, hash(i + 3) % 10 < 3 AS b"
    database.execute(f"COPY (SELECT {columns} FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)")


def _questions(folder: Path) -> list[tuple[str, Path, str, tuple[Any, str, dict[str, Any]]]]:
    few, many = folder / "1000.parquet", folder / "1000000.parquet"
    return [
        ("histogram of 1,000 keys", few, "SELECT k, count(*) FROM '{}' GROUP BY k", (hc.Histogram(1_000), "k", {})),
        ("histogram of 1,000,000 keys", many, "SELECT k, count(*) FROM '{}' GROUP BY k",
         (hc.Histogram(1_000_000), "k", {})),
        ("count of a truth value", few, "SELECT count(*) FROM '{}' WHERE b", (hc.Count(), "b", {})),
        ("count of a key", few, "SELECT count(*) FROM '{}' WHERE k = 7", (hc.Count(), "k", {"where": 7})),
        ("mean of whole numbers", few, "SELECT avg(k) FROM '{}'", (hc.Mean.whole((0, 999)), "k", {})),
        ("mean of real numbers", few, "SELECT avg(x) FROM '{}'", (hc.Mean((0, 100)), "x", {})),
    ]  # fmt: skip


def _beside(
    database: Any, what: str, path: Path, query: str, asked: tuple[Any, str, dict[str, Any]], rounds: int
) -> list[str]:
    task, column, where = asked
    rows = database.sql(f"SELECT count(*) FROM '{path}'").fetchall()[0][0]
    name = "laplace" if isinstance(task, hc.Mean) else "geometric"
    plan = hc.Plan(hc.protocol(name, task, n=rows, epsilon=1), hc.Budget(1.0))
    contenders: dict[str, Callable[[], object]] = {
        "bare": lambda: database.sql(query).to_arrow_table(),
        "private": lambda: hc.run(plan, path, column=column, **where),
    }
    interleaved(contenders, 2)
    times = interleaved(contenders, rounds)
    over = ratio(times["private"], times["bare"])
    private, bare = Spread.of(times["private"]), Spread.of(times["bare"])
    return [
        what, f"{1e3 * private.median:.1f} ms", f"DuckDB, not private: {1e3 * bare.median:.1f} ms",
        f"{over:.2f} times", "", f"at most {MOST:g} times", met(over.median <= MOST),
    ]  # fmt: skip


def _people(database: Any, folder: Path, protocol: str, rows: int) -> list[str]:
    """Everybody's bit, randomised and tallied."""
    file = folder / f"bits-{rows}.parquet"
    if not file.exists():
        database.execute(f"COPY (SELECT hash(i) % 10 < 3 AS bit FROM range({rows}) t(i)) TO '{file}' (FORMAT parquet)")
    ran = subprocess.run(
        [sys.executable, "-c", PEOPLE, str(file), protocol, str(rows)], capture_output=True, text=True, check=True
    )
    told = json.loads(ran.stdout)
    speed = rows / told["spent"]
    return [
        f"{rows:,} people by {protocol}", f"{speed / 1e6:.0f} million people/s and core, {told['seconds']:.1f} s", "",
        "", f"{told['peak'] / 2**20:.0f} MB", f"at least {FASTEST / 1e6:.0f} million",
        met(speed >= FASTEST and told["peak"] < 2**30),
    ]  # fmt: skip
