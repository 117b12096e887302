"""What either party's interface has: whether it runs, how busy it is, what it offers, and who it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headcount.core.errors import BadArgument
from headcount.service.http import App, Request, Response, Route
from headcount.service.keys import Signer
from headcount.service.metrics import Metrics
from headcount.service.openapi import described
from headcount.service.tokens import Tokens

OPERATOR = frozenset({"operator"})
MONITOR = frozenset({"operator", "monitor"})
LARGEST_CONFIG = 1 << 23


class PartyApp(App):
    """Handlers are short: they ask the party, in a thread, and say what it said."""

    def __init__(self, signer: Signer, routes: Sequence[Route], tokens: Tokens, metrics: Metrics) -> None:
        self.signer = signer
        self.steps: tuple[Callable[[], list[Exception]], ...] = ()  # what is done beside requests, again and again
        common = [
            Route("GET", "/health", "Is it running?", self.health, answer="Health"),
            Route("GET", "/metrics", "How busy it is.", self.measures, MONITOR, answer="text"),
            Route("GET", "/openapi.json", "This description.", self.description, answer="Any"),
            Route("GET", "/v1/identity", "Whose signature this is.", self.identity, answer="Identity"),
        ]
        super().__init__([*common, *routes], tokens, metrics)

    async def health(self, _: Request) -> Response:
        return Response(200, {"status": "running"})

    async def measures(self, _: Request) -> Response:
        return Response(200, self.metrics.page(), "text/plain; version=0.0.4")

    async def description(self, _: Request) -> Response:
        return Response(200, described(self.metrics.party, self.routes))

    async def identity(self, _: Request) -> Response:
        return Response(200, {"party": self.metrics.party, "key": self.signer.public})


def fields(request: Request, *names: str) -> dict[str, Any]:
    """The fields of the body, which are just these."""
    given = request.json()
    if set(given) != set(names):
        raise BadArgument("body", "does not have the right fields", f"give {', '.join(names)}")
    return dict(given)
