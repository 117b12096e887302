"""Both parties as a process of their own that listens, and people who talk to it over real connections."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from processes import Child, Say
from rig import Answer, Rig

from headcount.common.atomic_files import write_secret
from headcount.common.canonical import canonical
from headcount_service import server
from headcount_service.party import Party

HOST = "127.0.0.1"
BUSY = 30.0  # seconds


def free_port() -> int:
    with socket.create_server((HOST, 0)) as found:
        return int(found.getsockname()[1])


class Served:
    """Started, killed and started again on the same disk and the same ports."""

    def __init__(self, rig: Rig, prepare: Callable[[], None] | None = None) -> None:
        self.rig, self._prepare = rig, prepare or as_it_is
        self.ports = {role: free_port() for role in ("analyser", "shuffler")}
        write_secret(rig.folder / "shuffler" / "analyser.token", rig.tokens["analyser"]["shuffler"])
        self._child: Child | None = None

    def start(self) -> None:
        self._child = Child(_serving, self.rig, self.ports, self._prepare)
        assert self._child.next() == b"ready"

    def kill(self) -> None:
        """At whatever it is doing."""
        assert self._child is not None
        self._child.kill()
        assert self._child.code == -signal.SIGKILL
        self._child = None

    def stop(self) -> int:
        """Politely."""
        assert self._child is not None
        child, self._child = self._child, None
        child.tell(signal.SIGTERM)
        return child.code

    def ended(self) -> int:
        """By itself."""
        assert self._child is not None
        child, self._child = self._child, None
        return child.code

    @property
    def pid(self) -> int:
        assert self._child is not None
        return self._child.pid

    def caller(self, to: str, role: str = "", timeout: float = 20.0) -> Caller:
        return Caller(self.ports[to], self.rig.tokens[to][role] if role else "", timeout)

    @contextmanager
    def running(self) -> Iterator[Served]:
        self.start()
        try:
            yield self
        finally:
            if self._child is not None:
                assert self.stop() == 0


def _serving(say: Say, rig: Rig, ports: dict[str, int], prepare: Callable[[], None]) -> None:
    """The life of the process."""
    prepare()
    address = f"http://{HOST}:{ports['analyser']}"
    parties = [replace(Party.read(rig.folder / role), port=ports[role], analyser=address) for role in ports]
    asyncio.run(server.serve([party.open() for party in parties], lambda: say(b"ready")))


def as_it_is() -> None:
    """What a server is told before it starts: nothing."""


class Caller:
    """One connection, made again when it breaks."""

    def __init__(self, port: int, token: str, timeout: float) -> None:
        self._connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(self, method: str, path: str, content: Any = None) -> Answer:
        body = content if isinstance(content, bytes) else b"" if content is None else canonical(content).encode()
        try:
            self._connection.request(method, path, body, self._headers)
            response = self._connection.getresponse()
            return Answer(response.status, dict(response.headers.items()), response.read())
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def told(self, method: str, path: str, content: Any = None) -> Any:
        """What is answered; a party on a busy machine may ask for patience."""
        until = time.monotonic() + BUSY
        while (answer := self.ask(method, path, content)).status == 503 and time.monotonic() < until:
            time.sleep(0.05)
        assert answer.status < 300, (method, path, answer)
        return json.loads(answer.body)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Heard:
    """What came back over a raw connection, until there was an answer or an end."""

    status: int  # 0 if there was none
    size: int  # of all bytes
    body: bytes
    closed: bool  # by the other side

    @classmethod
    def of(cls, content: bytes, closed: bool) -> Heard:
        head, _, body = content.partition(b"\r\n\r\n")
        status = int(head.split()[1]) if head.startswith(b"HTTP/1.") else 0
        return cls(status, len(content), body, closed)


def spoken(port: int, *parts: bytes, pause: float = 0.0, patience: float = 30.0) -> Heard:
    """Says these bytes, with pauses between them, and listens."""
    with socket.create_connection((HOST, port), timeout=patience) as connection:
        try:
            for number, part in enumerate(parts):
                time.sleep(pause if number else 0.0)
                connection.sendall(part)
        except OSError:
            pass  # it was cut off; the answer may be there nevertheless
        return heard(connection)


def heard(connection: socket.socket) -> Heard:
    """One answer, or what there is of it when the other side ends."""
    content = b""
    while True:
        try:
            part = connection.recv(1 << 16)
        except ConnectionResetError:
            part = b""
        content += part
        if not part:
            return Heard.of(content, closed=True)
        head, ended, body = content.partition(b"\r\n\r\n")
        told = re.search(rb"content-length: (\d+)", head.lower())
        if ended and told and len(body) >= int(told[1]):
            return Heard.of(content, closed=False)
