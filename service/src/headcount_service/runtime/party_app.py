"""The routes of every party: liveness, readiness, metrics, OpenAPI and identity."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from headcount.errors import BadArgument, Refused
from headcount_service.runtime.http import App, Refusal, Request, Response, Route
from headcount_service.runtime.metrics import Metrics
from headcount_service.runtime.openapi import described
from headcount_service.runtime.tokens import Tokens
from headcount_service.store.schema import is_current
from headcount_service.wire.keys import Keys

OPERATOR = frozenset({"operator"})
ANALYST = frozenset({"operator", "analyst"})
MONITOR = frozenset({"operator", "monitor"})
LARGEST_CONFIG = 1 << 23
DONE = {"done": True}
READY_WITHIN = 5.0  # seconds: a database that takes longer is not there
READY_KEPT = 1.0  # seconds for which one look serves everybody who asks


class PartyApp(App):
    """Handlers are short: they ask the party and return what it said."""

    def __init__(self, keys: Keys, routes: Sequence[Route], tokens: Tokens, metrics: Metrics) -> None:
        self.keys, self.signer = keys, keys.signer()
        self.steps: tuple[Callable[[], list[Exception]], ...] = ()  # what is done beside requests, again and again
        common = [
            Route("GET", "/live", "Is it running?", self.live, answer="Live"),
            Route("GET", "/ready", "Can it work?", self.ready, answer="Ready"),
            Route("GET", "/metrics", "How busy it is.", self.measures, MONITOR, answer="text"),
            Route("GET", "/openapi.json", "This description.", self.description, answer="Any"),
            Route("GET", "/v1/identity", "Whose signature this is.", self.identity, answer="Identity"),
        ]
        self._looking, self._looked, self._lacks = asyncio.Lock(), -math.inf, ""
        super().__init__([*common, *routes], tokens, metrics)

    async def live(self, _: Request) -> Any:
        return {"live": True}

    async def ready(self, _: Request) -> Any:
        """The words are few: anybody may ask."""
        async with self._looking:
            if time.monotonic() - self._looked >= READY_KEPT:
                try:
                    self._lacks = await asyncio.wait_for(asyncio.to_thread(self._missing), READY_WITHIN)
                except TimeoutError:
                    self._lacks = "the database does not answer"
                self._looked = time.monotonic()
        if self._lacks:
            raise Refusal(503, self._lacks)
        return {"ready": True}

    def _missing(self) -> str:
        """Why the party is not ready; empty if it is."""
        try:
            if not is_current(self.tokens.database, self.metrics.party):
                return "the database is of another version"
        except Refused:
            return "the database cannot be reached"
        try:
            same = self.keys.signer().public == self.signer.public
        except Refused:
            same = False
        return "" if same else "the keys cannot be read"

    def measures(self, _: Request) -> Response:
        return Response(200, self.metrics.page(), "text/plain; version=0.0.4")

    async def description(self, _: Request) -> Any:
        return described(self.metrics.party, self.routes)

    async def identity(self, _: Request) -> Any:
        return {"party": self.metrics.party, "key": self.signer.public}


def fields(request: Request, *names: str) -> dict[str, Any]:
    """The fields of the body, which are just these."""
    given = request.json()
    if set(given) != set(names):
        raise BadArgument("body", "does not have the right fields", f"give {', '.join(names)}")
    return dict(given)
