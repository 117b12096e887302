"""A party that is asked through somebody who spoils one of its answers."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DEEP = b"[" * 100_000
HTML = b"<!doctype html><title>502 Bad Gateway</title>"
HUGE = b'{"collections": ["' + b"x" * (1 << 20) + b'"]}'


def _other(value: Any) -> Any:
    """Something of another type."""
    return {str: 7, int: "\x1b[31mseven", float: [], bool: "no", list: {"a": 1}, dict: [1], type(None): {}}[type(value)]


def _mistyped(answer: bytes) -> bytes:
    """The same fields, each with something of another type."""
    told = json.loads(answer)
    return json.dumps({name: _other(value) for name, value in told.items()} if isinstance(told, dict) else {}).encode()


def _inner(answer: bytes) -> bytes:
    """The same, but two levels down where there are any."""

    def spoilt(value: Any, depth: int) -> Any:
        if depth == 0 and not isinstance(value, dict | list):
            return _other(value)
        if isinstance(value, dict):
            return {name: spoilt(part, max(0, depth - 1)) for name, part in value.items()}
        return [spoilt(part, max(0, depth - 1)) for part in value] if isinstance(value, list) else value

    return json.dumps(spoilt(json.loads(answer), 2)).encode()


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "an empty object": lambda _: b"{}",
    "an empty list": lambda _: b"[]",
    "null": lambda _: b"null",
    "nothing": lambda _: b"",
    "no number": lambda _: b'{"closes": NaN, "spent": Infinity}',
    "a number without end": lambda _: b'{"cost": ' + b"9" * 100_000 + b"}",
    "other types": _mistyped,
    "other types within": _inner,
    "a page": lambda _: HTML,
    "no text": lambda _: b"\xff\xfe\x00",
    "half of it": lambda answer: answer[: len(answer) // 2],
    "depth": lambda _: DEEP,
    "a lot": lambda _: HUGE,
}


class Between:
    """Hands requests on to the party at this port; the answer of this number, from 0 on, is spoilt."""

    def __init__(self, port: int) -> None:
        self.port, self.answers = port, 0
        self.at: int | None = None
        self.status = 200
        self.spoil: Callable[[bytes], bytes] = SPOILT["an empty object"]

    def reset(self, at: int | None, spoil: Callable[[bytes], bytes], status: int = 200) -> None:
        self.answers, self.at, self.spoil, self.status = 0, at, spoil, status

    def answer(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            told = connection.getresponse()
            status, content = told.status, told.read()
        finally:
            connection.close()
        number, self.answers = self.answers, self.answers + 1
        return (self.status, self.spoil(content)) if number == self.at and status < 400 else (status, content)


@contextmanager
def between(port: int) -> Iterator[tuple[Between, int]]:
    """It, and where it listens."""
    party = Between(port)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            given = {name: self.headers[name] for name in ("Authorization",) if name in self.headers}
            status, answer = party.answer(self.command, self.path, body, given)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PUT = do_DELETE = _any  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # whoever asked has gone
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield party, int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
