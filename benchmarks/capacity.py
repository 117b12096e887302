"""How many people a machine takes, and what becomes past one: `python benchmarks/capacity.py --out docs/capacity.md`.

Measures each stage at several sizes, fits lines, and writes the page and its figure from them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

import capacity_page
import machine
import stages
from parties import DATABASES
from stages import Measured

FULL = {
    "batches": (10_000, 20_000, 40_000, 80_000, 160_000), "uploads": (4_000, 8_000, 16_000, 32_000),
    "messages": (1, 2, 4, 8, 16), "reports": (300,), "earlier": (1, 10, 100, 300),
    "rows": (500_000, 1_000_000, 2_000_000, 4_000_000),
}  # fmt: skip
QUICK = {
    "batches": (2_000, 5_000, 10_000), "uploads": (1_000, 2_000, 4_000), "messages": (1, 4, 16), "reports": (60,),
    "earlier": (1, 10, 30), "rows": (100_000, 200_000, 400_000),
}  # fmt: skip


def measure(quick: bool) -> Measured:
    sizes, seen = QUICK if quick else FULL, Measured()
    steps = {
        "sealing": lambda: stages.sealing(seen, sizes["messages"], sizes["reports"][0]),
        "ledger": lambda: stages.charging(seen, sizes["earlier"]),
        "files": lambda: stages.files(seen, sizes["rows"]),
    }
    for database in DATABASES:
        steps[f"uploads, {database}"] = lambda kind=database: stages.uploading(seen, kind, sizes["uploads"])
        steps[f"batches, {database}"] = lambda kind=database: stages.batches(seen, kind, sizes["batches"])
    for name, step in steps.items():
        start = perf_counter()
        step()
        print(f"{name}: {perf_counter() - start:.0f} s", file=sys.stderr)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the page to write, its figure beside it; printed where left out")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes, some two minutes")
    parser.add_argument("--points", type=Path, help="a file of what was measured: written, or read if it is there")
    options = parser.parse_args()
    if options.points and options.points.exists():
        kept = json.loads(options.points.read_text())
    else:
        others = machine.OthersAtWork()
        points = measure(options.quick).points
        kept = {"points": points, "others": others.cores(), "machine": machine.described(), "quick": options.quick}
        if options.points:
            options.points.write_text(json.dumps(kept))
    seen = Measured({name: [(x, y) for x, y in points] for name, points in kept["points"].items()})
    text = capacity_page.page(seen, kept["machine"], kept["others"], quick=kept["quick"])
    if options.out:
        options.out.write_text(text, encoding="utf-8")
        for ending, theme in ((".svg", "light"), ("-dark.svg", "dark")):
            capacity_page.drawn(seen, options.out.with_name(f"{options.out.stem}{ending}"), theme)
    else:
        print(text)


if __name__ == "__main__":
    main()
