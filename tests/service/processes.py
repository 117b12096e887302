"""Other processes, which begin with everything loaded, do one thing, and may be killed at any moment.

They are forked by a server that has no threads: a child of the tests' own process would inherit whatever lock a thread
of the cryptography held when it was forked.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

Say: TypeAlias = Callable[[bytes], None]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["serving", "pytest", "stress"])  # what modules of tests begin with


def _ready() -> None:
    """The server finds the tests' modules where this process does."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


class Child:
    """A process that does this with what it is given; what it says is heard."""

    def __init__(self, work: Callable[..., None], *given: Any) -> None:
        _ready()
        self._heard, said = CONTEXT.Pipe(duplex=False)
        self._process = CONTEXT.Process(target=_life, args=(work, said, given), daemon=True)
        self._process.start()
        said.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def next(self) -> bytes:
        """What it says next; nothing if it has ended."""
        try:
            return self._heard.recv_bytes()
        except (EOFError, OSError):
            return b""

    def said(self) -> list[bytes]:
        """All of it, when it has ended."""
        return list(iter(self.next, b""))

    def tell(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.tell(signal.SIGKILL)

    @property
    def code(self) -> int:
        """How it ended."""
        self._process.join()
        self._heard.close()
        assert self._process.exitcode is not None
        return self._process.exitcode


def _life(work: Callable[..., None], said: Connection, given: tuple[Any, ...]) -> None:
    try:
        work(said.send_bytes, *given)
    except BaseException:  # it is shown, and the code tells
        traceback.print_exc()
        raise
