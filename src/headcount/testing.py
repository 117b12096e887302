"""The conformance suite that every protocol must pass, open to protocols of other packages.

`conforms(MyProtocol)` runs every check on the protocol's tiny instances. `CHECKS` is the list, for
parametrised tests.
"""

from __future__ import annotations

from headcount.audit.conformance.check import Check, Nonconforming
from headcount.audit.conformance.description_checks import (
    crowds_not_planned_for_are_refused,
    it_survives_pickling_and_json,
    messages_are_counted,
)
from headcount.audit.conformance.error_checks import (
    intervals_cover,
    intervals_cover_at_size,
    large_counts_are_unbiased,
    the_error_is_as_stated,
)
from headcount.audit.conformance.exact_draw_checks import reports_are_drawn_from_their_law, the_release_draws_its_law
from headcount.audit.conformance.large_crowd_checks import (
    the_certificate_says_what_is_released,
    the_claim_holds_at_size,
    what_is_called_pure_is,
)
from headcount.audit.conformance.loss_checks import (
    calibration_meets_the_budget_and_no_more,
    collusion_is_stated,
    no_party_learns_more_than_is_stated,
    noise_is_shared_among_the_honest,
    several_reports_are_covered,
    the_claimed_loss_covers_every_view,
    the_loss_follows_dropouts,
)
from headcount.audit.conformance.reach_checks import nobody_reaches_further_than_is_stated
from headcount.audit.conformance.sampler_checks import (
    all_randomness_is_an_argument,
    people_draw_apart,
    the_order_of_messages_tells_nothing,
    the_sampler_follows_the_programme,
    the_shortcut_is_the_protocol,
    what_is_drawn_is_what_is_claimed,
)
from headcount.audit.conformance.simulated_checks import what_is_drawn_at_size_is_what_is_stated
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol

__all__ = [
    "CHECKS",
    "Check",
    "Nonconforming",
    "all_randomness_is_an_argument",
    "calibration_meets_the_budget_and_no_more",
    "collusion_is_stated",
    "conforms",
    "crowds_not_planned_for_are_refused",
    "intervals_cover",
    "intervals_cover_at_size",
    "it_survives_pickling_and_json",
    "large_counts_are_unbiased",
    "messages_are_counted",
    "no_party_learns_more_than_is_stated",
    "nobody_reaches_further_than_is_stated",
    "noise_is_shared_among_the_honest",
    "people_draw_apart",
    "reports_are_drawn_from_their_law",
    "several_reports_are_covered",
    "the_certificate_says_what_is_released",
    "the_claim_holds_at_size",
    "the_claimed_loss_covers_every_view",
    "the_error_is_as_stated",
    "the_loss_follows_dropouts",
    "the_order_of_messages_tells_nothing",
    "the_release_draws_its_law",
    "the_sampler_follows_the_programme",
    "the_shortcut_is_the_protocol",
    "what_is_called_pure_is",
    "what_is_drawn_at_size_is_what_is_stated",
    "what_is_drawn_is_what_is_claimed",
]

CHECKS: tuple[Check, ...] = (
    the_claimed_loss_covers_every_view,
    the_loss_follows_dropouts,
    noise_is_shared_among_the_honest,
    no_party_learns_more_than_is_stated,
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
    nobody_reaches_further_than_is_stated,
    collusion_is_stated,
    calibration_meets_the_budget_and_no_more,
    the_certificate_says_what_is_released,
    what_is_called_pure_is,
    the_claim_holds_at_size,
    crowds_not_planned_for_are_refused,
    it_survives_pickling_and_json,
)


def conforms(protocol: type[Protocol] | str) -> None:
    """Run every check on each of a protocol's tiny instances.

    Parameters
    ----------
    protocol : type or str
        A subclass of `hc.Protocol`, or its name where it is installed.

    Raises
    ------
    Nonconforming
        If one of them fails: the message says what is not as the protocol states it.

    Examples
    --------
    >>> from headcount.testing import conforms
    >>> conforms("randomised-response")  # doctest: +SKIP
    """
    for tiny in (named(protocol) if isinstance(protocol, str) else protocol).tinies():
        for check in CHECKS:
            check(tiny)
