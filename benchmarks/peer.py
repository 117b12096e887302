"""A peer at work: a process in its own environment that is asked by lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import Any, Self

import machine
from environments import PEERS, environment
from plain import without_places

SECONDS = 180.0  # for one answer


class NotMeasured(Exception):
    """A peer gave no figure; the text says why."""


class Peer:
    """One process, from `with` to its end. It is started by the first question."""

    def __init__(self, name: str, seconds: float = SECONDS) -> None:
        self.name, self.seconds = name, seconds
        self.failed = environment(name).reason
        self._children = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._said = TemporaryFile()  # noqa: SIM115  (as long as the process)
        self._folder = TemporaryDirectory()  # some write where they stand
        self._read = b""

    def ask(self, task: str, **job: Any) -> dict[str, Any]:
        """The answer to a job, or NotMeasured. A peer that ended, or took too long, is not asked again."""
        if self.failed:
            raise NotMeasured(self.failed)
        process = self._process or self._started()
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"task": task, **job}).encode() + b"\n")
            process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._line(process))
        except (OSError, ValueError):
            self.failed = self.failed or f"it ended without an answer: {self._last_words(process)}"
            self.close()
            raise NotMeasured(self.failed) from None
        if "error" in answer:
            raise NotMeasured(without_places(answer["error"]))
        self._children = answer["children"]
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        """Start a process in a group of its own, so that it can be ended together with its children."""
        command = [str(environment(self.name).python), "-P", str(PEERS / "serving.py"), self.name]
        quiet = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True,
            cwd=self._folder.name, env={**os.environ, **quiet},
        )  # fmt: skip
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        until = monotonic() + self.seconds
        while b"\n" not in self._read:
            left = until - monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                self.failed = f"stopped after {self.seconds:.0f} s without an answer"
                raise ValueError(self.failed)
            some = os.read(process.stdout.fileno(), 1 << 20)
            if not some:
                raise ValueError("no answer")
            self._read += some
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _last_words(self, process: subprocess.Popen[bytes]) -> str:
        """How it ended: by a signal from somebody else, or with the last line it wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if process.wait(1.0) < 0:
                return f"by signal {-process.returncode}"
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return without_places(lines[-1]) if lines else "silently"

    def close(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None
            machine.adopted.append(self._children)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._said.close()
        self._folder.cleanup()


@contextmanager
def peers(*names: str, seconds: float = SECONDS) -> Iterator[dict[str, Peer]]:
    """Several, to be asked in turn."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(Peer(name, seconds)) for name in names}


def in_turn(jobs: Mapping[str, tuple[Peer, dict[str, Any]]], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Every contender once in every round; one that fails is left out from then on, and its list is short."""
    got: dict[str, list[dict[str, Any]]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, (peer, job) in jobs.items():
            with contextlib.suppress(NotMeasured):
                got[name].append(peer.ask(**job))
    return got
