"""Two processes that compute for the page, so that nothing else waits: one fast, one thorough."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from headcount.errors import Occupied
from headcount_service.web import advisor

Work = Callable[[dict[str, Any]], dict[str, Any]]
AT_ONCE = {advisor.quick}
MOST = {True: 24, False: 6}  # questions that wait for who answers at once, and for who takes seconds
KEPT = 2_048  # answers


class Workers:
    """The two processes, and a cache of their answers."""

    def __init__(self) -> None:
        self._pools: dict[bool, ProcessPoolExecutor] = {}
        self._waiting = {True: 0, False: 0}
        self._kept: dict[tuple[str, str], dict[str, Any]] = {}

    def begin(self) -> None:
        """Start both processes, which load what they need. Idempotent."""
        for at_once in (True, False):
            self._pool(at_once)

    def _pool(self, at_once: bool) -> ProcessPoolExecutor:
        if at_once not in self._pools:
            context = multiprocessing.get_context("spawn")
            self._pools[at_once] = ProcessPoolExecutor(1, mp_context=context, initializer=_born, initargs=(at_once,))
            self._pools[at_once].submit(advisor.ready)
        return self._pools[at_once]

    async def ask(self, work: Work, given: dict[str, Any], text: str) -> dict[str, Any]:
        """The result of `work`; `text` is its key in the cache."""
        key = (work.__name__, text)
        if key not in self._kept:
            found = await self._done(work, given)
            while len(self._kept) >= KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = found
        return self._kept[key]

    async def _done(self, work: Work, given: dict[str, Any]) -> dict[str, Any]:
        at_once = work in AT_ONCE
        if self._waiting[at_once] >= MOST[at_once]:
            raise Occupied
        self._waiting[at_once] += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool(at_once), work, given)
        except BrokenProcessPool:
            del self._pools[at_once]  # begun anew when somebody asks
            raise Occupied from None
        finally:
            self._waiting[at_once] -= 1

    def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
            for process in (pool._processes or {}).values():
                process.terminate()


def _born(at_once: bool) -> None:
    """Make a worker end with its parent and ignore control-C; a thorough one has lower priority."""
    if not at_once and hasattr(os, "nice"):
        os.nice(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101  # it is a child

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
