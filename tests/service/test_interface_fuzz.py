"""Requests that are made from the description of either interface, and from its opposite: nothing breaks, no answer is
another than was described."""

from collections import Counter
from dataclasses import replace

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rig import WINDOW, plan
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from headcount_service.issuer import issuer
from headcount_service.runtime.http import Response
from stress import lengths

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)


@pytest.fixture
def known(parties):
    """Names of things that are there, and a way to make those anew that a request may take away."""
    parties.endowed()
    lasting = parties.agreed(plan(), batches=3)
    parties.reported(lasting, 0, 1, 2, 3)
    parties.clock.now += WINDOW
    parties.batches.advance()
    return {"population": "people", "batch": 1, "part": 0, "collection": lasting.id}


def cases(operation, known, doomed):
    """Requests to one place: with names of things that are there and with others, such as were described or not."""
    named = {name: known[name] for name in known if f"{{{name}}}" in operation.path}
    if operation.method.upper() == "DELETE":
        named = doomed
    for mode in GenerationMode:
        yield operation.as_strategy(generation_mode=mode)
        if named and mode.is_positive:
            yield operation.as_strategy(generation_mode=mode, path_parameters=named)


@lengths("number", 60, 2_500, times=5)
@pytest.mark.parametrize("party", ["shuffler", "analyser"])
def test_nothing_breaks_and_every_answer_was_described(parties, known, party, number, under_stress, monkeypatch):
    monkeypatch.setattr(issuer, "MOST_BATCHES", 3)  # each takes a while, and an issuer makes as many as it is asked for
    doomed = {"collection": parties.agreed(plan()).id}
    schema = schemathesis.openapi.from_asgi("/openapi.json", parties.apps[party])
    operations = [found.ok() for found in schema.get_all_operations()]
    requests = st.one_of(*(case for operation in operations for case in cases(operation, known, doomed)))
    tokens = st.sampled_from(["", *parties.tokens[party].values()])
    seen = Counter()
    kind = {} if under_stress else {"derandomize": True}

    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
        **kind,
    )
    @given(requests, tokens)
    def asked(case, token):
        answer = case.call(headers={"Authorization": f"Bearer {token}"} if token else {})
        case.validate_response(answer, checks=CHECKS)
        seen[answer.status_code] += 1

    asked()
    assert seen.total() >= number
    sure = {200, 400, 401, 403, 404} if under_stress else {401, 404}  # of a few requests others may have none
    assert sure <= {*seen} <= {200, 201, 400, 401, 403, 404, 405, 409, 411, 413, 415}


def test_an_answer_that_was_not_described_is_found_out(parties, monkeypatch):
    """The twin says more than it should."""

    async def live(_):
        return Response(200, {"live": True, "more": 1})

    app = parties.apps["shuffler"]
    monkeypatch.setattr(app, "routes", [replace(r, handle=live) if r.path == "/live" else r for r in app.routes])
    operation = schemathesis.openapi.from_asgi("/openapi.json", app)["/live"]["GET"]
    case = operation.Case()
    with pytest.raises(FailureGroup, match="more"):
        case.validate_response(case.call(), checks=CHECKS)
