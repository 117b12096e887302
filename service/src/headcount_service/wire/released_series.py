"""A collection's releases in rounds as a series, for its operator and the analyser's page."""

from __future__ import annotations

from collections.abc import Mapping

from headcount.protocols.base.plan import Plan
from headcount.rounds import Series
from headcount_service.wire.signed_release import Released


def series_of(plan: Plan, releases: Mapping[int, Released]) -> Series:
    """The series of these releases, by the numbers of their batches.

    A round is skipped if it has no release although a later one has. Refuses a plan for one round.
    """
    series = Series(plan)
    for batch in range(1, max(releases, default=0) + 1):
        if batch in releases:
            series.add(releases[batch].answer)
        else:
            series.skip()
    return series
