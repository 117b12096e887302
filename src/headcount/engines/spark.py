"""The engine for data on Spark: executors count; for a trusted side only the driver draws.

For a trusted side Spark does the group-by, or the exact sum, and nothing but groups and totals
comes to the driver. The randomisers of the other models run on the executors, a partition at a
time, with coins that are a function of the partition's number: a task that is run again, or twice
at once, draws for each person what it drew before. Frames of Spark Connect will do: there are no
RDDs here, and nothing reaches into the JVM. The executors need headcount too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from headcount.engines.counts_by_round import Counts, counts_of
from headcount.engines.engine import Rows
from headcount.engines.file_formats import ARROW, COMMAS
from headcount.engines.spark_codes import SparkCodes
from headcount.engines.spark_work import HALF, LOOKED, PARTIALS, Look, Randomise
from headcount.errors import BadArgument, BadData, MissingExtra, Refused, without_cause
from headcount.phrases import unpacked
from headcount.privacy.model import Model
from headcount.programme.coins import Coins, KeyedCoins, SecretCoins
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question


class SparkEngine:
    """Spark's frames, classic or Connect, and Parquet or CSV files by a path the cluster knows."""

    def __init__(self, session: Any = None) -> None:
        self._session = session

    def answers(self, task: Question, rows: Rows) -> SparkCodes:
        rows.names()
        if not isinstance(rows.data, str | Path) and not hasattr(rows.data, "sparkSession"):
            raise BadArgument("data", "is no frame of Spark", "make one with spark.createDataFrame, or give a path")
        with refusing():
            frame = self._read(str(rows.data)) if isinstance(rows.data, str | Path) else rows.data
        return SparkCodes(rows.domain(task), rows, frame, refusing)

    def require(self, task: Question, answers: SparkCodes) -> None:
        with refusing():
            found = answers.sorted_within_partitions().mapInArrow(Look(answers.from_batch).work, LOOKED).toArrow()
        refusals = [row["refused"] for row in found.to_pylist()]
        if refusals:
            raise BadData(unpacked(min(refusals)))

    def tally(self, plan: Plan, answers: SparkCodes, coins: Coins) -> Tally:
        protocol, domain = plan.protocol, answers.domain
        with refusing():
            if protocol.model is not Model.CENTRAL or not answers.grouped:
                return self._randomised(protocol, answers, coins)
            if domain.shape is Shape.AMOUNT:
                return protocol.totalled(answers.size, answers.total)
            if domain.shape is Shape.SHARES:
                return protocol.pooled(*answers.pooled)
            return protocol.counted(*answers.held)

    def rounds(self, task: Question, rows: Rows) -> list[Counts]:
        answers = self.answers(task, rows)
        with refusing():
            amounts = answers.domain.shape is Shape.SHARES
            return counts_of(answers.domain, *(answers.pooled if amounts else (*answers.held, None)))

    def _randomised(self, protocol: Protocol, answers: SparkCodes, coins: Coins) -> Tally:
        """Tally all reports on the executors. Secret coins become one key's coins, for this run."""
        keyed = KeyedCoins() if isinstance(coins, SecretCoins) else coins
        work = Randomise(replace(protocol), answers.from_batch, keyed)
        return _added(protocol, answers.sorted_within_partitions().mapInArrow(work.work, PARTIALS))

    def _read(self, path: str) -> Any:
        session = self._session
        if session is None:
            try:
                from pyspark.sql import SparkSession
            except ImportError:
                raise MissingExtra("counting on Spark", "spark") from None
            session = SparkSession.builder.getOrCreate()
        suffix = PurePosixPath(path).suffix.lower()
        if suffix in ARROW:
            raise BadArgument(
                "data", f"{path} is an Arrow file", "Spark reads .parquet, .csv and .tsv, or folders of Parquet"
            )
        return _commas(session, path) if suffix in COMMAS else session.read.parquet(path)


def _commas(session: Any, path: str) -> Any:
    """A CSV has no types: whatever it holds is text."""
    separator = "\t" if path.lower().endswith(".tsv") else ","
    return session.read.options(header=True, sep=separator, escape='"', mode="FAILFAST", enforceSchema=False).csv(path)


def _added(protocol: Protocol, partials: Any) -> Tally:
    """The executors' tallies, added by Spark, in halves so that no sum is too large for it."""
    query = "SELECT key, sum(high) AS high, sum(low) AS low, max(refused) AS refused FROM {partials} GROUP BY key"
    rows = partials.sparkSession.sql(query, partials=partials).toArrow().to_pylist()
    refusals = [row["refused"] for row in rows if row["refused"] is not None]
    if refusals:
        raise BadData(unpacked(min(refusals)))
    totals = {row["key"]: (row["high"] << HALF) + row["low"] for row in rows}
    reports = totals.pop(None, 0)
    if protocol.task.shape is Shape.KEY:
        keys = np.fromiter(totals, dtype=object, count=len(totals))
        return Tally.by_key(reports, keys, np.array([*totals.values()], dtype=np.int64))
    nobody = protocol.nobody()
    summed = np.zeros(nobody.totals.size, dtype=object)
    for key, total in totals.items():
        summed[int(key)] = total % nobody.modulus if nobody.modulus else total
    return replace(nobody, reports=reports, totals=summed)


@contextmanager
def refusing() -> Iterator[None]:
    """Re-raises errors of Spark as refusals, without the values that they quote."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import AnalysisException, PySparkException
    except ImportError:
        raise MissingExtra("counting on Spark", "spark") from None
    try:
        yield
    except Refused:
        raise
    except AnalysisException:
        without_cause(
            BadArgument("data", "cannot be read by Spark", "check the path, and that columns have names of their own")
        )
    except (PySparkException, Py4JError):
        without_cause(
            BadData(
                "Spark could not count the data",
                "its log says why (headcount must be installed where the executors "
                "run, and the driver must have room for all different answers)",
            )
        )
