"""A year of weekly counts, and of sums so far, beside the peers: the error of a round, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from accuracy import ADD_REMOVE, DELTA, EPSILON, PEOPLE, REPLACE, Error
from crowds import CrowdFile
from page import Section
from peer import NotMeasured, Peer, in_turn, peers
from timing import Spread

WEEKS, DAYS, FIRST = 52, 365, 0.9  # the first of memoised reports tells so much of what all of them tell
NAMES = ("headcount", "opendp", "dp_accounting", "jax_privacy", "multi_freq")
ENDED = "central, at the end"
CHANGING, CONSTANT = "local, answers may change", "local, answers never change"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """What is asked of everybody, of which column of the crowd."""

    title: str
    task: str
    column: str
    rounds: int

    def truth(self) -> Floats:
        held = CrowdFile(PEOPLE, DAYS).column(self.column).astype(np.int64)
        return np.cumsum(np.bincount(held, minlength=self.rounds)) if self.task == "sums" else np.array([held.sum()])


@dataclass(frozen=True)
class Contender:
    """A library that is asked, the party that people trust, and the adjacency."""

    label: str
    peer: str
    trust: str
    neighbours: str
    job: dict[str, Any] = field(default_factory=dict)


WEEKLY = Question(f"A count in each of {WEEKS} weeks", "rounds", "clicked", WEEKS)
SO_FAR = Question(f"How many have come, on each of {DAYS} days", "sums", "key", DAYS)


def contenders(question: Question) -> Iterator[Contender]:
    """Ours comes first in each company; the others are compared with it."""
    if question is WEEKLY:
        yield Contender("headcount", "headcount", "central", REPLACE)
        yield Contender("OpenDP, Gaussian noise", "opendp", "central", REPLACE)
        yield Contender("dp-accounting, Gaussian noise of numpy", "dp_accounting", "central", REPLACE)
        yield Contender("headcount (no peer has this)", "headcount", "shuffle", REPLACE)
        yield Contender("headcount, a panel each week", "headcount", CHANGING, REPLACE)
        yield Contender("multi-freq-ldpy, GRR at a part of epsilon", "multi_freq", CHANGING, REPLACE, {"by": "GRR"})
        yield Contender("headcount, asked once", "headcount", CONSTANT, REPLACE, {"task": "once"})
        for name in ("L-GRR", "L-OSUE", "RAPPOR", "dBitFlipPM"):
            yield Contender(f"multi-freq-ldpy, {name}", "multi_freq", CONSTANT, REPLACE, {"by": name, "first": FIRST})
        return
    for neighbours in (ADD_REMOVE, REPLACE):
        yield Contender("headcount", "headcount", "central", neighbours)
        if neighbours == ADD_REMOVE:
            for matrix in ("Toeplitz", "dense"):
                label = f"jax-privacy, {matrix} matrix"
                yield Contender(label, "jax_privacy", "central", neighbours, {"matrix": matrix})
            yield Contender("dp-accounting, a binary tree of numpy's noise", "dp_accounting", "central", neighbours)
        job = {"task": "ended", "protocol": "geometric"}
        yield Contender("headcount, a distribution, delta 0", "headcount", ENDED, neighbours, job)
        for branching, noise in ((31, "Laplace"), (20, "Laplace"), (8, "Gaussian")):
            label = f"OpenDP, a tree of {branching}, {noise} noise"
            yield Contender(label, "opendp", ENDED, neighbours, {"branching": branching, "noise": noise})
    yield Contender("headcount (no peer has this)", "headcount", "shuffle", REPLACE)


def errors(answers: Floats, truth: Floats) -> tuple[Error, Error]:
    """Of a round on average, and of the worst: where half of the runs err most, by how much the others err there."""
    squares = (answers - truth) ** 2
    half = len(squares) // 2
    worst = int(squares[:half].mean(axis=0).argmax())
    return Error.of_squares(squares.mean(axis=1)), Error.of_squares(squares[half:, worst])


def measure(quick: bool) -> Section:
    with peers(*NAMES) as asked:
        rows = [row for question in (WEEKLY, SO_FAR) for row in _rows(question, asked, quick)]
    return Section(
        "Series at equal privacy",
        f"The answers of {PEOPLE:,} people at epsilon {EPSILON:g} and delta at most {DELTA:g} for all rounds together, "
        "on the same file. The error is the root of the mean square over all runs, in people: over all rounds alike, "
        "and in the worst of them. *Trust* and *neighbours* are as above, and only rows with the same of both compare. "
        "In the second question everybody comes on one day; trees that are made to agree are told at the end of all "
        "days, the others day by day. OpenDP composes Gaussian noise by concentrated privacy; dp-accounting says how "
        "much noise is enough and numpy draws it, in floating point; jax-privacy's matrices are its best Toeplitz one "
        "for the worst day and its optimised one for the average, scaled by dp-accounting, with numpy's noise again. "
        "multi-freq-ldpy's longitudinal protocols keep a coin for each answer for ever: epsilon holds for answers that "
        f"never change, of which the first report tells {FIRST:g}; of answers that change they promise nothing finite, "
        "and its plain oracle pays for every week. Its estimates are cut off and made to add up. The time is that of a "
        "round from data in memory, after planning, which is told by itself, once. Contenders take turns.",
        ["question", "trust", "neighbours", "who", "error (standard error)", "times ours", "worst round", "planning",
         "a round (spread)"],
        rows,
        "Continuous Gaussian noise, where every answer may change: discrete noise is within a part in a "
        "thousand of it. headcount is behind jax-privacy's dense matrix, which is optimised for the average and errs "
        "less than the square root of the sums' own matrix, which headcount uses. It is behind in time where noise is "
        "exact and peers draw numpy's, and in planning where OpenDP converts by a formula: its plans are composed "
        "exactly over the whole catalogue. Where answers never change, one memoised report tells about as much as "
        "one report to headcount. Estimates that are cut off at 0 and at everybody cannot err by more.",
        grouped=True,
    )  # fmt: skip


def _rows(question: Question, asked: dict[str, Peer], quick: bool) -> Iterator[Sequence[str]]:
    truth, crowd = question.truth(), CrowdFile(PEOPLE, DAYS)
    common = {
        "task": question.task, "data": str(crowd.array(question.column)), "people": PEOPLE, "rounds": question.rounds,
        "epsilon": EPSILON, "delta": DELTA, "runs": 40 if quick else 400, "least": 2,
        "seconds": 0.5 if quick else 3.0, "warm": True,
    }  # fmt: skip
    everybody = {f"{each.trust}, {each.neighbours}, {each.label}": each for each in contenders(question)}
    jobs: dict[str, tuple[Peer, dict[str, Any]]] = {}
    planning: dict[str, str] = {}
    for name, each in everybody.items():
        job = {**common, "model": each.trust.partition(",")[0], "neighbours": each.neighbours, **each.job}
        try:
            taken = asked[each.peer].ask(**{**job, "planning": True, "runs": 1, "warm": False})["seconds"][0]
            jobs[name] = asked[each.peer], {**job, "planning": False, "answers": True}
            planning[name] = "" if each.peer == "multi_freq" else f"{taken:.2f} s"
        except NotMeasured as reason:
            planning[name] = f"not measured: {reason}"
    found = in_turn(jobs, 2)
    ours: dict[tuple[str, str], float] = {}
    for name, each in everybody.items():
        head = [question.title, each.trust, each.neighbours, each.label]
        if not found.get(name):
            yield [*head, planning[name], "", "", "", ""]
            continue
        answers = np.array([one for turn in found[name] for one in turn["answers"]], dtype=np.float64)
        mean, worst = errors(answers, truth)
        times = [1e3 * Spread.of(turn["seconds"]).median / answers.shape[1] for turn in found[name]]
        first = ours.setdefault((each.trust, each.neighbours), mean.size)
        beside = "" if math.isclose(first, mean.size) else f"{mean.size / first:.2f}"
        largest = f"{worst.size:,.2f} ({worst.give_or_take:.2f})" if question is SO_FAR else ""
        shown = f"{mean.size:,.2f} ({mean.give_or_take:.2f})"
        yield [*head, shown, beside, largest, planning[name], f"{Spread.of(times):.3f} ms"]
