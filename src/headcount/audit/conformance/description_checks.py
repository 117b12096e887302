"""Checks of how a protocol describes itself: messages, refusals, pickle and JSON."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

from headcount.audit.conformance.check import require
from headcount.errors import TooFewReports, TooManyReports
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
    """Fewer reports than the guarantee needs, and more than it holds for, are refused; none where
    the number is private, as a refusal would reveal it."""
    private = protocol.neighbours.hides_size
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
