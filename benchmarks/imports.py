"""How long `import headcount` takes in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from page import Section, met
from timing import Spread, ratio

TARGET = 0.3
IMPORTS = {
    "ours": "headcount",
    "numpy": "numpy",
    "floor": "numpy, cryptography.hazmat.primitives.ciphers",
}


def importing(modules: str) -> float:
    """Seconds inside a new interpreter, its own start not counted."""
    code = f"from time import perf_counter as t; a = t(); import {modules}; print(t() - a)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def measure(quick: bool) -> Section:
    for modules in IMPORTS.values():
        importing(modules)  # writes the bytecode and fills the file cache
    rounds = [{name: importing(modules) for name, modules in IMPORTS.items()} for _ in range(4 if quick else 10)]
    times = {name: [each[name] for each in rounds] for name in IMPORTS}
    ours, numpy = Spread.of(times["ours"]), Spread.of(times["numpy"])
    return Section(
        "Import",
        f"`import headcount` in a fresh interpreter, median of {len(rounds)}, beside `import numpy` alone.",
        ["measured", "headcount", "peer", "ratio to the peer (spread)", "target", ""],
        [[
            "seconds", f"{ours:.3f}", f"numpy: {numpy:.3f}", f"{ratio(times['ours'], times['numpy']):.2f}",
            f"below {TARGET} s", met(ours.median < TARGET),
        ]],
        "numpy and cryptography's ciphers, without which there are no secret coins: "
        f"{Spread.of(times['floor']):.3f} s; we take {ratio(times['ours'], times['floor']):.2f} times that.",
    )  # fmt: skip
