"""A witness: a second file, elsewhere, with the length and last hash of a ledger."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from headcount.errors import Damaged
from headcount.ledger import files
from headcount.ledger.chain import complete, ended, parsed


@dataclass(frozen=True)
class Heard:
    """What has been read and agreed with: its size in bytes, and the last number in them."""

    size: int = 0
    digest: bytes = sha256().digest()
    number: int = -1


class Witness:
    """A line for each head of one ledger it was shown: the number of charges and the last hash.

    It is written under the ledger's lock, after the charge and before its acknowledgement. So the
    ledger may be ahead of it after a crash, and is never behind unless somebody put back an old
    copy.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._heard = path, Heard()

    def check(self, ledger: str, hashes: tuple[str, ...]) -> int:
        """Refuse a ledger that lacks what was seen here; returns the last number seen, or -1."""
        if not self.path.exists():
            return -1
        with files.locked(self.path, alone=False) as file:
            return self._last(files.whole_file(file), ledger, hashes)

    def note(self, ledger: str, hashes: tuple[str, ...]) -> None:
        """Write the head down, durably, unless it is known."""
        number = len(hashes) - 1
        line = ended({"hash": hashes[-1], "id": ledger, "number": number})
        if not self.path.exists():
            files.create(self.path, line)
            return
        with files.locked(self.path, alone=True) as file:
            content = files.whole_file(file)
            if self._last(content, ledger, hashes) < number:
                os.ftruncate(file, content.rfind(b"\n") + 1)
                files.append(file, line)

    def _last(self, content: bytes, ledger: str, hashes: tuple[str, ...]) -> int:
        heard = self._heard
        if sha256(content[: heard.size]).digest() != heard.digest:
            heard = Heard()  # the file was replaced, so that it is read from its beginning
        fresh, numbers = complete(content[heard.size :]), [heard.number]
        for text in reversed(fresh):
            seen = parsed(text, f"{self.path}, a line")
            if seen.get("id") != ledger:
                raise Damaged(f"{self.path} is the witness of another ledger", "give each ledger its own")
            numbers.append(_agreed(seen, hashes, self.path))
        size = heard.size + sum(len(text) + 1 for text in fresh)
        self._heard = Heard(size, sha256(content[:size]).digest(), max(numbers))
        return max(numbers)


def _agreed(seen: dict[str, Any], hashes: tuple[str, ...], path: Path) -> int:
    number = seen.get("number")
    if not isinstance(number, int) or number < 0:
        raise Damaged(f"{path} has a line without a number", "restore it from a copy")
    if number >= len(hashes):
        raise Damaged(
            f"the ledger has {len(hashes) - 1} charges and its witness {path} has seen {number}: an old copy was put "
            "back, or its end cut off. Restore the newest copy"
        )
    if hashes[number] != seen.get("hash"):
        raise Damaged(f"charge {number} of the ledger is not the one that its witness {path} has seen")
    return number
