"""Run every benchmark and write the page: `make bench`, or with options by hand:

    python3 benchmarks/environments.py                        # once: an environment for every peer
    .venv-bench/headcount/bin/python benchmarks/run.py --quick --only accuracy
    .venv-bench/headcount/bin/python benchmarks/run.py --only service --into docs/benchmarks.md

With `--into`, sections of a page are replaced and the others stay; each then says on what it was measured.
A benchmark is a module with `measure(quick: bool) -> Section` and a line in BENCHMARKS. A peer is `peers/NAME.txt`,
what its environment needs, and `peers/NAME.py`, a function for each task; `peer.peers(NAME)` asks it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import accounting
import accuracy
import bernoulli
import calibration
import central
import devices
import domains
import files
import imports
import lake
import laplace
import machine
import messages
import mixing
import oracles
import people
import ranges
import rounds
import seals
import several
import simulation
import spark
import uploads
import web_page
from page import Section, page, replaced

BENCHMARKS: dict[str, Callable[[bool], Section]] = {
    "accuracy": accuracy.measure,
    "distributions": ranges.measure,
    "series": rounds.measure,
    "central": central.measure,
    "accounting": accounting.measure,
    "bernoulli": bernoulli.measure,
    "laplace": laplace.measure,
    "people": people.measure,
    "oracles": oracles.measure,
    "domains": domains.measure,
    "simulation": simulation.measure,
    "files": files.measure,
    "spark": spark.measure,
    "lake": lake.measure,
    "calibration": calibration.measure,
    "imports": imports.measure,
    "uploads": uploads.measure,
    "seals": seals.measure,
    "overload": uploads.overload,
    "messages": messages.measure,
    "mixing": mixing.measure,
    "several": several.measure,
    "devices": devices.measure,
    "browser": web_page.measure,
}
GROUPS = {
    "peers": ("accuracy", "distributions", "series", "central", "accounting", "laplace", "oracles"),
    "service": ("uploads", "seals", "overload", "messages", "mixing", "several", "devices"),
}
HEAD = """# Benchmarks

Written by `make bench`. Contenders take turns in one run; a figure is the median of its repetitions, the spread in
brackets is from the smallest to the largest, and a ratio is taken round by round, so that it survives a noisy machine.
Every peer is installed from PyPI into an environment of its own and runs in a process of its own; so does headcount
where memory, files, accuracy or accounting are compared. What could not be measured says why, and no figure is taken
from elsewhere.
Draws and tallies run on one core; numpy's dot products, which rank parameters in a calibration, may use more.{hurried}

{machine}
"""
HURRIED = " **A quick run: fewer repetitions and smaller inputs.**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the page to write; printed where left out")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and smaller inputs, some minutes")
    parser.add_argument(
        "--only", choices=[*BENCHMARKS, *GROUPS], action="append", help="only this benchmark (may be repeated)"
    )
    parser.add_argument("--into", type=Path, help="a page whose sections of the same names are replaced")
    options = parser.parse_args()
    if options.into and (options.out or options.quick or not options.only):
        parser.error("--into goes with --only, and neither with --out nor with --quick")
    facts, sections = machine.alone() if options.into else machine.described(), []
    chosen = [name for given in options.only or BENCHMARKS for name in GROUPS.get(given, (given,))]
    for name in chosen:
        start, others = perf_counter(), machine.OthersAtWork()
        section = BENCHMARKS[name](options.quick)
        sections.append(replace(section, others=others.cores()))
        print(f"{name}: {perf_counter() - start:.0f} s", file=sys.stderr)
    if machine.sources() not in facts:
        raise SystemExit("headcount's sources changed while the benchmarks ran; run them again")
    if options.into:
        options.into.write_text(replaced(options.into.read_text(), sections, facts))
        return
    text = page(HEAD.format(hurried=HURRIED if options.quick else "", machine=facts), sections)
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
