"""Repeated questions on the same data without a ledger: it is noted at times that answers add up.

Remembered are the files and the frames that were asked about, and the budgets of their answers; of
a list nothing is known that would tell it from the next. The command line remembers files between
its runs, in the user's own folder for such things. Nothing is refused here: a ledger refuses.
"""

from __future__ import annotations

import json
import os
import weakref
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from headcount.ledger.files import OURS
from headcount.privacy.budget import Budget, total

KEPT = 100_000  # bytes of the file that are read again

_asked: defaultdict[object, list[Budget]] = defaultdict(list)


def habit(data: Any, budget: Budget, remembered: bool = False) -> str:
    """What should be known besides the answer to this question; nothing the first time.

    It is said of the second question, of the fourth, the eighth and so on: often enough to be seen,
    and not so often that nobody looks. With `remembered`, of a file, also if the others were asked
    by earlier processes.
    """
    key = _key(data)
    if key is None:
        return ""
    budgets = _asked[key]
    budgets.append(budget)
    if remembered and isinstance(key, str):
        budgets = _written(key, budget)
    asked = len(budgets)
    return "" if asked < 2 or asked & (asked - 1) else _words(budgets)


def _words(budgets: Sequence[Budget]) -> str:
    spent = total(budgets)
    cost = "" if spent is None else f" and may have cost them {spent} together"
    return f"{len(budgets)} questions about these people had no ledger{cost}; answers add up, and a ledger keeps count"


def _key(data: Any) -> object:
    """What tells these data from others: a file's path, or an object for as long as it lives."""
    if isinstance(data, str | Path):
        return str(Path(data).resolve())
    key = id(data)
    if key not in _asked:
        try:
            weakref.finalize(data, _asked.pop, key, None).atexit = False
        except TypeError:  # of lists there are no weak references
            return None
    return key


def _written(key: str, budget: Budget) -> list[Budget]:
    """The budgets of all questions about this file, and this one; only this if none can be kept."""
    place = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "headcount" / "asked"
    name, found = sha256(key.encode()).hexdigest()[:16], list[Budget]()
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(place, "a+", encoding="utf-8", errors="replace", opener=_ours) as file:
            file.write(json.dumps({"file": name, **budget.to_json()}) + "\n")
            file.flush()
            file.seek(max(0, file.tell() - KEPT))
            found = [each for line in file.read().splitlines() if (each := _budget(line, name)) is not None]
    return found or [budget]


def _ours(path: str, flags: int) -> int:
    """The file opened, for its owner alone, also if it was there before."""
    file = os.open(path, flags, OURS)
    os.fchmod(file, OURS)
    return file


def _budget(line: str, name: str) -> Budget | None:
    """What a line says of this file; nothing if it is of another, or nonsense."""
    try:
        kept = json.loads(line)
        return Budget(**kept) if kept.pop("file") == name else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
