"""The opened messages of a batch, each once, in little memory.

Messages with the same number are copies. Of a batch of many messages, each goes to a pile on the
disk by a hash of its number, under a key that nobody else knows: copies are in the same pile, and
no sender decides in which. The numbers of one pile are in memory at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from itertools import groupby

from headcount.protocols.base.report_size import IDENTITY
from headcount_service.store.encryption import Encrypted, new_secret
from headcount_service.store.piles import Aside, Pile

AT_ONCE = 1 << 20  # messages whose numbers are in memory, of a batch that has no piles
PILES = 256


def distinct(parts: Iterable[Sequence[bytes]], messages: int, aside: Aside) -> Iterator[list[bytes]]:
    """Distinct messages, all of one length, without the number each begins with, a list at a time.

    The number of `messages` is an upper bound: it decides whether piles are needed.
    """
    if messages <= AT_ONCE:
        yield from _once(parts)
        return
    cipher = Encrypted(new_secret())
    with ExitStack() as open_files:
        piles = [Pile(open_files.enter_context(aside()), cipher) for _ in range(PILES)]
        size = 1
        for part in filter(None, parts):
            size = len(part[0])
            where = {message: _pile(message, cipher.salt) for message in part}
            for pile, some in groupby(sorted(part, key=where.__getitem__), where.__getitem__):
                piles[pile].add(b"".join(some))
        for each in piles:
            yield from _once(_cut(block, size) for block in each.blocks())


def _once(parts: Iterable[Sequence[bytes]]) -> Iterator[list[bytes]]:
    seen = set[bytes]()
    for part in parts:
        new = list[bytes]()
        for message in part:
            if (number := message[:IDENTITY]) not in seen:
                seen.add(number)
                new.append(message[IDENTITY:])
        yield new


def _pile(message: bytes, salt: bytes) -> int:
    return blake2b(message[:IDENTITY], key=salt, digest_size=1).digest()[0] % PILES


def _cut(block: bytes, size: int) -> list[bytes]:
    return [block[at : at + size] for at in range(0, len(block), size)]
