"""The ASGI application of a party: a table of routes with their roles, bodies and answers.

The table is enforced before a handler runs, and published as OpenAPI. A body needs a Content-Length
and has a deadline; nothing is compressed, chunked or cached, and no address is logged.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import iscoroutinefunction
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from headcount.common.canonical import canonical, read_json
from headcount.errors import BadArgument, Busy, Damaged, Refused, Unavailable, UnknownCollection, WireError
from headcount_service.runtime.logs import log
from headcount_service.runtime.metrics import Metrics
from headcount_service.runtime.tokens import PREFIX, Tokens
from headcount_service.wire.schemas import NAME

Scope: TypeAlias = Mapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

DEADLINE = 10.0  # seconds for a body to arrive
RETRY = 2  # seconds, where it is busy
HEADERS = {
    b"cache-control": b"no-store",
    b"x-content-type-options": b"nosniff",
    b"content-security-policy": b"default-src 'none'",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
}
ANYWHERE = {b"access-control-allow-origin": b"*", b"access-control-expose-headers": b"retry-after"}
ELSEWHERE = ("cross-site", "same-site")  # what a browser says of a page with another address
LOOPBACK = ("127.0.0.1", "::1", "localhost")  # as this machine calls itself
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (Busy, 503),
    (Unavailable, 503),
    (Damaged, 500),
    (UnknownCollection, 404),
    (WireError, 400),
    (BadArgument, 400),
    (Refused, 409),
)


@dataclass(frozen=True)
class Request:
    """A request to a handler: the parts of its path, and the body."""

    path: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def number(self, name: str) -> int:
        return int(self.path[name])


@dataclass(frozen=True)
class Response:
    """JSON, or bytes of some other kind."""

    status: int
    content: Any = None
    kind: str = "application/json"
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @property
    def body(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else canonical(self.content).encode()


Handler: TypeAlias = Callable[[Request], Any]  # the JSON of the answer, or a Response; may be a coroutine


@dataclass(frozen=True)
class Route:
    """One line of the table. Path parts in braces are names, or whole numbers if ending in `#`."""

    method: str
    path: str
    summary: str
    handle: Handler
    roles: frozenset[str] | None = None  # None: anybody
    body: str = ""  # the name of its form: a schema of OpenAPI, "bytes", or nothing
    most: int = 0  # bytes of a body
    answer: str = "Done"
    status: int = 200
    anywhere: bool = False  # whether a page from elsewhere may read the answer
    here: bool = False  # whether it is for this machine's own pages alone
    under: str = ""  # what its address begins with, that only some are told
    pattern: re.Pattern[str] = field(init=False)
    waits: bool = field(init=False)  # whether its handler is a coroutine

    def __post_init__(self) -> None:
        parts = re.sub(r"\{(\w+)#\}", r"(?P<\1>[1-9][0-9]{0,8}|0)", self.path)
        parts = re.sub(r"\{(\w+)\}", rf"(?P<\1>{NAME})", parts)
        object.__setattr__(self, "pattern", re.compile(re.escape(self.under) + parts))
        object.__setattr__(self, "waits", iscoroutinefunction(self.handle))


class Refusal(Exception):
    """Said before any handler is asked."""

    def __init__(self, status: int, words: str, **headers: str) -> None:
        super().__init__(words)
        self.status = status
        self.headers = tuple((name.replace("_", "-").encode(), value.encode()) for name, value in headers.items())


class App:
    """An ASGI application that does what its table says."""

    def __init__(self, routes: Sequence[Route], tokens: Tokens, metrics: Metrics) -> None:
        self.routes, self.tokens, self.metrics = tuple(routes), tokens, metrics
        self.pages: tuple[Route, ...] = ()  # what is served too, and not described: pages for people

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        route, response = None, Response(500, {"error": "something went wrong here; nothing of yours was kept"})
        try:
            route, path = self._route(scope)
            if route.here:
                _require_here(scope)
            await self._authorise(route, scope)
            body = await _body(route, scope, receive)
            response = await _handled(route, Request(path, body))
        except Refusal as refusal:
            response = Response(refusal.status, {"error": str(refusal)}, headers=refusal.headers)
        except (Refused, WireError) as refused:
            response = _refused(refused)
        except Exception as problem:  # noqa: BLE001  # whatever it is, it says nothing to a stranger
            log("failed", route=route.path if route else "none", problem=type(problem).__name__)
        self.metrics.count_answer(route.path if route else "none", response.status)
        await _send(send, response, route is not None and route.anywhere, head=scope["method"] == "HEAD")

    def _route(self, scope: Scope) -> tuple[Route, Mapping[str, str]]:
        every, path, method = (*self.routes, *self.pages), scope["path"], scope["method"]
        for route in every:
            if route.method == method and (match := route.pattern.fullmatch(path)):
                return route, match.groupdict()
        others = ", ".join(route.method for route in every if route.pattern.fullmatch(path))
        if not others:
            raise Refusal(404, "there is nothing at this address")
        raise Refusal(405, "this address does not take that method", allow=others)

    async def _authorise(self, route: Route, scope: Scope) -> None:
        if route.roles is None:
            return
        given = _header(scope, b"authorization")
        token = given.removeprefix("Bearer ")
        if not given.startswith(f"Bearer {PREFIX}"):
            raise Refusal(401, "a token is needed", www_authenticate="Bearer")
        role = await asyncio.to_thread(self.tokens.role, token)
        if role is None:
            raise Refusal(401, "this token is not known", www_authenticate="Bearer")
        if role not in route.roles:
            needed = f"the role {' or '.join(sorted(route.roles))}"
            raise Refusal(403, f"this token is for the role {role}, and this needs {needed}")


async def _handled(route: Route, request: Request) -> Response:
    """The handler's answer. Non-coroutines run in a thread, as they may wait for the database."""
    found = await (route.handle(request) if route.waits else asyncio.to_thread(route.handle, request))
    return found if isinstance(found, Response) else Response(route.status, found)


def _header(scope: Scope, name: bytes) -> str:
    found = [value for key, value in scope["headers"] if key == name]
    if len(found) > 1:
        raise Refusal(400, f"{name.decode()} is given more than once")
    return found[0].decode("latin-1") if found else ""


def _require_here(scope: Scope) -> None:
    """Refuses requests by a foreign host name, as after DNS rebinding, or from a page elsewhere.

    A link from elsewhere may lead here: what is only looked at needs no origin.
    """
    host, origin = _header(scope, b"host"), _header(scope, b"origin")
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        name = None
    if name not in LOOPBACK:
        raise Refusal(421, "this page is for this machine alone, by its own address")
    elsewhere = scope["method"] != "GET" and _header(scope, b"sec-fetch-site") in ELSEWHERE
    if elsewhere or (origin and origin != f"http://{host}"):
        raise Refusal(403, "only this page may ask that")


async def _body(route: Route, scope: Scope, receive: Receive) -> bytes:
    """All of it, within the length that was told and the time there is."""
    if _header(scope, b"content-encoding") or _header(scope, b"transfer-encoding"):
        raise Refusal(415, "a body is sent as it is, with its length")
    told = _header(scope, b"content-length") or "0"
    if not re.fullmatch(r"[0-9]{1,12}", told):
        raise Refusal(400, "content-length is not a number")
    size = int(told)
    if size > route.most:
        raise Refusal(413, f"the body has more than {route.most} bytes")
    if route.body and not size:
        raise Refusal(411, "the body is missing, or its length")
    parts, came = list[bytes](), 0
    try:
        async with asyncio.timeout(DEADLINE):
            while came < size:
                part = await receive()
                if part["type"] != "http.request":
                    raise Refusal(400, "the body ended early")
                parts.append(part.get("body", b""))
                came += len(parts[-1])
                if not part.get("more_body", False):
                    break
    except TimeoutError:
        raise Refusal(408, "the body took too long", connection="close") from None
    body = b"".join(parts)
    if len(body) != size:
        raise Refusal(400, "the body is not as long as was told")
    if route.body and route.body != "bytes":
        _require_json(body)
    return body


def _require_json(body: bytes) -> None:
    try:
        found = read_json(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Refusal(400, "the body is not an object of JSON")


def _refused(problem: Exception) -> Response:
    status = next(status for kind, status in STATUS if isinstance(problem, kind))
    headers = ((b"retry-after", str(RETRY).encode()),) if status == 503 else ()
    return Response(status, {"error": str(problem)}, headers=headers)


async def _send(send: Send, response: Response, anywhere: bool, head: bool) -> None:
    body = response.body
    headers = _headers(response.kind, len(body), response.headers, anywhere)
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if head else body})


@lru_cache(maxsize=256)
def _headers(
    kind: str, length: int, more: tuple[tuple[bytes, bytes], ...], anywhere: bool
) -> list[tuple[bytes, bytes]]:
    """Nearly all answers to uploads are the same."""
    own = {b"content-type": kind.encode(), b"content-length": str(length).encode()}
    return list({**HEADERS, **dict(more), **(ANYWHERE if anywhere else {}), **own}.items())


async def _lifespan(receive: Receive, send: Send) -> None:
    while (await receive())["type"] == "lifespan.startup":
        await send({"type": "lifespan.startup.complete"})
    await send({"type": "lifespan.shutdown.complete"})
