"""An external shuffle: a uniformly random permutation of more messages than fit into memory.

Every message goes to one of several piles on the disk, each time by coins of its own; then pile
after pile is mixed in memory, or scattered again if it is too large for that. Which pile a message
is in, and where it is within the pile, are both uniform and independent of the others, so that
every order of all of them is equally likely (Rao, 1961; Sandelius, 1962). What is on the disk is
encrypted under a secret that is only in memory, in files without names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack

import numpy as np

from headcount.programme.coins import Coins
from headcount_service.store.encryption import Encrypted, new_secret
from headcount_service.store.piles import Aside, Pile
from headcount_service.wire.random_order import random_order

MEMORY = 1 << 25  # bytes of messages that are mixed at once
PILES = 64
BLOCK = 1 << 22  # bytes of messages that are scattered at once, or less


def mixed_blocks(blocks: Iterable[bytes], size: int, total: int, coins: Coins, aside: Aside) -> Iterator[bytes]:
    """The messages of these blocks (`total` bytes, `size` each), mixed, in blocks again."""
    if total <= MEMORY:
        messages = _messages(b"".join(blocks), size)
        if len(messages):
            yield messages[random_order(len(messages), coins)].tobytes()
        return
    cipher = Encrypted(new_secret())
    with ExitStack() as open_files:
        piles = [Pile(open_files.enter_context(aside()), cipher) for _ in range(PILES)]
        for block in together(blocks, BLOCK):
            _scatter(_messages(block, size), piles, coins)
        for pile in piles:
            yield from mixed_blocks(pile.blocks(), size, pile.bytes, coins, aside)


def together(blocks: Iterable[bytes], least: int) -> Iterator[bytes]:
    """Join blocks to ones of at least this many bytes; the last may be shorter."""
    waiting, held = list[bytes](), 0
    for block in blocks:
        waiting.append(block)
        held += len(block)
        if held >= least:
            yield b"".join(waiting)
            waiting, held = [], 0
    if held:
        yield b"".join(waiting)


def in_parts(blocks: Iterable[bytes], length: int) -> Iterator[bytes]:
    """Cut blocks into parts of exactly this length; the last may be shorter."""
    rest = b""
    for block in blocks:
        rest += block
        whole = len(rest) - len(rest) % length
        for at in range(0, whole, length):
            yield rest[at : at + length]
        rest = rest[whole:]
    if rest:
        yield rest


def _scatter(messages: np.ndarray, piles: list[Pile], coins: Coins) -> None:
    where = coins.below(len(piles), len(messages))
    order = np.argsort(where, kind="stable")
    ends = np.cumsum(np.bincount(where, minlength=len(piles)))
    for pile, some in zip(piles, np.split(messages[order], ends[:-1]), strict=True):
        if len(some):
            pile.add(some.tobytes())


def _messages(content: bytes, size: int) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8).reshape(-1, size)
