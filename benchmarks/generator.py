"""Uploads that come when they are due, whether or not the others were answered.

Run as a script: where to, the file of uploads and the length of each, the number of connections, a file for what was
seen, whether an upload that finds no free connection waits for one (`wait`) or not (`leave`), and then how many uploads
a second for how many seconds, as often as one likes (`2000x10`). For every upload it writes when it was due, how long
after that it was answered, and with what status (0: never).
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from pathlib import Path
from time import perf_counter

import numpy as np

TICK = 0.001  # seconds between looks at what is due
PATIENCE = 30.0  # seconds for the last answers


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, load: Load) -> None:
        self.load, self.number, self.answer = load, -1, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.load.idle.append(self)

    def send(self, number: int) -> None:
        self.number = number
        self.transport.write(self.load.request(number))  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.answer += data
        head, found, body = self.answer.partition(b"\r\n\r\n")
        if found and len(body) >= int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            self.load.answered(self.number, int(head[9:12]))
            self.answer = b""
            if self.load.waiting:
                self.send(self.load.waiting.popleft())
            else:
                self.load.idle.append(self)


class Load:
    """All of it."""

    def __init__(self, head: bytes, uploads: bytes, size: int, due: np.ndarray, patient: bool) -> None:
        self.head, self.uploads, self.size, self.due, self.patient = head, uploads, size, due, patient
        self.idle: deque[Connection] = deque()
        self.waiting: deque[int] = deque()
        self.taken, self.status = np.full(len(due), np.inf), np.zeros(len(due), dtype=np.int64)
        self.left = len(due)

    def request(self, number: int) -> bytes:
        return self.head + self.uploads[number * self.size : (number + 1) * self.size]

    def answered(self, number: int, status: int) -> None:
        self.taken[number], self.status[number] = perf_counter() - self.start - self.due[number], status
        self.left -= 1

    async def run(self, host: str, port: int, connections: int) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(connections):
            await loop.create_connection(lambda: Connection(self), host, port)
        await asyncio.sleep(0.5)
        self.start, at, due = perf_counter(), 0, self.due.tolist()
        while at < len(due):
            now = perf_counter() - self.start
            while at < len(due) and due[at] <= now:
                if self.idle:
                    self.idle.popleft().send(at)
                elif self.patient:
                    self.waiting.append(at)
                else:
                    self.left -= 1
                at += 1
            await asyncio.sleep(TICK)
        until = perf_counter() + PATIENCE
        while self.left and perf_counter() < until:
            await asyncio.sleep(0.01)


def main() -> None:
    host, port, path, file, size, connections, out, door, *phases = sys.argv[1:]
    due, start = [], 0.0
    for phase in phases:
        rate, seconds = map(float, phase.split("x"))
        due.append(start + np.arange(round(rate * seconds)) / rate)
        start += seconds
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {size}\r\n\r\n".encode()
    load = Load(head, Path(file).read_bytes(), int(size), np.concatenate(due), door == "wait")
    asyncio.run(load.run(host, int(port), int(connections)))
    np.savez(out, due=load.due, taken=load.taken, status=load.status)


if __name__ == "__main__":
    main()
