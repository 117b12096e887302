"""How many files and functions lie between `hc.count(data)` and the printed answer.

Counted are the files under `src/headcount` of which some function runs, and the distinct functions that run, methods
and properties too: in every thread, each once however often it is called. Not counted are lambdas, comprehensions and
generator expressions (which only some versions of Python make functions of), the bodies of modules and classes, and
what `dataclass` writes. Everything is imported beforehand, and each walk has a process of its own, in which no cache
has been filled by an earlier question. Random bytes are the same every time: a rare draw takes a few functions more.

    python benchmarks/walk.py               the three walks
    python benchmarks/walk.py -v named      every step of one of them
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from hashlib import shake_256
from pathlib import Path
from types import CodeType, FrameType

import headcount as hc

FOLDER = Path(hc.__file__).parent
DATA = [1] * 300 + [0] * 700
WALKS = {
    "planned": "a plan that is ready",
    "named": "a protocol that is named, which is calibrated first",
    "chosen": "no protocol named: the planner ranks those of the model",
}


def passed(work: Callable[[], object], folder: Path) -> list[CodeType]:
    """The functions defined below a folder that run while this is done, in the order of their first calls."""
    seen: dict[CodeType, None] = {}

    def look(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{folder}{os.sep}") and not code.co_name.startswith("<"):
            seen.setdefault(code)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(seen)


def files(seen: list[CodeType], folder: Path) -> list[str]:
    """Their paths within the folder."""
    return list(dict.fromkeys(Path(code.co_filename).relative_to(folder).as_posix() for code in seen))


def walked(name: str) -> list[CodeType]:
    """One of the walks, in this process; another one after it would find caches filled."""
    hc.count  # noqa: B018 - the first use imports everything
    os.urandom = lambda size: shake_256(b"the same").digest(size)
    plan = None
    if name == "planned":
        plan = hc.Plan(hc.protocol("poisson-count", n=len(DATA), mean=60), hc.Budget(1, 1e-6))
    options = {"epsilon": 1, "delta": 1e-6, "model": "shuffle"}
    works: dict[str, Callable[[], object]] = {
        "planned": lambda: str(hc.run(plan, DATA)),
        "named": lambda: str(hc.count(DATA, protocol="poisson-count", **options)),
        "chosen": lambda: str(hc.count(DATA, **options)),
    }
    return passed(works[name], FOLDER)


def counted(name: str) -> str:
    """The files and the functions of a walk in a new process."""
    return subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True).stdout.strip()


def main(arguments: list[str]) -> None:
    if not arguments:
        for name, what in WALKS.items():
            print(f"{counted(name)}: {what}")
        return
    seen = walked(arguments[-1])
    print(f"{len(files(seen, FOLDER))} files, {len(seen)} functions")
    if "-v" in arguments:
        for code in sorted(seen, key=lambda code: (code.co_filename, code.co_firstlineno)):
            print(Path(code.co_filename).relative_to(FOLDER).as_posix(), code.co_qualname)


if __name__ == "__main__":
    main(sys.argv[1:])
