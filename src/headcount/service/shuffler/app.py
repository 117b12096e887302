"""The shuffler's interface: for clients, and for its operator."""

from __future__ import annotations

import asyncio

from headcount.common.canonical import canonical
from headcount.errors import WireError
from headcount.service.runtime.gauges import CachedGauges
from headcount.service.runtime.http import Request, Response, Route
from headcount.service.runtime.metrics import Metrics
from headcount.service.runtime.party_app import LARGEST_CONFIG, OPERATOR, PartyApp, fields
from headcount.service.runtime.tokens import Tokens
from headcount.service.shuffler.batches import Batches
from headcount.service.shuffler.gauges import of_shuffler
from headcount.service.shuffler.intake import Intake
from headcount.service.shuffler.shuffler import Answer, Shuffler
from headcount.service.wire.report import Upload

LARGEST_UPLOAD = 1 << 18
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
        self._figures = CachedGauges(lambda: of_shuffler(shuffler))

    async def measures(self, request: Request) -> Response:
        figures = await asyncio.to_thread(self._figures)
        self.metrics.set("waiting", self.intake.waiting)
        self.metrics.set_batches(figures["batches"])
        for name in ("share", "expires"):
            self.metrics.set(name, figures[name])
        return await super().measures(request)

    async def collections(self, _: Request) -> Response:
        return Response(200, {"collections": await asyncio.to_thread(self.shuffler.names)})

    async def register(self, request: Request) -> Response:
        given = fields(request, "collection", "keys")
        made = await asyncio.to_thread(self.shuffler.register, given["collection"], given["keys"])
        return Response(201, {"collection": made.id, "hash": made.hash})

    async def offer(self, request: Request) -> Response:
        return Response(200, await asyncio.to_thread(self.shuffler.offer, request.path["collection"]))

    async def state(self, request: Request) -> Response:
        return Response(200, await asyncio.to_thread(self.shuffler.state, request.path["collection"]))

    async def report(self, request: Request) -> Response:
        """Stored with the next group commit; 503 when the queue is full."""
        upload = Upload(request.path["collection"], request.number("batch"), request.body)
        self.shuffler.check(upload)
        answer = await self.intake.put(upload)
        if answer is Answer.INVALID:
            raise WireError
        return TAKEN if answer is Answer.TAKEN else Response(409, {"report": answer.value})

    async def close(self, request: Request) -> Response:
        await asyncio.to_thread(self.shuffler.close, request.path["collection"])
        return Response(200, {"done": True})

    async def destroy(self, request: Request) -> Response:
        await asyncio.to_thread(self.shuffler.destroy, request.path["collection"])
        return Response(200, {"done": True})
