"""Every claim about small crowds against the truth, for every tiny instance of the catalogue.

    python -m headcount_survey.pages.claims [--people 12] [--out docs/claims.md]

Crowds of 1, 2, 3 … people, planned for as many or for more than turn up, and corrupt ones besides.
What everybody sends is enumerated in integers, from the report programme alone. The command fails
if any claim does.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headcount.audit.conformance.exact_loss import (
    EPSILONS,
    Interval,
    JudgedClaim,
    exact_delta,
    judge_claim,
    worst_delta,
)
from headcount.audit.enumeration import Enumerated
from headcount.errors import BadArgument, Refused
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol

PEOPLE = 12
CORRUPT = 2
OUTCOMES = 4_000_000  # of all crowds of a size together, at most


def judged(tiny: Protocol, most: int = PEOPLE, limit: int = OUTCOMES) -> Iterator[JudgedClaim]:
    """One instance among 1, 2, … people, as far as these outcomes allow; all plans that may occur.

    Corrupt people are planned for besides in crowds that are no larger than the instance's own. The
    claims of a trusted analyser are about any number of people, and need not be the best for fewer
    than the tiny instance has.
    """
    before, enumerated = 0, Enumerated(tiny)
    known: dict[int, list[Interval]] = {}
    for size in range(1, most + 1):
        try:
            planned = tiny.among(Crowd(size))
        except Refused:  # not every parameter suits every crowd
            continue
        if not _alike(planned, enumerated.protocol):
            enumerated, known = Enumerated(planned), {}
        for people in range(1, size + 1):
            if people not in known:
                known[people] = worst_delta(enumerated, people)
                enumerated.seen.forget(people)
            loss = planned.loss_if(people)
            tight = tiny.model is not Model.CENTRAL or people >= tiny.crowd.size
            yield from judge_claim(planned, people, loss, known[people], tight=tight)
        if size <= tiny.crowd.size:
            yield from _with_corrupt(tiny, size)
        outcomes = enumerated.seen.outcomes
        if outcomes * outcomes > limit * (before or outcomes):  # they grow at least as fast again
            return
        before = outcomes


def _alike(first: Protocol, second: Protocol) -> bool:
    """Whether everybody does the same in both."""
    return first.programme.encode() == second.programme.encode() and first.released() == second.released()


def _with_corrupt(tiny: Protocol, honest: int) -> Iterator[JudgedClaim]:
    for corrupt in range(1, CORRUPT + 1):
        try:
            planned = tiny.among(Crowd(honest + corrupt, corrupt=corrupt))
        except Refused:
            continue
        exact, tight = exact_delta(planned, honest, EPSILONS, corrupt), tiny.model is not Model.CENTRAL
        yield from judge_claim(planned, honest, planned.loss_if(honest), exact, corrupt, tight=tight)


@dataclass(frozen=True)
class Row:
    """One tiny instance: how far enumerated, its largest crowd at one epsilon, the widest gap."""

    protocol: Protocol
    people: int
    compared: int
    largest: JudgedClaim
    closest: float  # the claim less the truth, where that is smallest
    furthest: float  # and largest, beyond the stated slack
    width: float  # of the widest interval
    holds: bool


def row(tiny: Protocol, most: int = PEOPLE, limit: int = OUTCOMES, epsilon: float = 1.0) -> Row:
    """One instance among at most these people. Refuses parameters that suit none of the crowds."""
    every = list(judged(tiny, most, limit))
    if not every:
        raise BadArgument("people", f"is {most}, which is too few for {tiny.name}", "allow more")
    largest = max((one for one in every if one.epsilon == epsilon and not one.corrupt), key=lambda one: one.people)
    tight = [one for one in every if one.tight]
    return Row(
        protocol=tiny,
        people=largest.people,
        compared=len(every),
        largest=largest,
        closest=min(one.claimed - float(one.exact.low) for one in every),
        furthest=max((one.difference - one.slack for one in tight), default=math.nan),
        width=max(one.exact.width for one in every),
        holds=all(one.holds for one in every),
    )


HEAD = (
    "| protocol | task | relation | people | claims | kind | exact delta | claimed | least margin | too much | width |",
    "|---|---|---|---:|---:|---|---:|---:|---:|---:|---:|",
)


def line(row: Row) -> str:
    protocol, largest = row.protocol, row.largest
    cells = [
        protocol.name,
        protocol.task.name,
        protocol.neighbours.words,
        f"{row.people}",
        f"{row.compared}",
        protocol.loss.kind,
        f"{float(largest.exact.high):.9g}",
        f"{largest.claimed:.9g}",
        f"{row.closest:.1e}",
        "" if math.isnan(row.furthest) else f"{max(row.furthest, 0.0):.1e}",
        f"{row.width:.1e}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Every view of small crowds, in integers, against the claims.")
    parser.add_argument("--people", type=int, default=PEOPLE, help="at most")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for tiny in (tiny for cls in CATALOGUE for tiny in cls.tinies()):
        try:
            rows.append(row(tiny, arguments.people))
        except BadArgument as refusal:
            print(refusal, flush=True)
        else:
            print(line(rows[-1]), flush=True)
    page = "\n".join(
        [
            "# Claims and truths of small crowds",
            "",
            "Made by `make claims`: every view of every pair of neighbouring crowds of up to this many",
            "people, in integers, from the report programmes alone; planned for as many or more, and",
            "with corrupt people among them. Delta is that of the largest crowd at epsilon 1. The least",
            "margin is the smallest difference of a claim from the truth; too much is what an exact",
            "claim has beyond the truth, its rounding up and its stated slack; width is that of the",
            "widest interval in which a truth is known to lie.",
            "",
            *HEAD,
            *map(line, rows),
            "",
        ]
    )
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    wrong = [row.protocol.name for row in rows if not row.holds]
    print(f"{len(rows) - len(wrong)} of {len(rows)} instances keep their word", *wrong)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
