"""Large domains: ten million people over a million categories, one fresh process per protocol.

Run as a script with a protocol's name and the numbers of people and categories, it measures and prints JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

import headcount as hc
from page import Section, met
from timing import agrees, seconds

PROTOCOLS = ("poisson-histogram", "stability-histogram", "correlated-histogram")
PEOPLE, CATEGORIES = 10**7, 10**6
SECONDS, MEGABYTES = 30.0, 2_048.0


def measured(name: str, people: int, categories: int) -> dict[str, float]:
    """Data to intervals; the peak is the process's own, data included."""
    values = np.random.default_rng(1).integers(0, categories, people)  # noqa: TID251
    truth = np.bincount(values, minlength=categories)
    answers: list[hc.Estimate] = []

    def work() -> None:
        answers.append(hc.histogram(values, categories=categories, protocol=name, epsilon=1, delta=1e-6))
        answers[0].intervals()

    taken = seconds(work)
    answer = answers[0]
    if name != "stability-histogram":  # which hides nearly all of these rare categories
        spread, stated = float(np.std(answer.values - truth)), answer.protocol.rmse()
        agrees(f"{name}'s error", spread, stated, stated / 100.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return {"seconds": taken, "megabytes": peak, "messages": answer.protocol.messages_per_person}


def measure(_quick: bool) -> Section:
    people, categories = PEOPLE, CATEGORIES  # seconds, quick or not
    rows = []
    for name in PROTOCOLS:
        command = [sys.executable, str(Path(__file__)), name, str(people), str(categories)]
        figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        holds = figures["seconds"] <= SECONDS and figures["megabytes"] <= MEGABYTES
        rows.append([
            f"`{name}`", f"{figures['messages']:.3g}", f"{figures['seconds']:.1f} s", f"{figures['megabytes']:,.0f} MB",
            f"below {SECONDS:.0f} s and {MEGABYTES / 1024:.0f} GB", met(holds),
        ])  # fmt: skip
    return Section(
        "Large domains",
        f"`hc.histogram(values, categories={categories:,}, …)` and its intervals, {people:,} people, at (1, 1e-6), "
        "from the array of values to the answer, with secret coins. Memory is the whole process's, the data included.",
        ["protocol", "messages a person", "time", "memory", "target", ""],
        rows,
        "Dummies are drawn by their number, not by category, and counted piece by piece; what is left is the keystream "
        "and the random access of counting.",
    )


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
