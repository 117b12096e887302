"""How far from the truth, at equal (epsilon, delta) and under the same relation of neighbours, on the same people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crowds import BOUNDS, CrowdFile
from page import Section
from peer import NotMeasured, Peer, peers

EPSILON, DELTA, PEOPLE = 1.0, 1e-6, 10_000
ADD_REMOVE, REPLACE = "add-remove", "replace"
NAMES = ("headcount", "opendp", "diffprivlib", "pipeline_dp", "tumult", "pure_ldp", "multi_freq")


@dataclass(frozen=True)
class Question:
    title: str
    task: str
    keys: int
    unit: str

    @property
    def crowd(self) -> CrowdFile:
        return CrowdFile(PEOPLE, self.keys)


@dataclass(frozen=True)
class Contender:
    """A library that is asked, the party that people trust, and the adjacency."""

    label: str
    peer: str
    trust: str
    neighbours: str
    job: dict[str, Any] = field(default_factory=dict)
    task: str = ""  # if it goes by another name there

    def asked(self, question: Question) -> dict[str, Any]:
        path = question.crowd.path
        if self.task == "oracle":
            path = question.crowd.array("clicked" if question.task == "count" else "key")
        return {
            "task": self.task or question.task, "data": str(path), "epsilon": EPSILON, "delta": DELTA,
            "keys": question.keys, "bounds": BOUNDS, "model": self.trust, "neighbours": self.neighbours,
            "via": "array", "planned": True, "answers": True, **self.job,
        }  # fmt: skip


QUESTIONS = (
    Question("A count", "count", 100, "people"),
    Question("A histogram of 100 keys", "histogram", 100, "people a key"),
    Question("A histogram of 1,000 keys", "histogram", 1_000, "people a key"),
    Question("A mean between 0 and 100", "mean", 100, ""),
)


def contenders(question: Question, quick: bool) -> Iterator[Contender]:
    """Ours comes first in each company; the others are compared with it."""
    task, histogram = question.task, question.task == "histogram"
    yield Contender("headcount", "headcount", "central", ADD_REMOVE)
    if histogram:
        yield Contender("headcount, delta 0", "headcount", "central", ADD_REMOVE, {"delta": 0.0})
        finish = {"finish": {"clamp": True}, "delta": 0.0}
        yield Contender("headcount, delta 0, clamped at 0", "headcount", "central", ADD_REMOVE, finish)
    yield Contender("OpenDP", "opendp", "central", ADD_REMOVE)
    yield Contender("PipelineDP", "pipeline_dp", "central", ADD_REMOVE)
    copies = {"runs": 3, "warm": False} if histogram else {"copies": 50 if quick else 200, "runs": 1, "warm": False}
    yield Contender("Tumult Analytics", "tumult", "central", ADD_REMOVE, copies)
    if histogram:
        yield Contender("diffprivlib (clamps at 0)", "diffprivlib", "central", ADD_REMOVE)
    yield Contender("headcount", "headcount", "central", REPLACE)
    yield Contender("OpenDP", "opendp", "central", REPLACE)
    if not histogram:
        yield Contender("diffprivlib", "diffprivlib", "central", REPLACE)
    yield Contender("headcount (no peer has this)", "headcount", "shuffle", REPLACE)
    yield Contender("headcount", "headcount", "local", REPLACE)
    yield from _oracles(task)


def _oracles(task: str) -> Iterator[Contender]:
    if task == "count":
        two = {"oracle": "generalised-response", "keys": 2}
        yield Contender("pure-ldp", "pure_ldp", "local", REPLACE, two, "oracle")
        yield Contender("multi-freq-ldpy (makes it add up)", "multi_freq", "local", REPLACE, two, "oracle")
    elif task == "histogram":
        unary, subset = {"oracle": "optimised-unary"}, {"oracle": "subset-selection"}
        yield Contender("pure-ldp, optimised unary", "pure_ldp", "local", REPLACE, unary, "oracle")
        consistent = {"finish": {"consistent": True}}
        yield Contender("headcount, consistent", "headcount", "local", REPLACE, consistent)
        yield Contender("multi-freq-ldpy, subsets (clamps, adds up)", "multi_freq", "local", REPLACE, subset, "oracle")


@dataclass(frozen=True)
class Error:
    """The root of the mean square, and how well this many runs know it."""

    size: float
    give_or_take: float
    runs: int

    @classmethod
    def of(cls, answers: npt.NDArray[np.float64], truth: npt.NDArray[np.float64]) -> Error:
        return cls.of_squares(((answers.reshape(-1, truth.size) - truth) ** 2).mean(axis=1))

    @classmethod
    def of_squares(cls, squares: npt.NDArray[np.float64]) -> Error:
        """The error, from the mean square error of each run."""
        size = math.sqrt(float(squares.mean()))
        spread = float(squares.std(ddof=1)) / math.sqrt(squares.size) if squares.size > 1 else math.nan
        return cls(size, spread / (2.0 * size) if size else math.nan, squares.size)


def measure(quick: bool) -> Section:
    with peers(*NAMES, seconds=300.0) as asked:
        rows = [row for question in QUESTIONS for row in _rows(question, asked, quick)]
    return Section(
        "Accuracy at equal privacy",
        f"How far from the truth: the root of the mean square error over all runs (and all keys), for {PEOPLE:,} "
        f"people at epsilon {EPSILON:g} and delta at most {DELTA:g}, on the same file. *Trust* says who sees the "
        "answers of single people: one trusted analyser (central), a shuffler that must not know whose is which "
        "(shuffle), nobody (local). *Neighbours* are the data that cannot be told apart: with one person more or less "
        "(add-remove), or with one person's answer changed (replace), which in a histogram costs a trusted analyser "
        "twice the noise. Compare only rows with the same trust and the same neighbours. Everybody takes its best "
        "noise for the purpose, which is Laplace's or its discrete form for all the trusted; a peer's relation is the "
        "one that its own noise is scaled for. headcount chooses its protocol by itself. Where people may come and go "
        "it has no mean in one call: for it and OpenDP that is the ratio of a sum and a count, with half of epsilon "
        "each.",
        ["question", "trust", "neighbours", "who", "error (standard error)", "times headcount's", "runs"],
        rows,
        "Under pure privacy the two-sided geometric law has the smallest error of all for a single count: "
        f"{_geometric(EPSILON):.2f} people. Local errors cannot fall below some multiple of the root of the number of "
        "people. Who clamps negative answers, or makes them add up, has a smaller error in rare keys and is no longer "
        "right on average.",
        grouped=True,
    )


def _rows(question: Question, asked: dict[str, Peer], quick: bool) -> Iterable[Sequence[str]]:
    truth = question.crowd.truth(question.task)
    ours: dict[tuple[str, str], float] = {}
    histogram = question.task == "histogram"
    effort = {"runs": 200 if histogram else 1_000, "seconds": 2.5 if quick else 8.0, "least": 3, "warm": True}
    for each in contenders(question, quick):
        head = [question.title, each.trust, each.neighbours, each.label]
        try:
            answers = np.array(asked[each.peer].ask(**{**effort, **each.asked(question)})["answers"], dtype=np.float64)
        except NotMeasured as reason:
            yield [*head, f"not measured: {reason}", "", ""]
            continue
        if each.task == "oracle" and question.task == "count":
            answers = answers[:, 1]
        error = Error.of(answers, truth)
        beside = ours.get((each.trust, each.neighbours))  # none for the first, which is ours
        times = f"{error.size / beside:.2f}" if beside else ""
        ours.setdefault((each.trust, each.neighbours), error.size)
        digits = 4 if question.task == "mean" else 2
        figure = f"{error.size:,.{digits}f} ({error.give_or_take:.{digits}f}) {question.unit}".strip()
        yield [*head, figure, times, f"{error.runs:,}"]


def _geometric(epsilon: float) -> float:
    a = math.exp(-epsilon)
    return math.sqrt(2.0 * a) / (1.0 - a)
