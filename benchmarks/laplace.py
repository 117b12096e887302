"""Exact discrete Laplace noise beside OpenDP's (exact, one by one) and diffprivlib's (floating point, one by one)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from headcount.privacy.two_sided_noise import discrete_laplace
from headcount.programme.coins import SecretCoins
from keystream import keystream
from page import Section, met
from peer import NotMeasured, Peer, peers
from timing import Spread, agrees, ratio, seconds

SIZE = 10**6
TARGET = 100
SCALES = (1, 10)
REPEATS = 20  # of ours in a round: one takes milliseconds where a peer takes seconds

PEERS = {"opendp": ("OpenDP", True), "diffprivlib": ("diffprivlib", False)}  # and who is affordable as a whole


def measure(quick: bool) -> Section:
    rows, floors = [], []
    with peers(*PEERS) as asked:
        for scale in SCALES:
            for name, peer in asked.items():
                row, floor = _beside(*PEERS[name], peer, scale, quick)
                rows.append([f"scale {scale}", *row])
                floors.append(floor)
    return Section(
        "Exact discrete Laplace noise",
        f"Samples a second: `discrete_laplace(Fraction(1, scale)).draw(SecretCoins(), n)`, n = {SIZE:,}, beside "
        "OpenDP's `make_laplace` on a vector of integers and diffprivlib's `Geometric.randomise` in a loop. OpenDP's "
        "samples are exact as ours are; diffprivlib's pass through floating point.",
        ["measured", "headcount", "peer", "ratio (spread)", "target", ""],
        rows,
        f"Two bytes of AES keystream and eight bytes of answer a sample; we take {Spread.of(floors):.1f} times as long "
        "as making and copying just those: the rest looks cells up, and draws again where a word falls into the spill.",
    )


def _beside(name: str, whole: bool, peer: Peer, scale: int, quick: bool) -> tuple[list[str], float]:
    """The rest of a row, and our time as a multiple of the floor's."""
    noise, target = discrete_laplace(Fraction(1, scale)), f"at least {TARGET} times"
    ours = partial(_repeated, partial(noise.draw, SecretCoins(), SIZE))
    floor = partial(_repeated, partial(_floor, np.zeros(SIZE, dtype=np.int64)))
    ours(), floor()
    _check("our", noise.draw(SecretCoins(), SIZE), scale)
    times: dict[str, list[float]] = {"ours": [], "floor": [], "peer": []}
    size, failure = 0, ""
    try:
        size = _affordable(peer, scale, whole and not quick, 0.25 if quick else 2.0)
    except NotMeasured as reason:
        failure = f"not measured: {reason}"
    for _ in range(3 if quick else 5):
        times["ours"].append(seconds(ours))
        times["floor"].append(seconds(floor))
        if not failure:
            times["peer"] += peer.ask("laplace", scale=scale, size=size)["seconds"]
    slower = ratio(times["ours"], times["floor"]).median
    mine = f"{REPEATS * SIZE / Spread.of(times['ours']).median / 1e6:,.0f} million/s"
    if failure:
        return [mine, name, failure, target, ""], slower
    theirs = f"{name}, {size:,} samples: {size / Spread.of(times['peer']).median / 1e6:.3f} million/s"
    faster = ratio(times["peer"], times["ours"], REPEATS * SIZE / size)
    return [mine, theirs, f"{faster:,.0f} times", target, met(faster.median >= TARGET)], slower


def _affordable(peer: Peer, scale: int, whole: bool, budget: float) -> int:
    """The whole vector, or as many samples as take the peer about the budget."""
    trial = 10_000
    answer = peer.ask("laplace", scale=scale, size=trial, answers=True)
    _check("the peer's", answer["answers"][0], scale)
    return SIZE if whole else min(SIZE, max(trial, round(trial * budget / answer["seconds"][0])))


def _check(whose: str, drawn: npt.ArrayLike, scale: int) -> None:
    """The mean and the variance are those of the discrete Laplace law."""
    samples, a = np.asarray(drawn, dtype=np.float64), math.exp(-1.0 / scale)
    variance = 2.0 * a / (1.0 - a) ** 2
    agrees(f"{whose} mean", float(samples.mean()), 0.0, math.sqrt(variance / samples.size))
    agrees(f"{whose} variance", float(samples.var()), variance, variance * math.sqrt(6.0 / samples.size))


def _repeated(work: Callable[[], object]) -> None:
    for _ in range(REPEATS):
        work()


def _floor(answer: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    keystream(2 * SIZE)
    answer.copy()
