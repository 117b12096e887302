r"""Transcripts of several rounds, enumerated: what the same small crowd tells when it is asked again.

A person's values, and those of all others, may change from round to round and because of what was
published. With $W_1(\gamma)$ the largest divergence of any two neighbouring crowds, what t rounds
tell at most is
$$W_t(\gamma)=\max_{x\sim x'}\sum_y P_x(y)\,W_{t-1}\big(\gamma P_{x'}(y)/P_x(y)\big).$$
Every view comes from the report programme alone; nothing of a protocol's accounting is used.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np

from headcount.audit.conformance.check import require
from headcount.audit.conformance.exact_loss import EPSILONS
from headcount.audit.enumeration import Enumerated, neighbouring_crowds
from headcount.privacy.budget import Budget
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model
from headcount.programme.law import Floats
from headcount.programme.report_law import WHOLE
from headcount.protocols.base.protocol import Protocol

RARE = 1e-15  # outcomes that are left out
AGREES = 1e-11  # of sums of doubles, and of what the enumeration leaves out

Views: TypeAlias = tuple[Floats, Floats]  # of two neighbouring crowds, outcome by outcome


class Transcripts:
    """All transcripts of a protocol among so few people."""

    def __init__(self, protocol: Protocol, people: int) -> None:
        enumerated = Enumerated(protocol)
        view = cache(enumerated.view)
        people = protocol.crowd.each if protocol.model is Model.LOCAL else people
        pairs = {pair for pair in neighbouring_crowds(protocol, people) if pair[0] != pair[1]}
        self.pairs: list[Views] = []
        for first, second in sorted(pairs):
            p, q = view(first), view(second)
            outcomes = sorted(p.keys() | q.keys())
            sides = (np.array([law.get(outcome, 0) for outcome in outcomes], dtype=object) for law in (p, q))
            masses = [(side / WHOLE).astype(np.float64) for side in sides]
            likely = np.maximum(*masses) > RARE
            self.pairs.append((masses[0][likely], masses[1][likely]))

    def delta(self, epsilon: float, rounds: int) -> float:
        """What so many rounds tell at most, whatever streams people hold."""
        return float(self._told(np.exp(np.array([epsilon])), rounds)[0])

    def _told(self, gamma: Floats, rounds: int) -> Floats:
        """The largest divergence of that many rounds at each likelihood ratio."""
        worst = np.maximum(1.0 - gamma, 0.0)
        if not rounds:
            return np.asarray(worst)
        for p, q in self.pairs:
            possible = p > 0.0
            ratios = np.divide(q, p, out=np.zeros_like(q), where=possible)[possible]
            asked, place = np.unique(np.multiply.outer(gamma, ratios).ravel(), return_inverse=True)
            later = self._told(asked, rounds - 1)[place].reshape(gamma.size, -1)
            worst = np.maximum(worst, later @ p[possible])
        return np.asarray(worst)

    def delta_by_panels(self, epsilon: float, rounds: int, asked: int = 1) -> float:
        """What all rounds tell if each person is asked in that many of them, drawn by lot, whatever they hold when."""
        return float(self._drawn(np.exp(np.array([epsilon])), rounds, asked)[0])

    def _drawn(self, gamma: Floats, rounds: int, asked: int) -> Floats:
        """The largest divergence of a person's reports in `asked` of the rounds that are left."""
        if not asked:
            return np.maximum(1.0 - gamma, 0.0)
        chance, told = asked / rounds, np.zeros_like(gamma)
        for p, q in self.pairs:
            later = self._drawn(np.multiply.outer(gamma, q / p).ravel(), rounds - 1, asked - 1)
            told = np.maximum(told, later.reshape(gamma.size, -1) @ p)
        silent = self._drawn(gamma, rounds - 1, asked) if asked < rounds else 0.0
        return np.asarray(chance * told + (1.0 - chance) * silent)


def require_covered(protocol: Protocol, people: int, rounds: int, loss: PrivacyLoss) -> None:
    """Refuses a claim about all rounds together that some transcript contradicts."""
    transcripts = Transcripts(protocol, people)
    for epsilon in EPSILONS:
        found, claimed = transcripts.delta(epsilon, rounds), loss.delta(epsilon)
        require(
            found <= claimed + AGREES,
            f"{protocol.name}: {rounds} rounds among {people} people have delta {found:.6g} at "
            f"epsilon={epsilon:g}, and {claimed:.6g} is claimed",
        )


def claimed_of(protocol: Protocol, people: int, rounds: int) -> PrivacyLoss:
    """What is claimed of so many rounds with so many honest people."""
    return Budget(1.0, 0.5, protocol.neighbours, rounds).together(protocol.loss_if(people))
