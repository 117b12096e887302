"""How long `import headcount`, the first use of it and an advice from the shell take, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from page import Section, met
from timing import Spread, ratio, seconds

TIMES, ADVICE = 2.0, 1.0
ASKED = "advise count --n 1000000 --epsilon 1 --delta 1e-6"
IMPORTS = {
    "ours": "headcount",
    "used": "headcount; headcount.count",
    "numpy": "numpy",
    "floor": "numpy, cryptography.hazmat.primitives.ciphers",
}


def importing(modules: str) -> float:
    """Seconds inside a new interpreter, its own start not counted."""
    code = f"from time import perf_counter as t; a = t(); import {modules}; print(t() - a)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def advising() -> None:
    subprocess.run([sys.executable, "-m", "headcount", *ASKED.split()], check=True, capture_output=True)


def measure(quick: bool) -> Section:
    for modules in IMPORTS.values():
        importing(modules)  # writes the bytecode and fills the file cache
    rounds = [{name: importing(modules) for name, modules in IMPORTS.items()} for _ in range(4 if quick else 10)]
    times = {name: [each[name] for each in rounds] for name in IMPORTS}
    ours, used, numpy = (Spread.of(times[name]) for name in ("ours", "used", "numpy"))
    asked = Spread.of([seconds(advising) for _ in rounds])
    return Section(
        "Import",
        f"`import headcount` in a fresh interpreter, median of {len(rounds)}, beside `import numpy` alone; the same "
        f"with its first use, which loads the rest; and `headcount {ASKED}`, the interpreter's start included.",
        ["measured", "headcount", "peer", "ratio to the peer (spread)", "target", ""],
        [[
            "import, in seconds", f"{ours:.3f}", f"numpy: {numpy:.3f}", f"{ratio(times['ours'], times['numpy']):.2f}",
            f"at most {TIMES:g} times", met(ours.median <= TIMES * numpy.median),
        ], [
            "and first use", f"{used:.3f}", f"numpy: {numpy:.3f}", f"{ratio(times['used'], times['numpy']):.2f}",
            "none", "",
        ], ["advice from the shell", f"{asked:.3f}", "", "", f"at most {ADVICE:g} s", met(asked.median <= ADVICE)]],
        "numpy and cryptography's ciphers, without which there are no secret coins: "
        f"{Spread.of(times['floor']):.3f} s; first use takes {ratio(times['used'], times['floor']):.2f} times that.",
    )  # fmt: skip
