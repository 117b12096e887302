"""Questions over Spark Connect, in a process of its own: it has no other kind of session."""

from __future__ import annotations

import json
from typing import Any

import headcount as hc
from headcount.engines.engine import Rows, engine_for
from headcount.programme.coins import SeededCoins

PEOPLE = 3_000


def main() -> dict[str, Any]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        frame = session.range(0, PEOPLE, 1, 2).selectExpr(
            "id % 3 = 0 AS yes", "concat('k', id % 4) AS label", "id AS age"
        )
        labels = [f"k{i}" for i in range(4)]
        plan = hc.advise(hc.Count(), n=PEOPLE, epsilon=1, models=["local"]).best
        engine = engine_for(frame)
        answers = engine.answers(plan.protocol.task, Rows(frame, column="yes"))
        count = hc.count(frame, column="yes", epsilon=1, model="central")
        histogram = hc.histogram(frame, column="label", categories=labels, epsilon=1, model="central")
        try:
            hc.sum(frame, column="age", bounds=(0, 10), epsilon=1, model="central")
        except hc.Refused as refusal:
            refused = str(refusal)
        return {
            "frame": type(frame).__module__,
            "count": [count.value, *count.interval(1 - 1e-6)],
            "histogram": [*map(float, histogram.values)],
            "drawn": engine.tally(plan, answers, SeededCoins(3)).totals.tolist(),
            "refused": refused,
        }
    finally:
        session.stop()


if __name__ == "__main__":
    print(json.dumps(main()))
