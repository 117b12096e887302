"""Writes the test vectors of clients in other languages.

    python -m headcount_service.vectors --out FOLDER [--bricks 40] [--protocols 10]

docs/client-vectors.md says what is in the files.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from headcount_service.vectors.claims import claims
from headcount_service.vectors.draws import bricks, protocols
from headcount_service.vectors.offers import answers, collections, receipts


def write(folder: Path, of_bricks: int, of_protocols: int) -> None:
    """Write all files, with this many vectors for each brick and for each protocol."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "bricks": bricks(of_bricks),
        "protocols": protocols(of_protocols),
        "answers": answers(),
        "collections": collections(),
        "receipts": receipts(),
        "claims": claims(),
    }
    for name, entries in files.items():
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
        lines = lines.replace('":Infinity', '":1e999')  # which JSON has no word for, and every reader takes for it
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the test vectors of clients in other languages.")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    parser.add_argument("--bricks", type=int, default=40, help="vectors for each brick")
    parser.add_argument("--protocols", type=int, default=10, help="vectors for each protocol")
    given = parser.parse_args(arguments)
    write(given.out, given.bricks, given.protocols)


if __name__ == "__main__":
    main()
