"""Randomness, always an argument and never a global.

Everything is drawn from 64-bit words, little-endian, in a fixed order: `Coins` defines which word
decides what. `SecretCoins` are the default everywhere. They keep no state at all: each call takes a
fresh key from the operating system and stretches it with AES-CTR, so threads, forks and pickles
cannot share a word. `DeviceCoins` are those of one person's device. `KeyedCoins` are as secret, for
work that may have to be done again and must then come out the same. `SeededCoins` are for
simulation; whatever is made with them says that it is not private.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from hashlib import sha256
from hmac import digest
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from headcount.common.calls import checked
from headcount.programme.chance import WORD, Chance
from headcount.programme.table import GUIDE_BITS, Ints, Table, Words

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
_Scalar = TypeVar("_Scalar", bound=np.generic)

BLOCK = 1 << 18  # draws at a time: few enough to stay in the processor's cache, many enough to pay for a key
ZEROS = memoryview(bytes(1 << 20))
SCANNED = 64  # draws up to this many scan the whole table, so that their work does not depend on the outcome


class Coins(ABC):
    """A source of randomness: exact draws from a stream of 64-bit words.

    Base class. It is an argument wherever something is drawn, and `secret` says whether the draws
    are private.

    Examples
    --------
    >>> coins = hc.SeededCoins(1)
    >>> coins.below(6, 4)
    array([1, 0, 1, 3])
    """

    secret: bool

    @abstractmethod
    def stream(self, size: int) -> Bytes:
        """The next bytes.

        Parameters
        ----------
        size : int
            How many.
        """

    def part(self, number: int) -> Coins:
        """Coins for one part of the crowd; repeatable ones depend on its number alone.

        Parameters
        ----------
        number : int
            Of the part.
        """
        return self

    def words(self, size: int) -> Words:
        """The next 64-bit words.

        Parameters
        ----------
        size : int
            How many.
        """
        return self.stream(8 * size).view("<u8")

    def bernoulli(self, chance: Chance, size: int) -> Bools:
        """Independent Bernoulli draws: true where a word lies below the chance's threshold.

        Parameters
        ----------
        chance : Chance
            A multiple of 2**-64.
        size : int
            How many draws.
        """
        words = self.words(size)
        if chance.threshold == WORD:
            return np.ones(size, dtype=np.bool_)
        return words < np.uint64(chance.threshold)

    def draw(self, table: Table, size: int) -> Ints:
        """Independent draws from a tabulated law of integers.

        One word each, and a second one for those that fall into the table's spill.

        Parameters
        ----------
        table : Table
            The law.
        size : int
            How many draws.
        """
        return self._cells(table, self.words(size)) + table.start

    def _cells(self, table: Table, words: Words) -> Ints:
        cells = _search(table.edges, words)
        again = table.fine_edges if table.fine else table.edges
        while table.spill and (spilt := np.flatnonzero(cells == len(table.coarse))).size:
            cells[spilt] = _search(again, self.words(spilt.size))
        return cells

    def below(self, bound: int, size: int) -> Ints:
        """Exactly uniform draws from 0 to bound - 1, by rejection.

        Parameters
        ----------
        bound : int
            At least 1.
        size : int
            How many draws.
        """
        return self._below(bound, self.words(size), 64)

    def _below(self, bound: int, words: npt.NDArray[Any], bits: int) -> Ints:
        """Draws below the bound from words of this many bits."""
        if bound == 1:
            return np.zeros(words.size, dtype=np.int64)
        drawn = words // words.dtype.type((1 << bits) // bound)
        over = np.flatnonzero(drawn >= bound)
        if over.size:
            drawn[over] = self.below(bound, over.size)
        return np.asarray(drawn, dtype=np.int64)

    def uniform(self, size: int) -> npt.NDArray[np.float64]:
        """Floats in [0, 1), for simulation only: nothing private may pass through them."""
        return (self.words(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _search(edges: Words, words: Words) -> Ints:
    if words.size <= SCANNED:
        return np.asarray(np.count_nonzero(edges <= words[:, None], axis=1), dtype=np.int64)
    return np.searchsorted(edges, words, side="right").astype(np.int64)


class NoCoins(Coins):
    """Coins for work that must not draw: counting on a trusted side, before it is paid for."""

    secret = True

    def stream(self, size: int) -> Bytes:
        raise RuntimeError("something was drawn before it was paid for")


class DeviceCoins(Coins):
    """The operating system's coins, in the order that all clients use (docs/client-vectors.md)."""

    secret = True

    def stream(self, size: int) -> Bytes:
        return np.frombuffer(bytearray(os.urandom(size)), dtype=np.uint8)


class _KeystreamCoins(Coins):
    """Coins that use fewer bytes: sixteen bits decide nearly every draw, 48 more the rest."""

    def bernoulli(self, chance: Chance, size: int) -> Bools:
        high, low = divmod(chance.threshold, 1 << 48)
        decided = np.ones(size, dtype=np.bool_)
        if high < 1 << GUIDE_BITS:
            for block in _blocks(decided):
                leading = self.stream(2 * block.size).view("<u2")
                np.less(leading, np.uint16(high), out=block)
                if low:
                    ties = np.flatnonzero(leading == np.uint16(high))
                    block[ties] = self.words(ties.size) >> np.uint64(GUIDE_BITS) < np.uint64(low)
        return decided

    def draw(self, table: Table, size: int) -> Ints:
        if size <= SCANNED:
            return super().draw(table, size)
        drawn = np.empty(size, dtype=np.int64)
        for block in _blocks(drawn):
            leading = self.stream(2 * block.size).view("<u2")
            block[:] = table.guide[leading]
            undecided = np.flatnonzero(block < 0)
            if undecided.size:
                rest = self.words(undecided.size) >> np.uint64(GUIDE_BITS)
                words = leading[undecided].astype(np.uint64) << np.uint64(64 - GUIDE_BITS) | rest
                block[undecided] = self._cells(table, words)
        return drawn + table.start if table.start else drawn

    def below(self, bound: int, size: int) -> Ints:
        bits = next((bits for bits in (16, 32) if bound <= 1 << (bits - 8)), 64)
        if size <= SCANNED or bits == 64:
            return super().below(bound, size)
        drawn = np.empty(size, dtype=np.int64)
        for block in _blocks(drawn):
            block[:] = self._below(bound, self.stream(bits // 8 * block.size).view(f"<u{bits // 8}"), bits)
        return drawn


def _blocks(array: npt.NDArray[_Scalar]) -> Iterator[npt.NDArray[_Scalar]]:
    """Views of the array, each small enough to stay in the processor's cache."""
    return (array[start : start + BLOCK] for start in range(0, array.size, BLOCK))


def _keystream(key: bytes) -> CipherContext:
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()


def _read(keystream: CipherContext, size: int) -> Bytes:
    buffer = np.empty(size + 15, dtype=np.uint8)
    out = buffer.data
    for start in range(0, size, len(ZEROS)):
        part = min(len(ZEROS), size - start)
        keystream.update_into(ZEROS[:part], out[start : start + part + 15])
    return buffer[:size]


class SecretCoins(_KeystreamCoins):
    """Cryptographic randomness from the operating system: the default everywhere.

    Stateless: every call takes a fresh key and stretches it with AES-CTR, so that threads, forks
    and pickles never share a word.

    Examples
    --------
    >>> hc.SecretCoins()
    SecretCoins()
    >>> hc.SecretCoins().below(6, 1_000).max() < 6
    np.True_
    """

    secret = True

    def __repr__(self) -> str:
        return "SecretCoins()"

    def stream(self, size: int) -> Bytes:
        if size <= 1 << 10:
            return np.frombuffer(bytearray(os.urandom(size)), dtype=np.uint8)
        return _read(_keystream(os.urandom(32)), size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretCoins)

    def __hash__(self) -> int:
        return hash(SecretCoins)


class KeyedCoins(_KeystreamCoins):
    """Secret coins from one key: a part of the crowd that is drawn again gets the same noise.

    For workers that may be restarted: were their noise drawn anew, parts of two versions of a
    person's report might be counted. The key determines the noise, and goes to the workers alone.
    """

    secret = True

    def __init__(self, key: bytes | None = None) -> None:
        self._key = os.urandom(32) if key is None else key
        self._stream: CipherContext | None = None

    def part(self, number: int) -> KeyedCoins:
        return KeyedCoins(self._derived(f"part {number}"))

    def stream(self, size: int) -> Bytes:
        self._stream = self._stream or _keystream(self._derived("stream"))
        return _read(self._stream, size)

    def _derived(self, purpose: str) -> bytes:
        return digest(self._key, f"headcount {purpose}".encode(), "sha256")

    def __reduce__(self) -> tuple[type[KeyedCoins], tuple[bytes]]:
        if self._stream is not None:
            raise TypeError("coins that were drawn from cannot be copied: the copy would draw the same again")
        return KeyedCoins, (self._key,)


class SeededCoins(_KeystreamCoins):
    """Repeatable coins for simulation and tests: never private, and results say so.

    Parameters
    ----------
    seed : int
        The same seed gives the same draws.
    parts : tuple of int
        Numbers of the parts of a crowd that these coins are for; see `part`.

    Examples
    --------
    >>> hc.SeededCoins(7).below(100, 3).tolist() == hc.SeededCoins(7).below(100, 3).tolist()
    True
    """

    secret = False

    def __repr__(self) -> str:
        return f"SeededCoins({', '.join(map(str, [self.seed, *([self.parts] if self.parts else [])]))})"

    @checked
    def __init__(self, seed: int, parts: tuple[int, ...] = ()) -> None:
        self.seed, self.parts = seed, parts
        named = " ".join(["headcount seed", *map(str, (seed, *parts))])
        self._stream = _keystream(sha256(named.encode()).digest())

    def part(self, number: int) -> SeededCoins:
        return SeededCoins(self.seed, (*self.parts, number))

    def stream(self, size: int) -> Bytes:
        return _read(self._stream, size)

    def __reduce__(self) -> tuple[type[SeededCoins], tuple[int, tuple[int, ...]]]:
        return SeededCoins, (self.seed, self.parts)  # which begin anew
