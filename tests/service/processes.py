"""Other processes, which begin with everything loaded, are told what to do, and may be killed at any moment."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable


class Child:
    """A process that does one thing and ends; what it says is heard at its end."""

    def __init__(self, work: Callable[[Callable[[bytes], None]], None]) -> None:
        self._reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            os.close(self._reading)
            status = 1
            try:
                work(lambda words: _written(writing, words))
                status = 0
            except BaseException:  # noqa: BLE001  # nothing may return from here
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(status)
        os.close(writing)
        self._code: int | None = None

    def said(self) -> bytes:
        """All of it, when it has ended or closed its mouth."""
        parts = []
        while part := os.read(self._reading, 1 << 16):
            parts.append(part)
        return b"".join(parts)

    def line(self) -> bytes:
        """Its next line."""
        line = b""
        while not line.endswith(b"\n") and (one := os.read(self._reading, 1)):
            line += one
        return line

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def tell(self, number: int) -> None:
        os.kill(self.pid, number)

    @property
    def code(self) -> int:
        """How it ended."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._reading)
        return self._code


def _written(file: int, words: bytes) -> None:
    while words:
        words = words[os.write(file, words) :]
