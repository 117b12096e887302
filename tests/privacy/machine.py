"""The plans and certificates of this machine, by name: run as a program it prints their hashes.

With an argument, exponentials, logarithms and special functions are one unit in the last place off, as on a processor
that computes them otherwise.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

PERTURBED = {
    math: ("exp", "expm1", "log", "log1p", "lgamma"),
    np: ("exp", "expm1", "log", "log1p", "power", "logaddexp"),
    scipy.special: ("betainc", "expit", "gammaln"),
}


def perturb(salt: int) -> None:
    """Replaces the functions by ones whose results are up to one unit in the last place away."""
    for module, names in PERTURBED.items():
        for name in names:
            setattr(module, name, _perturbed(getattr(module, name), salt))


def _perturbed(function: Callable[..., Any], salt: int) -> Callable[..., Any]:
    def other(*given: Any, **named: Any) -> Any:
        exact = function(*given, **named)
        moved = _off(np.asarray(exact, dtype=np.float64), salt)
        return moved if isinstance(exact, np.ndarray) else type(exact)(moved)

    return other


def _off(numbers: np.ndarray, salt: int) -> np.ndarray:
    """The same number for the same one: a machine's errors are not random."""
    lot = (numbers.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15 + 2 * salt)) >> np.uint64(60)
    toward = np.where(lot % 3 == 0, -np.inf, np.where(lot % 3 == 1, numbers, np.inf))
    sure = ~np.isfinite(numbers) | (numbers == 0.0) | (numbers == 1.0)
    return np.where(sure, numbers, np.nextafter(numbers, toward))


def hashes(epsilon: float = 1.0, delta: float = 1e-6, n: int = 10_000) -> dict[str, list[str]]:
    """Of every plan and of its certificate, and the advisor's rankings."""
    from headcount.core.budget import Budget
    from headcount.core.crowd import Crowd
    from headcount.core.histogram import Histogram
    from headcount.core.plan import Plan
    from headcount.core.task import Count, Sum
    from headcount.planner.advise import advise
    from headcount.privacy.calibrate import calibrate
    from headcount.privacy.certificate import certify
    from headcount.protocols import CATALOGUE

    crowd, budget = Crowd(n), Budget(epsilon, delta)
    found = {}
    for task in (Count(), Sum.whole((0, 10)), Histogram(20)):
        for cls in CATALOGUE:
            if task.name in cls.tasks:
                plan = Plan(calibrate(cls, task, crowd, budget), budget)
                found[f"{cls.name} for a {task.name}"] = [plan.hash, certify(plan).hash]
        ranked = advise(task, n=n, epsilon=epsilon, delta=delta).feasible
        found[f"ranking for a {task.name}"] = [option.name for option in ranked]
    return found


def unround() -> None:
    """Settings and claims with all their digits, as they were found: a broken twin."""
    from headcount.core import knob
    from headcount.privacy import calibrate, certificate

    knob.shortened = calibrate.shortened = lambda value, *_: value
    certificate.rounded_up = lambda value: value


if __name__ == "__main__":
    if len(sys.argv) > 1:
        perturb(int(sys.argv[1]))
    if "HEADCOUNT_UNROUNDED" in os.environ:
        unround()
    print(json.dumps(hashes()))
