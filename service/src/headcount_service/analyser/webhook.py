"""The webhook: a signed notice of release or refusal, with the answer's hash, never the answer."""

from __future__ import annotations

import http.client
import time
from typing import Any
from urllib.parse import urlsplit

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, RemoteRefusal
from headcount_service.wire.deadline import open_until

WITHIN = 10.0  # seconds for the whole exchange
ENOUGH = 1 << 12  # bytes of its answer, which nobody looks at
HEADERS = {"Content-Type": "application/json"}


class Webhook:
    """An address that is notified at least once: any status but 2xx is tried again."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
            raise BadArgument("webhook", "is not an address that can be told", "use https://host/path")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port = parts.hostname, parts.port
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def post(self, content: dict[str, Any]) -> None:
        """Once; redirections are not followed."""
        connection = self._kind(self._host, self._port, timeout=WITHIN)
        try:
            open_until(connection, time.monotonic() + WITHIN)
            connection.request("POST", self._path, canonical(content).encode(), HEADERS)
            response = connection.getresponse()
            response.read(ENOUGH)
        except (OSError, http.client.HTTPException):
            raise RemoteRefusal("the webhook cannot be reached") from None
        finally:
            connection.close()
        if not 200 <= response.status < 300:
            raise RemoteRefusal("the webhook did not take it", response.status)
