"""The table of routes, as OpenAPI 3.1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from headcount_service.wire.schemas import NAME, SCHEMAS, TEXT

if TYPE_CHECKING:
    from headcount_service.runtime.http import Route


def described(party: str, routes: Sequence[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path.replace("#}", "}"), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": f"headcount {party}", "version": version("headcount")},
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> dict[str, Any]:
    refusals = {"400", "404", "405", "408", "409", "411", "413", "415", "503"} | (
        {"401", "403"} if route.roles else set()
    )
    error = {"description": "Refused, with the reason.", "content": _json("Error")}
    answers = dict.fromkeys(sorted(refusals), error)
    if route.answer == "Taken":
        answers["409"] = {"description": "The batch takes no reports.", "content": _json("Closed")}
    kind = {"text/plain": {"schema": TEXT}} if route.answer == "text" else _json(route.answer)
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.handle.__name__,
        "parameters": [_parameter(*found) for found in re.findall(r"\{(\w+)(#?)\}", route.path)],
        "responses": {str(route.status): {"description": "Done.", "content": kind}, **answers},
    }
    if route.body:
        bytes_ = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        content = bytes_ if route.body == "bytes" else _json(route.body)
        operation["requestBody"] = {"required": True, "content": content}
    if route.roles is not None:
        operation["security"] = [{"token": []}]
        operation["description"] = f"For: {', '.join(sorted(route.roles))}."
    return operation


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _parameter(name: str, whole: str) -> dict[str, Any]:
    number = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
    kind = number if whole else {"type": "string", "pattern": f"^{NAME}$"}
    return {"name": name, "in": "path", "required": True, "schema": kind}
