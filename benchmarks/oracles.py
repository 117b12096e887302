"""Local frequency oracles, client and server together, beside pure-ldp and multi-freq-ldpy."""

from __future__ import annotations

import math
from functools import partial
from tempfile import NamedTemporaryFile

import numpy as np
import numpy.typing as npt

from headcount.engines.memory import MemoryEngine
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SecretCoins
from headcount.protocols import named
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.questions.histogram import Histogram
from page import Section, met
from peer import NotMeasured, Peer, peers
from timing import Spread, agrees, ratio, seconds

EPSILON = 1.0
DOMAINS = (100, 1_000)
PEOPLE = 500_000
TARGETS = {("optimised-unary", 1_000): 10, ("subset-selection", 1_000): 5}  # twenty times elsewhere

PEERS = {"pure_ldp": "pure-ldp", "multi_freq": "multi-freq-ldpy"}
LACKS = {"pure_ldp": ("subset-selection",), "multi_freq": ("hadamard-response",)}
ORACLES = (
    "generalised-response", "basic-rappor", "optimised-unary", "local-hashing", "hadamard-response", "subset-selection",
)  # fmt: skip


def measure(quick: bool) -> Section:
    with peers(*PEERS) as asked:
        rows = [
            _beside(name, d, peer, quick)
            for name in ORACLES for d in DOMAINS for peer in asked.values() if name not in LACKS[peer.name]
        ]  # fmt: skip
    return Section(
        "Local frequency oracles",
        f"People a second, every person's randomiser and the server's estimates of all d counts together, at epsilon "
        f"{EPSILON:g}: `MemoryEngine().tally(plan, values, SecretCoins())` and `point`, {PEOPLE:,} people, beside the "
        "peers' clients and servers, one person at a time as their interfaces have it, with as many people as take "
        "about a second. The peers draw from numpy's or Python's generators, ours are secret coins.",
        ["oracle", "d", "headcount", "peer", "ratio (spread)", "target", ""],
        rows,
        "A row of d bits needs two bytes of keystream a bit and is added up bit by bit; hashing asks d questions of "
        "every report; a subset is drawn one member at a time.",
    )


def _beside(name: str, d: int, peer: Peer, quick: bool) -> list[str]:
    protocol = calibrate(named(name), Histogram(d), Crowd(PEOPLE), Budget(EPSILON))
    values = (np.arange(PEOPLE) % d).astype(np.int64)
    ours = partial(_ours, protocol, values)
    _check(name, ours(), PEOPLE / d, protocol.size_of_error(PEOPLE // d, PEOPLE))
    target, label = TARGETS.get((name, d), 20), PEERS[peer.name]
    mine: list[float] = []
    theirs: list[float] = []
    with NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, values)
        file.flush()
        ask = partial(peer.ask, "oracle", oracle=name, keys=d, epsilon=EPSILON, data=file.name)
        try:
            ask(people=200)  # some compile themselves first
            trial = ask(people=200)["seconds"][0]
            size = min(PEOPLE, max(200, round(200 * (0.3 if quick else 1.0) / trial)))
            error = protocol.size_of_error(max(1, size // d), size)
            answer = np.array(ask(people=size, answers=True)["answers"][0])
            _check(f"{label}'s {name}", answer, size / d, error)
            for _ in range(3 if quick else 5):
                mine.append(seconds(ours))
                theirs += ask(people=size)["seconds"]
        except (NotMeasured, AssertionError) as reason:
            return [f"`{name}`", f"{d:,}", "", label, f"not measured: {reason}", f"at least {target} times", ""]
    faster = ratio(theirs, mine, PEOPLE / size)
    rate = f"{PEOPLE / Spread.of(mine).median / 1e6:,.2f} million/s"
    their = f"{label}, {size:,} people: {size / Spread.of(theirs).median:,.0f}/s"
    return [f"`{name}`", f"{d:,}", rate, their, f"{faster:,.0f} times", f"{target} times", met(faster.median >= target)]


def _ours(protocol: Protocol, values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    plan = Plan(protocol, Budget(EPSILON))
    return np.asarray(protocol.point(MemoryEngine().tally(plan, values, SecretCoins())))


def _check(whose: str, estimates: npt.NDArray[np.float64], truth: float, error: float) -> None:
    """The estimates are as far from the truth as they should be: not faster by being wrong."""
    spread = math.sqrt(float(np.mean((estimates - truth) ** 2)))
    agrees(f"{whose} error", spread, error, error * (0.5 + 3.0 / math.sqrt(estimates.size)))
