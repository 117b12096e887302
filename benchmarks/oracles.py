"""Local frequency oracles, client and server together, beside pure-ldp and multi-freq-ldpy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from headcount.core.budget import Budget
from headcount.core.coins import SecretCoins
from headcount.core.crowd import Crowd
from headcount.core.histogram import Histogram
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.engines.memory import MemoryEngine
from headcount.privacy.calibrate import calibrate
from headcount.protocols import named
from page import Section, met, why
from timing import Spread, agrees, interleaved, ratio, seconds

EPSILON = 1.0
DOMAINS = (100, 1_000)
PEOPLE = 500_000
TARGETS = {("optimised-unary", 1_000): 10, ("subset-selection", 1_000): 5}  # twenty times elsewhere

Peer = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.float64]]


def pure_ldp(name: str, d: int) -> Peer | None:
    from pure_ldp import frequency_oracles as oracles

    pairs = {
        "generalised-response": (oracles.DEClient, oracles.DEServer, {}),
        "basic-rappor": (oracles.UEClient, oracles.UEServer, {"use_oue": False}),
        "optimised-unary": (oracles.UEClient, oracles.UEServer, {"use_oue": True}),
        "local-hashing": (oracles.LHClient, oracles.LHServer, {"use_olh": True}),
    }
    if name == "hadamard-response":
        server = oracles.HadamardResponseServer(EPSILON, d)
        client = oracles.HadamardResponseClient(EPSILON, d, server.get_hash_funcs())
    elif name in pairs:
        make_client, make_server, options = pairs[name]
        client, server = make_client(EPSILON, d, **options), make_server(EPSILON, d, **options)
    else:
        return None

    def run(values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        server.reset()
        for value in values.tolist():
            server.aggregate(client.privatise(value + 1))
        return np.asarray(server.estimate_all(range(1, d + 1), suppress_warnings=True))

    return run


def multi_freq(name: str, d: int) -> Peer | None:
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

    pairs: dict[str, tuple[Callable[[int], object], Callable[[list[object]], npt.NDArray[np.float64]]]] = {
        "generalised-response": (
            lambda value: GRR.GRR_Client(value, d, EPSILON),
            lambda reports: GRR.GRR_Aggregator_MI(reports, d, EPSILON),
        ),
        "basic-rappor": (
            lambda value: UE.UE_Client(value, d, EPSILON, False),
            lambda reports: UE.UE_Aggregator_MI(reports, EPSILON, False),
        ),
        "optimised-unary": (
            lambda value: UE.UE_Client(value, d, EPSILON, True),
            lambda reports: UE.UE_Aggregator_MI(reports, EPSILON, True),
        ),
        "local-hashing": (
            lambda value: LH.LH_Client(value, d, EPSILON, True),
            lambda reports: LH.LH_Aggregator_MI(reports, d, EPSILON, True),
        ),
        "subset-selection": (
            lambda value: SS.SS_Client(value, d, EPSILON),
            lambda reports: SS.SS_Aggregator_MI(reports, d, EPSILON),
        ),
    }
    if name not in pairs:
        return None
    client, server = pairs[name]
    return lambda values: values.size * np.asarray(server([client(value) for value in values.tolist()]))


PEERS = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq}
ORACLES = (
    "generalised-response", "basic-rappor", "optimised-unary", "local-hashing", "hadamard-response", "subset-selection",
)  # fmt: skip


def measure(quick: bool) -> Section:
    rows = [
        row for name in ORACLES for d in DOMAINS for peer, make in PEERS.items()
        if (row := _beside(name, d, peer, make, quick)) is not None
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


def _beside(name: str, d: int, peer: str, make: Callable[[str, int], Peer | None], quick: bool) -> list[str] | None:
    protocol = calibrate(named(name), Histogram(d), Crowd(PEOPLE), Budget(EPSILON))
    values = (np.arange(PEOPLE) % d).astype(np.int64)
    ours = partial(_ours, protocol, values)
    _check(name, ours(), PEOPLE / d, protocol.size_of_error(PEOPLE // d, PEOPLE))
    target = TARGETS.get((name, d), 20)
    rounds = 3 if quick else 5
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = make(name, d)
            if theirs is None:
                return None
            trial = values[:200]
            theirs(trial)  # some compile themselves first
            size = min(PEOPLE, max(200, round(200 * (0.3 if quick else 1.0) / seconds(partial(theirs, trial)))))
            error = protocol.size_of_error(size // d, size) if size // d else protocol.size_of_error(1, size)
            _check(f"{peer}'s {name}", theirs(values[:size]), size / d, error)
            times = interleaved({"ours": ours, "theirs": partial(theirs, values[:size])}, rounds)
    except Exception as error:  # noqa: BLE001  (a peer may fail in any way)
        return [f"`{name}`", f"{d:,}", "", peer, why(error), f"at least {target} times", ""]
    faster = ratio(times["theirs"], times["ours"], PEOPLE / size)
    mine = f"{PEOPLE / Spread.of(times['ours']).median / 1e6:,.2f} million/s"
    their = f"{peer}, {size:,} people: {size / Spread.of(times['theirs']).median:,.0f}/s"
    return [f"`{name}`", f"{d:,}", mine, their, f"{faster:,.0f} times", f"{target} times", met(faster.median >= target)]


def _ours(protocol: Protocol, values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    plan = Plan(protocol, Budget(EPSILON))
    return np.asarray(protocol.point(MemoryEngine().tally(plan, values, SecretCoins())))


def _check(whose: str, estimates: npt.NDArray[np.float64], truth: float, error: float) -> None:
    """The estimates are as far from the truth as they should be: not faster by being wrong."""
    spread = math.sqrt(float(np.mean((estimates - truth) ** 2)))
    agrees(f"{whose} error", spread, error, error * (0.5 + 3.0 / math.sqrt(estimates.size)))
