"""The documents made of statements: `python -m headcount_survey.pages.statements --out docs`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headcount_survey.answers import Answers
from headcount_survey.errata import Errata
from headcount_survey.report import page
from headcount_survey.statements import Statements
from headcount_survey.study import Study

PAGES: tuple[type[Study], ...] = (Statements, Errata, Answers)


def main(arguments: list[str] | None = None) -> int:
    """Writes a page for each; 1 if what was computed does not bear a row out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs"), help="the folder")
    folder = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    amiss = []
    for kind in PAGES:
        found = kind().run()
        (folder / f"{kind.name}.md").write_text(page(kind(), found), encoding="utf-8")
        amiss += [row["key"] for row in found.rows if not row["supported"]]
    if amiss:
        print("not borne out:", ", ".join(sorted(set(amiss))), file=sys.stderr)
    return 1 if amiss else 0


if __name__ == "__main__":
    sys.exit(main())
