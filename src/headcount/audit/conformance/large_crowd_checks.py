"""Checks for large crowds: claims proved from certificates, or enumerated, projected, attacked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import combinations, product

import numpy as np

from headcount.audit.attacks.events import clopper_pearson_epsilon
from headcount.audit.attacks.pairs import Pair
from headcount.audit.conformance.calibrated_instances import CORE_CASES, FURTHER_CASES, calibrated_instances
from headcount.audit.conformance.check import Nonconforming, require
from headcount.audit.conformance.exact_loss import exp_parts, judge_claim, worst_delta
from headcount.audit.conformance.outcomes import outcome_bound
from headcount.audit.conformance.projection import ScalarProjection, TooSpread
from headcount.audit.enumeration import Enumerated, neighbouring_crowds, one_report
from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.model import Model
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats
from headcount.programme.release import Release
from headcount.programme.report_law import WHOLE, Parts
from headcount.proof import DEFAULT_EFFORT, Verdict, verify
from headcount.proof.programme import Table
from headcount.protocols.base.certificate import certify
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol

MOST_OUTCOMES = 200  # of one report, if two of them are to be enumerated
MOST_RELEASED = 100_000  # of one trusted release
RUNS = 2_000  # of an attack, half of them to choose the event
ERROR = 1e-7
SEEN = WHOLE >> 96  # what is likelier than that has a place in the law of a release
ROUNDED = 1e-6  # relatively, in masses near that
PURE = 1.0
LITTLE_EFFORT = 200_000  # where no proof is known
ENOUGH_EFFORT = 2_000_000  # for further proofs of an instance: none is begun beyond
EXACTLY, SLACK = 1.0 + 2e-3, 1e-12  # times what was proved: a claim is rounded up to four digits; and more
TOTALS = (0, 5, 1_500, 10**6)


def the_claim_holds_at_size(protocol: Protocol) -> None:
    """Plans for many people are proved again from the programme alone, if declared provable.

    Those of `CORE_CASES` always are, and further ones while their proofs are short; what is claimed
    to be exact may not be more than was proved. Where the protocol knows of no proof, verification
    may not refute it, and a proof is looked for until one case has none; a scalar projection bounds
    delta from below for all of them; those of `CORE_CASES` are enumerated among two people and
    attacked in full size.
    """
    spent, any_proof = 0, True
    for place, (budget, large) in enumerate(calibrated_instances(protocol, CORE_CASES + FURTHER_CASES)):
        always = place < len(CORE_CASES)
        if not large.provable:
            any_proof = any_proof and bool(_unrefuted(large, budget))
            if any_proof:
                continue
            _one_integer_tells_no_more_than_claimed(large, budget)
            if always:
                _two_people_lose_no_more_than_claimed(large)
                _withstands_an_attack(large, budget)
        elif always:
            _proved(large, budget)
        elif spent > ENOUGH_EFFORT:
            return
        else:
            spent += _proved(large, budget, ENOUGH_EFFORT).effort


def _unrefuted(large: Protocol, budget: Budget) -> Verdict:
    """The verdict with little effort: a proof may exist that is not found."""
    verdict = verify(certify(Plan(large, budget)).to_json(), LITTLE_EFFORT)
    require(verdict.answer != "refuted", f"{large.name}: with {_people(large)} {verdict}")
    return verdict


def _one_integer_tells_no_more_than_claimed(large: Protocol, budget: Budget) -> None:
    """The projected delta is at most the claimed one; skipped if a report has too many outcomes."""
    claimed = large.loss.delta(budget.epsilon)
    try:
        found, crowds = ScalarProjection(large).delta(budget.epsilon)
    except TooSpread:
        return
    require(
        found <= claimed,
        f"{large.name}: with {_people(large)} delta at epsilon={budget.epsilon:g} is at least {found:.6g}, and "
        f"{claimed:.6g} is claimed: too small by {found - claimed:.3g}; {crowds}",
    )


def _proved(large: Protocol, budget: Budget, effort: int | None = None) -> Verdict:
    """The verdict, which is a proof unless the effort was limited and exceeded."""
    verdict = verify(certify(Plan(large, budget)).to_json(), effort or DEFAULT_EFFORT)
    require(verdict.answer != "refuted", f"{large.name}: with {_people(large)} {verdict}")
    given_up = effort is not None and verdict.effort > effort
    require(verdict.answer == "proved" or given_up, _unproved(large, _people(large), verdict))
    if large.loss.kind == "exact":
        _is_exact(large, verdict)
    return verdict


def _is_exact(large: Protocol, verdict: Verdict) -> None:
    """A delta claimed to be exact is at most the proved one, up to the digits of a claim."""
    for point in verdict.points:
        claimed, most = float(point.delta), float(point.truth.high)
        require(
            claimed <= EXACTLY * most + SLACK,
            f"{large.name}: with {_people(large)} delta at epsilon={float(point.epsilon):g} is at most {most:.6g}, and "
            f"{claimed:.6g} is claimed to be exact: let the loss be a bound",
        )


def _people(large: Protocol) -> str:
    return f"{large.crowd.size:,} people"


def _unproved(protocol: Protocol, people: str, verdict: Verdict) -> str:
    return (
        f"{protocol.name}: `provable` says that verify knows a proof, and with {people} it answers {verdict}\n"
        "Let `provable` be False where the claim rests on a theorem alone; plans with it then say so"
    )


def _two_people_lose_no_more_than_claimed(large: Protocol) -> None:
    """The enumerated loss of two people is at most the claim; skipped where reports or a release
    have too many outcomes, or nothing is claimed for two."""
    few = min(2, large.crowd.honest)
    claim = large.loss if large.model is Model.CENTRAL else large.loss_if(few)
    if claim.delta(0.0) >= 1.0 or not _can_be_enumerated(large):
        return
    for judged in judge_claim(
        large, few, claim, worst_delta(Enumerated(large), few), tight=large.model is not Model.CENTRAL
    ):
        require(judged.holds, f"{judged}; its parameters are {large.parameters}")


def _can_be_enumerated(large: Protocol) -> bool:
    """Whether two people's reports, and what a trusted side releases of them, have few outcomes."""
    reports = max(outcome_bound(large.programme, {"value": value}) for value in range(large.task.values))
    released = len(large.released().law(0)) ** large.nobody().totals.size
    return reports <= MOST_OUTCOMES and released <= MOST_RELEASED


# From the outside


def _withstands_an_attack(large: Protocol, budget: Budget) -> None:
    """No half-line of a weighted total shows a larger epsilon than is claimed."""
    coins, delta = SeededCoins(5), large.loss.delta(budget.epsilon)
    for pair in _extremes(large):
        one, other = (large.sample(np.array(held), coins, RUNS).astype(np.float64) for held in pair)
        orders = ((one, other), (other, one))
        found = max(_told_apart(first, second, budget.epsilon, delta) for first, second in orders)
        require(
            found <= budget.epsilon,
            f"{large.name}: with {large.crowd.size:,} people epsilon is at least {found:.4g} at delta={delta:.3g}, "
            f"and {budget.epsilon:g} is claimed: crowds that hold {pair[0]} and {pair[1]} are told apart",
        )


def _extremes(large: Protocol) -> Iterator[Pair]:
    """Neighbouring crowds of minimum size: all others hold the first value, or all the last."""
    last, others = large.task.values - 1, large.crowd.least - 1
    for value in (0, last):
        rest = [others * (i == value) for i in range(last + 1)]
        with_one = [tuple(k + (i == own) for i, k in enumerate(rest)) for own in (0, last)]
        yield (tuple(rest), with_one[0]) if large.neighbours is Neighbours.ADD_REMOVE else (with_one[0], with_one[1])


def _told_apart(first: Floats, second: Floats, epsilon: float, delta: float) -> float:
    """A lower bound on epsilon: half of the runs choose weights and a level, half are counted."""
    half = RUNS // 2
    weights = first[:half].mean(axis=0) - second[:half].mean(axis=0)
    first, second = first @ weights, second @ weights
    levels = np.unique(first[:half])
    gains = [_above(first[:half], level) - math.exp(epsilon) * _above(second[:half], level) for level in levels]
    level = levels[int(np.argmax(gains))]
    hits = [np.array(_above(scores[half:], level)) for scores in (first, second)]
    return float(clopper_pearson_epsilon(hits[0], hits[1], RUNS - half, delta, ERROR))


def _above(scores: Floats, level: float) -> int:
    return int(np.count_nonzero(scores >= level))


# What a certificate is about


def the_certificate_says_what_is_released(protocol: Protocol) -> None:
    """A certificate's noise tables have the enumerated law: what is proved is what is run."""
    for step in _adding(protocol.released()):
        told = _of_tables(*(Table.read(step.encode()["add"][name]) for name in ("centre", "beyond")))
        for total in TOTALS:
            drawn = step.law(total)
            for noise in told.keys() | {out - total for out, part in drawn.items() if part >= SEEN}:
                here, there = drawn.get(total + noise, 0) / WHOLE, told.get(noise, 0) / WHOLE
                require(
                    math.isclose(here, there, rel_tol=ROUNDED, abs_tol=SEEN / WHOLE),
                    f"{protocol.name}: noise of {noise} has a chance of {here:.6g}, and {there:.6g} in a certificate",
                )


def _adding(release: Release) -> Iterator[Release]:
    """The steps of a release that only add noise."""
    if release.encode().keys() == {"add"}:
        yield release
        return
    for step in vars(release).values():
        if isinstance(step, Release):
            yield from _adding(step)


def _of_tables(centre: Table, beyond: Table) -> Parts:
    """The law of two-table noise: the centre, and beyond it a table that repeats."""
    reach, start = len(beyond.masses) - 1, len(beyond.masses) - 1
    parts = {k: mass * WHOLE // centre.total for k, mass in enumerate(centre.masses, -reach) if abs(k) < reach}
    left = centre.masses[-1] * WHOLE // centre.total
    while left >= SEEN:
        for k, mass in enumerate(beyond.masses[:-1], start):
            parts[k] = parts[-k] = left * mass // beyond.total
        left, start = left * beyond.masses[-1] // beyond.total, start + reach
    return parts


# Without any delta


def what_is_called_pure_is(protocol: Protocol) -> None:
    """Calibrated at delta 0, neighbours share a support; likelihood ratios are at most e**epsilon.

    Of a local report in exact integers. Of a release in whole parts of 2**-128, down to masses of
    2**-96, and of the tails beyond by the proof.
    """
    if not protocol.pure:
        return
    budget = Budget(PURE, 0.0, protocol.neighbours)
    try:
        found = calibrate(type(protocol), protocol.task, CORE_CASES[0].crowd, budget)
    except Refused as refusal:
        raise Nonconforming(f"{protocol.name}: it is called pure, and has no setting for delta=0 ({refusal})") from None
    stated = found.loss.delta(PURE)
    require(stated == 0.0, f"{protocol.name}: it is called pure, and states a delta of {stated:.3g}")
    if found.model is Model.LOCAL:
        _reports_are_pure(found)
    else:
        _releases_are_pure(found)
    verdict = verify(certify(Plan(found, budget)).to_json())
    require(verdict.answer != "refuted", f"{protocol.name}: it is called pure, and {verdict}")
    require(verdict.answer == "proved" or not found.provable, _unproved(protocol, "any number of people", verdict))


def _reports_are_pure(found: Protocol) -> None:
    laws = [one_report(found, value) for value in range(found.task.values)]
    total = math.lcm(*(law.total for law in laws))
    limit = exp_parts(PURE) + 3
    for (i, first), (j, second) in combinations(enumerate(law.of_total(total) for law in laws), 2):
        for sent in first.keys() | second.keys():
            less, more = sorted((first.get(sent, 0), second.get(sent, 0)))
            require(
                more * WHOLE <= less * limit,
                f"{found.name}: it is called pure, and {sent} has chances {more / total:.6g} and {less / total:.6g} "
                f"with the values {i} and {j}: more than e**{PURE:g} apart",
            )


def _releases_are_pure(found: Protocol) -> None:
    """Check purity for totals of up to two people, multiplying the ratios of all changed cells."""
    enumerated, limit = Enumerated(found), math.exp(PURE) * (1.0 + ROUNDED)
    largest = cache(partial(_largest_ratio, cache(found.released().law)))
    for people in (1, 2):
        for first, second in neighbouring_crowds(found, people):
            for here, there in product(enumerated.totals(first), enumerated.totals(second)):
                ratio = math.prod(largest(a, b) for a, b in zip(here, there, strict=True))
                apart = "is possible with only one of them" if math.isinf(ratio) else f"has chances {ratio:.6g} apart"
                require(
                    ratio <= limit,
                    f"{found.name}: it is called pure, and of what is released for totals of {here} and {there} "
                    f"something {apart}, where {math.exp(PURE):.6g} is claimed",
                )


def _largest_ratio(law: Callable[[int], Parts], first: int, second: int) -> float:
    """The largest likelihood ratio of an outcome between two totals, infinite if one forbids it."""
    if first == second:
        return 1.0
    p, q = law(first), law(second)
    chances = (sorted((p.get(outcome, 0), q.get(outcome, 0))) for outcome in p.keys() | q.keys())
    return max(more / less if less else math.inf for less, more in chances if more >= SEEN)
