"""The exact cost of splitting a crowd: no clock is needed for that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import headcount as hc
from headcount.protocols.base.report_size import CUT, HEAD, Wire
from headcount.questions.question import Question

BUDGET = hc.Budget(1.0, 1e-6)
SHARDS = (1, 2, 4, 16)
CROWDS = (10**4, 10**6, 10**9)
HUNDRED = hc.Histogram(100)
COLLECTED: dict[str, tuple[Question, dict[str, bool]]] = {
    "randomised-response": (hc.Count(), {}),
    "cheu-count": (hc.Count(), {}),
    "zsum": (hc.Count(), {}),
    "correlated-count": (hc.Count(), {"even": True}),
    "poisson-histogram": (HUNDRED, {}),
    "blanket-sum": (hc.Sum((0, 1)), {}),
    "recursive-sum": (hc.Sum((0, 1)), {}),
    "split-and-mix": (hc.Sum((0, 1)), {}),
}
SPLIT: dict[str, Question] = {"correlated-count": hc.Count(), "zsum": hc.Count(), "poisson-histogram": HUNDRED}


@dataclass(frozen=True)
class Sent:
    """The upload of one person in a collection."""

    messages: int
    message: int  # bytes, sealed
    upload: int  # bytes, of all of them
    seal: int  # bytes that one layer of encryption adds
    rmse: float

    @property
    def delivered(self) -> int:
        """Bytes that the shuffler hands on."""
        return self.messages * self.message

    @property
    def cascaded(self) -> int:
        """Of the upload, if every message were sealed once more, to a second shuffler."""
        return self.upload + self.messages * (HEAD + self.seal)


@lru_cache
def sent(name: str, people: int) -> Sent:
    """By the plan for this crowd, one hundredth of delta kept for cutting, as in every collection."""
    task, more = COLLECTED[name]
    delta = 0.0 if name == "randomised-response" else (1.0 - CUT) * BUDGET.delta
    protocol = hc.protocol(name, task, n=people, epsilon=BUDGET.epsilon, delta=delta, **more)
    wire = Wire.of(protocol, BUDGET)
    plan = hc.Plan(protocol, BUDGET, wire)
    return Sent(
        wire.messages, wire.message_bytes(protocol), wire.upload_bytes(protocol), wire.seal, plan.protocol.rmse()
    )


def apart(name: str, people: int, number: int) -> float:
    """The error of the sum over the shards, each of which has the noise that it needs for itself."""
    alone = hc.protocol(name, SPLIT[name], n=people // number, epsilon=BUDGET.epsilon, delta=BUDGET.delta)
    return math.sqrt(number) * alone.rmse()


def left(name: str, people: int, number: int) -> float:
    """The delta, at the plan's epsilon, of a shard that is seen by itself with the noise of the whole crowd's plan."""
    whole = hc.protocol(name, SPLIT[name], n=people, epsilon=BUDGET.epsilon, delta=BUDGET.delta)
    return whole.loss_if(people // number).delta(BUDGET.epsilon)
