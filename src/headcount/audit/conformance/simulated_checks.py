"""Checks of calibrated protocols by simulation, with many people and categories, against claims."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from headcount.audit.conformance.calibrated_instances import CalibrationCase
from headcount.audit.conformance.check import require
from headcount.audit.conformance.predictions import JudgedPrediction, judge_predictions
from headcount.audit.conformance.scenarios import (
    Scenario,
    count_scenario,
    hardest_scenario,
    histogram_scenario,
    released_totals,
    samples_directly,
    spread_scenario,
)
from headcount.errors import Refused
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.programme.field import Values
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question

PLACE = CalibrationCase(2.0, 1e-4, Crowd(2_000), many=True)
RUNS = 10_000  # where tallies are drawn from their law; elsewhere as many as have this many
MESSAGES = 1_000_000
FEWEST, MOST = 100, 400  # runs through everybody's own randomiser
APART = 3.0  # of Kolmogorov and Smirnov: a chance of 3e-8 at most
NEARLY = 1e-3  # the law of a wide error is kept in blocks


def what_is_drawn_at_size_is_what_is_stated(protocol: Protocol) -> None:
    """Bias, variance, interval and coverage are as stated; `sample` has the law of the reports."""
    try:
        large = PLACE.found(protocol)
    except Refused:
        return
    situation = _situation(large.task, PLACE.budget(protocol), large.crowd.size).before(large)
    people, runs = large.crowd.size, RUNS if samples_directly(large) else _runs(large)
    for judged in judge_predictions(large, situation, runs, seed=9):
        require(judged.holds, _wrong(judged, people))
    for truth in (0, people // 2, people):
        size, stated = large.size_of_error(truth, people), large.noise(truth, people).rmse
        require(
            math.isclose(size, stated, rel_tol=NEARLY, abs_tol=NEARLY),
            f"{large.name}: with {truth:,} of {people:,} people the error has two sizes, {size:.9g} and {stated:.9g}",
        )
    sampled = released_totals(large, situation.values, runs, seed=10).astype(np.float64)
    for cell, (one, other) in enumerate(zip(_through_people(large, situation.values).T, sampled.T, strict=True)):
        found = distance(one, other)
        require(
            found <= APART,
            f"{large.name}: with {people:,} people total {cell} is not what `sample` draws: it is {one.mean():.6g} on "
            f"average and not {other.mean():.6g}, or spreads by {one.std():.4g} and not {other.std():.4g} "
            f"(Kolmogorov and Smirnov's distance is {found:.3g}, limit {APART:g})",
        )


def _situation(task: Question, budget: Budget, people: int) -> Scenario:
    if task.paired:
        return replace(spread_scenario(people, budget, task), judged={"what is held": 1, "what is lacking": 0})
    if task.shape.several:
        return histogram_scenario(people, budget, task.values, task)
    if task.shape is Shape.AMOUNT:
        return hardest_scenario(people, budget, task)
    return count_scenario(people, 6 * people // 10, budget, task)


def _runs(large: Protocol) -> int:
    return int(np.clip(MESSAGES / (large.crowd.size * max(1.0, large.messages_per_person)), FEWEST, MOST))


def _through_people(large: Protocol, values: Values) -> Floats:
    """Totals of released tallies, a row per run, by the steps of people and analysers."""
    coins, rows = SeededCoins(11), list[Ints]()
    for _ in range(_runs(large)):
        rows.append(large.release(large.tally(large.reports(values, coins)), coins).totals)
    return np.array(rows).astype(np.float64)


def distance(first: Floats, second: Floats) -> float:
    """The scaled Kolmogorov-Smirnov distance of samples, or of absolute deviations if larger."""
    centre, both = float(np.median(second)), [(first, second)]
    both.append((np.abs(first - centre), np.abs(second - centre)))
    return max(_gap(one, other) for one, other in both) * math.sqrt(
        first.size * second.size / (first.size + second.size)
    )


def _gap(first: Floats, second: Floats) -> float:
    every = np.unique(np.concatenate([first, second]))
    below = [np.searchsorted(np.sort(side), every, side="right") / side.size for side in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def _wrong(judged: JudgedPrediction, people: int) -> str:
    return (
        f"{judged.protocol}: with {people:,} people and {judged.cell}, over {judged.runs:,} runs, bias is off by "
        f"{judged.bias_z:+.1f} standard errors and variance by {judged.variance_z:+.1f} (the error spreads by "
        f"{judged.simulated_std:.4g}, {judged.std:.4g} is stated); {judged.within:.2%} of the errors lie within the "
        f"stated half-width of {judged.half:.4g}, and {judged.coverage:.2%} of the intervals cover"
    )
