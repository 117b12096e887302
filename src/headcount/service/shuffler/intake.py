"""Many uploads, one commit: whoever waits for the disk waits together, and is answered when it is there.

Uploads are opened here as well and not where they arrive, so that all who wait are in one queue that can be full.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from time import sleep

from headcount.errors import Busy
from headcount.service.shuffler.shuffler import Answer, Sent

TOGETHER = 256  # uploads in a commit, at most
GATHER = 0.005  # seconds that the first of them waits for company
WAITING = 512  # and before it; who comes then is sent away


class Intake:
    """A queue with an end, and one thread that empties it."""

    def __init__(self, take: Callable[[Sequence[Sent]], Sequence[Answer | Exception]]) -> None:
        self._take = take
        self._queue: list[tuple[Sent, asyncio.Future[Answer]]] = []
        self._ready, self._closed = Condition(), False
        self._thread = Thread(target=self._run, name="intake", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def full(self) -> bool:
        return self.waiting >= WAITING

    async def put(self, sent: Sent) -> Answer:
        """What became of it, once that is on the disk."""
        if self.full:
            raise Busy
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        with self._ready:
            self._queue.append((sent, future))
            self._ready.notify()
        return await future

    def close(self) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._queue and not self._closed:
                    self._ready.wait()
            sleep(GATHER)
            with self._ready:
                waiting, self._queue = self._queue[:TOGETHER], self._queue[TOGETHER:]
            if not waiting:
                return
            try:
                answers: Sequence[Answer | Exception] = self._take([sent for sent, _ in waiting])
            except Exception as problem:  # noqa: BLE001  # whoever waits is told, and the next ones are taken
                answers = [problem] * len(waiting)
            loop = waiting[0][1].get_loop()
            loop.call_soon_threadsafe(_answer, [future for _, future in waiting], answers)


def _answer(futures: Sequence[asyncio.Future[Answer]], answers: Sequence[Answer | Exception]) -> None:
    for future, answer in zip(futures, answers, strict=True):
        if future.cancelled():
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
