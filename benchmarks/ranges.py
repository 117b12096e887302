"""Ranges, a median and deciles beside the peers: how many people an answer is off by, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from accuracy import ADD_REMOVE, EPSILON, PEOPLE, REPLACE, Error
from crowds import BOUNDS, CrowdFile
from page import Section
from peer import NotMeasured, Peer, in_turn, peers
from timing import Spread, ratio

BINS, DELTA = 1_024, 1e-6  # delta only where nobody is trusted with everything
NAMES = ("headcount", "opendp", "diffprivlib", "pipeline_dp")
ADVISED, EVEN = 26, 32  # children of a node: what OpenDP's choose_branching_factor says, and the least levels
DECILES = [part / 10 for part in range(1, 10)]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """What is asked of everybody, and the mean square error of each run's answer in people."""

    title: str
    task: str
    squares: Callable[[Floats, Floats], Floats]
    job: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A library that is asked, the party that people trust, and the adjacency."""

    label: str
    peer: str
    trust: str
    neighbours: str
    job: dict[str, Any] = field(default_factory=dict)


def of_ranges(counts: Floats, values: Floats) -> Floats:
    """Of all ranges between two edges alike: from the errors of prefixes, pair by pair, in closed form."""
    held = np.histogram(values, BINS, BOUNDS)[0]
    prefixes = np.cumsum(np.pad(counts.reshape(-1, BINS) - held, ((0, 0), (1, 0))), axis=1)
    return 2.0 * np.asarray(prefixes.var(axis=1, ddof=1))


def of_quantiles(parts: Sequence[float]) -> Callable[[Floats, Floats], Floats]:
    """How many people lie between an answer and where it should be."""

    def squares(answers: Floats, values: Floats) -> Floats:
        wanted, there = np.array(parts) * values.size, np.sort(values)
        found = answers.reshape(-1, len(parts))
        fewest, most = np.searchsorted(there, found, "left"), np.searchsorted(there, found, "right")
        off = np.maximum(0.0, np.maximum(fewest - wanted, wanted - most))
        return np.asarray((off**2).mean(axis=1))

    return squares


QUESTIONS = (
    Question(f"All ranges of {BINS:,} bins", "ranges", of_ranges),
    Question("A median", "quantiles", of_quantiles([0.5]), {"parts": [0.5]}),
    Question("Nine deciles at once", "quantiles", of_quantiles(DECILES), {"parts": DECILES}),
)


def contenders(question: Question) -> Iterator[Contender]:
    """Ours comes first in each company; the others are compared with it."""
    for neighbours in (ADD_REMOVE, REPLACE):
        yield Contender("headcount", "headcount", "central", neighbours)
        for branching in (ADVISED, EVEN):
            label = f"OpenDP, a tree of {branching}"
            yield Contender(label, "opendp", "central", neighbours, {"branching": branching})
        if question.task == "ranges":
            if neighbours == ADD_REMOVE:
                yield Contender("diffprivlib, a histogram (clamps at 0)", "diffprivlib", "central", neighbours)
            continue
        yield Contender("OpenDP, exponential mechanism", "opendp", "central", neighbours)
        if neighbours == ADD_REMOVE:
            label = "PipelineDP, Google's quantile tree"
            yield Contender(label, "pipeline_dp", "central", neighbours, {"seconds": 5.0})
        else:
            yield Contender("diffprivlib, exponential mechanism", "diffprivlib", "central", neighbours)
    yield Contender("headcount (no peer has this)", "headcount", "shuffle", REPLACE, {"delta": DELTA})
    yield Contender("headcount (no peer has this)", "headcount", "local", REPLACE)


def measure(quick: bool) -> Section:
    with peers(*NAMES) as asked:
        rows = [row for question in QUESTIONS for row in _rows(question, asked, quick)]
    return Section(
        "Distributions at equal privacy",
        f"Numbers of {PEOPLE:,} people between {BOUNDS[0]:g} and {BOUNDS[1]:g}, small ones more frequent, in {BINS:,} "
        f"equal bins at epsilon {EPSILON:g} and delta 0 ({DELTA:g} with a shuffler), on the same file. The error is "
        "the root of the mean square over all runs, in people: of every range between two edges alike, or of how many "
        "lie between a quantile and the answer. *Trust* and *neighbours* are as above, and only rows with the same of "
        "both compare. OpenDP counts a tree whose answers are made to agree, with the children of a node that its "
        f"`choose_branching_factor` says ({ADVISED}) and with those that fill the fewest levels ({EVEN}), or chooses "
        "among the edges by its `make_private_quantile`; diffprivlib chooses among the intervals between people; "
        "PipelineDP's tree has four levels of 16. Several quantiles by the exponential mechanism share epsilon. "
        "headcount asks for a whole distribution each time, best for ranges or best for quantiles. The time is that "
        "of one answer from numbers in memory; peers have planned before, headcount plans within it and remembers. "
        "Contenders take turns, and ratios of times are taken round by round.",
        [
            "question",
            "trust",
            "neighbours",
            "who",
            "error (standard error)",
            "times ours",
            "time (spread)",
            "times our time",
        ],
        rows,
        "With a trusted analyser, a median alone is where headcount is behind: it has no exponential mechanism, which "
        "spends all of epsilon on one place and answers nothing else, and asks a whole distribution for one quantile "
        "instead. Everything after that is free: several quantiles share the exponential mechanism's epsilon. OpenDP's "
        "tree spends a level on the number of everybody, public or not. Locally, the outer deciles of so few people "
        "are refused, not guessed.",
        grouped=True,
    )


def _rows(question: Question, asked: dict[str, Peer], quick: bool) -> Iterator[Sequence[str]]:
    crowd = CrowdFile(PEOPLE, 100)
    values = crowd.column("value")
    common = {
        "task": question.task, "data": str(crowd.path), "epsilon": EPSILON, "delta": 0.0, "bins": BINS,
        "bounds": BOUNDS, "via": "array", "answers": True, "warm": True, "runs": 40 if quick else 200, "least": 1,
        "seconds": 0.3 if quick else 1.0, **question.job,
    }  # fmt: skip
    everybody = {f"{each.trust}, {each.neighbours}, {each.label}": each for each in contenders(question)}
    jobs: dict[str, tuple[Peer, dict[str, Any]]] = {}
    failed: dict[str, NotMeasured] = {}
    for name, each in everybody.items():
        job = {**common, "model": each.trust, "neighbours": each.neighbours, **each.job}
        try:
            asked[each.peer].ask(**{**job, "runs": 1})
            jobs[name] = asked[each.peer], job
        except NotMeasured as reason:
            failed[name] = reason
    found = in_turn(jobs, 2 if quick else 3)
    ours: dict[tuple[str, str], tuple[Error, list[float]]] = {}
    for name, each in everybody.items():
        head = [question.title, each.trust, each.neighbours, each.label]
        if name in failed:
            yield [*head, f"not measured: {failed[name]}", "", "", ""]
            continue
        answers = np.array([one for turn in found[name] for one in turn["answers"]], dtype=np.float64)
        error = Error.of_squares(question.squares(answers, values))
        times = [1e3 * Spread.of(turn["seconds"]).median for turn in found[name]]
        first = ours.setdefault((each.trust, each.neighbours), (error, times))
        beside = (
            ["", ""] if first[1] is times else [f"{error.size / first[0].size:.2f}", f"{ratio(times, first[1]):.2f}"]
        )
        figure = f"{error.size:,.2f} ({error.give_or_take:.2f})"
        yield [*head, figure, beside[0], f"{Spread.of(times):.2f} ms", beside[1]]
