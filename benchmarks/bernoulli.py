"""Secret, exact Bernoulli draws beside numpy's fast, inexact and predictable ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from headcount.programme.chance import Chance
from headcount.programme.coins import SecretCoins
from keystream import keystream
from page import Section, met
from timing import Spread, agrees, interleaved, ratio

SIZE = 10**7
TARGET = 1.5
CHANCES = (0.3, 3.4e-5)
BYTES = 2  # of keystream, that decide nearly every draw


def numpy_draws(chance: float) -> object:
    return np.random.default_rng().random(SIZE) < chance  # noqa: TID251


def measure(quick: bool) -> Section:
    rows, floors = [], []
    for chance in CHANCES:
        contenders: dict[str, Callable[[], object]] = {
            "ours": partial(SecretCoins().bernoulli, Chance.up(chance), SIZE),
            "numpy": partial(numpy_draws, chance),
            "floor": partial(keystream, BYTES * SIZE),
        }
        interleaved(contenders, 1)
        yes = int(np.count_nonzero(SecretCoins().bernoulli(Chance.up(chance), SIZE)))
        agrees("the number of successes", yes, SIZE * chance, math.sqrt(SIZE * chance))
        times = interleaved(contenders, 5 if quick else 21)
        rate = {name: SIZE / Spread.of(taken).median / 1e6 for name, taken in times.items()}
        faster = ratio(times["numpy"], times["ours"])
        floors.append(ratio(times["ours"], times["floor"]))
        rows.append([
            f"p = {chance:g}", f"{rate['ours']:,.0f} million/s", f"numpy: {rate['numpy']:,.0f} million/s",
            f"{faster:.2f} times", f"at least {TARGET} times", met(faster.median >= TARGET),
        ])  # fmt: skip
    return Section(
        "Secret, exact Bernoulli draws",
        f"`SecretCoins().bernoulli(Chance.up(p), n)` beside `default_rng().random(n) < p`, n = {SIZE:,}.",
        ["measured", "headcount", "peer", "ratio (spread)", "target", ""],
        rows,
        f"{BYTES} bytes of AES keystream a draw; we take {', '.join(f'{f:.1f}' for f in floors)} times as long as "
        "AES alone for those bytes, the rest being the comparison and the answer's way to memory.",
    )
