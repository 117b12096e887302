"""A device's limits: the most epsilon and delta, per report and in all, and the accepted terms."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction

from headcount.errors import AnswerExposed, BadArgument, OverBudget, Unsupported
from headcount.privacy.model import Party
from headcount.protocols.base.plan import Plan
from headcount_service.wire.collection import Admission, Collection, Shortfall

BARE = "as it is, without noise, for the shuffler to hide with messages that it adds"
NAMES = {"epsilon": "epsilon", "delta": "delta", "colluding": "epsilon if the operators work together"}


@dataclass(frozen=True)
class Limits:
    """What a device agrees to.

    Parameters
    ----------
    epsilon, delta : float
        The most that one report may cost.
    colluding : float
        The largest local epsilon if shuffler and analyser collude; infinite to allow plans with
        none.
    lifetime_epsilon, lifetime_delta : float
        The most that all reports of the device may cost, by plain sums.
    least : int
        The fewest honest people among whom it reports.
    top_up : bool
        Whether reports of nobody may take the place of people.
    invited : bool
        Whether only invited people may report.
    fixed : bool
        Whether batches must end with their windows.
    padded : bool
        Whether the answer may be sent without noise, for a shuffler to hide with messages that it
        adds. Of what the shuffler reads off the result, no more than `epsilon` and `delta` allow.

    Raises
    ------
    errors.BadArgument
        If a number is negative.

    Examples
    --------
    >>> from headcount_service import Limits
    >>> Limits(epsilon=1).delta
    0.0001
    """

    epsilon: float = 2.0
    delta: float = 1e-4
    colluding: float = 8.0
    lifetime_epsilon: float = 10.0
    lifetime_delta: float = 1e-3
    least: int = 100
    top_up: bool = False
    invited: bool = False
    fixed: bool = False
    padded: bool = False

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) >= 0:
                raise BadArgument(each.name, f"is {getattr(self, each.name)!r}", "use a number from 0 on")

    def foreseen(self, collection: Collection) -> str:
        """Why a device with these limits, answering only this, misses a batch; empty if none."""
        plan = collection.plan
        spent = Fraction(0), Fraction(0)
        for batch in range(collection.batches):
            try:
                self.require(collection, spent, agreed=collection.series and batch > 0)
            except (Unsupported, OverBudget) as refusal:
                part = f"from batch {batch + 1} of {collection.batches} on" if batch else "at all"
                return f"devices with the usual limits will not report {part}: {refusal}"
            if not (collection.series and batch):
                spent = spent[0] + Fraction(plan.budget.epsilon), spent[1] + Fraction(plan.budget.delta)
        return ""

    def _hidden_from_shuffler(self, plan: Plan) -> bool:
        """Whether the result tells a shuffler, knowing what it added, no more than limits allow."""
        protocol = plan.protocol
        if not protocol.model.pads:
            return True
        view = protocol.views()[Party.SHUFFLER]
        return (1.0 if view is None else plan.budget.together(view).delta(self.epsilon)) <= self.delta

    def require(self, collection: Collection, spent: tuple[Fraction, Fraction], *, agreed: bool = False) -> None:
        """Refuses what goes beyond, given what all reports so far have spent.

        A series counts once, with the first of its reports; `agreed` says that there was one.
        """
        plan, protocol = collection.plan, collection.plan.protocol
        if plan.colluding is None and self.colluding < math.inf:
            learn = "if the shuffler and the analyser work together, they learn the answer"
            raise AnswerExposed(f"{learn}, to which this device does not agree (colluding)")
        asked = {
            "epsilon": plan.budget.epsilon,
            "delta": plan.budget.delta,
            "colluding": math.inf if plan.colluding is None else plan.colluding,
        }
        for name, cost in asked.items():
            if cost > getattr(self, name):
                most = f"{getattr(self, name):g} at most"
                raise Unsupported(f"the collection asks for {NAMES[name]} {cost:g}, and this device agrees to {most}")
        honest = protocol.crowd.honest
        if honest < self.least:
            raise Unsupported(f"the collection relies on {honest:,} honest people, and this device on {self.least:,}")
        for wanted, has, words in (
            (not self.top_up, collection.shortfall is not Shortfall.TOP_UP, "may count on people who are not there"),
            (self.invited, collection.admission is Admission.INVITED, "lets anybody report, as often as they like"),
            (self.fixed, collection.fixed, "may be closed by its operator at any moment"),
            (not self.padded, not collection.padded, f"takes the answer {BARE}"),
            (True, self._hidden_from_shuffler(plan), "lets the shuffler read totals off the result"),
        ):
            if wanted and not has:
                raise Unsupported(f"the collection {words}, to which this device does not agree")
        for name, before, more in (
            ("lifetime_epsilon", spent[0], plan.budget.epsilon),
            ("lifetime_delta", spent[1], plan.budget.delta),
        ):
            after, most = before + (0 if agreed else Fraction(more)), getattr(self, name)
            if after > most:
                whole = f"with this report the device would have spent {float(after):g} in all"
                raise OverBudget(f"{whole}, and it agrees to {most:g} ({name})")
