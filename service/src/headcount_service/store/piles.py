"""Piles of messages that do not fit into memory: temporary files without names, encrypted under a
secret that is only in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from headcount.errors import Damaged
from headcount_service.store.encryption import Encrypted

LENGTH = 4  # bytes that tell how long an entry is

Aside = Callable[[], BinaryIO]


class Pile:
    """A temporary file of messages."""

    def __init__(self, file: BinaryIO, cipher: Encrypted) -> None:
        self._file, self._cipher = file, cipher
        self.bytes, self._entries = 0, 0

    def add(self, messages: bytes) -> None:
        sealed = self._cipher.sealed(messages, self._bound(self._entries))
        self._file.write(len(sealed).to_bytes(LENGTH, "big") + sealed)
        self.bytes, self._entries = self.bytes + len(messages), self._entries + 1

    def blocks(self) -> Iterator[bytes]:
        """Read the pile, once, in blocks; it is deleted meanwhile."""
        self._file.seek(0)
        for entry in range(self._entries):
            length = int.from_bytes(self._read(LENGTH), "big")
            yield self._cipher.opened(self._read(length), self._bound(entry))
        self._file.close()

    def _bound(self, entry: int) -> bytes:
        return entry.to_bytes(8, "big")

    def _read(self, length: int) -> bytes:
        """Exactly this many bytes."""
        found = self._file.read(length)
        if len(found) != length:
            raise Damaged("what was put aside of a batch ends too early", "see to the disk of the key folder")
        return found
