"""A deadline for a whole HTTP exchange: a socket's own timeout begins anew with each byte."""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any, cast

PIECE = 1 << 16  # bytes that are sent before somebody looks at the time


class DeadlineSocket:
    """A connected socket that may be used until a moment. It has what `http.client` asks of one."""

    def __init__(self, own: socket.socket, until: float) -> None:
        self._own, self.until = own, until

    def set_timeout(self) -> None:
        """Gives what is done next as long as is left; TimeoutError if nothing is."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._own.settimeout(left)

    def sendall(self, content: bytes) -> None:
        for start in range(0, len(content), PIECE):
            self.set_timeout()
            self._own.sendall(content[start : start + PIECE])

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(DeadlineReader(self, self._own.makefile("rb", buffering=0)))

    def close(self) -> None:
        """The socket itself is closed when nobody reads from it any more."""
        self._own.close()


class DeadlineReader(io.RawIOBase):
    """A reader of such a socket."""

    def __init__(self, over: DeadlineSocket, own: socket.SocketIO) -> None:
        self._over, self._own = over, own

    def readable(self) -> bool:
        return True

    def readinto(self, place: Any) -> int | None:
        self._over.set_timeout()
        return self._own.readinto(place)

    def close(self) -> None:
        self._own.close()
        super().close()


def open_until(connection: http.client.HTTPConnection, until: float) -> None:
    """Connects, if need be, and keeps the connection usable until this `time.monotonic` moment."""
    if connection.sock is None:
        connection.connect()
        own = cast(socket.socket, connection.sock)  # which connecting has made
        connection.sock = cast(socket.socket, DeadlineSocket(own, until))
    cast(DeadlineSocket, connection.sock).until = until
