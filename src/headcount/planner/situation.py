"""A situation: question, crowd, budget, trust, and what makes an answer good."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from headcount.answers.error_sums import by_panels, panel_error
from headcount.common.plurals import counted
from headcount.common.quantity import quantity, require_confidence
from headcount.errors import BadArgument, OverCap, Unsupported
from headcount.phrases import Phrase, setting
from headcount.planner.expected import UNKNOWN, Expected
from headcount.planner.objective import Objective, averaged
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import MOST_EACH, Crowd
from headcount.privacy.model import Model
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.reach import Reach
from headcount.protocols.base.report_size import CUT, MOST, wire_bytes, wire_messages
from headcount.questions.domains.domain import REBUILT, Shape
from headcount.questions.question import Question
from headcount.types import People


def _over_cap(over: list[tuple[str, float, float]]) -> OverCap:
    """The refusal of costs over their caps, with the caps that would do."""
    sent = " and ".join(counted(cost, name, digits=",.4g") for name, cost, _ in over)
    allowed = " and ".join(f"{most:,.4g}" for _, _, most in over)
    works = [setting(f"max_{name}s", _at_least(cost)) for name, cost, _ in over]
    are = "are" if len(over) > 1 or allowed != "1" else "is"
    return OverCap(
        f"sends {sent} a person where {allowed} {are} allowed",
        Phrase("use {}", Phrase.joined(" and ", works)),
        times=max(cost / most for _, cost, most in over),
    )


def _at_least(cost: float) -> float:
    """With four digits, rounded up."""
    unit = 10.0 ** (math.floor(math.log10(cost)) - 3)
    most = float(f"{math.ceil(cost / unit * (1.0 - 1e-12)) * unit:.4g}")
    return int(most) if most.is_integer() else most


@dataclass(frozen=True)
class Caps:
    """The most a person may send: on average or, in a real collection, what everybody sends."""

    messages: float | None = None
    bytes: float | None = None

    def __post_init__(self) -> None:
        for name in ("messages", "bytes"):
            most = getattr(self, name)
            works = f"use a positive number of {name}, or leave it out"
            if most is not None and not quantity(f"max_{name}", most, works) > 0.0:
                raise BadArgument(f"max_{name}", f"is {most:g}", works)

    def require(self, messages: float, size: float) -> None:
        """Refuse a protocol that sends more than is allowed."""
        costs = (("message", messages, self.messages), ("byte", size, self.bytes))
        over = [(name, cost, most) for name, cost, most in costs if most is not None and cost > most]
        if over:
            raise _over_cap(over)


@dataclass(frozen=True)
class Situation:
    """Everything that the ranking of protocols depends on."""

    task: Question
    crowd: Crowd
    budget: Budget
    expected: Expected = UNKNOWN
    objective: Objective = Objective.RMSE
    confidence: float = 0.95
    trusted: frozenset[Model] = frozenset(Model)
    caps: Caps = field(default_factory=Caps)
    collected: bool = False
    liars: int = 1  # against whom an answer is to be robust
    sizes: tuple[int, ...] = ()  # crowds at which answers are judged, by the worst; otherwise the expected one
    named: bool = True  # whether protocols were chosen by name: what is laborious is then not left out
    panels: int = 1  # into which the crowd was divided by lot, each to be asked in rounds of its own

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        if not isinstance(self.collected, bool):
            raise BadArgument("collected", f"is {self.collected!r}", "use True or False")
        if self.collected and self.crowd.each > 1:
            raise BadArgument("max_contributions", f"is {self.crowd.each}", "in a collection everybody reports once")
        if self.collected and self.budget.neighbours is Neighbours.ADD_REMOVE:
            raise BadArgument("neighbours", "hides how many report, and a collection tells it", "use 'replace'")
        self.budget.require_hidden(self.crowd.each)
        if not isinstance(self.liars, int) or isinstance(self.liars, bool) or self.liars < 1:
            raise BadArgument("liars", f"is {self.liars!r}", "use a whole number from 1 on")
        if self.objective in (Objective.RELATIVE, Objective.DETECTABLE) and self.task.shape is Shape.AMOUNT:
            raise BadArgument(
                "objective", f"is '{self.objective}', which a {self.task.name} has not", "use 'interval' or 'rmse'"
            )
        if self.objective is Objective.RELATIVE and not self.expected.known:
            what = "are a yes" if self.task.shape is Shape.BIT else "are in the category"
            works = f"say about how many {what}"
            raise BadArgument("ones", "is needed for a relative error", works)
        if self.expected.known and self.task.shape is Shape.AMOUNT:
            raise BadArgument("ones", f"has no meaning for a {self.task.name}", "leave it out")

    @property
    def rounds(self) -> int:
        """How many rounds are planned for."""
        return self.budget.rounds * self.panels

    @property
    def averaged(self) -> bool:
        """Whether the error is that of all categories together, whatever their profile."""
        return averaged(self.task, self.expected)

    def judged(self, protocol: Protocol, objective: Objective) -> tuple[float, int]:
        """The objective in the task's unit, and the crowd where it is worst."""
        found = []
        pushed = self.pushed(protocol) if objective is Objective.ROBUST else 0.0
        for people in self.sizes or (self.crowd.size,):
            error = objective.of(protocol, self.expected, people, self.confidence)
            if self.panels > 1:
                error = self._of_everybody(protocol, objective, people, error)
            error = math.hypot(error, self.panels * pushed * protocol.spread)
            if objective is not Objective.RELATIVE:  # which needs no unit
                error *= self.task.unit(people * self.panels)
            found.append((error, people))
        return max(found)

    def divided(self) -> Situation:
        """The same with a panel for each round, which is asked once with the whole budget."""
        rounds, crowd = self.budget.rounds, self.crowd
        least, corrupt = crowd.least // rounds, min(crowd.corrupt, crowd.least // rounds - 1)
        if least < 1:
            raise Unsupported(f"needs {rounds:,} people or more, one for each round")
        panel = Crowd(crowd.size // rounds, least, max(corrupt, 0), crowd.each)
        expected = self.expected.divided(rounds)
        sizes = tuple(size // rounds for size in self.sizes)
        budget = replace(self.budget, rounds=1)
        return replace(self, crowd=panel, budget=budget, panels=rounds, sizes=sizes, expected=expected)

    def _of_everybody(self, protocol: Protocol, objective: Objective, people: int, error: float) -> float:
        """The objective for all panels when one is asked, with the error of drawing it by lot.

        Half of them holding a one is the worst, and counts where nothing is known.
        """
        everybody = people * self.panels
        truths = [truth * self.panels for truth in self.expected.truths] or [everybody // 2]
        ones = min(truths, key=lambda truth: abs(2 * truth - everybody))
        match objective:
            case Objective.RMSE:
                return math.hypot(self.panels * error, panel_error(everybody, self.panels, ones).rmse)
            case Objective.INTERVAL if self.task.shape in REBUILT:
                drawn = panel_error(everybody, self.panels, ones).half_width(self.confidence)
                return math.hypot(self.panels * error, drawn)
            case Objective.INTERVAL:
                noise = protocol.noise(min(ones // self.panels, people), people)
                return by_panels(noise, everybody, self.panels, ones).half_width(self.confidence)
        raise Unsupported(f"has no '{objective}' with a panel for each round", "use objective 'interval' or 'rmse'")

    def reach(self, protocol: Protocol) -> Reach | None:
        """How far one liar reaches with as many messages as all send; None without a limit."""
        messages = wire_messages(protocol, self.budget) if protocol.model.from_devices else 1
        return None if messages is None else protocol.reach(messages)

    def pushed(self, protocol: Protocol) -> float:
        """How far the liars move a cell together, in people."""
        reach = self.reach(protocol)
        return math.inf if reach is None else reach.of(self.liars)

    def measure(self, protocol: Protocol) -> float:
        return self.judged(protocol, self.objective)[0]

    @property
    def spendable(self) -> Budget:
        """What the protocol may spend: in a collection, a part of delta pays for reports truncated
        to a common length."""
        return replace(self.budget, delta=(1.0 - CUT) * self.budget.delta) if self.collected else self.budget

    def costs(self, protocol: Protocol) -> tuple[float, float]:
        """Messages and bytes of a person."""
        if not self.collected:
            return protocol.messages_per_person, protocol.bits_per_person / 8.0
        messages = wire_messages(protocol, self.budget)
        if messages is None:
            raise Unsupported(f"would have to send more than {MOST} messages from everybody to hide who sends many")
        return messages, wire_bytes(protocol, messages)

    def require(self, kind: type[Protocol]) -> None:
        """Refuse a protocol that needs trust that is not given."""
        if kind.model not in self.trusted:
            unwanted = f"is of the {kind.model} model, which was not asked for"
            raise Unsupported(unwanted if kind.model is Model.LOCAL else f"needs {kind.model.trusted}")
        if self.collected and not kind.model.from_devices:
            raise Unsupported(f"cannot be collected from devices: it needs {kind.model.trusted}")
        if self.rounds > 1 and not self.named and kind.laborious(self.task, self.rounds):
            raise Unsupported("takes minutes to account for in several rounds, and is ranked if it is named")


class InSituation:
    """Base of results about a situation, which have its question, crowd and budget."""

    situation: Situation

    @property
    def task(self) -> Question:
        """What is asked."""
        return self.situation.task

    @property
    def crowd(self) -> Crowd:
        """The people who are asked."""
        return self.situation.crowd

    @property
    def budget(self) -> Budget:
        """The privacy budget of each answer."""
        return self.situation.budget


def crowd_and_sizes(
    n: People, budget: Budget, least: int | None, corrupt: int, honest: float | None, each: int
) -> tuple[Crowd, tuple[int, ...]]:
    """The crowd to plan for, and where `n` is a range the two sizes at which answers are judged."""
    few, many = _range(n)
    if few == many:
        return crowd_of(many, least, corrupt, honest, each), ()
    if least is not None:
        raise BadArgument("least", "is given together with a range of n", "leave one of them out")
    if budget.neighbours is Neighbours.REPLACE:
        least = few  # otherwise how many report is private, and any number of them gets an answer
    crowd = crowd_of(many, least, corrupt, honest, each)
    return crowd, (int(few), crowd.size)


def counted_rounds(contributes: int, rounds: int, budget: Budget) -> int:
    """The rounds a person counts in at most; more than one only where that number stays private."""
    works = f"use a whole number from 1 to {min(rounds, MOST_EACH):,}"
    number = quantity("contributes", contributes, works)
    if number != int(number) or not 1 <= number <= min(rounds, MOST_EACH):
        raise BadArgument("contributes", f"is {number:g}, of {counted(rounds, 'round')}", works)
    if number > 1 and budget.neighbours is Neighbours.REPLACE:
        problem = f"is {number:g}, and the number of all reports would tell in how many rounds a person is"
        works = Phrase("use {}, or {neighbours} and {models}", 1, neighbours="add-remove", models="central")
        raise BadArgument("contributes", problem, works)
    return int(number)


def crowd_of(n: int, least: int | None, corrupt: int, honest: float | None, each: int) -> Crowd:
    """The crowd; an honest fraction applies to the least number of reports as to the largest."""
    crowd = Crowd(n, n if least is None else least, corrupt, each)
    if honest is None:
        return crowd
    works = "use a fraction above 0 and up to 1, for example 0.9"
    if corrupt:
        raise BadArgument("honest", "is given together with corrupt", "leave one of them out")
    if not 0.0 < quantity("honest", honest, works) <= 1.0:
        raise BadArgument("honest", f"is {honest:g}", works)
    few, many = (people - max(1, math.floor(honest * people + 1e-9)) for people in (crowd.least, crowd.size))
    return replace(crowd, corrupt=few, most_corrupt=many)


def _range(n: People) -> tuple[int, int]:
    if isinstance(n, tuple | list):
        works = "use a number of people, or the fewest and the most"
        if len(n) != 2 or not 1 <= quantity("n", n[0], works) <= quantity("n", n[1], works):
            raise BadArgument("n", f"is {n!r}", works)
        return n[0], n[1]
    return n, n
