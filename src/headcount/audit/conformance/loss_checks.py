"""Checks of the claimed privacy loss against every view of small crowds."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import reduce
from typing import Any

from headcount.audit.conformance.calibrated_instances import CORE_CASES, FURTHER_CASES, calibrated_instances
from headcount.audit.conformance.check import Nonconforming, require
from headcount.audit.conformance.exact_loss import (
    AGREES,
    EPSILONS,
    Interval,
    JudgedClaim,
    exact_delta,
    judge_claim,
    worst_delta,
)
from headcount.audit.conformance.outcomes import outcome_bound
from headcount.audit.enumeration import Enumerated, local_epsilon
from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model, Party
from headcount.protocols.base.protocol import Protocol

MOST_OUTCOMES = 5_000  # of one report, over all values, whose laws are compared


def the_claimed_loss_covers_every_view(protocol: Protocol) -> None:
    """For every pair of neighbouring crowds, the enumerated loss is at most the claim, and equal to
    it where the claim is exact. Some pair loses what the claim says that certain crowds do.

    Where the number of people is private, the claim is for any number of them, and equality for as
    many as the instance has.
    """
    people = protocol.crowd.honest
    every = exact_delta(protocol, people, EPSILONS)
    _hold(judge_claim(protocol, people, protocol.loss_if(people), every))
    _hold(judge_claim(protocol, people, protocol.loss, every, tight=not protocol.neighbours.hides_size))
    attained = protocol.loss.attained
    if attained is not None and not protocol.neighbours.hides_size:
        for epsilon, truth in zip(EPSILONS, every, strict=True):
            least = attained.delta(epsilon)
            lost = least <= float(truth.high) * (1.0 + AGREES) + AGREES**2
            require(lost, f"{protocol.name}: no crowd loses {least:.9g} at epsilon {epsilon:g}, but {truth} at most")


def the_loss_follows_dropouts(protocol: Protocol) -> None:
    """The claim holds when fewer honest people turn up than planned, down to one.

    In the central model, where people bring no noise themselves, the claim is that for any number
    of them.
    """
    enumerated, tight = Enumerated(protocol), protocol.model is not Model.CENTRAL
    for people in range(1, protocol.crowd.honest):
        _hold(judge_claim(protocol, people, protocol.loss_if(people), worst_delta(enumerated, people), tight=tight))


def noise_is_shared_among_the_honest(protocol: Protocol) -> None:
    """With dropouts and liars planned for, the claim holds however many of the honest turn up."""
    size, private = protocol.crowd.size, protocol.neighbours.hides_size
    planned = protocol.among(Crowd(size + 2, size + 2 if private else max(3, size), 2))
    enumerated = Enumerated(planned)
    crowds = range(planned.crowd.honest, planned.crowd.size - planned.crowd.corrupt + 1)
    every = [worst_delta(enumerated, people, corrupt=planned.crowd.corrupt) for people in crowds]
    worst = [reduce(Interval.__or__, truths) for truths in zip(*every, strict=True)]
    _hold(judge_claim(planned, planned.crowd.honest, planned.loss, worst, planned.crowd.corrupt))


def no_party_learns_more_than_is_stated(protocol: Protocol) -> None:
    """The views of the public and of a message-adding shuffler, less its own part, are enumerated.

    Elsewhere nobody sees less of the noise than the analyser, whose view the other checks are
    about.
    """
    if protocol.model is not Model.DUMMIES:
        return
    for party, stated in protocol.views().items():
        truth = worst_delta(Enumerated(protocol, party), protocol.crowd.honest)
        if stated is None:
            everything = all(delta.low > 1 - AGREES for delta in truth)
            require(everything, f"{protocol.name}: the {party} is said to learn every value, and does not")
            continue
        tight = party is not Party.SHUFFLER and protocol.loss.kind == "exact"
        for claim in judge_claim(protocol, protocol.crowd.honest, stated, truth, tight=tight):
            require(claim.holds, f"{claim}, as the {party} sees it")


def several_reports_are_covered(protocol: Protocol) -> None:
    """A protocol's own `group` claim, for a person with two reports and of two values also three,
    covers all crowds where they change.

    A protocol without a `group` of its own has that of group privacy, which follows from its claim
    for one report.
    """
    if type(protocol).group is Protocol.group:
        return
    for each in (2, 3)[: 1 + (protocol.task.values == 2)]:
        planned = protocol.among(replace(protocol.crowd, each=each))
        _hold(judge_claim(planned, each, planned.loss_if(each), exact_delta(planned, each, EPSILONS), tight=False))


def _hold(judgements: list[JudgedClaim]) -> None:
    for judged in judgements:
        require(judged.holds, str(judged))


def collusion_is_stated(protocol: Protocol) -> None:
    """The local epsilon, left if everyone else colludes, is that of one report's exact law; also of
    all calibrated instances with few enough outcomes. A local claim says the same."""
    for found in (protocol, *(large for _, large in calibrated_instances(protocol, CORE_CASES + FURTHER_CASES))):
        stated = found.local_epsilon
        values = range(found.task.values)
        if max(outcome_bound(found.programme, {"value": value}) for value in values) * len(values) <= MOST_OUTCOMES:
            _is_stated(found, local_epsilon(found), "is")
        if found.model is Model.LOCAL and stated is not None and found.loss.kind == "exact":
            _is_stated(found, found.loss.epsilon(0.0) / found.crowd.each, "is claimed to be")


def _is_stated(found: Protocol, truth: float, known: str) -> None:
    stated = found.local_epsilon
    same = math.isinf(truth) if stated is None else math.isclose(truth, stated, rel_tol=1e-9)
    told = "none" if stated is None else f"{stated:.9g}"
    require(
        same,
        f"{found.name}: with {found.crowd.size:,} people and the parameters {found.parameters} the local epsilon "
        f"{known} {truth:.9g}, and {told} is stated",
    )


def calibration_meets_the_budget_and_no_more(protocol: Protocol) -> None:
    cls = type(protocol)
    for epsilon, delta in ((1.0, 1e-6), (0.4, 1e-9), (3.0, 1e-5)):
        budget = Budget(epsilon, delta, protocol.neighbours)
        try:
            found = calibrate(cls, protocol.task, Crowd(10_000), budget)
        except Refused as refusal:
            raise Nonconforming(f"{cls.name}: 10,000 people are not enough ({refusal})") from refusal
        delta = found.loss.delta(budget.epsilon)
        require(delta <= budget.delta, f"{cls.name}: delta {delta:.3g} is over the budget {budget.delta:g}")
        require(
            delta >= 0.99 * budget.delta or looser(found).loss.delta(epsilon) > budget.delta,
            f"{cls.name}: delta {delta:.3g} leaves much of {budget.delta:g} unused, and there is a looser setting",
        )


def looser(found: Protocol) -> Protocol:
    """The protocol with the next less private setting of its knob, or one a little beyond."""
    return turned(found, found.knob.looser(getattr(found, found.knob.name), vars(found)))


def turned(found: Protocol, setting: float) -> Protocol:
    """The protocol with another setting of its knob."""
    changed: dict[str, Any] = {entry.name: None for entry in fields(found) if entry.default is None}  # decided by it
    return replace(found, **changed | {found.knob.name: setting})
