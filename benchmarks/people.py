"""People through randomise and tally: 10^8 of them in pieces, one fresh process per protocol.

Run as a script with a protocol's name and a number of people, it measures that protocol and prints JSON.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from headcount.engines.memory import MemoryEngine
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SecretCoins
from headcount.protocols import named
from headcount.protocols.base.plan import Plan
from headcount.questions.count import Count
from keystream import keystream
from page import Section, met
from timing import Spread, agrees, ratio, seconds

BUDGET = Budget(1.0, 1e-6)
PIECE = 10**6
ONES = 77  # of 256 people hold a one
TARGET = 10**9
DRAWS = {"zsum": 1, "cheu-count": 1, "correlated-count": 3, "randomised-response": 1, "poisson-count": 1}

Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Pieces:
    """A crowd of truth values that is made piece by piece, and remembers how long that took."""

    def __init__(self, people: int) -> None:
        self.people, self.seconds = people, 0.0

    def __iter__(self) -> Iterator[Bools]:
        rng = np.random.default_rng(1)  # noqa: TID251
        for start in range(0, self.people, PIECE):
            before = perf_counter()
            piece = np.frombuffer(rng.bytes(min(PIECE, self.people - start)), dtype=np.uint8) < ONES
            self.seconds += perf_counter() - before
            yield piece


def idiom(name: str, people: int, given: dict[str, float]) -> Callable[[Bools], int]:
    """What one would write with numpy for a piece: floating point, and predictable."""
    rng = np.random.default_rng()  # noqa: TID251
    chance = {"cheu-count": given.get("lam", 0.0) / (2 * people), "randomised-response": 1 - given.get("keep", 1.0)}

    def zsum(piece: Bools) -> int:
        return int(np.count_nonzero(piece) + np.count_nonzero(rng.random(piece.size) >= given["gamma"]))

    def flipped(piece: Bools) -> int:
        return int(np.count_nonzero(piece ^ (rng.random(piece.size) < chance[name])))

    def poisson(piece: Bools) -> int:
        return int(np.count_nonzero(piece) + rng.poisson(given["mean"] / people, piece.size).sum())

    def correlated(piece: Bools) -> int:
        own = [rng.negative_binomial(1 / people, -math.expm1(-given["inner"]), piece.size).sum() for _ in range(2)]
        flood = rng.negative_binomial(given["shape"] / people, 1 - given["decay"], piece.size).sum()
        plus, minus = np.count_nonzero(piece) + own[0] + flood, own[1] + flood
        return int(plus - minus)

    special = {"zsum": zsum, "poisson-count": poisson, "correlated-count": correlated}
    return special.get(name, flipped)


def peak() -> int:
    """The most memory this process has held, in bytes.

    Not `ru_maxrss`: on Linux that survives exec, so a child would report the parent that started it.
    """
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def child(name: str, people: int, rounds: int) -> dict[str, Any]:
    """Times of one protocol, generation included, and the most memory that the process held by its first tally."""
    protocol = calibrate(named(name), Count(), Crowd(people), BUDGET)
    plan, numpy = Plan(protocol, BUDGET), idiom(name, people, protocol.parameters)
    few = people // 10
    result: dict[str, Any] = {"ours": [], "generating": [], "numpy": [], "floor": []}
    for _ in range(1 + rounds):
        pieces = Pieces(people)
        result["ours"].append(seconds(partial(MemoryEngine().tally, plan, pieces, SecretCoins())))
        result["generating"].append(pieces.seconds)
        result.setdefault("peak", peak())
        result["numpy"].append(seconds(lambda: sum(map(numpy, Pieces(few)))) * people / few)
        result["floor"].append(seconds(lambda: keystream(2 * DRAWS[name] * people)))
    tally = MemoryEngine().tally(plan, Pieces(people), SecretCoins())
    truth = sum(int(np.count_nonzero(piece)) for piece in Pieces(people))
    agrees("the estimate", float(protocol.point(tally)[0]), truth, protocol.error(truth).std_error)
    return result | {key: result[key][1:] for key in ("ours", "generating", "numpy", "floor")}  # the first warms up


def measure(quick: bool) -> Section:
    people, rounds = (10**7, 3) if quick else (10**8, 5)
    rows, floors = [], []
    for name in DRAWS:
        command = [sys.executable, __file__, name, str(people), str(rounds)]
        got = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        rates = {key: people / Spread.of(got[key]).median / 1e6 for key in ("ours", "numpy")}
        floors.append(ratio(got["ours"], [a + b for a, b in zip(got["floor"], got["generating"], strict=True)]).median)
        rows.append([
            name, f"{rates['ours']:,.0f} million people/s",
            f"{Spread.of([1e9 * s / people for s in got['ours']]):.1f} ns",
            f"{1e9 * Spread.of(got['generating']).median / people:.1f} ns",
            f"numpy: {rates['numpy']:,.0f} million people/s", f"{ratio(got['numpy'], got['ours']):.2f} times",
            f"{got['peak'] / 1e6:,.0f} MB", f"below {TARGET / 1e9:g} GB", met(got["peak"] < TARGET),
        ])  # fmt: skip
    return Section(
        "People through randomise and tally",
        f"`MemoryEngine().tally(plan, pieces, SecretCoins())` for {people:,} people, a fresh process per protocol, "
        f"epsilon {BUDGET.epsilon:g}, delta {BUDGET.delta:g}. The crowd arrives in pieces of {PIECE:,} truth values; "
        "making them is counted on both sides and shown by itself. The peer is the same protocol written with numpy's "
        "generator, in floating point, without a message ever being made, on a tenth of the people.",
        ["protocol", "headcount", "per person (spread)", "of that, making the crowd", "peer", "ratio (spread)",
         "peak memory", "target", ""],
        rows,
        "Making the crowd, and two bytes of AES keystream per person and draw (three draws for correlated-count, one "
        f"for the others); we take {min(floors):.1f} to {max(floors):.1f} times that, to make messages and count them.",
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
