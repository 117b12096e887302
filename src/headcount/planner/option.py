"""An option of an advice: a protocol calibrated in a situation, with exact figures, or refused."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from headcount.common.plurals import people
from headcount.common.short_decimals import COMPARED, compared, rounded_up
from headcount.errors import Infeasible, OverCap, Refused, Unsupported
from headcount.planner.calibrate import calibrate, calibrations
from headcount.planner.expected import Expected
from headcount.planner.objective import Objective
from headcount.planner.situation import Caps, Situation
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model
from headcount.programme.law import Noise
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.reach import Reach
from headcount.protocols.base.report_size import Wire, wire_bytes, wire_messages
from headcount.questions.domains.domain import REBUILT

TOO_MANY = 1_000  # messages a person
NEARLY = 1.5  # times the best objective: a collection takes fewer messages instead
FAR_OVER = 100.0  # times the most messages
OVERHEADS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # of the error, tried to save messages

FIGURES = (
    "parameters",
    "bias",
    "std_error",
    "rmse",
    "interval95",
    "messages_per_person",
    "bits_per_person",
    "wire_messages",
    "wire_bytes",
    "accounting",
    "local_epsilon",
    "liar",
)
BESIDES = ("objective", "rmse_average", "rmse_worst", "epsilon", "n")  # which an option also has, in its own words


def number(value: float) -> str:
    """Significant digits; a dash for what is not finite."""
    if not math.isfinite(value):
        return "-"
    value = compared(value)  # a rounding error in the last digits makes no whole number fractional
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.2f}" if 0.1 <= value < 1e4 else f"{value:,.0f}" if value >= 1e4 else f"{value:.3g}"


@dataclass(frozen=True)
class Option(ABC):
    """A protocol in a situation."""

    kind: type[Protocol]
    situation: Situation

    @property
    def name(self) -> str:
        return self.kind.name

    @cached_property
    def smallest_n(self) -> int | None:
        given = self.situation
        return smallest_crowd(self.kind, given.task, given.crowd, given.budget, self.too_few)

    @property
    def too_few(self) -> int:
        """A number of people that is known not to suffice."""
        return 0

    @property
    @abstractmethod
    def reason(self) -> str: ...

    @property
    @abstractmethod
    def rank(self) -> tuple[bool, float, float, float, int]:
        """The order: objective, then messages, error, trust; far too many messages come last."""

    @property
    def epsilon_at_least(self) -> float | None:
        """The epsilon that certain crowds lose at the budget's delta; None where none are known."""
        return None

    def figures(self) -> dict[str, Any]:
        return {}

    def to_json(self) -> dict[str, Any]:
        figures = self.figures()
        head = {"protocol": self.name, "model": str(self.kind.model), "feasible": bool(figures), "reason": self.reason}
        least = {"epsilon_at_least": self.epsilon_at_least}
        tail = {"smallest_n": self.smallest_n if self.too_few else None, "reference": self.kind.reference}
        return {
            **head,
            **{name: figures.get(name) for name in FIGURES},
            **least,
            **tail,
            **{name: figures.get(name) for name in BESIDES},
        }


@dataclass(frozen=True, repr=False)
class CalibratedOption(Option):
    """A calibrated protocol."""

    protocol: Protocol

    def __repr__(self) -> str:
        accounted = f"{self.protocol.messages_per_person:,.4g} messages a person, {self.loss.kind}"
        return f"Option: {self.name} ({self.kind.model}), error {number(self.rmse)}, {accounted}"

    @cached_property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of a person, in all rounds."""
        return self.situation.budget.together(self.protocol.loss)

    @cached_property
    def epsilon_at_least(self) -> float | None:
        """What certain crowds lose in a single round, rounded down."""
        return self.protocol.loss.epsilon_at_least(self.situation.budget.delta)

    @property
    def plan(self) -> Plan:
        given = self.situation
        wire = Wire.of(self.protocol, given.budget) if given.collected else None
        return Plan(self.protocol, given.budget, wire, given.panels)

    @property
    def proportionate(self) -> bool:
        return self.kind.model is Model.CENTRAL or self.protocol.messages_per_person <= TOO_MANY

    @property
    def reason(self) -> str:
        if self.situation.panels > 1:
            return f"meets the budget: people are divided into {self.situation.panels:,} panels, each asked once"
        if self.proportionate:
            return "meets the budget"
        return f"meets the budget, but at {self.protocol.messages_per_person:,.0f} messages a person: out of proportion"

    @property
    def rank(self) -> tuple[bool, float, float, float, int]:
        tied, error = compared(self.objective), compared(self.rmse)
        trust = -list(Model).index(self.kind.model)
        return not self.proportionate, tied, self.situation.costs(self.protocol)[0], error, trust

    @cached_property
    def _judged(self) -> tuple[float, int]:
        return self.situation.judged(self.protocol, self.situation.objective)

    @property
    def objective(self) -> float:
        return self._judged[0]

    @property
    def people(self) -> int:
        """The number of people at which it is worst, among the crowds at which it is judged."""
        return self._judged[1]

    @cached_property
    def noise(self) -> Noise:
        """The law of the error, in people: at the expected truth, or at the hardest to estimate."""
        expected = self.situation.expected
        return expected.noise(self.protocol, self.people) if expected.known else self.protocol.error(None, self.people)

    @property
    def scale(self) -> float:
        """What one person is in the task's unit."""
        return self.situation.task.unit(self.people * self.situation.panels)

    @cached_property
    def rmse(self) -> float:
        return self.situation.judged(self.protocol, Objective.RMSE)[0]

    @cached_property
    def rmse_average(self) -> float:
        """The error averaged over all numbers of ones, where nothing is known of them; of a
        histogram, over its categories; of sums over time, over all of them."""
        if self.situation.task.shape in REBUILT:
            return self.rmse * self.protocol.average_error / self.protocol.error_of_answer()
        if self.situation.expected.known or self.situation.averaged or self.protocol.steady:
            return self.rmse
        uniform = replace(self.situation, expected=Expected.parse("uniform", self.situation.crowd.size))
        return _if_known(lambda: uniform.judged(self.protocol, Objective.RMSE)[0])

    @cached_property
    def rmse_worst(self) -> float:
        """The error at the hardest number of ones, or of people in a category, to estimate."""
        if not self.situation.averaged or self.protocol.steady:
            return self.rmse
        if self.situation.panels > 1:
            return self.rmse
        task, sizes = self.situation.task, self.situation.sizes or (self.situation.crowd.size,)
        return max(self.protocol.rmse(None, people) * task.unit(people) for people in sizes)

    @cached_property
    def half_width(self) -> float:
        """The half-width of the interval; infinite if the law is too wide to compute."""
        return _if_known(lambda: self.situation.judged(self.protocol, Objective.INTERVAL)[0])

    @cached_property
    def reach(self) -> Reach | None:
        """How far one liar moves a cell, in people; None if what they may send has no limit."""
        return self.situation.reach(self.protocol)

    def epsilon_if(self, honest: float) -> float:
        """The epsilon if only this part of those counted on is honest; infinite if none is."""
        people = math.floor(honest * self.protocol.crowd.honest)
        return self.protocol.loss_if(people).epsilon(self.situation.budget.delta)

    @cached_property
    def guesswork(self) -> bool:
        """Whether the answer is no better than guessing half of the crowd."""
        people = self.people * self.situation.panels
        return self.rmse_worst >= self.situation.task.unit(people) * people / 2.0

    def figures(self) -> dict[str, Any]:
        protocol, messages, local = self.protocol, None, self.protocol.group_local_epsilon
        local = None if local is None else self.situation.budget.rounds * local
        reach = self.reach
        figures: dict[str, float] = {
            "bias": _if_known(lambda: self.noise.bias * self.scale),
            "std_error": _if_known(lambda: self.noise.std_error * self.scale),
            "rmse": self.rmse,
            "rmse_average": self.rmse_average,
            "interval95": self.half_width,
            "objective": self.objective,
        } | ({} if self.situation.expected.known else {"rmse_worst": self.rmse_worst})
        if protocol.model.from_devices:
            messages = wire_messages(protocol, self.situation.budget)
        figures = {name: compared(figure, self.rmse if name == "bias" else 0.0) for name, figure in figures.items()}
        return {
            **{name: figure if math.isfinite(figure) else None for name, figure in figures.items()},
            "parameters": protocol.to_json()["parameters"],
            "messages_per_person": compared(protocol.messages_per_person),
            "bits_per_person": compared(protocol.bits_per_person),
            "wire_messages": messages,
            "wire_bytes": None if messages is None else wire_bytes(protocol, messages),
            "accounting": self.loss.kind,
            "liar": None if reach is None else reach.to_json(self.situation.task.cells),
            "local_epsilon": None if local is None else rounded_up(local, COMPARED),
            "epsilon": self.situation.budget.epsilon,
            "n": self.situation.crowd.size,
        }


@dataclass(frozen=True)
class RefusedOption(Option):
    """A protocol that cannot serve, and why."""

    refusal: str
    for_want_of_people: bool = False

    @property
    def too_few(self) -> int:
        return self.situation.crowd.size if self.for_want_of_people else 0

    @property
    def reason(self) -> str:
        if self.for_want_of_people and self.smallest_n is not None:
            return f"needs {people(self.smallest_n)}, you have {self.situation.crowd.size:,}"
        return self.refusal

    @property
    def rank(self) -> tuple[bool, float, float, float, int]:
        return True, math.inf, math.inf, math.inf, 0


def fewest_of(options: Iterable[Option]) -> tuple[int, str] | None:
    """The fewest people for whom one of the options serves, and which. With more trust it is
    usually fewer; the others only have to say whether still fewer do."""
    found: tuple[int, str] | None = None
    for option in sorted(options, key=lambda each: (list(Model).index(each.kind.model), each.name)):
        given, below = option.situation, found and found[0]
        fewer = smallest_crowd(option.kind, given.task, given.crowd, given.budget, option.too_few, below)
        found = found if fewer is None else (fewer, option.name)
    return found


def in_order(options: Iterable[Option], given: Situation) -> tuple[Option, ...]:
    """The options, best first.

    In a collection those that are nearly as good as the best, by `NEARLY`, come in the order of
    their messages: every one of them is sealed, uploaded and opened, and a corrupt person may
    choose all of theirs.
    """
    ranked = sorted(options, key=lambda found: found.rank)
    if not given.collected or not ranked:
        return tuple(ranked)
    out_of_proportion, best, *_ = ranked[0].rank

    def key(found: Option) -> tuple[bool, float, tuple[float, ...]]:
        near = found.rank[0] == out_of_proportion and found.rank[1] <= NEARLY * best
        return not near, found.rank[2] if near else 0.0, found.rank

    return tuple(sorted(ranked, key=key))


def best_option(kind: type[Protocol], given: Situation) -> Option:
    """The protocol's best setting in this situation, or why it is refused.

    Where nobody is hidden by others, asking everybody in one round, with the whole budget, competes
    with asking everybody in all rounds.
    """
    every = _best_option(kind, given)
    if given.budget.rounds == 1 or kind.model is not Model.LOCAL:
        return every
    try:
        once = _best_option(kind, given.divided())
    except Refused:
        return every
    return min(every, once, key=lambda option: option.rank)


@lru_cache(maxsize=1 << 12)
def _best_option(kind: type[Protocol], given: Situation) -> Option:
    try:
        given.require(kind)
        found = CalibratedOption(kind, given, _calibrated(kind, given))
        _ = found.objective  # refused where the law of the error is too wide to be written down
        return found
    except Refused as refusal:
        too_few = isinstance(refusal, Infeasible) and kind.model is not Model.CENTRAL
        return RefusedOption(kind, given, refusal.reason, too_few)


def _if_known(figure: Callable[[], float]) -> float:
    """The figure; infinite where the law of the error is too wide to compute."""
    try:
        return figure()
    except Infeasible:
        return math.inf


def _calibrated(kind: type[Protocol], given: Situation) -> Protocol:
    refusals: list[Refused] = []
    if not given.collected:
        try:
            best = calibrate(kind, given.task, given.crowd, given.spendable, given.measure)
            given.caps.require(*given.costs(best))
            return best
        except (Infeasible, OverCap) as refusal:
            if given.caps == Caps():
                raise
            refusals.append(refusal)
    even: dict[str, Any] = {"even": True} if given.collected and "even" in kind.options else {}
    overheads = OVERHEADS if "overhead" in kind.options else ()
    for chosen in (even, *({"overhead": each, **even} for each in overheads)):
        if fitting := _fitting(kind, given, chosen, refusals):
            return _least(fitting, given)
        if min((over.times for over in refusals if isinstance(over, OverCap)), default=0.0) > FAR_OVER:
            break  # no overhead saves as much
    if refusals:
        raise min(refusals, key=lambda over: over.times if isinstance(over, OverCap) else math.inf)
    return calibrate(kind, given.task, given.crowd, given.spendable, given.measure)  # which says why nothing fits


def _least(fitting: Iterable[Protocol], given: Situation) -> Protocol:
    return min(fitting, key=lambda protocol: compared(given.measure(protocol)))


def _fitting(
    kind: type[Protocol], given: Situation, chosen: Mapping[str, Any], refusals: list[Refused]
) -> list[Protocol]:
    """Its settings that are within the caps; why others are not is added to the refusals."""
    found = []
    try:
        for protocol in calibrations(kind, given.task, given.crowd, given.spendable, **chosen):
            try:
                given.caps.require(*given.costs(protocol))
            except Unsupported as over:
                refusals.append(over)
            else:
                found.append(protocol)
    except Infeasible as too_much:
        refusals.append(too_much)
    return found
