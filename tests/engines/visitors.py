"""Three thousand visits of a thousand people, and plans for so many."""

import numpy as np
import pyarrow as pa

import headcount as hc

N = 3_000
NUMBERS = np.arange(N)
PEOPLE = pa.table({
    "person": NUMBERS // 3,
    "clicked": (NUMBERS % 5 == 0).astype(np.int64),
    "flag": NUMBERS % 5 == 0,
    "colour": np.array(["red", "green", "blue", "grey"])[NUMBERS % 4],
    "shop": NUMBERS % 7,
    "age": NUMBERS % 90 + 0.25,
})  # fmt: skip
CENTRAL = {"epsilon": 1, "model": "central"}


def plan(task, **options):
    return hc.advise(task, n=N, **{"epsilon": 1, "delta": 1e-6, **options}).best
