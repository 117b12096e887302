"""Broken twins of every protocol, and which check catches each.

    python -m headcount_survey.pages.twins [--only zsum] [--out docs/twins.md]

Every tiny instance of the catalogue is mutated in every way there is; the command fails if any twin
goes unnoticed, or if the sound protocol in the same wrapping does not.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headcount.protocols import CATALOGUE
from headcount_survey.mutants.catalogue import MUTATIONS
from headcount_survey.mutants.detection import Caught, caught, caught_by
from headcount_survey.mutants.mutation import twin


def row(one: Caught) -> str:
    outcome = f"does not apply: {one.unfit}" if one.unfit else one.check or "NOT CAUGHT"
    name = f"{one.protocol.name} ({one.protocol.task.name}, {one.protocol.neighbours})"
    return f"| {name} | {one.mutation} | {outcome} | {one.message} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Broken twins of every protocol, and the checks that catch them.")
    parser.add_argument("--only", help="the name of one protocol")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    tinies = [tiny for cls in CATALOGUE if arguments.only in (None, cls.name) for tiny in cls.tinies()]
    found: list[Caught] = []
    accused: list[str] = []
    for tiny in tinies:
        check, message = caught_by(twin(tiny))
        accused += [f"{check}: {message}"] if check else []
        for one in caught(tiny):
            found.append(one)
            print(row(one), flush=True)
    applied, missed = [one for one in found if not one.unfit], [one for one in found if not one.fine]
    page = "\n".join(
        [
            "# Broken twins",
            "",
            f"Made by `make twins`: {len(MUTATIONS)} mutations of {len(tinies)} instances, of which",
            f"{len(applied)} apply and {len(applied) - len(missed)} are caught; {len(accused)} sound ones are accused.",
            "",
            "| protocol | mutation | caught by | message |",
            "|---|---|---|---|",
            *map(row, found),
            "",
        ]
    )
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    print(f"{len(applied) - len(missed)} of {len(applied)} twins caught; {len(accused)} sound ones accused", *accused)
    sys.exit(1 if missed or accused else 0)


if __name__ == "__main__":
    main()
