"""A trial question: a visitor reports to their own collection, as do simulated people.

Everything is real but the people: keys, seals, the shuffler, the analyser, the charge and the
certificate.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from headcount.errors import BadArgument, Refused, UnknownCollection
from headcount.planner.advise import advise
from headcount.programme.chance import Chance
from headcount.programme.coins import SecretCoins
from headcount.protocols.base.plan import Plan
from headcount.questions.count import Count
from headcount_service.client.simulated import report_all
from headcount_service.operator.operator import Operator
from headcount_service.runtime.logs import log
from headcount_service.wire.collection import Collection
from headcount_service.wire.signed_release import Released

DEMONSTRATION = "demonstration visit"  # as populations are called, which the page keeps apart from an operator's own
QUESTION = "Have you ever told a lie in a survey?"
YES = Chance.up(0.37)
PEOPLE, EPSILON, DELTA, MESSAGES = 300, 1.0, 1e-6, 8
WINDOW = 3_600
MOST = 200  # visits of a trial, those forgotten left out


@dataclass
class Visit:
    """The progress of one visit."""

    collection: Collection
    state: str = "asked"  # then reporting, counting, released or failed
    yes: int | None = None  # among the simulated people
    release: dict[str, Any] | None = None
    proof: str = ""
    problem: str = ""


class Visits:
    """The visits to a trial in this folder, whose both parties are served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._visits: dict[str, Visit] = {}
        self._lock = threading.Lock()

    @cached_property
    def plan(self) -> Plan:
        return advise(
            Count(), n=PEOPLE, epsilon=EPSILON, delta=DELTA, models=["shuffle"], collected=True, max_messages=MESSAGES
        ).best

    def begin(self) -> dict[str, Any]:
        """A collection for one visitor, with a budget that lasts for one answer."""
        with self._lock:
            operator = Operator.open(self.folder)
            population = self._free(operator) if len(self._visits) >= MOST else _endow(operator)
            made = operator.create(
                self.plan,
                question=QUESTION,
                population=population,
                window=WINDOW,
                admission="anyone",
                fixed=False,
                trust_all=True,
            )
            self._visits[made.id] = Visit(made)
        return self.state(made.id)

    def _free(self, operator: Operator) -> str:
        """The population of the oldest visit that was never answered, which is forgotten: a page
        that is loaded again must not take the place of somebody who answers. Its budget is
        untouched."""
        for name, visit in self._visits.items():
            if visit.state == "asked" and not self._came(name):
                operator.destroy(name)
                del self._visits[name]
                return visit.collection.population
        raise Refused("this demonstration has had its visitors", "start it again")

    def crowd(self, name: str) -> dict[str, Any]:
        """Report for the simulated people, once the visitor has reported."""
        visit = self._visit(name)
        with self._lock:
            if visit.state == "asked":
                if not self._came(name):
                    raise BadArgument("report", "is missing", "answer first: the others wait for you")
                visit.state = "reporting"
                threading.Thread(target=self._answer, args=(visit,), daemon=True).start()
        return self.state(name)

    def state(self, name: str) -> dict[str, Any]:
        visit = self._visit(name)
        protocol = self.plan.protocol
        return {
            "collection": visit.collection.id,
            "hash": visit.collection.hash,
            "question": visit.collection.question,
            "people": PEOPLE,
            "protocol": protocol.name,
            "rmse": protocol.rmse(),
            "state": visit.state,
            "reports": PEOPLE if visit.release else self._came(name),
            "yes": visit.yes,
            "release": visit.release,
            "proof": visit.proof,
            "problem": visit.problem,
        }

    def _answer(self, visit: Visit) -> None:
        operator, name = Operator.open(self.folder), visit.collection.id
        try:
            answers = SecretCoins().bernoulli(YES, PEOPLE - 1)
            report_all(operator.shuffler.address, name, answers.astype(int).tolist(), hash=visit.collection.hash)
            visit.state = "counting"
            operator.close(name)
            told = Released(operator.release(name))
            visit.proof = told.verify().answer
            visit.yes, visit.release, visit.state = int(np.count_nonzero(answers)), told.content, "released"
        except Refused as refusal:
            visit.state, visit.problem = "failed", str(refusal)
        except Exception as problem:  # noqa: BLE001  # the visitor must be told that no answer will come
            log("failed", route="visits", problem=type(problem).__name__)
            visit.state, visit.problem = "failed", "something went wrong here, and there will be no answer"

    def _came(self, name: str) -> int:
        batches = Operator.open(self.folder).shuffler.ask("GET", f"/v1/collections/{name}/state")["batches"]
        return int(batches[0]["reports"])

    def _visit(self, name: str) -> Visit:
        if name not in self._visits:
            raise UnknownCollection(name)
        return self._visits[name]


def _endow(operator: Operator) -> str:
    """A population that is new, and can pay for one answer."""
    known = {each["population"] for each in operator.populations()}
    new = next(name for number in range(1, 1_000_000) if (name := f"{DEMONSTRATION} {number}") not in known)
    operator.endow(new, EPSILON, DELTA)
    return new
