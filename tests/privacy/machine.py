"""The plans, certificates and advice of this machine, by name: run as a program it prints their hashes.

The first argument says how many of the situations are gone through; with a second one, exponentials, logarithms,
special functions and transforms are one unit in the last place off, as on a processor that computes them otherwise.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.special

if TYPE_CHECKING:
    from headcount.planner.advice import Advice

PERTURBED = {
    math: ("exp", "expm1", "log", "log1p", "log2", "log10", "lgamma", "tanh", "sinh", "cosh", "asinh", "cbrt", "hypot"),
    np: ("exp", "expm1", "log", "log1p", "log2", "power", "logaddexp", "cbrt", "convolve", "geomspace"),
    np.fft: ("irfft",),
    scipy.special: ("betainc", "betaincc", "expit", "gammaln"),
}

Situation = dict[str, Any]
TASKS = (
    "count", "table", "levels", "distribution", "twenty", "arrivals", "fraction", "groups", "sum", "labels", "year",
    "mean", "bins",
)  # fmt: skip
BUDGETS = ((1.0, 1e-6), (0.1, 1e-8), (0.5, 1e-12), (2.0, 1e-4), (4.0, 1e-9), (8.0, 1e-6), (math.log(3.0), 1e-5))
CROWDS = (10_000, 100, 1_000, 1_000_000, 1_000_000_000)
MATRIX = "3/4 1/8 1/8; 1/8 3/4 1/8; 1/5 3/10 1/2"
WISHES: tuple[Situation, ...] = (
    {}, {"collected": True}, {"neighbours": "add-remove"}, {"least": 0.75}, {"honest": 0.9}, {"max_contributions": 3},
    {"collected": True, "honest": 0.5}, {"max_messages": 2.0}, {"objective": "interval"},
)  # fmt: skip


def perturb(salt: int) -> None:
    """Replaces the functions by ones whose results are up to one unit in the last place away."""
    for module, names in PERTURBED.items():
        for name in names:
            setattr(module, name, _perturbed(getattr(module, name), salt, relative_to_most=module is np.fft))


def _perturbed(function: Callable[..., Any], salt: int, relative_to_most: bool) -> Callable[..., Any]:
    def other(*given: Any, **named: Any) -> Any:
        exact = function(*given, **named)
        if np.iscomplexobj(exact):
            return moved(np.array(exact.real)) + 1j * moved(np.array(exact.imag))
        found = moved(np.asarray(exact, dtype=np.float64))
        return found if isinstance(exact, np.ndarray) else type(exact)(found)

    def moved(numbers: np.ndarray) -> np.ndarray:
        if relative_to_most:  # a transform's errors are those of its largest number
            return numbers + (_lot(numbers, salt) - 1.0) * np.spacing(np.abs(numbers).max())
        return _off(numbers, salt)

    return other


def _lot(numbers: np.ndarray, salt: int) -> np.ndarray:
    """0, 1 or 2, and the same for the same number: a machine's errors are not random."""
    return ((numbers.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15 + 2 * salt)) >> np.uint64(60)) % 3


def _off(numbers: np.ndarray, salt: int) -> np.ndarray:
    lot = _lot(numbers, salt)
    toward = np.where(lot == 0, -np.inf, np.where(lot == 1, numbers, np.inf))
    sure = ~np.isfinite(numbers) | (numbers == 0.0) | (numbers == 1.0)
    return np.where(sure, numbers, np.nextafter(numbers, toward))


def situations() -> Iterator[Situation]:
    """Budgets, crowds, tasks and wishes, so that the first few have some of each: strides without a common factor."""
    lists = (TASKS, BUDGETS, CROWDS, WISHES)
    for i in range(math.lcm(*map(len, lists))):
        task, (epsilon, delta), n, wishes = (each[i % len(each)] for each in lists)
        least = {"least": int(wishes["least"] * n)} if "least" in wishes else {}
        yield {"task": task, "epsilon": epsilon, "delta": delta, "n": n, **wishes, **least}


def advised(situation: Situation) -> Advice:
    from headcount.planner.advise import advise
    from headcount.questions.arrivals import Arrivals
    from headcount.questions.count import Count, Fraction
    from headcount.questions.distribution import Distribution
    from headcount.questions.histogram import Histogram
    from headcount.questions.reading_options import ReadingOptions
    from headcount.questions.sum_and_mean import Mean, Sum
    from headcount.questions.table import Table

    tasks = {
        "count": Count, "fraction": Fraction, "sum": lambda: Sum((0.0, 1.0)), "levels": lambda: Sum.whole((0, 10)),
        "mean": lambda: Mean((-3.0, 120.0)), "twenty": lambda: Histogram(20), "labels": Histogram,
        "bins": lambda: Histogram.binned(7, (0, 120), fractions=True),
        "distribution": lambda: Distribution((0.0, 10.0), 64), "table": lambda: Table({"a": 3, "b": 4, "c": 2}),
        "groups": lambda: Sum.posed(bounds=(0, 9), categories=["a", "b"]).declared(ReadingOptions(by=("g",))),
        "arrivals": lambda: Arrivals(12), "year": Count,
    }  # fmt: skip
    given = {name: value for name, value in situation.items() if name != "task"}
    return advise(tasks[situation["task"]](), **given, rounds=12 if situation["task"] == "year" else 1)


def found(situation: Situation) -> Iterator[tuple[str, str]]:
    """The hash of each plan and of its certificate, and what the advisor shows."""
    from headcount.errors import Refused
    from headcount.protocols.base.certificate import certify

    try:
        advice = advised(situation)
    except Refused as refusal:
        yield "refused", str(refusal)
        return
    for option in advice.feasible:
        try:
            plan = option.plan
            yield f"plan of {option.name}", plan.hash
            yield f"certificate of {option.name}", certify(plan).hash
        except Refused as refusal:
            yield f"{option.name} refused", str(refusal)
    yield "ranking", " ".join(option.name for option in advice.options)
    yield "table", advice.table()
    yield "figures", sha256(_shown(advice.to_json()).encode()).hexdigest()


def found_of_a_matrix(situation: Situation) -> Iterator[tuple[str, str]]:
    """The same of a randomiser of one's own, which advice does not know."""
    from headcount.errors import Refused
    from headcount.planner.planning import protocol
    from headcount.privacy.budget import Budget
    from headcount.protocols.base.certificate import certify
    from headcount.protocols.base.plan import Plan
    from headcount.questions.histogram import Histogram

    budget = Budget(situation["epsilon"], situation["delta"])
    for name in ("matrix-response", "shuffled-matrix-response"):
        try:
            asked = {"n": situation["n"], "epsilon": budget.epsilon, "delta": budget.delta, "matrix": MATRIX}
            plan = Plan(protocol(name, Histogram(3), **asked), budget)
            yield f"plan of {name}", plan.hash
            yield f"certificate of {name}", certify(plan).hash
        except Refused as refusal:
            yield f"{name} refused", str(refusal)


def _shown(content: Any) -> str:
    """As JSON, with the digits that people are shown."""
    return json.dumps(json.loads(json.dumps(content), parse_float=lambda digits: f"{float(digits):.6g}"))


def unround() -> None:
    """Settings and claims with all their digits, as they were found: a broken twin."""
    from headcount.planner import calibrate
    from headcount.protocols.base import certificate, knob

    knob.shortened = calibrate.shortened = lambda value, *_: value
    certificate.rounded_up = lambda value, **_: value


def main(first: int, last: int, salt: int = 0) -> None:
    if salt:
        perturb(salt)
    if "HEADCOUNT_UNROUNDED" in os.environ:
        unround()
    for i, situation in list(enumerate(situations()))[first:last]:
        for name, shown in (*found(situation), *found_of_a_matrix(situation)):
            print(json.dumps([f"{i}: {situation}: {name}", shown]), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
