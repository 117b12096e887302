"""Two parties as an earlier version left them on the disk, to be found by later ones.

`python tests/service/earlier.py FILE`, with the version that is to become an earlier one, writes them down: a
collection whose answer was released and paid for, and one that is open and has no report yet.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from rig import WINDOW, Clock, Rig, plan

HERE = Path(__file__).parent / "earlier"


def written() -> dict[str, Any]:
    """Everything, with what it must still mean later."""
    with tempfile.TemporaryDirectory() as name:
        rig = Rig.made(Path(name))
        with rig.opened() as parties:
            parties.endowed(epsilon=4)
            told = parties.agreed(plan())
            parties.reported(told, 0, 1, 1)
            parties.clock.now += WINDOW
            parties.batches.advance()
            release = parties.release(told).body.decode()
            later = parties.agreed(plan(), question="And now?", opens=int(parties.clock.now), window=10**6)
            offer = parties.offer(later)
        content: dict[str, Any] = {"tokens": rig.tokens, "now": rig.clock.now, "release": release, "offer": offer}
        for role in rig.tokens:
            folder = rig.folder / role
            with sqlite3.connect(folder / "party.db") as database:
                content[role] = {"database": list(database.iterdump())}
            database.close()
            files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("party.db")]
            content[role]["files"] = {str(path.relative_to(folder)): path.read_bytes().hex() for path in files}
    return content


def restored(content: dict[str, Any], folder: Path) -> Rig:
    """The same parties, in this folder."""
    for role in ("analyser", "shuffler"):
        for name, told in content[role]["files"].items():
            path = folder / role / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_bytes(bytes.fromhex(told))
        with sqlite3.connect(folder / role / "party.db") as database:
            database.executescript("\n".join(content[role]["database"]))
        database.close()
    return Rig(folder, Clock(content["now"]), content["tokens"])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(written(), indent=0) + "\n")
