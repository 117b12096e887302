"""From a Parquet file to a private answer: time and memory beside the peers, and beside bare aggregates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from crowds import BOUNDS, CrowdFile
from page import Section
from peer import NotMeasured, Peer
from timing import Spread

KEYS = 1_000
SIZES = (10**6, 10**7)
LONG = 20.0  # seconds: whose first run takes longer has no second one
LARGER = 7.0  # who takes longer is not asked about ten times as many rows
TASKS = {"count": "A count", "histogram": f"A histogram of {KEYS:,} keys", "mean": "A mean"}
JOB = {
    "epsilon": 1.0, "delta": 0.0, "model": "central", "neighbours": "add-remove", "keys": KEYS, "bounds": BOUNDS,
    "via": "file",
}  # fmt: skip
CONTENDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "headcount": ("headcount", {}),
    "headcount, replace": ("headcount", {"neighbours": "replace"}),
    "OpenDP": ("opendp", {}),
    "OpenDP, planned beforehand": ("opendp", {"planned": True}),
    "diffprivlib (replace, but for histograms)": ("diffprivlib", {}),
    "PipelineDP": ("pipeline_dp", {}),
    "Tumult Analytics": ("tumult", {}),
    "DuckDB, not private": ("duckdb", {}),
    "polars, not private": ("polars", {}),
    "Spark, not private": ("spark", {}),
}


@dataclass
class Runs:
    """Time and memory of a contender for one question about one file."""

    seconds: list[float] = field(default_factory=list)
    first: float = 0.0
    peak: int = 0
    failure: str = ""

    @property
    def slow(self) -> bool:
        return self.first > LONG

    def once(self, peer: Peer, job: Mapping[str, Any]) -> float:
        try:
            answer = peer.ask(**job)
        except NotMeasured as reason:
            self.failure = f"not measured: {reason}"
            raise
        self.peak = answer["peak"]
        return float(answer["seconds"][0])

    def with_more_rows(self) -> str:
        """Why it is not asked about ten times as many; nothing if it is."""
        taken = min(self.seconds, default=self.first)
        return self.failure or (f"left out: {taken:.0f} s for a tenth of the rows" if taken > LARGER else "")


def measure(quick: bool) -> Section:
    rows: list[Sequence[str]] = []
    skipped: dict[tuple[str, str], str] = {}
    for people in SIZES[:1] if quick else SIZES:
        for task, title in TASKS.items():
            found = {who: Runs(failure=skipped.get((task, who), "")) for who in CONTENDERS}
            _race(task, CrowdFile(people, KEYS), found, 2 if quick else 4)
            skipped.update({(task, who): runs.with_more_rows() for who, runs in found.items()})
            rows += _rows(f"{title} of {people:,} rows", found)
    return Section(
        "Files with a trusted analyser",
        "Seconds from a Parquet file of three columns to the answer at epsilon 1, everybody by its own best way: "
        "headcount and diffprivlib read the column with Arrow, OpenDP plans its query over polars (a second row leaves "
        "the planning out), Tumult runs on Spark with both cores, PipelineDP on its local backend. One process for "
        f"each question, which is warmed up by a run that is not counted, unless that took longer than {LONG:.0f} s. "
        "Contenders take turns, and ratios are taken round by round. Memory is the most that the process and its "
        "children have held. Neighbours are add-remove unless it says replace; where people may come and go, "
        "headcount's mean is two questions. The last three are bare aggregates without any privacy: what there is to "
        "be reached.",
        ["question", "who", "time (spread)", "times headcount's", "peak memory"],
        rows,
        "Reading the column; DuckDB and polars do it on both cores, and count while they read.",
        grouped=True,
    )


def _race(task: str, crowd: CrowdFile, found: dict[str, Runs], rounds: int) -> None:
    """Everybody once to warm up, and then in turn."""
    with ExitStack() as stack:
        asked = {who: stack.enter_context(Peer(name)) for who, (name, _) in CONTENDERS.items()}
        for turn in range(1 + rounds):
            for who, runs in found.items():
                if runs.failure or runs.slow:
                    continue
                job = {**JOB, **CONTENDERS[who][1], "task": task, "data": str(crowd.path)}
                with suppress(NotMeasured):
                    taken = runs.once(asked[who], job)
                    if turn:
                        runs.seconds.append(taken)
                    else:
                        runs.first = taken


def _rows(title: str, found: dict[str, Runs]) -> Iterator[Sequence[str]]:
    ours = found["headcount"].seconds
    for who, runs in found.items():
        if runs.failure:
            yield [title, who, runs.failure, "", ""]
        elif runs.seconds:
            times = Spread.of([theirs / mine for theirs, mine in zip(runs.seconds, ours, strict=False)])
            beside = "" if who == "headcount" else f"{times:,.2f}"
            yield [title, who, f"{Spread.of(runs.seconds):.3f} s", beside, _memory(runs)]
        else:
            beside = f"{runs.first / Spread.of(ours).median:,.0f}"
            yield [title, who, f"{runs.first:.1f} s, once", beside, _memory(runs)]


def _memory(runs: Runs) -> str:
    return f"{runs.peak / 1e6:,.0f} MB"
