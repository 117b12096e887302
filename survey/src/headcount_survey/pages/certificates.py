"""Each protocol's certificate over budgets and crowds: proved, and refuted with too little noise.

    python -m headcount_survey.pages.certificates [--only zsum] [--out docs/certificates.md]

A certificate whose report or release is that of the same protocol with one percent less noise,
while it claims what it did, must be refuted where the accounting is exact, and must never be
proved.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.proof import Verdict, verify
from headcount.protocols import CATALOGUE
from headcount.protocols.base.certificate import Certificate, certify
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.distribution import Distribution
from headcount.questions.domains.levels import Levels
from headcount.questions.grouped import Group, SumByGroup
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table

IN_GROUPS = SumByGroup((Group(("a", "b")),), ("group",), Levels((0.0, 10.0), 10))
CELLS = Distribution((0.0, 16.0), 16), Table({"a": 3, "b": 3, "c": 2})
TASKS: tuple[Question, ...] = (Count(), Histogram(20), Sum((0, 10)), Mean.whole((0, 10)), IN_GROUPS, *CELLS)
GRID = (
    (0.05, 1e-12, 1_000_000),
    (0.3, 1e-6, 1_000_000),
    (1.0, 1e-6, 10_000),
    (1.0, 1e-12, 1_000_000),
    (2.0, 1e-9, 3_000),
    (4.0, 1e-5, 100),
)
LESS = 0.01
LOOSE = {"exact": 1.05, "rounded": 1.15}  # claimed over true: of what is rounded, transforms' errors are part
MOST_BOUNDED = 10_000  # people, up to whom bounds are looked at: some of their programmes are very long


def lowered(protocol: Protocol, less: float = LESS) -> Protocol:
    """The same with less noise: the knob nearer to its noiseless end by this share, or a step."""
    given: dict[str, Any] = {"task": protocol.task, "crowd": protocol.crowd, "neighbours": protocol.neighbours}
    knob, parameters = protocol.knob, protocol.parameters
    needed: dict[str, Any] = {name: parameters[name] for name in protocol.parameter_names()[0]}
    needed |= {name: value for name, value in parameters.items() if isinstance(value, int)}
    setting, end = parameters[knob.name], knob.at(knob.low, {**given, **needed})
    if isinstance(setting, int):
        less_noise: float = setting - max(1, round(less * setting))
    elif end > 1.0:
        less_noise = setting / (1.0 - less)
    else:
        less_noise = setting + less * (end - setting)
    return type(protocol)(**given, **{**needed, knob.name: less_noise})


def with_the_noise_of(certificate: Certificate, other: Protocol) -> Certificate:
    """The same claim of another protocol's report and release."""
    forged = {**certificate.to_json(), "report": other.programme.encode(), "release": other.released().encode()}
    return Certificate.of(forged)


@dataclass(frozen=True)
class Proved:
    """One plan: what became of its certificate, and of that with too little noise."""

    plan: Plan
    verdict: Verdict
    lowered: Verdict
    seconds: float

    @property
    def exact(self) -> bool:
        return self.plan.protocol.loss.kind != "bound"

    @property
    def ratio(self) -> float | None:
        """The claimed delta over the true one, as far as that is known."""
        point = self.verdict.points[0] if self.verdict.points else None
        return float(point.delta / point.truth.low) if point and point.truth.low else None

    @property
    def fine(self) -> bool:
        if not self.exact:
            return self.verdict.answer != "refuted"
        tight = (self.ratio or 1.0) <= LOOSE[self.plan.protocol.loss.kind]
        return self.verdict.answer == "proved" and self.lowered.answer == "refuted" and tight

    def row(self) -> str:
        protocol, budget = self.plan.protocol, self.plan.budget
        ratio = f"{self.ratio:.4f}" if self.exact and self.ratio else ""
        why = "" if self.verdict.answer == "proved" else f": {self.verdict.because}"
        return (
            f"| {protocol.name} | {protocol.task.name}, {protocol.neighbours} | {budget.epsilon:g} | {budget.delta:g} "
            f"| {protocol.crowd.size:,} | {protocol.loss.kind} | {self.verdict.answer}{why} | {ratio} "
            f"| {self.lowered.answer} |"
        )


def plans(grid: Iterable[tuple[float, float, int]] = GRID, only: str | None = None) -> Iterator[Plan]:
    """Every protocol that serves, for every kind of task and relation."""
    for epsilon, delta, n in grid:
        for cls in CATALOGUE:
            if only not in (None, cls.name):
                continue
            for task in TASKS:
                for relation in sorted(cls.relations) if cls.answers(task) else ():
                    budget = Budget(epsilon, delta, relation)
                    try:
                        plan = Plan(calibrate(cls, task, Crowd(n), budget), budget)
                    except Refused:
                        continue
                    if plan.protocol.loss.kind != "bound" or n <= MOST_BOUNDED:
                        yield plan


def proved(plan: Plan) -> Proved:
    start = time.perf_counter()
    certificate = certify(plan)
    verdict = verify(certificate.to_json())
    less: dict[str, Any] = with_the_noise_of(certificate, lowered(plan.protocol)).to_json()
    return Proved(plan, verdict, verify(less), time.perf_counter() - start)


HEAD = """# Certificates

Made by `make certificates`: plans over a grid of budgets and crowds, their claims proved again
from the report programme alone, and the same claims made of one percent less noise. An `exact` plan must be proved,
with at most 1.05 times the true delta, and refuted with less noise; so must a `rounded` one, with at most 1.15 times; a
`bound` may be beyond what the proofs know.

| protocol | task, relation | epsilon | delta | people | accounting | certificate | claimed / true | with less noise |
|---|---|---:|---:|---:|---|---|---:|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="the name of a protocol")
    parser.add_argument("--out", type=Path, help="where to write the table")
    given = parser.parse_args()
    rows = []
    for plan in plans(only=given.only):
        rows.append(proved(plan))
        print(f"{rows[-1].row()} {rows[-1].seconds:.1f} s", flush=True)
    if given.out:
        given.out.write_text(HEAD + "".join(f"{row.row()}\n" for row in rows), encoding="utf-8")
    sys.exit(not all(row.fine for row in rows))


if __name__ == "__main__":
    main()
