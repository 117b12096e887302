"""A ledger in a file.

A charge is checked, appended and flushed to the disk under one lock, across threads and processes,
and only then acknowledged. A process that dies in between leaves at most a line without an end,
which is cut off by the next charge: nothing was drawn for it. A line that has its end but not its
hash was changed by somebody, and is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from headcount.errors import Damaged
from headcount.ledger import files
from headcount.ledger.allowance import Allowance
from headcount.ledger.book import Page
from headcount.ledger.chain import complete
from headcount.ledger.lines import Lines, ReadSoFar, first_line


@dataclass(frozen=True, eq=False)
class Verified:
    """What has been read and verified, its size in bytes and its digest."""

    read: ReadSoFar
    size: int
    digest: bytes


class Journal(Lines):
    """A book in a file."""

    @staticmethod
    def create(path: Path, allowance: Allowance) -> None:
        files.create(path, first_line(allowance))

    def __init__(self, path: Path, witness: Path | None = None) -> None:
        self.path = path
        with files.locked(path, alone=False) as file:
            content = files.whole_file(file)
        lines = complete(content)
        if not lines:
            raise Damaged(f"{path} has no first line, which would say what the budget is", "begin another ledger")
        super().__init__(lines[0], str(path), witness)
        size = len(lines[0]) + 1
        self._known = Verified(self._beginning, size, sha256(content[:size]).digest())
        self.page()

    def page(self) -> Page:
        with files.locked(self.path, alone=False) as file:
            return self._caught_up(files.whole_file(file)).read.page

    def turn(self, turned: Callable[[Page], Page]) -> None:
        with files.locked(self.path, alone=True) as file:
            content = files.whole_file(file)
            known = self._caught_up(content)
            lines, read = self._added(known.read, turned(known.read.page))
            if len(content) > known.size:
                os.ftruncate(file, known.size)
            files.append(file, b"".join(lines))
            whole = content[: known.size] + b"".join(lines)
            self._known = Verified(read, len(whole), sha256(whole).digest())
            self._update_witness(read)

    def show_witness(self) -> None:
        """Bring the witness up to date."""
        if self._witness is not None:
            with files.locked(self.path, alone=True) as file:
                self._update_witness(self._caught_up(files.whole_file(file)).read)

    def _caught_up(self, content: bytes) -> Verified:
        """The state with lines appended since, here or elsewhere; what was read must remain."""
        known = self._known
        if sha256(content[: known.size]).digest() != known.digest:
            raise Damaged(f"{self.path} was cut or rewritten while it was open", "restore it from a copy")
        lines = complete(content[known.size :])
        size = known.size + sum(len(line) + 1 for line in lines)
        self._known = Verified(self._grown(known.read, lines), size, sha256(content[:size]).digest())
        return self._known
