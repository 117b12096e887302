"""Exact discrete Laplace noise beside OpenDP's (exact, one by one) and diffprivlib's (floating point, one by one)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from headcount.core.coins import SecretCoins
from headcount.privacy.tables import two_sided
from keystream import keystream
from page import Section, met, why
from timing import Spread, agrees, interleaved, ratio, seconds

SIZE = 10**6
TARGET = 100
SCALES = (1, 10)
REPEATS = 20  # of ours in a round: one takes milliseconds where a peer takes seconds

Peer = Callable[[int], Sequence[int]]


def opendp(scale: int) -> Peer:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=float(scale))
    return lambda size: measurement(np.zeros(size, dtype=np.int64))


def diffprivlib(scale: int) -> Peer:
    from diffprivlib.mechanisms import Geometric

    mechanism = Geometric(epsilon=1.0 / scale, sensitivity=1)
    return lambda size: [mechanism.randomise(0) for _ in range(size)]


PEERS: dict[str, tuple[Callable[[int], Peer], bool]] = {"OpenDP": (opendp, True), "diffprivlib": (diffprivlib, False)}


def measure(quick: bool) -> Section:
    rows, floors = [], []
    for scale in SCALES:
        for name, (make, whole) in PEERS.items():
            row, floor = _beside(name, make, whole, scale, quick)
            rows.append([f"scale {scale}", *row])
            floors.append(floor)
    return Section(
        "Exact discrete Laplace noise",
        f"Samples a second: `two_sided(Fraction(1, scale)).draw(SecretCoins(), n)`, n = {SIZE:,}, beside OpenDP's "
        "`make_laplace` on a vector of integers and diffprivlib's `Geometric.randomise` in a loop. OpenDP's samples "
        "are exact as ours are; diffprivlib's pass through floating point.",
        ["measured", "headcount", "peer", "ratio (spread)", "target", ""],
        rows,
        f"Two bytes of AES keystream and eight bytes of answer a sample; we take {Spread.of(floors):.1f} times as long "
        "as making and copying just those: the rest looks cells up, and draws again where a word falls into the spill.",
    )


def _beside(name: str, make: Callable[[int], Peer], whole: bool, scale: int, quick: bool) -> tuple[list[str], float]:
    """The rest of a row, and our time as a multiple of the floor's."""
    noise, target = two_sided(Fraction(1, scale)), f"at least {TARGET} times"
    contenders: dict[str, Callable[[], object]] = {
        "ours": partial(_repeated, partial(noise.draw, SecretCoins(), SIZE)),
        "floor": partial(_repeated, partial(_floor, np.zeros(SIZE, dtype=np.int64))),
    }
    interleaved(contenders, 1)
    _check("our", noise.draw(SecretCoins(), SIZE), scale)
    size, failure = 0, ""
    try:
        peer = make(scale)
        size = _affordable(peer, scale, whole and not quick, 0.25 if quick else 2.0)
        contenders["peer"] = partial(peer, size)
    except Exception as error:  # noqa: BLE001  (a peer may fail to load in any way)
        failure = why(error)
    times = interleaved(contenders, 3 if quick else 5)
    floor = ratio(times["ours"], times["floor"]).median
    mine = f"{REPEATS * SIZE / Spread.of(times['ours']).median / 1e6:,.0f} million/s"
    if failure:
        return [mine, name, failure, target, ""], floor
    theirs = f"{name}, {size:,} samples: {size / Spread.of(times['peer']).median / 1e6:.3f} million/s"
    faster = ratio(times["peer"], times["ours"], REPEATS * SIZE / size)
    return [mine, theirs, f"{faster:,.0f} times", target, met(faster.median >= TARGET)], floor


def _affordable(peer: Peer, scale: int, whole: bool, budget: float) -> int:
    """The whole vector, or as many samples as take the peer about the budget."""
    trial = 10_000
    _check("the peer's", peer(trial), scale)
    return SIZE if whole else min(SIZE, max(trial, round(trial * budget / seconds(partial(peer, trial)))))


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
