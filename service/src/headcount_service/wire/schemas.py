"""The schemas of everything that parties send each other, as OpenAPI has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

NAME = "[0-9A-Za-z ._~-]{1,64}"  # as it may stand in an address
TEXT, NUMBER, WHOLE, FLAG = {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}
ANYTHING: dict[str, Any] = {"type": "object"}


def _object(optional: Sequence[str] = (), **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "additionalProperties": False,
    }


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(kind: dict[str, Any]) -> dict[str, Any]:
    return {"type": [kind["type"], "null"]}


def _open(**fields: Any) -> dict[str, Any]:
    """An object that has these fields, and maybe others."""
    return {**_object(**fields), "additionalProperties": True}


INTERVAL = {**_list(NUMBER), "minItems": 2, "maxItems": 2}
ESTIMATE: dict[str, Any] = _open(
    epsilon=NUMBER, delta=NUMBER, neighbours=TEXT, model=TEXT, protocol=TEXT, accounting=TEXT
)  # one value, or a cell for each category
ESTIMATE["properties"] |= {
    "value": NUMBER,
    "interval95": INTERVAL,
    "clipped_to": {**INTERVAL, "type": ["array", "null"]},
    "cells": _list(_open(category={}, value=NUMBER, interval95=INTERVAL)),
}
SPENT: dict[str, Any] = {"epsilon": NUMBER, "delta": NUMBER, "neighbours": TEXT, "spent": NUMBER, "remaining": NUMBER}
RELEASE: dict[str, Any] = _open(
    format=TEXT, analyser=TEXT, question=TEXT, people=WHOLE, added=WHOLE, estimate=ESTIMATE, certificate=ANYTHING,
    signature=TEXT,
)  # fmt: skip
RELEASE["properties"] |= {  # which format 1 does not have
    "unreadable": WHOLE,
    "plausible": WHOLE,
    "corrupt": WHOLE,
    "admission": TEXT,
    "fixed": FLAG,
    "early": _maybe(FLAG),
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "Error": _object(error=TEXT),
    "Done": _object(done=FLAG),
    "Any": ANYTHING,
    "Live": _object(live=FLAG),
    "Ready": _object(ready=FLAG),
    "Identity": _object(party=TEXT, key=TEXT),
    "Names": _object(collections=_list(TEXT)),
    "Registration": _object(collection=ANYTHING, keys=_list(ANYTHING)),
    "Agreement": _object(collection=ANYTHING),
    "Created": _object(collection=TEXT, hash=TEXT),
    "Announcement": _object(role=TEXT, purpose=TEXT, number=WHOLE, suite=TEXT, key=TEXT, expires=WHOLE),
    "Announced": _object(keys=_list(ANYTHING)),
    "Offer": _object(("closes", "analyser", "shuffler"), collection=ANYTHING, batch=_maybe(WHOLE), closes=WHOLE,
                     analyser=ANYTHING, shuffler=ANYTHING),
    "State": _object(("state", "question", "task", "population", "epsilon", "delta", "last", "rounds"), collection=TEXT,
                     state=TEXT, question=TEXT, task=TEXT, population=TEXT, epsilon=NUMBER, delta=NUMBER, least=WHOLE,
                     last=WHOLE, rounds=WHOLE,
                     batches=_list(_object(("closes",), batch=WHOLE, state=TEXT, reports=WHOLE, added=WHOLE,
                                           closes=_maybe(WHOLE)))),
    "Taken": _object(report={"type": "string", "enum": ["taken"]}),
    "Closed": _object(("error",), report={"type": "string", "enum": ["closed", "full"]}, error=TEXT),
    "Number": _object(number=WHOLE),
    "Invitations": _object(invitations=_list(TEXT)),
    "Batches": _object(("made",), batches=WHOLE, made=_list(TEXT)),
    "Issuing": _object(format=TEXT, role=TEXT, tokens=_list(TEXT), signature=TEXT, key=TEXT),
    "Token": _object(signature=TEXT),
    "Endowment": _object(population=TEXT, epsilon={"type": ["number", "string"]}, delta={"type": ["number", "string"]}),
    "Populations": _object(populations=_list(_object(population=TEXT, promised=NUMBER, reserved=WHOLE, **SPENT))),
    "Cost": _object(plan=ANYTHING),
    "Costs": _object(cost=NUMBER, **SPENT),
    "Ledger": _object(lines=_list(TEXT)),
    "Manifest": _object(("format", "early"), format=TEXT, collection=TEXT, batch=WHOLE, reports=WHOLE, added=WHOLE,
                        early=FLAG, messages=WHOLE, parts=_list(TEXT), signature=TEXT),
    "Notice": _object(format=TEXT, collection=TEXT, purged=_list(WHOLE), signature=TEXT),
    "Receipt": _object(format=TEXT, received=TEXT, signature=TEXT),
    "Release": RELEASE,
}  # fmt: skip
