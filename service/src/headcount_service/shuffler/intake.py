"""Group commit of uploads: one thread stores and answers up to 256 queued requests per transaction.

The queue is bounded: a request that finds it full is answered with 503 before anything is opened.
Uploads are opened by the same thread, so that there is one queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from time import sleep

from headcount.errors import Busy
from headcount_service.shuffler.shuffler import Answer
from headcount_service.wire.report import Upload

TOGETHER = 256  # uploads in a commit, at most
GATHER = 0.005  # seconds that the first of them waits for others
WAITING = 512  # uploads in the queue, at most


class Intake:
    """A bounded queue, and the thread that empties it."""

    def __init__(self, accept: Callable[[Sequence[Upload]], Sequence[Answer | Exception]]) -> None:
        self._accept = accept
        self._queue: list[tuple[Upload, asyncio.Future[Answer]]] = []
        self._ready, self._closed = Condition(), False
        self._thread = Thread(target=self._run, name="intake", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def full(self) -> bool:
        return self.waiting >= WAITING

    async def put(self, upload: Upload) -> Answer:
        """The answer, once the report is on the disk."""
        if self.full:
            raise Busy
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        with self._ready:
            self._queue.append((upload, future))
            if len(self._queue) == 1:
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
                answers: Sequence[Answer | Exception] = self._accept([upload for upload, _ in waiting])
            except Exception as problem:  # noqa: BLE001  # answers all of them, and the next ones are accepted
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
