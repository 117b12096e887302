"""Broken twins of a protocol, and which check catches each.

    python -m headcount.audit.twins [--only zsum] [--out docs/twins.md]

A suite that passes a broken protocol proves nothing. Every tiny instance of the catalogue is mutated in every way there
is; the command fails if any twin goes unnoticed, or if the sound protocol in the same wrapping does not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headcount.audit.agreement import Check, Nonconforming
from headcount.audit.checks import CHECKS, it_survives_pickling_and_json
from headcount.audit.enumerate import Enumerated, crowds
from headcount.audit.exact import EPSILONS
from headcount.audit.loss_checks import calibration_meets_the_budget_and_no_more
from headcount.audit.mutation import Mutation, twin
from headcount.audit.mutations import MUTATIONS
from headcount.core.coins import SeededCoins
from headcount.core.protocol import Protocol
from headcount.protocols import CATALOGUE

# A class that is made on the fly cannot be pickled, sound or not; and calibration is about large crowds.
LEFT_OUT = (it_survives_pickling_and_json, calibration_meets_the_budget_and_no_more)
TWIN_CHECKS: tuple[Check, ...] = tuple(check for check in CHECKS if check not in LEFT_OUT)
ABOUT_LOSS = {
    "the_claimed_loss_covers_every_view", "noise_is_shared_among_the_honest", "the_loss_follows_dropouts",
    "the_claim_holds_at_size",
}  # fmt: skip


DRAWN = 20


@dataclass(frozen=True)
class Caught:
    """What became of one mutation of a protocol."""

    protocol: Protocol
    mutation: str
    unfit: str = ""  # why there is nothing to break
    check: str = ""
    message: str = ""

    @property
    def fine(self) -> bool:
        return bool(self.unfit or self.check)

    def row(self) -> str:
        outcome = f"does not apply: {self.unfit}" if self.unfit else self.check or "NOT CAUGHT"
        name = f"{self.protocol.name} ({self.protocol.task.name}, {self.protocol.neighbours})"
        return f"| {name} | {self.mutation} | {outcome} | {self.message} |"


def caught_by(broken: Protocol, first: str = "") -> tuple[str, str]:
    """The first check that notices anything, and what it says; that of this name is tried before the others."""
    for check in sorted(TWIN_CHECKS, key=lambda check: check.__name__ != first):
        try:
            check(broken)
        except Nonconforming as problem:
            return check.__name__, str(problem)
    return "", ""


def tried(protocol: Protocol, mutation: Mutation) -> Caught:
    made = mutation.make(protocol)
    if isinstance(made, str):
        return Caught(protocol, mutation.name, unfit=made)
    check, message = caught_by(made, mutation.seen)
    if not check and unchanged(protocol, made):
        return Caught(protocol, mutation.name, unfit="nothing that is sent, released, answered or claimed is changed")
    if not check and protocol.loss.kind == "bound" and mutation.seen in ABOUT_LOSS:
        return Caught(protocol, mutation.name, unfit="the claim is a bound, and no check shows that it no longer holds")
    return Caught(protocol, mutation.name, "", check, message)


def unchanged(protocol: Protocol, made: Protocol) -> bool:
    """Whether a twin does and says in all small crowds, and with the same coins, what the sound protocol does."""
    return all(a == b for a, b in zip(_told(protocol), _told(made), strict=True))


def _told(protocol: Protocol) -> Iterator[Any]:
    yield protocol.crowd, protocol.local_epsilon, protocol.messages_per_person
    enumerated = Enumerated(protocol)
    for people in (1, protocol.crowd.honest):
        loss = protocol.loss_if(people)
        yield [(loss.delta(epsilon), loss.slack(epsilon)) for epsilon in EPSILONS]
        for held in crowds(protocol.task.values, people):
            yield enumerated.view(held)
            points, masses = enumerated.estimates(held)
            yield points.tolist(), masses.tolist()
    values, coins = np.arange(protocol.crowd.size) % protocol.task.values, SeededCoins(8)
    for _ in range(DRAWN):
        batch = protocol.reports(values, coins)
        yield batch.messages.tobytes(), protocol.release(protocol.tally(batch), coins).totals.tolist()
        yield protocol.error().half_width()


def caught(protocol: Protocol) -> Iterator[Caught]:
    """Every mutation of a sound protocol: whether it applies, and which check catches it."""
    return (tried(protocol, mutation) for mutation in MUTATIONS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Broken twins of every protocol, and the checks that catch them.")
    parser.add_argument("--only", help="the name of one protocol")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    tinies = [tiny for cls in CATALOGUE if arguments.only in (None, cls.name) for tiny in cls.tinies()]
    rows: list[Caught] = []
    accused: list[str] = []
    for tiny in tinies:
        check, message = caught_by(twin(tiny))
        accused += [f"{check}: {message}"] if check else []
        for row in caught(tiny):
            rows.append(row)
            print(row.row(), flush=True)
    applied, missed = [row for row in rows if not row.unfit], [row for row in rows if not row.fine]
    page = "\n".join([
        "# Broken twins", "",
        f"Made by `python -m headcount.audit.twins`: {len(MUTATIONS)} mutations of {len(tinies)} instances, of which",
        f"{len(applied)} apply and {len(applied) - len(missed)} are caught; {len(accused)} sound ones are accused.", "",
        "| protocol | mutation | caught by | message |", "|---|---|---|---|", *(row.row() for row in rows), "",
    ])  # fmt: skip
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    print(f"{len(applied) - len(missed)} of {len(applied)} twins caught; {len(accused)} sound ones accused", *accused)
    sys.exit(1 if missed or accused else 0)


if __name__ == "__main__":
    main()
