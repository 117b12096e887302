"""A plan: a calibrated protocol and its budget, the same for all parties, with its hash."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headcount.common.atomic_files import write_over
from headcount.common.canonical import fingerprint
from headcount.common.plurals import people
from headcount.errors import BadArgument, Unsupported
from headcount.figures.text_table import TextTable
from headcount.privacy.budget import Budget
from headcount.privacy.loss import PrivacyLoss
from headcount.protocols.base.parties import who_learns_what
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.reach import Reach
from headcount.protocols.base.refreshed import promises
from headcount.protocols.base.registry import Deployment, Record, record
from headcount.protocols.base.report_size import Wire

FORMAT = "headcount plan 1"


@dataclass(frozen=True)
class Plan:
    """A calibrated protocol and the budget that its privacy loss fits.

    All parties hold the same plan, and its hash. There is no plan whose loss exceeds its budget.

    Parameters
    ----------
    protocol : Protocol
        The mechanism, with its parameters and crowd.
    budget : Budget
        What it may cost.
    wire : Wire, optional
        How reports travel, where they are to be collected from devices.
    panels : int
        Into how many panels people are divided by lot beforehand, of which each is asked in rounds
        of its own; the protocol's crowd is one of them.

    Raises
    ------
    errors.OverBudget
        If the loss does not fit.
    errors.Unsupported
        If protocol and budget have different adjacencies.

    Examples
    --------
    >>> hc.Plan(hc.protocol("zsum", n=1_000, gamma=0.04), hc.Budget(1, 1e-6))
    Plan: count by zsum (shuffle), 1,000 people, (ε=1, δ=1e-06), replace-one
    """

    protocol: Protocol
    budget: Budget
    wire: Wire | None = None  # where it is to be collected from devices
    panels: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.panels, int) or self.panels < 1:
            raise BadArgument("panels", f"is {self.panels!r}", "use a whole number from 1 on")
        if self.protocol.neighbours is not self.budget.neighbours:
            raise Unsupported(
                f"the protocol is for neighbours='{self.protocol.neighbours}' and the budget for "
                f"'{self.budget.neighbours}'",
                "use one relation for both",
            )
        self.budget.require_hidden(self.protocol.crowd.each)
        self.budget.require(self.each)

    @cached_property
    def each(self) -> PrivacyLoss:
        """The loss of one round; in a collection, including padding reports to one length."""
        return self.protocol.loss if self.wire is None else self.wire.loss(self.protocol)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """The loss of all rounds in which the same person is asked, together."""
        return self.budget.together(self.each)

    @property
    def rounds(self) -> int:
        """How many rounds it is for."""
        return self.budget.rounds * self.panels

    @property
    def colluding(self) -> float | None:
        """The local epsilon of all rounds of a collection if shuffler and analyser collude."""
        told: float | None = (
            None if self.wire is None else self.wire.device(self.protocol, self.budget.rounds)["colluding"]
        )
        return told

    @property
    def reach(self) -> Reach:
        """How far one liar can move an answer; of what nobody collects, with one message.

        Examples
        --------
        >>> hc.advise("count", n=10_000, epsilon=1, delta=1e-6, protocols="zsum", collected=True).best.reach.cells
        1
        """
        return self.protocol.reach(1 if self.wire is None else self.wire.messages)

    def who_learns_what(self) -> TextTable:
        """What the analyser, the public and the shuffler learn of a person, alone and together.

        Returns
        -------
        TextTable
            A row for each party, with its epsilon at the budget's delta.

        Examples
        --------
        >>> plan = hc.advise("count", n=1_000, epsilon=1, delta=1e-6, protocols="padded-count").best
        >>> print(plan.who_learns_what().text())
        who learns what, at δ=1e-06
        party                             learns of a person
        the analyser                      (ε=1, δ=1e-06)
        the public, reading the answer    (ε=0.917, δ=1e-06)
        the shuffler, before the answer   who took part, and nothing else
        the shuffler, reading the answer  (ε=1, δ=0)
        the shuffler and the analyser     every value
        """
        return who_learns_what(self.protocol, self.budget)

    def refreshed(self, windows: int) -> TextTable:
        """What is promised if the budget is given anew for every window of this plan's rounds.

        A window's budget protects what somebody did within that window. What they did in two rounds
        side by side may be in two windows, and who stays is in all of them.

        Parameters
        ----------
        windows : int
            How many there are, one after the other.

        Returns
        -------
        TextTable
            A row for data in one window, in two, and in all.

        Raises
        ------
        errors.BadArgument
            If there are fewer than two.

        Examples
        --------
        >>> month = hc.advise("count", n=10_000, epsilon=1, delta=1e-6, rounds=4, protocols="discrete-gaussian").best
        >>> print(month.refreshed(13).text())
        what each person is promised, at δ=1e-06, replace-one
        their data are in                           rounds  epsilon
        one window                                       4        1
        two windows, as rounds side by side may be       8     1.46
        all 13 windows                                  52     4.09
        """
        return promises(self.budget, self.each, windows)

    def __repr__(self) -> str:
        protocol, crowd = self.protocol, people(self.protocol.crowd.size)
        by = f"{protocol.task.name} by {protocol.name} ({protocol.model})"
        panels = f" in each of {self.panels:,} panels" if self.panels > 1 else ""
        return f"Plan: {by}, {crowd}{panels}, {self.budget}, {self.budget.neighbours.words}"

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, which `hc.plan_from_json` reads back exactly."""
        return {**self.question(), **for_devices(self.protocol, self.wire, self.budget.rounds)}

    def question(self) -> dict[str, Any]:
        """All but what is written down for devices, which follows from it."""
        wire = {} if self.wire is None else {"wire": self.wire.to_json()}
        panels = {"panels": self.panels} if self.panels > 1 else {}
        return {**self.protocol.to_json(), "budget": self.budget.to_json(), **wire, **panels}

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON, report programme included."""
        return fingerprint(self.to_json())

    def save(self, path: str | Path) -> Path:
        """Write the plan and its hash into a file that `hc.load_plan` reads; replaces plans only.

        Parameters
        ----------
        path : str or Path
            Name of the file.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        errors.BadArgument
            If the file exists and is not a plan.
        """
        return write_over(path, self.saved(), "plan")

    def saved(self) -> str:
        """The text of such a file."""
        from importlib.metadata import version

        kept = {"format": FORMAT, "headcount": version("headcount"), "hash": self.hash, "plan": self.to_json()}
        return json.dumps(kept, indent=1) + "\n"

    def to_registry(self, **deployment: Any) -> Record:
        """A draft for the OpenDP deployments registry, with TODO where only you know.

        Parameters
        ----------
        deployment
            By name: name, curator, curator_type, published, description, use, region, sector, unit,
            releases, data_source, later, prepared, kept, justification, authors, sources.

        Returns
        -------
        Record
            With the text of the draft.
        """
        return record(self.protocol, self.budget, self.hash, Deployment(**deployment))


def for_devices(protocol: Protocol, wire: Wire | None, rounds: int) -> dict[str, Any]:
    """The programme and, in a collection, what else a device needs to report: in all rounds."""
    device = {} if wire is None else {"device": wire.device(protocol, rounds)}
    return {"programme": protocol.programme.encode(), **device}
