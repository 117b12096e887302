"""What many questions come to: the epsilon of a hundred answers together, by every accountant that can say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from page import Section
from peer import NotMeasured, Peer, peers
from timing import Spread

TIMES, DELTA = 100, 1e-6
STEP, ERROR = 1e-4, 0.01


@dataclass(frozen=True)
class Case:
    """A question that is asked so often: what it is called, and its protocol with us, at (epsilon, delta) each."""

    title: str
    protocol: str
    each: tuple[float, float]
    rivals: tuple[tuple[str, str, dict[str, Any]], ...]


KNOWS_NOTHING = "only (epsilon, delta) of each"
CASES = (
    Case("Counts by a trusted analyser, discrete Laplace noise", "geometric", (0.1, 0.0), (
        ("dp_accounting", "the noise", {"noise": "discrete Laplace"}),
        ("dp_accounting", "Laplace noise of the same scale", {"noise": "Laplace"}),
        ("prv_accountant", "Laplace noise of the same scale", {"noise": "Laplace"}),
        ("diffprivlib", KNOWS_NOTHING, {"noise": "any"}),
    )),
    Case("Counts through a shuffler", "poisson-count", (0.1, 1e-9), (
        ("dp_accounting", KNOWS_NOTHING, {"noise": "any"}),
        ("prv_accountant", KNOWS_NOTHING, {"noise": "any"}),
        ("diffprivlib", KNOWS_NOTHING, {"noise": "any"}),
    )),
    Case("Sums with Gaussian noise of ten times the sensitivity", "", (0.1, 0.0), (
        ("dp_accounting", "the noise", {"noise": "Gaussian", "scale": 10.0}),
        ("prv_accountant", "the noise", {"noise": "Gaussian", "scale": 10.0}),
    )),
)  # fmt: skip
LABELS = {"dp_accounting": "dp-accounting", "prv_accountant": "prv-accountant", "diffprivlib": "diffprivlib"}


def measure(quick: bool) -> Section:
    rounds = 3 if quick else 7
    with peers("headcount", *LABELS) as asked:
        rows = [row for case in CASES for row in _rows(case, asked, rounds)]
    return Section(
        "Accounting",
        f"The epsilon of {TIMES} answers together, at delta {DELTA:g}: less is better, as long as it is true. "
        f"dp-accounting computes on a grid of {STEP:g}, its default; prv-accountant to within {ERROR:g}, of which we "
        "take the upper bound; diffprivlib by the theorem for any mechanism. headcount composes "
        "the exact law of what each answer gives away, a shuffler's too. The ledger "
        "is the smallest whose budget holds although each question is chosen because of the answers before it.",
        ["questions", "who", "what it is told", f"epsilon at delta {DELTA:g}", "seconds (spread)"],
        rows,
        f"The truth. Discrete Laplace noise gives away what a biased coin does, so that a hundred such answers have an "
        f"exact epsilon, by the binomial law: {exactly(TIMES, CASES[0].each[0], DELTA):.4f}.",
        grouped=True,
    )


def exactly(times: int, epsilon: float, delta: float) -> float:
    """The epsilon of discrete Laplace answers: each loss is epsilon with chance 1/(1+e^-eps), or minus epsilon."""
    more = 1.0 / (1.0 + math.exp(-epsilon))
    chances = [math.comb(times, k) * more**k * (1.0 - more) ** (times - k) for k in range(times + 1)]

    def left(total: float) -> float:
        return math.fsum(c * max(0.0, 1.0 - math.exp(total - (2 * k - times) * epsilon)) for k, c in enumerate(chances))

    low, high = 0.0, times * epsilon
    while high - low > 1e-9:
        middle = (low + high) / 2.0
        low, high = (middle, high) if left(middle) > delta else (low, middle)
    return high


def _rows(case: Case, asked: dict[str, Peer], rounds: int) -> Iterator[Sequence[str]]:
    job: dict[str, Any] = {"each": case.each, "times": TIMES, "delta": DELTA, "step": STEP, "error": ERROR}
    jobs: list[tuple[str, str, Peer, dict[str, Any]]] = []
    if case.protocol:
        ours = {**job, "protocol": case.protocol}
        scale = asked["headcount"].ask("described", **ours, answers=True)["answers"][0][0]
        job |= {"scale": scale, "rate": 1.0 / scale}
        known = f"`{case.protocol}`"
        jobs.append(("headcount", known, asked["headcount"], {**ours, "task": "composed"}))
        by_charge = {**ours, "task": "charged"}
        jobs.append(("headcount, a ledger", f"{known}, chosen one by one", asked["headcount"], by_charge))
    else:
        yield [case.title, "headcount", "it has no Gaussian noise", "", ""]
    for name, told, more in case.rivals:
        jobs.append((LABELS[name], told, asked[name], {**job, **more, "task": "composed"}))
    times: list[list[float]] = [[] for _ in jobs]
    told_epsilon, reasons = [0.0] * len(jobs), [""] * len(jobs)
    for _ in range(1 + rounds):  # the first warms up
        for i, (_, _, peer, each) in enumerate(jobs):
            try:
                answer = peer.ask(**each, answers=True)
            except NotMeasured as failure:
                reasons[i] = f"not measured: {failure}"
                continue
            times[i].append(answer["seconds"][0])
            told_epsilon[i] = answer["answers"][0]
    for (who, told, _, _), taken, epsilon, reason in zip(jobs, times, told_epsilon, reasons, strict=True):
        figures = [reason, ""] if reason else [f"{epsilon:.4f}", f"{Spread.of(taken[1:]):.3f}"]
        yield [case.title, who, told, *figures]
