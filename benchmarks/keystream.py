"""The floor under every secret draw: AES-CTR alone, into a buffer that stays in the processor's cache."""

from __future__ import annotations

import os

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

ZEROS = bytes(1 << 17)


def keystream(size: int) -> None:
    """At least `size` bytes of AES-256-CTR, drawn and thrown away."""
    stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
    out = bytearray(len(ZEROS) + 15)
    for _ in range(-(-size // len(ZEROS))):
        stream.update_into(ZEROS, out)
