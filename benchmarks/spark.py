"""On Spark, beside Spark's own group-by and average: the same Parquet files, in the same session, in turn."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import headcount as hc
from page import Section, met
from timing import Spread, agrees, interleaved, ratio

PEOPLE, KEYS, FILES = 10**7, 1_000, 4
BUDGET = {"epsilon": 1, "delta": 1e-6}
TARGET = 1.3


def written(folder: Path, people: int) -> None:
    """A key, a number and a yes or no of each person, in a few files."""
    for file in range(FILES):
        draws = np.random.default_rng(file)  # noqa: TID251
        size = people // FILES
        keys, shares = draws.integers(0, KEYS, size), draws.random(size)
        table = pa.table({"key": keys, "share": shares, "yes": shares < 0.3})
        pa.parquet.write_table(table, folder / f"{file}.parquet")


def pairs(frame: Any, people: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """What Spark's own users would write, and the same question with noise; both plans are made beforehand."""
    central = {"n": people, "models": ["central"], **BUDGET}
    plans = {
        "count": hc.advise(hc.Count(), **central).best,
        "histogram": hc.advise(hc.Histogram(KEYS), **central).best,
        "mean": hc.advise(hc.Mean((0, 1)), **central).best,
    }
    return {
        "count": (
            lambda: frame.groupBy("yes").count().toArrow().to_pylist(),
            lambda: hc.run(plans["count"], frame, column="yes"),
        ),
        "histogram": (
            lambda: frame.groupBy("key").count().toArrow().to_pylist(),
            lambda: hc.run(plans["histogram"], frame, column="key"),
        ),
        "mean": (
            lambda: frame.agg({"share": "avg"}).toArrow().to_pylist(),
            lambda: hc.run(plans["mean"], frame, column="share"),
        ),
    }


def checked(name: str, plain: Any, private: hc.Estimate) -> None:
    """The two must agree up to the noise, or one of them counted something else."""
    if name == "mean":
        agrees(name, private.value, plain[0]["avg(share)"], private.std_error)
    elif name == "count":
        agrees(name, private.value, next(row["count"] for row in plain if row["yes"]), private.std_error)
    else:
        first = next(row["count"] for row in plain if row["key"] == 0)
        agrees(name, float(private.values[0]), first, private.std_error)


def measure(quick: bool) -> Section:
    people, rounds = (10**6, 3) if quick else (PEOPLE, 9)
    title = "On Spark"
    what = (
        "Spark's own `groupBy(…).count()` and `avg`, and `hc.run(plan, frame, column=…)` with a central plan, on the "
        f"same Parquet files of {people:,} people with {KEYS:,} keys; one local session of two threads, warm, in turn."
    )
    columns = ["question", "Spark alone", "headcount", "ratio", "target", ""]
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        rows = [["–", f"not measured: {error}", "–", "–", "–", ""]]
        return Section(title, what, columns, rows, "Not installed here.")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    )
    settings = settings.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
    session = settings.getOrCreate()
    rows = []
    try:
        with TemporaryDirectory() as folder:
            written(Path(folder), people)
            frame = session.read.parquet(folder)
            for name, (plain, private) in pairs(frame, people).items():
                contenders = {"plain": plain, "private": private}
                checked(name, plain(), private())
                interleaved(contenders, 3)
                times = interleaved(contenders, rounds)
                alone, ours = (Spread.of([1e3 * second for second in times[which]]) for which in contenders)
                times_as_long = ratio(times["private"], times["plain"])
                holds = met(times_as_long.median <= TARGET)
                rows.append([name, f"{alone:.0f} ms", f"{ours:.0f} ms", f"{times_as_long:.2f}", f"{TARGET:g}", holds])
    finally:
        session.stop()
    return Section(
        title, what, columns, rows,
        "One pass over the column each. On top of Spark's own comes the look at every value (is it missing, is it "
        "within the bounds), the planning of a query in Spark, and the noise, which the driver draws in milliseconds.",
    )  # fmt: skip


if __name__ == "__main__":
    print(measure("--quick" in sys.argv).markdown())
