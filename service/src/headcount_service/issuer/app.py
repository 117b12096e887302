"""The issuer's HTTP routes for invited devices and its operator; an analyser may have them too."""

from __future__ import annotations

from typing import Any

from headcount.errors import BadArgument
from headcount.protocols.base.report_size import CREDENTIAL
from headcount_service.issuer.issuer import Issuer
from headcount_service.runtime.http import Request, Route
from headcount_service.runtime.metrics import Metrics
from headcount_service.runtime.party_app import DONE, LARGEST_CONFIG, OPERATOR, PartyApp, fields
from headcount_service.runtime.tokens import Tokens
from headcount_service.wire.blind import SIZE
from headcount_service.wire.validation import ISSUING

MOST_INVITATIONS = 10_000


class IssuerApp(PartyApp):
    """An issuer that is a party of its own."""

    def __init__(self, issuer: Issuer, tokens: Tokens, metrics: Metrics) -> None:
        super().__init__(issuer.keys, IssuerRoutes(issuer).routes, tokens, metrics)
        self.steps = (issuer.advance,)


class IssuerRoutes:
    """What an issuer answers."""

    def __init__(self, issuer: Issuer) -> None:
        self.issuer = issuer
        named = ISSUING + "/{collection}"
        self.routes = [
            Route("POST", "/v1/issuing/keys", "New keys to sign tokens with.", self.announce, OPERATOR, "Batches",
                  LARGEST_CONFIG, "Issuing", 201),
            Route("GET", ISSUING, "Collections that tokens are issued for.", self.issued_for, OPERATOR, answer="Names"),
            Route("POST", ISSUING, "Issue tokens for a collection.", self.register_issuing, OPERATOR, "Agreement",
                  LARGEST_CONFIG, "Created", 201),
            Route("POST", named + "/invitations", "Invite people.", self.invite, OPERATOR, "Number", 1 << 10,
                  "Invitations", 201),
            Route("POST", named + "/batches/{batch#}/tokens", "Sign a token that is hidden.", self.sign, body="bytes",
                  most=CREDENTIAL + SIZE, answer="Token", anywhere=True),
            Route("DELETE", named, "Forget its keys, and who asked.", self.destroy_issuing, OPERATOR),
        ]  # fmt: skip

    def announce(self, request: Request) -> Any:
        given = fields(request, "batches", *(["made"] if "made" in request.json() else []))
        made = given.get("made", [])
        if not isinstance(made, list):
            raise BadArgument("made", "is not a list", "give the keys that were announced before")
        return self.issuer.announce(given["batches"], made)

    def issued_for(self, _: Request) -> Any:
        return {"collections": self.issuer.names()}

    def register_issuing(self, request: Request) -> Any:
        made = self.issuer.register(fields(request, "collection")["collection"])
        return {"collection": made.id, "hash": made.hash}

    def invite(self, request: Request) -> Any:
        number = fields(request, "number")["number"]
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST_INVITATIONS:
            raise BadArgument("number", "is not one that works", f"use a number from 1 to {MOST_INVITATIONS:,}")
        return {"invitations": self.issuer.invite(request.path["collection"], number)}

    def sign(self, request: Request) -> Any:
        """The body is an invitation, and then what is to be signed."""
        if len(request.body) != CREDENTIAL + SIZE:
            raise BadArgument("body", "has not the right length", f"send {CREDENTIAL + SIZE} bytes")
        code, blinded = request.body[:CREDENTIAL], request.body[CREDENTIAL:]
        signature = self.issuer.sign(request.path["collection"], request.number("batch"), code, blinded)
        return {"signature": signature.hex()}

    def destroy_issuing(self, request: Request) -> Any:
        self.issuer.destroy(request.path["collection"])
        return DONE
