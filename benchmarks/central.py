"""From a Parquet file to a private answer: time and memory beside the peers, and beside bare aggregates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from crowds import BOUNDS, CrowdFile
from page import Section
from peer import NotMeasured, Peer, peers
from timing import Spread

KEYS = 1_000
SIZES = (10**6, 10**7)
LONG = 8.0  # seconds: who takes longer runs once, and not on ten times as many rows
TASKS = {"count": "A count", "histogram": f"A histogram of {KEYS:,} keys", "mean": "A mean"}
JOB = {"epsilon": 1.0, "delta": 0.0, "model": "central", "keys": KEYS, "bounds": BOUNDS, "via": "file"}
PRIVATE = {
    "headcount": "headcount", "opendp": "OpenDP", "diffprivlib": "diffprivlib", "pipeline_dp": "PipelineDP",
    "tumult": "Tumult Analytics",
}  # fmt: skip
BARE = {"duckdb": "DuckDB, not private", "polars": "polars, not private", "spark": "Spark, not private"}
LABELS = {**PRIVATE, **BARE}


@dataclass
class Runs:
    """What a contender took for one question about one file."""

    seconds: list[float] = field(default_factory=list)
    first: float = 0.0
    peak: int = 0
    failure: str = ""

    @property
    def slow(self) -> bool:
        return self.first > LONG

    @property
    def spread(self) -> Spread:
        return Spread.of(self.seconds or [self.first])


def measure(quick: bool) -> Section:
    rows: list[Sequence[str]] = []
    before: dict[tuple[str, str], Runs] = {}
    for people in SIZES[:1] if quick else SIZES:
        crowd = CrowdFile(people, KEYS)
        for task, title in TASKS.items():
            found = _raced(task, crowd, 2 if quick else 4, before)
            before.update({(task, name): runs for name, runs in found.items()})
            rows += _rows(f"{title} of {people:,} rows", found)
    return Section(
        "Files with a trusted analyser",
        "Seconds from a Parquet file of three columns to the answer at epsilon 1, everybody by its own best way: "
        "headcount and diffprivlib read the column with Arrow, OpenDP plans over polars, Tumult runs on Spark with "
        "both cores, PipelineDP on its local backend. One process for each question, which is warmed up by a run that "
        f"is not counted, unless that took longer than {LONG:.0f} s. Contenders take turns, and ratios are taken round "
        "by round. Memory is the most that the process and its children have held. Neighbours are add-remove, but "
        "replace for diffprivlib's count and mean. The last three are bare aggregates without any privacy: what there "
        "is to be reached.",
        ["question", "who", "time (spread)", "times headcount's", "peak memory"],
        rows,
        "Reading the column; DuckDB and polars do it on both cores, and count while they read.",
        grouped=True,
    )


def _raced(task: str, crowd: CrowdFile, rounds: int, before: dict[tuple[str, str], Runs]) -> dict[str, Runs]:
    found = {name: Runs() for name in LABELS}
    with peers(*LABELS) as asked:
        for name, peer in asked.items():
            smaller = before.get((task, name))
            if smaller is not None and (smaller.slow or smaller.failure):
                a_tenth = f"{smaller.first:.0f} s for a tenth of the rows"
                found[name].failure = f"left out: {smaller.failure or a_tenth}"
                continue
            with suppress(NotMeasured):
                found[name].first = _run(task, crowd, peer, found[name])
        for _ in range(rounds):
            for name, peer in asked.items():
                if not found[name].failure and not found[name].slow:
                    with suppress(NotMeasured):
                        found[name].seconds.append(_run(task, crowd, peer, found[name]))
    return found


def _run(task: str, crowd: CrowdFile, peer: Peer, runs: Runs) -> float:
    job: dict[str, Any] = {**JOB, "data": str(crowd.path), "neighbours": "add-remove"}
    try:
        answer = peer.ask(task, **job)
    except NotMeasured as reason:
        runs.failure = f"not measured: {reason}"
        raise
    runs.peak = answer["peak"]
    return float(answer["seconds"][0])


def _rows(title: str, found: dict[str, Runs]) -> Iterator[Sequence[str]]:
    ours = found["headcount"]
    for name, runs in found.items():
        if runs.failure:
            yield [title, LABELS[name], runs.failure, "", ""]
            continue
        times = Spread.of([theirs / mine for theirs, mine in zip(runs.seconds, ours.seconds, strict=False)] or [
            runs.first / ours.spread.median
        ])  # fmt: skip
        taken = f"{runs.spread:.3f} s" if runs.seconds else f"{runs.first:.1f} s, once"
        beside = "" if name == "headcount" else f"{times:.2f}" if runs.seconds else f"{times.median:,.0f}"
        yield [title, LABELS[name], taken, beside, f"{runs.peak / 1e6:,.0f} MB"]
