"""Rates in a thousand groups, and a mean where people come and go, beside DuckDB's own queries of the same file.

Both take turns in one run, and of each the least of the rounds counts: of the clock, and of the processors, whose time
other work on the machine changes less.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headcount as hc

GROUPS = 1_000


def written(folder: Path, rows: int) -> Path:
    rng = np.random.default_rng(1)  # noqa: TID251 - of the table, not of an answer
    table = pa.table(
        {
            "group": rng.integers(0, GROUPS, rows).astype(np.int32),
            "name": pa.array([f"g{place:03}" for place in range(GROUPS)]).take(pa.array(rng.integers(0, GROUPS, rows))),
            "churned": rng.random(rows) < 0.2,
            "value": rng.random(rows) * 100.0,
            "spend": np.round(rng.lognormal(3.0, 1.0, rows), 2),
        }
    )
    pq.write_table(table, folder / "rows.parquet")
    return folder / "rows.parquet"


def cases(file: Path) -> dict[str, tuple[Callable[[], object], str]]:
    names = [f"g{place:03}" for place in range(GROUPS)]
    told = {"epsilon": 1.0}
    return {
        "rates by a number": (
            lambda: str(hc.fraction(file, column="churned", by="group", categories=GROUPS, **told)),
            f"SELECT \"group\", avg(churned::INT) FROM '{file}' GROUP BY 1 ORDER BY 1",
        ),
        "rates by text": (
            lambda: str(hc.fraction(file, column="churned", by="name", categories=names, **told)),
            f"SELECT name, avg(churned::INT) FROM '{file}' GROUP BY 1 ORDER BY 1",
        ),
        "means by a number": (
            lambda: str(
                hc.mean(file, column="spend", bounds=(0, 200), clip=True, by="group", categories=GROUPS, **told)
            ),
            f"SELECT \"group\", avg(least(greatest(spend, 0), 200)) FROM '{file}' GROUP BY 1 ORDER BY 1",
        ),
        "mean, add-remove": (
            lambda: str(hc.mean(file, column="value", bounds=(0, 100), neighbours="add-remove", **told)),
            f"SELECT avg(value) FROM '{file}'",
        ),
        "mean, add-remove, clipped": (
            lambda: str(hc.mean(file, column="spend", bounds=(0, 200), clip=True, neighbours="add-remove", **told)),
            f"SELECT avg(least(greatest(spend, 0), 200)) FROM '{file}'",
        ),
    }


def timed(act: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds by the clock, and of all processors."""
    clock, processors = time.perf_counter(), time.process_time()
    act()
    return 1_000 * (time.perf_counter() - clock), 1_000 * (time.process_time() - processors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), given.rows)
        print("| question | headcount, ms (of processors) | DuckDB, ms (of processors) | ratio (of processors) |")
        print("|---|---:|---:|---:|")
        for name, (ours, query) in cases(file).items():
            rounds = [(*timed(ours), *timed(lambda: duckdb.sql(query).fetchall())) for _ in range(given.rounds + 1)]  # noqa: B023
            clock, work, its_clock, its_work = map(min, zip(*rounds[1:], strict=True))
            both = f"{clock / its_clock:.2f} ({work / its_work:.2f})"
            print(f"| {name} | {clock:,.0f} ({work:,.0f}) | {its_clock:,.0f} ({its_work:,.0f}) | {both} |", flush=True)


if __name__ == "__main__":
    main()
