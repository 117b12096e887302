"""The HTTP client of a party: deadlines, retries, validated answers."""

from __future__ import annotations

import http.client
import time
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from headcount.common.canonical import canonical
from headcount.common.printable import printable
from headcount.errors import BadArgument, RemoteRefusal
from headcount_service.wire.deadline import open_until
from headcount_service.wire.schemas import SCHEMAS
from headcount_service.wire.validation import form_of, parsed

TIMEOUT = 30.0  # seconds for a whole exchange
TRIES = 5
LARGEST = 1 << 26
LONGEST_REASON = 500  # letters
LONGEST_WAIT = 10.0  # seconds, whatever the other side says
NONSENSE = 502  # the status of an answer of the wrong form, after which a retry would not help
HERE = {"127.0.0.1", "localhost", "::1"}


class Remote:
    """A party by its address. Requests may be sent again: nothing counts twice.

    Parameters
    ----------
    address : str
        http://host:port or https://host.
    token : str
        A role's token, if any; never sent in the clear.
    timeout : float
        Seconds for a whole exchange.
    party : str
        Which form its answers must have: "shuffler", "analyser" or "issuer".

    Raises
    ------
    errors.BadArgument
        If the address is none, or would get a token in the clear.

    Examples
    --------
    >>> from headcount_service import Remote
    >>> Remote("https://shuffler.example")
    Remote('https://shuffler.example', party='shuffler')
    """

    _connection: http.client.HTTPConnection | None = None

    def __init__(self, address: str, token: str = "", timeout: float = TIMEOUT, *, party: str = "shuffler") -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadArgument("address", f"is {address!r}", "use http://host:port or https://host")
        if token and parts.scheme == "http" and parts.hostname not in HERE:
            raise BadArgument("address", "would get a token in the clear", "use https, or a tunnel to this machine")
        self.address, self.party, self._token, self._timeout = address.rstrip("/"), party, token, timeout
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")

    def __repr__(self) -> str:
        return f"Remote({self.address!r}, party={self.party!r})"

    def ask(self, method: str, path: str, content: Any = None) -> Any:
        """Send a request and return its validated JSON answer.

        Parameters
        ----------
        method, path : str
            Of the request.
        content : object
            Its body: JSON, or bytes, which are sent as they are.

        Returns
        -------
        object
            The answer.

        Raises
        ------
        errors.Refused
            If the party refuses, does not answer, or answers in another form.
        """
        try:
            return parsed(self.text(method, path, content), form_of(self.party, method, path))
        except ValueError:
            words = f"{self.address} does not answer as the {self.party} of a collection would"
            raise RemoteRefusal(words, NONSENSE) from None

    def text(self, method: str, path: str, content: Any = None) -> str:
        body = content if isinstance(content, bytes) else b"" if content is None else canonical(content).encode()
        status, answer = self._tried(method, path, body)
        if status >= 400:
            raise RemoteRefusal(_reason(answer) or f"{self.address} refused with {status}", status)
        return answer.decode()

    def _tried(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        for attempt in range(TRIES):
            try:
                status, wait, answer = self._once(method, path, body)
            except TimeoutError:
                self.close()
                raise RemoteRefusal(f"{self.address} did not answer within {self._timeout:g} seconds") from None
            except (OSError, http.client.HTTPException):
                self.close()
                status, wait, answer = 0, 0.2 * 2**attempt, b""
            if status not in (0, 503):
                return status, answer
            if attempt + 1 < TRIES:
                time.sleep(wait)
        if status == 503:
            return status, answer
        raise RemoteRefusal(f"{self.address} cannot be reached; is it running?")

    def _once(self, method: str, path: str, body: bytes) -> tuple[int, float, bytes]:
        if self._connection is None:
            self._connection = self._kind(self._host, self._port, timeout=self._timeout)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        open_until(self._connection, time.monotonic() + self._timeout)
        self._connection.request(method, self._base + quote(path), body, headers)
        response = self._connection.getresponse()
        answer = response.read(LARGEST)
        wait = response.headers.get("Retry-After", "")
        return response.status, min(float(wait) if wait.isdecimal() else 1.0, LONGEST_WAIT), answer

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()


class Receiver(Protocol):
    """The analyser as the shuffler sees it, in this process or over HTTP."""

    def begin(self, manifest: Any) -> None: ...

    def part(self, collection: str, batch: int, number: int, content: bytes) -> None: ...

    def complete(self, collection: str, batch: int) -> dict[str, Any]:
        """The signed receipt."""

    def notify_purged(self, notice: Any) -> dict[str, Any]:
        """The signed receipt."""


class RemoteReceiver:
    """The analyser over HTTP."""

    def __init__(self, address: str, token: str) -> None:
        self._remote = Remote(address, token, party="analyser")

    def begin(self, manifest: Any) -> None:
        self._remote.ask("POST", "/v1/batches", manifest)

    def part(self, collection: str, batch: int, number: int, content: bytes) -> None:
        self._remote.ask("PUT", f"/v1/collections/{collection}/batches/{batch}/parts/{number}", content)

    def complete(self, collection: str, batch: int) -> dict[str, Any]:
        return dict(self._remote.ask("POST", f"/v1/collections/{collection}/batches/{batch}/complete"))

    def notify_purged(self, notice: Any) -> dict[str, Any]:
        return dict(self._remote.ask("POST", "/v1/notices", notice))


def _reason(answer: bytes) -> str:
    try:
        told = parsed(answer.decode(), SCHEMAS["Error"])["error"]
    except ValueError:
        return ""
    return printable(told[:LONGEST_REASON])
