"""What every protocol must pass; `headcount.testing` is its face.

Exact checks enumerate every view of every small crowd from the report programme; statistical ones have fixed seeds and
raise a false alarm with a chance of at most 1e-6 each. Here are those of how a protocol describes itself, and the list.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

from headcount.audit.agreement import Check, require
from headcount.audit.branch_checks import reports_are_drawn_from_their_law, the_release_draws_its_law
from headcount.audit.draw_checks import (
    all_randomness_is_an_argument,
    people_draw_apart,
    the_order_of_messages_tells_nothing,
    the_sampler_follows_the_programme,
    the_shortcut_is_the_protocol,
    what_is_drawn_is_what_is_claimed,
)
from headcount.audit.drawn_at_size import what_is_drawn_at_size_is_what_is_stated
from headcount.audit.error_checks import (
    intervals_cover,
    intervals_cover_at_size,
    large_counts_are_unbiased,
    the_error_is_as_stated,
)
from headcount.audit.loss_checks import (
    calibration_meets_the_budget_and_no_more,
    collusion_is_stated,
    noise_is_shared_among_the_honest,
    several_reports_are_covered,
    the_claimed_loss_covers_every_view,
    the_loss_follows_dropouts,
)
from headcount.audit.size_checks import (
    the_certificate_says_what_is_released,
    the_claim_holds_at_size,
    what_is_called_pure_is,
)
from headcount.errors import TooFewReports, TooManyReports
from headcount.privacy.budget import Neighbours
from headcount.privacy.crowd import Crowd
from headcount.protocols.base.protocol import Protocol


def messages_are_counted(protocol: Protocol) -> None:
    """The stated mean number of messages is the programme's, for the value that costs most."""
    mean = max(protocol.programme.mean({"value": value}) for value in range(protocol.task.values))
    require(
        math.isclose(protocol.messages_per_person, mean, rel_tol=1e-9),
        f"{protocol.name}: {mean:.9g} messages a person, and {protocol.messages_per_person:.9g} are stated",
    )


def crowds_not_planned_for_are_refused(protocol: Protocol) -> None:
    """Fewer reports than the guarantee needs, and more than it holds for or can be added up; none where that is
    private, as a refusal would tell."""
    private = protocol.neighbours is Neighbours.ADD_REMOVE
    outside = {protocol.crowd.least - 1, *({int(protocol.most) + 1} if math.isfinite(protocol.most) else {0})}
    for reports in sorted(outside):
        tally = replace(protocol.nobody(), reports=reports, released=True)
        for step in (protocol.release, protocol.estimate):
            try:
                step(tally)
                refused = False
            except (TooFewReports, TooManyReports):
                refused = True
            verb = "refuses" if refused else "accepts"
            told = f"{protocol.name}: {step.__name__} {verb} a crowd of another size"
            require(refused != private, told)


def it_survives_pickling_and_json(protocol: Protocol) -> None:
    copy = pickle.loads(pickle.dumps(protocol))  # noqa: S301
    require(copy == protocol and hash(copy) == hash(protocol), f"{protocol.name}: a pickled copy differs")
    described = protocol.to_json()
    kept: dict[str, Any] = {"task": protocol.task, "neighbours": described["neighbours"]}
    again = type(protocol)(**kept, crowd=Crowd(**described["crowd"]), **described["parameters"])
    require(again == protocol, f"{protocol.name}: the JSON does not describe it")
    require(again.programme.encode() == protocol.programme.encode(), f"{protocol.name}: the JSON loses precision")


CHECKS: tuple[Check, ...] = (
    the_claimed_loss_covers_every_view,
    the_loss_follows_dropouts,
    noise_is_shared_among_the_honest,
    several_reports_are_covered,
    the_error_is_as_stated,
    large_counts_are_unbiased,
    intervals_cover,
    intervals_cover_at_size,
    what_is_drawn_at_size_is_what_is_stated,
    the_sampler_follows_the_programme,
    reports_are_drawn_from_their_law,
    the_release_draws_its_law,
    what_is_drawn_is_what_is_claimed,
    the_shortcut_is_the_protocol,
    the_order_of_messages_tells_nothing,
    people_draw_apart,
    all_randomness_is_an_argument,
    messages_are_counted,
    collusion_is_stated,
    calibration_meets_the_budget_and_no_more,
    the_certificate_says_what_is_released,
    what_is_called_pure_is,
    the_claim_holds_at_size,
    crowds_not_planned_for_are_refused,
    it_survives_pickling_and_json,
)
