"""Who may ask what: the whole table, by every role, with every method."""

import asyncio
import re

import pytest
from rig import asked

from headcount_service.runtime.tokens import ROLES
from headcount_service.store.database import many

OPERATOR, MONITOR, ANALYST, SHUFFLER = {"operator"}, {"operator", "monitor"}, {"operator", "analyst"}, {"shuffler"}
NAMED, BATCH = "/v1/collections/{collection}", "/v1/collections/{collection}/batches/{batch#}"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get")
ISSUING = "/v1/issuing/collections"
ISSUER = {
    ("POST", "/v1/issuing/keys"): OPERATOR,
    ("GET", ISSUING): OPERATOR,
    ("POST", ISSUING): OPERATOR,
    ("POST", ISSUING + "/{collection}/invitations"): OPERATOR,
    ("DELETE", ISSUING + "/{collection}"): OPERATOR,
    ("POST", ISSUING + "/{collection}/batches/{batch#}/tokens"): None,
}
ALLOWED = {
    "shuffler": {
        ("GET", "/live"): None, ("GET", "/ready"): None, ("GET", "/metrics"): MONITOR, ("GET", "/openapi.json"): None,
        ("GET", "/v1/identity"): None, ("GET", "/v1/collections"): OPERATOR, ("POST", "/v1/collections"): OPERATOR,
        ("GET", NAMED): None, ("GET", NAMED + "/state"): OPERATOR, ("POST", BATCH + "/reports"): None,
        ("POST", NAMED + "/close"): OPERATOR, ("DELETE", NAMED): OPERATOR,
    },
    "analyser": {
        ("GET", "/live"): None, ("GET", "/ready"): None, ("GET", "/metrics"): MONITOR, ("GET", "/openapi.json"): None,
        ("GET", "/v1/identity"): None, ("GET", "/v1/populations"): ANALYST, ("POST", "/v1/populations"): OPERATOR,
        ("POST", "/v1/populations/{population}/cost"): ANALYST,
        ("GET", "/v1/populations/{population}/ledger"): ANALYST,
        ("GET", "/v1/collections"): ANALYST, ("POST", "/v1/collections"): OPERATOR, ("GET", NAMED): ANALYST,
        ("POST", "/v1/batches"): SHUFFLER, ("PUT", BATCH + "/parts/{part#}"): SHUFFLER,
        ("POST", "/v1/notices"): SHUFFLER,
        ("POST", BATCH + "/complete"): SHUFFLER, ("POST", BATCH + "/release"): ANALYST, ("DELETE", NAMED): OPERATOR,
    } | ISSUER,
}  # fmt: skip


@pytest.mark.parametrize("party", ALLOWED)
def test_the_routes_are_those_of_the_table(parties, party):
    assert {(route.method, route.path): route.roles for route in parties.apps[party].routes} == ALLOWED[party]


def expected(party, method, path, role):
    """The statuses by which a request is turned away, or None if it is let in."""
    if (method, path) not in ALLOWED[party]:
        return 405
    roles = ALLOWED[party][method, path]
    if roles is None or role in roles:
        return None
    return 403 if role in ROLES[party] else 401


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
@pytest.mark.parametrize("party", ALLOWED)
def test_everybody_is_let_in_where_they_may_and_nowhere_else(parties, party):
    other = {"shuffler": "analyser", "analyser": "shuffler"}[party]
    own = parties.tokens[party]
    tokens = {
        "nobody": "", **own, "a stranger": "hc-" + 43 * "A", "the other party's": parties.tokens[other]["operator"],
        "half a token": own["operator"][:-1], "a longer one": own["operator"] + "A", "not a token": "Basic",
    }  # fmt: skip

    async def statuses():
        found = {}
        for path in sorted({path for _, path in ALLOWED[party]}):
            place = re.sub(r"\{\w+#\}", "1", re.sub(r"\{\w+\}", "none", path))
            for method in METHODS:
                for role, token in tokens.items():
                    body = b"{}" if method in ("POST", "PUT") else None
                    answer = await asked(parties.apps[party], method, place, body, token)
                    found[method, path, role] = answer.status
        return found

    found = parties.loop.run_until_complete(statuses())
    for (method, path, role), status in found.items():
        wanted = expected(party, method, path, role)
        if wanted is None:
            assert status not in (401, 403, 405), (method, path, role, status)
            assert status < 500, (method, path, role, status)
        else:
            assert status == wanted, (method, path, role, status)
    assert len(found) == len({path for _, path in ALLOWED[party]}) * len(METHODS) * len(tokens)


def test_a_revoked_token_is_worth_nothing_at_once(rig):
    with rig.opened() as parties, rig.opened() as others:
        tokens = parties.opened["analyser"].tokens
        token = tokens.issue("analyst", "somebody")

        def status(at):
            return at.loop.run_until_complete(asked(at.apps["analyser"], "GET", "/v1/populations", token=token)).status

        assert (status(parties), status(others)) == (200, 200)
        tokens.revoke("somebody")
        assert (status(parties), status(others)) == (401, 401)


def test_only_hashes_of_tokens_are_kept(parties):
    for role, opened in parties.opened.items():
        with opened.database.reading() as connection:
            rows = str(many(connection, "SELECT * FROM tokens"))
        assert all(token not in rows for token in parties.tokens[role].values())


def test_two_authorisations_are_none(parties):
    async def twice():
        token = parties.tokens["shuffler"]["operator"].encode()
        told = []
        header = (b"authorization", b"Bearer " + token)
        scope = {"type": "http", "method": "GET", "path": "/v1/collections", "headers": [header, header]}
        await parties.apps["shuffler"](scope, None, lambda message: asyncio.sleep(0, told.append(message)))
        return told[0]["status"]

    assert parties.loop.run_until_complete(twice()) == 400
