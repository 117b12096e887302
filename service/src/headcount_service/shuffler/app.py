"""The shuffler's HTTP routes, for devices and for its operator, and its gauges."""

from __future__ import annotations

from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import WireError
from headcount_service.runtime.http import Request, Response, Route
from headcount_service.runtime.metrics import REPORTS, CachedGauges, Gauges, Metrics
from headcount_service.runtime.party_app import DONE, LARGEST_CONFIG, OPERATOR, PartyApp, fields
from headcount_service.runtime.tokens import Tokens
from headcount_service.shuffler.batches import Batches
from headcount_service.shuffler.intake import Intake
from headcount_service.shuffler.shuffler import Answer, Shuffler
from headcount_service.wire.report import Upload

LARGEST_UPLOAD = 1 << 18
LATE = 0.1  # of a window: from then on a batch with too few reports is late
TAKEN = Response(200, canonical({"report": "taken"}).encode())  # what nearly everybody is told


class ShufflerApp(PartyApp):
    """Reports come here from anybody; the rest is for the operator."""

    def __init__(self, shuffler: Shuffler, batches: Batches, tokens: Tokens, metrics: Metrics) -> None:
        self.shuffler, self.batches = shuffler, batches
        self.intake = Intake(shuffler.accept)
        routes = [
            Route("GET", "/v1/collections", "All collections.", self.collections, OPERATOR, answer="Names"),
            Route("POST", "/v1/collections", "Take part in a collection.", self.register, OPERATOR, "Registration",
                  LARGEST_CONFIG, "Created", 201),
            Route("GET", "/v1/collections/{collection}", "What a client needs to report.", self.offer, answer="Offer",
                  anywhere=True),
            Route("GET", "/v1/collections/{collection}/state", "How far its batches are.", self.state, OPERATOR,
                  answer="State"),
            Route("POST", "/v1/collections/{collection}/batches/{batch#}/reports", "Report.", self.report,
                  body="bytes", most=LARGEST_UPLOAD, answer="Taken", anywhere=True),
            Route("POST", "/v1/collections/{collection}/close", "Seal the open batch; open no other.", self.close,
                  OPERATOR),
            Route("DELETE", "/v1/collections/{collection}", "Forget everything but what was agreed.", self.destroy,
                  OPERATOR),
        ]  # fmt: skip
        super().__init__(shuffler.keys, routes, tokens, metrics)
        # A large batch, or an analyser that does not answer, keeps none from its end.
        self.steps = (batches.close, batches.mix, batches.hand_on)
        self._figures = CachedGauges(lambda: gauges_of(shuffler))

    def measures(self, request: Request) -> Response:
        figures = self._figures()
        self.metrics.set("waiting", self.intake.waiting)
        self.metrics.set_batches(figures["batches"])
        for name in ("share", "expires"):
            self.metrics.set(name, figures[name])
        return super().measures(request)

    def collections(self, _: Request) -> Any:
        return {"collections": self.shuffler.names()}

    def register(self, request: Request) -> Any:
        given = fields(request, "collection", "keys")
        made = self.shuffler.register(given["collection"], given["keys"])
        return {"collection": made.id, "hash": made.hash}

    def offer(self, request: Request) -> Any:
        return self.shuffler.offer(request.path["collection"])

    def state(self, request: Request) -> Any:
        return self.shuffler.state(request.path["collection"])

    async def report(self, request: Request) -> Response:
        """Stored with the next group commit; 503 when the queue is full."""
        upload = Upload(request.path["collection"], request.number("batch"), request.body)
        self.shuffler.check(upload)
        answer = await self.intake.put(upload)
        if answer is Answer.INVALID:
            raise WireError
        return TAKEN if answer is Answer.TAKEN else Response(409, {"report": answer.value})

    def close(self, request: Request) -> Any:
        self.shuffler.close(request.path["collection"])
        return DONE

    def destroy(self, request: Request) -> Any:
        self.shuffler.destroy(request.path["collection"])
        return DONE


def gauges_of(shuffler: Shuffler) -> Gauges:
    """How many open batches suffice, the smallest share of `least` reached, and the next expiry."""
    batches, shares = dict.fromkeys(REPORTS, 0), []
    for name in shuffler.names():
        told, window = shuffler.state(name), shuffler.collection(name).window
        for batch in told["batches"]:
            if batch["state"] == "open":
                share = batch["reports"] / told["least"]
                closing = batch["closes"] - shuffler.clock() < LATE * window
                batches["enough" if share >= 1 else "late" if closing else "short"] += 1
                shares.append(share)
    keys = [row["expires"] for row in shuffler.outer.table() if row["state"] == "active"]
    return {"batches": batches, "share": min(shares, default=None), "expires": min(keys, default=None)}
