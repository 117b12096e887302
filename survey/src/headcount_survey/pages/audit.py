"""The checks and attacks that every protocol went through, on one page.

    python -m headcount_survey.pages.audit --out docs/audit.md

For each tiny instance of the catalogue: a plan of the same kind for ten thousand people, whose
certificate is proved again and refuted with less noise; every view of small crowds, enumerated; a
million runs, attacked; every mutation of it, and how many the checks notice. It takes most of an
hour on two cores.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import CATALOGUE
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount_survey.mutants.detection import caught
from headcount_survey.pages import attacks, claims
from headcount_survey.pages.certificates import Proved, proved

PEOPLE, EPSILON, DELTA = 10_000, 1.0, 1e-6
SMALL = 8  # people, up to whom everything is enumerated here, as far as
OUTCOMES = 20_000  # allow; the page of claims goes further


@dataclass(frozen=True)
class Line:
    """One instance: the cells of its row, and whether everything went as it must."""

    cells: tuple[str, ...]
    fine: bool

    def __str__(self) -> str:
        return "| " + " | ".join(self.cells) + " |"


def line(protocol: Protocol) -> Line:
    certificate, small = _certificate(protocol), claims.row(protocol, SMALL, OUTCOMES)
    attacked = max(attacks.attacks(among=attacks.like(protocol)), key=lambda row: row.reached, default=None)
    applied = [one for one in caught(protocol) if not one.unfit]
    noticed = [one for one in applied if one.check]
    exact = protocol.loss.kind != "bound"
    cells = (
        protocol.name,
        f"{protocol.task.name}, {protocol.neighbours}",
        protocol.loss.kind,
        *_proved(certificate),
        f"{small.people}",
        f"{float(small.largest.exact.low):.6g}",
        f"{small.largest.claimed:.6g}",
        *((f"{attacked.found:.3f}", f"{attacked.exact:.3f}") if attacked else ("", "")),
        f"{len(noticed)} of {len(applied)}",
    )
    fine = small.holds and len(noticed) == len(applied) and (attacked is None or attacked.sound)
    return Line(cells, fine and (certificate is None or certificate.fine or not exact))


def _certificate(protocol: Protocol) -> Proved | None:
    budget = Budget(EPSILON, DELTA, protocol.neighbours)
    try:
        return proved(Plan(calibrate(type(protocol), protocol.task, Crowd(PEOPLE), budget), budget))
    except Refused:
        return None


def _proved(found: Proved | None) -> tuple[str, str]:
    if found is None:
        return "no such plan", ""
    point = found.verdict.points[0] if found.verdict.points else None
    delta = f"{float(point.delta):.6g} " if point else ""
    return f"{delta}{found.verdict.answer}", found.lowered.answer


HEAD = """# What every protocol was put through

Made by `make audit`.

- **Proved**: delta at epsilon {epsilon:g} of a plan for {people:,} people and delta {delta:g}, by its certificate
  alone; and what became of that certificate with one percent less noise. `exact` claims must be proved and then
  refuted; a `bound` may be beyond what the proofs know.
- **Enumerated**: the true delta at epsilon 1 of the worst two neighbouring crowds of so many people, from every view,
  and the claim.
- **Attacked**: a lower bound on epsilon from {samples:,} runs a side, against the exact one at the same delta.
- **Twins**: how many of the mutations that apply are noticed by the conformance suite.

More in [certificates](certificates.md) and [attacks](attacks.md); `make claims` and `make twins` list every one.

| protocol | task | accounting | proved | with less noise | people | enumerated | claimed | attacked | exact | twins |
|---|---|---|---|---|---:|---:|---:|---:|---:|---:|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the page to write")
    given = parser.parse_args()
    tinies = [tiny for cls in CATALOGUE for tiny in cls.tinies()]
    lines = []
    with ProcessPoolExecutor() as pool:
        for one in pool.map(line, tinies):
            lines.append(one)
            print(one, "" if one.fine else "!", flush=True)
    head = HEAD.format(
        epsilon=EPSILON,
        people=PEOPLE,
        delta=DELTA,
        samples=10**6,
    )
    if given.out:
        given.out.write_text(head + "".join(f"{one}\n" for one in lines), encoding="utf-8")
    sys.exit(not all(one.fine for one in lines))


if __name__ == "__main__":
    main()
