"""The check that catches each mutant: a suite that passes a broken protocol proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount.audit.conformance.check import Check, Nonconforming
from headcount.audit.conformance.description_checks import it_survives_pickling_and_json
from headcount.audit.conformance.exact_loss import EPSILONS
from headcount.audit.conformance.loss_checks import calibration_meets_the_budget_and_no_more
from headcount.audit.enumeration import Enumerated, crowds
from headcount.programme.coins import SeededCoins
from headcount.protocols.base.protocol import Protocol
from headcount.testing import CHECKS
from headcount_survey.mutants.catalogue import MUTATIONS
from headcount_survey.mutants.mutation import Mutation

# A class that is made on the fly cannot be pickled, sound or not; and calibration is about large
# crowds.
LEFT_OUT = (it_survives_pickling_and_json, calibration_meets_the_budget_and_no_more)
TWIN_CHECKS: tuple[Check, ...] = tuple(check for check in CHECKS if check not in LEFT_OUT)
ABOUT_LOSS = {
    "the_claimed_loss_covers_every_view",
    "noise_is_shared_among_the_honest",
    "the_loss_follows_dropouts",
    "the_claim_holds_at_size",
}


DRAWN = 20


@dataclass(frozen=True)
class Caught:
    """The fate of one mutation of a protocol: not applicable, or caught by a check."""

    protocol: Protocol
    mutation: str
    unfit: str = ""  # why there is nothing to break
    check: str = ""
    message: str = ""

    @property
    def fine(self) -> bool:
        return bool(self.unfit or self.check)


def caught_by(broken: Protocol, first: str = "") -> tuple[str, str]:
    """The first check that fails, and its message; the one named `first` runs first."""
    for check in sorted(TWIN_CHECKS, key=lambda check: check.__name__ != first):
        try:
            check(broken)
        except Nonconforming as problem:
            return check.__name__, str(problem)
    return "", ""


def try_mutation(protocol: Protocol, mutation: Mutation) -> Caught:
    """Make the mutant and run the checks on it."""
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
    """Whether a mutant equals the sound protocol: laws of small crowds, claims, and draws."""
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
    return (try_mutation(protocol, mutation) for mutation in MUTATIONS)
