"""Runs inside a peer's environment: one job after another, each a line of JSON in, each answered by a line of JSON.

`python -P serving.py NAME` loads NAME.py from beside this file, which has `PACKAGES` and, for each task, a function
that takes the job and gives back what is to be timed. A job says `task`, whatever that task needs, and `runs`: how
often, or until this many `seconds` have passed, after one more to `warm` up. The answer has the seconds and, if
`answers` are wanted, the answer of every run, the most memory that was held by this process and its children together,
and the packages' versions; or else the error.

It is not called by its own folder (`-P`), so that opendp.py here is not mistaken for the library.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import warnings
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is not an answer
    warnings.simplefilter("ignore")
    start = perf_counter()
    peer = None
    for line in sys.stdin:
        try:
            if peer is None:
                peer = loaded(sys.argv[1])
                importing = perf_counter() - start
            job = json.loads(line)
            answer = {"importing": importing, **answered(peer, job)}
        except Exception as error:  # noqa: BLE001  (whatever goes wrong is the answer)
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=replies, flush=True)
    if os.getpgrp() == os.getpid():  # whoever asked is gone: end what was started here too
        os.killpg(0, signal.SIGKILL)


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"peer_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answered(peer, job):
    task = getattr(peer, job["task"], None)
    if task is None:
        raise NotImplementedError(f"it has no {job['task'].replace('_', ' ')}")
    work = prepared(task, job)
    if job.get("warm"):
        work()
    seconds, answers, least = [], [], job.get("least", 1)
    start = perf_counter()
    while len(seconds) < job.get("runs", 1) and (
        len(seconds) < least or perf_counter() - start < job.get("seconds", float("inf"))
    ):
        before = perf_counter()
        answer = work()
        seconds.append(perf_counter() - before)
        if job.get("answers"):
            answers.append(plain(answer))
    return {
        "seconds": seconds, "answers": answers, "peak": peak(), "children": sum(map(worked, family(os.getpid())[1:])),
        "versions": {package: version(package) for package in peer.PACKAGES},
    }  # fmt: skip


KEPT: dict[str, object] = {}


def prepared(task, job):
    """What is to be timed; the same job again finds it ready."""
    key = json.dumps(
        {name: job[name] for name in sorted(job) if name not in ("runs", "seconds", "least", "answers", "warm")}
    )
    if key not in KEPT:
        KEPT.clear()
        KEPT[key] = task(job)
    return KEPT[key]


def plain(answer):
    """Numbers of Python's own."""
    if hasattr(answer, "tolist"):
        return answer.tolist()
    return [float(each) for each in answer] if isinstance(answer, list | tuple) else float(answer)


def peak() -> int:
    """In bytes, children (a Java machine) included.

    Not `ru_maxrss`: on Linux that survives exec, so a child would report the parent that started it.
    """
    return sum(held(process) for process in family(os.getpid()))


def family(process):
    """It and all that it started, as far as they have not ended meanwhile."""
    tree = [process]
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                for child in (thread / "children").read_text().split():
                    tree += family(int(child))
    return tree


def worked(process) -> float:
    """The processor's seconds for it and what it started and has seen end."""
    with suppress(OSError, ValueError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def held(process) -> int:
    """The most memory it has held."""
    with suppress(OSError, IndexError):
        status = Path(f"/proc/{process}/status").read_text()
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    return 0


if __name__ == "__main__":
    main()
