"""How long advice takes for large crowds and extreme budgets: what finds an answer, and what finds that there is none.

Each call has a process of its own, in which no cache has been filled by an earlier one, and is measured in seconds of a
processor.

    python benchmarks/extremes.py             every call
    python benchmarks/extremes.py smallest_n  those with these words in them
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from time import process_time
from typing import Any

import headcount as hc
from headcount.errors import Refused

PEOPLE = 10**9
USUAL = (1.0, 1e-6)
EXTREMES = ((34.0, 1e-11), (48.7, 5e-18))
TASKS = {"count": "count", "sum": hc.Sum((0, 120)), "mean": hc.Mean((0, 120)), "histogram": hc.Histogram(100)}
ANSWERED, REFUSED = 3.0, 1.0  # seconds


@dataclass(frozen=True)
class Call:
    """A question to the advisor, as it is written."""

    function: str
    task: str
    wishes: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.function}({self.task}, {', '.join(f'{name}={value:g}' for name, value in self.wishes.items())})"

    def __call__(self) -> str:
        try:
            answer = getattr(hc, self.function)(TASKS[self.task], **self.wishes)
            return f"{answer:,}" if isinstance(answer, int) else answer.best.protocol.name
        except Refused as refusal:
            return f"refused: {refusal.reason}"


def calls() -> Iterable[Call]:
    for task in TASKS:
        for epsilon, delta in (USUAL, *EXTREMES):
            yield Call("advise", task, {"n": PEOPLE, "epsilon": epsilon, "delta": delta})
            yield Call("advise", task, {"n": 2, "epsilon": epsilon, "delta": delta})
            yield Call("smallest_n", task, {"epsilon": epsilon, "delta": delta})
        for within in (1e-3, 1.0, 1e3, 1e9):
            yield Call("smallest_n", task, {"epsilon": 1.0, "delta": 1e-6, "within": within})
        yield Call("advise", task, {"n": PEOPLE, "delta": 1e-6, "within": 100.0})
        yield Call("advise", task, {"n": PEOPLE, "delta": 1e-6, "within": 1e-6})


def timed(call: Call) -> tuple[str, float]:
    """The result, computed in this process, and its processor time in seconds."""
    start = process_time()
    answer = call()
    return answer, process_time() - start


def apart(work: Callable[[Call], tuple[str, float]], call: Call) -> tuple[str, float]:
    """The same in a process of its own, which has imported what this one has."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as process:
        return process.submit(work, call).result()


def limit(answer: str) -> float:
    return REFUSED if answer.startswith("refused") else ANSWERED


def main(words: str) -> int:
    late = 0
    hc.advise("count", n=100, epsilon=2, delta=1e-5)  # which imports what is imported when first used
    for call in calls():
        if words in str(call):
            answer, seconds = apart(timed, call)
            over = seconds > limit(answer)
            late += over
            print(f"{seconds:6.2f} s {'over' if over else '    '}  {call}: {answer}", flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
