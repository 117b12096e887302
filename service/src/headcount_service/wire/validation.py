"""Validation of a party's answers against the schema of their route.

Unknown fields are let through: a party may be newer than its client.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from headcount.common.canonical import read_json
from headcount_service.wire.schemas import NAME, SCHEMAS

MOST = 1 << 53  # of a whole number: beyond it, what reads JSON elsewhere disagrees
COLLECTION, POPULATION = "/v1/collections/{}", "/v1/populations/{}"
ISSUING = "/v1/issuing/collections"
COMMON = {
    "GET /live": "Live",
    "GET /ready": "Ready",
    "GET /openapi.json": "Any",
    "GET /v1/identity": "Identity",
}
COLLECTING = {"GET /v1/collections": "Names", f"DELETE {COLLECTION}": "Done"}
ISSUES = {
    "POST /v1/issuing/keys": "Issuing",
    f"GET {ISSUING}": "Names",
    f"POST {ISSUING}": "Created",
    f"POST {ISSUING}/{{}}/invitations": "Invitations",
    f"POST {ISSUING}/{{}}/batches/{{}}/tokens": "Token",
    f"DELETE {ISSUING}/{{}}": "Done",
}  # of an issuer, or an analyser that issues
ANSWERS: Mapping[str, Mapping[str, str]] = {
    "shuffler": {
        **COMMON,
        **COLLECTING,
        "POST /v1/collections": "Created",
        f"GET {COLLECTION}": "Offer",
        f"GET {COLLECTION}/state": "State",
        f"POST {COLLECTION}/batches/{{}}/reports": "Taken",
        f"POST {COLLECTION}/close": "Done",
    },
    "issuer": {**COMMON, **ISSUES},
    "analyser": {
        **COMMON,
        **COLLECTING,
        **ISSUES,
        "GET /v1/populations": "Populations",
        "POST /v1/populations": "Done",
        f"POST {POPULATION}/cost": "Costs",
        f"GET {POPULATION}/ledger": "Ledger",
        "POST /v1/collections": "Announced",
        f"GET {COLLECTION}": "State",
        "POST /v1/batches": "Done",
        "POST /v1/notices": "Receipt",
        f"PUT {COLLECTION}/batches/{{}}/parts/{{}}": "Done",
        f"POST {COLLECTION}/batches/{{}}/complete": "Receipt",
        f"POST {COLLECTION}/batches/{{}}/release": "Release",
    },
}  # of each party, by route: the form of its answer; a test compares it with the tables of routes


def _finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MOST


KINDS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _whole,
    "number": lambda value: _whole(value) or _finite(value),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def fits(value: Any, form: Mapping[str, Any]) -> bool:
    """Whether the value has this form, written in the part of JSON Schema that SCHEMAS uses."""
    kinds = form.get("type", [])
    if kinds and not any(KINDS[kind](value) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        return False
    if "enum" in form and value not in form["enum"]:
        return False
    if isinstance(value, dict):
        fields = form.get("properties", {})
        return all(name in value for name in form.get("required", [])) and all(
            fits(value[name], fields[name]) for name in fields if name in value
        )
    if isinstance(value, list) and "items" in form:
        few, many = form.get("minItems", 0), form.get("maxItems", len(value))
        return few <= len(value) <= many and all(fits(item, form["items"]) for item in value)
    return True


def form_of(party: str, method: str, path: str) -> Mapping[str, Any]:
    """The schema of the answer to this request."""
    for route, name in ANSWERS[party].items():
        if re.fullmatch(route.replace("{}", NAME), f"{method} {path}"):
            return SCHEMAS[name]
    return SCHEMAS["Any"]


def parsed(text: str, form: Mapping[str, Any]) -> Any:
    """The JSON of this form; a ValueError that does not quote it if it is anything else."""
    try:
        value = read_json(text)
    except ValueError:
        raise ValueError from None
    if not fits(value, form):
        raise ValueError
    return value
