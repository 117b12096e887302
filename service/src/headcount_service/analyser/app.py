"""The analyser's HTTP routes: for its operator, the delivering shuffler, and analysts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from headcount.errors import BadArgument
from headcount.ledger.ledger import Ledger
from headcount.protocols.base.saved import plan_from_json
from headcount_service.analyser.analyser import Analyser
from headcount_service.analyser.deliveries import Deliveries
from headcount_service.analyser.duties import Duties
from headcount_service.analyser.releases import Releases
from headcount_service.issuer.app import IssuerRoutes
from headcount_service.issuer.issuer import Issuer
from headcount_service.runtime.http import Request, Response, Route
from headcount_service.runtime.metrics import CachedGauges, Gauges, Metrics
from headcount_service.runtime.party_app import ANALYST, DONE, LARGEST_CONFIG, OPERATOR, PartyApp, fields
from headcount_service.runtime.tokens import Tokens

SHUFFLER = frozenset({"shuffler"})
LARGEST_PART = 1 << 22
PLAIN = re.compile(r"[0-9]{1,40}([/.][0-9]{1,40})?")
BATCH = "/v1/collections/{collection}/batches/{batch#}"


class AnalyserApp(PartyApp):
    """Deliveries come from the shuffler, questions from analysts."""

    def __init__(self, analyser: Analyser, issuer: Issuer, tokens: Tokens, metrics: Metrics) -> None:
        self.analyser = analyser
        self.deliveries, self.releases = Deliveries(analyser), Releases(analyser)
        routes = [
            Route("GET", "/v1/populations", "What each has spent.", self.populations, ANALYST, answer="Populations"),
            Route("POST", "/v1/populations", "Give a population its budget.", self.endow, OPERATOR, "Endowment",
                  1 << 12, status=201),
            Route("POST", "/v1/populations/{population}/cost", "What a plan would cost.", self.cost, ANALYST, "Cost",
                  LARGEST_CONFIG, "Costs"),
            Route("GET", "/v1/populations/{population}/ledger", "What was asked.", self.ledger, ANALYST,
                  answer="Ledger"),
            Route("GET", "/v1/collections", "All collections.", self.collections, ANALYST, answer="Names"),
            Route("POST", "/v1/collections", "Take part in a collection.", self.create, OPERATOR, "Agreement",
                  LARGEST_CONFIG, "Announced", 201),
            Route("GET", "/v1/collections/{collection}", "How far its batches are.", self.state, ANALYST,
                  answer="State"),
            Route("POST", "/v1/batches", "A batch is coming.", self.begin, SHUFFLER, "Manifest", LARGEST_CONFIG),
            Route("PUT", BATCH + "/parts/{part#}", "A part of it.", self.part, SHUFFLER, "bytes", LARGEST_PART),
            Route("POST", "/v1/notices", "Batches that will not come.", self.purged, SHUFFLER, "Notice", LARGEST_CONFIG,
                  "Receipt"),
            Route("POST", BATCH + "/complete", "That was all.", self.complete, SHUFFLER, answer="Receipt"),
            Route("POST", BATCH + "/release", "The answer, always the same.", self.release, ANALYST, answer="Release"),
            Route("DELETE", "/v1/collections/{collection}", "Forget all but the charge.", self.destroy, OPERATOR),
        ]  # fmt: skip
        super().__init__(analyser.keys, [*routes, *IssuerRoutes(issuer).routes], tokens, metrics)
        self.steps = (Duties(analyser, self.releases).advance, issuer.advance)
        self._figures = CachedGauges(lambda: gauges_of(analyser))

    def measures(self, request: Request) -> Response:
        for name, figure in self._figures().items():
            self.metrics.set(name, figure)
        return super().measures(request)

    def populations(self, _: Request) -> Any:
        return {"populations": [{"population": name, **self._budget(name)} for name in self.analyser.populations()]}

    def _budget(self, population: str) -> dict[str, Any]:
        """The spent share, the reserved part of it, and the share promised beside."""
        ledger, promised = self.analyser.ledger(population), self.analyser.reservations.promised(population)
        return {**_spent(ledger), "promised": ledger.promising(*promised), "reserved": len(ledger.reserved)}

    def endow(self, request: Request) -> Any:
        given = fields(request, "population", "epsilon", "delta")
        if not isinstance(given["population"], str):
            raise BadArgument("population", "is not a name", "use text")
        self.analyser.endow(given["population"], *(_amount(part, given[part]) for part in ("epsilon", "delta")))
        return DONE

    def cost(self, request: Request) -> Any:
        plan = plan_from_json(fields(request, "plan")["plan"])
        ledger = self.analyser.ledger(request.path["population"])
        return {"cost": ledger.would_cost(plan), **_spent(ledger)}

    def ledger(self, request: Request) -> Any:
        return {"lines": self.analyser.account(request.path["population"]).lines()}

    def collections(self, _: Request) -> Any:
        return {"collections": self.analyser.names()}

    def create(self, request: Request) -> Any:
        return {"keys": self.analyser.create(fields(request, "collection")["collection"])}

    def state(self, request: Request) -> Any:
        return self.analyser.state(request.path["collection"])

    def begin(self, request: Request) -> Any:
        self.deliveries.begin(request.json())
        return DONE

    def part(self, request: Request) -> Any:
        where = (request.path["collection"], request.number("batch"), request.number("part"))
        self.deliveries.part(*where, request.body)
        return DONE

    def purged(self, request: Request) -> Any:
        return self.deliveries.notify_purged(request.json())

    def complete(self, request: Request) -> Any:
        return self.deliveries.complete(request.path["collection"], request.number("batch"))

    def release(self, request: Request) -> Response:
        return Response(200, self.releases.release(request.path["collection"], request.number("batch")).encode())

    def destroy(self, request: Request) -> Any:
        self.analyser.destroy(request.path["collection"])
        return DONE


def gauges_of(analyser: Analyser) -> Gauges:
    """The smallest remaining share of a budget, now and after all promises are charged."""
    left = list(_left(analyser))
    return {"left": min((now for now, _ in left), default=None), "free": min((then for _, then in left), default=None)}


def _left(analyser: Analyser) -> Iterator[tuple[float, float]]:
    for name in analyser.populations():
        ledger = analyser.ledger(name)
        yield ledger.remaining, max(0.0, ledger.remaining - ledger.promising(*analyser.reservations.promised(name)))


def _spent(ledger: Ledger) -> dict[str, Any]:
    return {**ledger.budget.to_json(), "spent": ledger.spent, "remaining": ledger.remaining}


def _amount(name: str, value: Any) -> Fraction | float:
    """A number, or a fraction as text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        return Fraction(value) if isinstance(value, str) and PLAIN.fullmatch(value) else _refused(name)
    except (ValueError, ZeroDivisionError):
        return _refused(name)


def _refused(name: str) -> Fraction:
    raise BadArgument(name, "is not a number", "use a number, or a fraction such as '1/3'")
