"""Checks of samplers against their laws down to probabilities that no sample would show."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from headcount.audit.conformance.calibrated_instances import CORE_CASES, FURTHER_CASES, calibrated_instances
from headcount.audit.conformance.check import Nonconforming, require
from headcount.audit.conformance.decision_tree import ExploredLaw, RawWords, explored
from headcount.audit.conformance.loss_checks import turned
from headcount.audit.conformance.outcomes import outcome_bound
from headcount.audit.enumeration import in_order, one_report
from headcount.errors import Refused
from headcount.programme.coins import Coins
from headcount.programme.release import Release
from headcount.programme.report_law import WHOLE, Message
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol

TOTALS = (0, 5)
MOSTLY = WHOLE - (WHOLE >> 7)
LARGEST_THRESHOLD = 40  # the power of two of a total that is shown by any release
DRAWS = 8_000  # for a release, and
REPORTS = 2_000  # for a person
FEW = 32  # even draws with more outcomes are there to round, and totals are such that nothing is rounded
MOST_OUTCOMES = 2_000  # of a person, whose law is worked out besides
FAINT = WHOLE >> 90  # differences that are smaller are roundings, in what is released and
FAINT_REPORT = WHOLE >> 60  # in what is sent, whose law leaves out what is less likely than 2**-72
ROUNDED = 10**6  # and so are relative differences of one in this many


def the_release_draws_its_law(protocol: Protocol) -> None:
    """A release has the probabilities of `Release.law`, down to 2**-90: of 0, of 5 and of the
    totals on either side of a threshold.

    Checked for the tiny instance, with its own setting and with those calibrated for many people,
    and for the calibrated instances themselves, unless their noise has too many outcomes.
    """
    if not protocol.model.releases:
        return
    for found in _settings(protocol):
        release = found.released()
        for total in (times * release.scale.denominator for times in (*TOTALS, *_around_a_threshold(release))):
            if len(release.law(total)) <= DRAWS:
                law = found.shown_law(total)
                drawn = _gone_through(found, partial(_released, found, total), DRAWS, FEW)
                _agree(found, drawn, law, f"a total of {total:,} is released as", FAINT)


def _around_a_threshold(release: Release) -> tuple[int, ...]:
    """The largest total mostly shown as nothing, and the next; none if 0 is mostly noise."""

    def hidden(times: int) -> bool:
        return release.law(times * release.scale.denominator).get(0, 0) > MOSTLY

    if not hidden(0):
        return ()
    most = next((1 << power for power in range(LARGEST_THRESHOLD) if not hidden(1 << power)), None)
    if most is None:
        return ()
    least = bisect_left(range(most), True, key=lambda times: not hidden(times))
    return least - 1, least


def _settings(protocol: Protocol) -> Iterator[Protocol]:
    yield protocol
    name = protocol.knob.name
    for _, large in calibrated_instances(protocol, CORE_CASES + FURTHER_CASES):
        with suppress(Refused):
            yield turned(protocol, getattr(large, name))
        yield large


def _released(protocol: Protocol, total: int, coins: Coins) -> int:
    tally = Tally(protocol.crowd.size, np.array([total], dtype=object), None, protocol.nobody().modulus)
    return int(protocol.release(tally, coins).totals[0])


def reports_are_drawn_from_their_law(protocol: Protocol) -> None:
    """One person's report, calibrated for many people, has the probabilities of its law, if it has
    few enough outcomes."""
    for _, found in calibrated_instances(protocol, CORE_CASES + FURTHER_CASES[:2]):
        for value in _few_values(found):
            if outcome_bound(found.programme, {"value": value}) <= MOST_OUTCOMES:
                drawn = _gone_through(found, partial(_sent, found, value), REPORTS)
                law = {
                    tuple(message for message, times in sent for _ in range(times)): part
                    for sent, part in one_report(found, value).parts().items()
                }
                _agree(found, drawn, law, f"a person who holds {value} sends", FAINT_REPORT)


def _few_values(protocol: Protocol) -> Iterator[int]:
    last = protocol.task.values - 1
    yield from sorted({0, last // 2, last})


def _sent(protocol: Protocol, value: int, coins: Coins) -> tuple[Message, ...]:
    return in_order(protocol.reports(np.array([value], dtype=np.min_scalar_type(value)), coins).messages)


def _gone_through(
    protocol: Protocol, run: Callable[[Coins], Any], most: int, few: float = math.inf
) -> ExploredLaw[Any]:
    try:
        return explored(run, most, few)
    except RawWords:
        raise Nonconforming(
            f"{protocol.name}: words are read as they come, so that the law of what is made of them cannot be checked; "
            "draw with coins.draw, coins.bernoulli or coins.below"
        ) from None


def _agree(protocol: Protocol, drawn: ExploredLaw[Any], stated: Mapping[Any, int], what: str, faint: int) -> None:
    """No outcome is drawn more often than stated, nor less often by more than the unexplored."""
    for outcome in drawn.parts.keys() | stated.keys():
        here, there = drawn.parts.get(outcome, 0), stated.get(outcome, 0)
        off = faint + max(here, there) // ROUNDED
        too_often, too_rarely = here > there + off, there > here + drawn.rest + off
        require(
            not (too_often or too_rarely),
            f"{protocol.name}: {what} {outcome} with a chance of {here / WHOLE:.6g}, too "
            f"{'large' if too_often else 'small'}: {there / WHOLE:.6g} is stated; its parameters are "
            f"{protocol.parameters}",
        )
