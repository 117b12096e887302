"""Predicted bias, variance, interval and coverage against simulation, in standard errors.

The error stated for a sum is that of the crowd which is hardest to estimate: that crowd must have
it, and no crowd a larger one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headcount.audit.conformance.coverage import covered
from headcount.audit.conformance.scenarios import Scenario, released_totals
from headcount.privacy.model import Model
from headcount.programme.law import Floats, Noise
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol

LIMIT = 5.0
CONFIDENCE = 0.95
HAIR = 1e-9  # of an interval's width, for rounding


@dataclass(frozen=True)
class JudgedPrediction:
    """One cell of a protocol's answer in one situation, in the task's unit.

    The z-scores are (simulated - predicted) in standard errors. `half` is the predicted half-width,
    `within` how often the error was at most that, and `inside` how often less: what the next
    shorter interval about the answer covers. `coverage` is that of the interval which comes with
    the answer, and `wider` its mean width over the predicted one.
    """

    protocol: str
    model: Model
    task: str
    cell: str
    exact: bool  # otherwise the predicted error is that of a harder crowd
    runs: int
    bias: float
    bias_z: float
    std: float
    simulated_std: float
    variance_z: float
    half: float
    within: float
    inside: float
    coverage: float
    wider: float

    def chance_z(self, seen: float) -> float:
        return (seen - CONFIDENCE) / math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / self.runs)

    @property
    def tight(self) -> bool:
        """Whether the predicted interval is wide enough, and no shorter one is."""
        enough = self.chance_z(self.within) >= -LIMIT
        return enough and (self.chance_z(self.inside) <= LIMIT or not self.exact)

    @property
    def holds(self) -> bool:
        """Whether bias, variance and coverage are as predicted. Coverage may be larger, as on a
        lattice; the variance of a harder crowd too."""
        variance = abs(self.variance_z) if self.exact else self.variance_z
        covered = self.chance_z(self.coverage) >= -LIMIT
        return abs(self.bias_z) <= LIMIT and variance <= LIMIT and covered and self.tight


def judge_predictions(protocol: Protocol, situation: Scenario, runs: int, seed: int) -> list[JudgedPrediction]:
    """Judge the cells of a scenario, all from the same runs."""
    situation = situation.before(protocol)
    drawn = released_totals(protocol, situation.values, runs, seed)
    distinct, where, times = np.unique(drawn, axis=0, return_inverse=True, return_counts=True)
    tallies = [Tally(situation.people, row) for row in distinct]
    estimates = np.array([protocol.point(tally) for tally in tallies])
    task = situation.task
    truth = task.truth(situation.values) + situation.people * (task.low - protocol.origin) / task.width
    found = []
    for name, cell in situation.judged.items():
        covers, width = covered(protocol, tallies, estimates[:, cell], times, cell, float(truth[cell]), CONFIDENCE)
        errors = estimates[:, cell][where] - truth[cell]
        found.append(_judge_cell(protocol, situation, name, errors, float(covers @ times) / runs, width))
    return found


def _judge_cell(
    protocol: Protocol, situation: Scenario, name: str, errors: Floats, coverage: float, width: float
) -> JudgedPrediction:
    """The judgement of one cell, from errors and the mean width of intervals in people."""
    people, runs, unit = situation.people, errors.size, protocol.task.unit(situation.people)
    stated = protocol.noise(situation.holders[situation.judged[name]], people)
    noise, error = Noise(stated.values * unit, stated.masses, stated.dropped), errors * unit
    half = noise.half_width(CONFIDENCE)
    hair = HAIR * max(unit, half)
    seen = Noise(error, np.full(runs, 1.0 / runs))
    # What is too rare to have been seen is no error of the prediction. A harder crowd's is no help.
    laws = (seen, noise) if situation.exact else (seen,)
    return JudgedPrediction(
        protocol=protocol.name,
        model=protocol.model,
        task=protocol.task.name,
        cell=name,
        exact=situation.exact,
        runs=runs,
        bias=noise.bias,
        bias_z=_z(seen.bias - noise.bias, max(law.std_error for law in laws) / math.sqrt(runs)),
        std=noise.std_error,
        simulated_std=seen.std_error,
        variance_z=_z(seen.variance - noise.variance, max(_spread(law) for law in laws) / math.sqrt(runs)),
        half=half,
        within=float(np.mean(np.abs(error) <= half + hair)),
        inside=float(np.mean(np.abs(error) < half - hair)),
        coverage=coverage,
        wider=width * unit / (2.0 * half) if half else math.nan,
    )


def _spread(law: Noise) -> float:
    """The standard deviation of the squared distance from the mean."""
    fourth = float(law.masses @ (law.values - law.bias) ** 4) / float(law.masses.sum())
    return math.sqrt(max(fourth - law.variance**2, 0.0))


def _z(difference: float, standard_error: float) -> float:
    if abs(difference) < 1e-9:
        return 0.0  # but for rounding, which is all that is left where nothing is random
    return difference / standard_error if standard_error else math.copysign(math.inf, difference)
