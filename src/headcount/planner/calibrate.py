"""Calibration: the least private setting of a protocol's knob whose exact loss fits a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from headcount.common.plurals import counted
from headcount.common.root_finding import Point, crossing, secants
from headcount.common.short_decimals import compared, shortened
from headcount.errors import BadArgument, Infeasible, Refused
from headcount.phrases import Phrase
from headcount.privacy.budget import POINTS, Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols.base.knob import Knob
from headcount.protocols.base.protocol import Protocol
from headcount.questions.question import Question

P = TypeVar("P", bound=Protocol)
Measure = Callable[[Protocol], float]

TIGHT = 1e-6  # delta ends this close to the budget's
TIGHT_TOGETHER = 5e-3  # that of several rounds, which is an upper bound on a grid
ROUGH_POINTS, ROUGHLY = 16, 0.1  # of a bound that many rounds are first calibrated by, and how close it gets
NEARBY = 0.01  # of the knob: where such a bound jumps, no closer
BESIDE, SECANTS = 0.05, 4  # of the knob, where the slope of such a bound is measured; steps from there to the exact one
FLOOR = 1e-300
FIRST_STEP = 0.4
RISE = 0.1  # of log delta: more than bounds jump by where their windows change
SMALLEST_STEP = 0.01
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
WORTH = 0.99  # of the error: a strategy that touches more cells must bring it below this
ENOUGH = 2  # strategies in a row that are not: others touch still more cells
COARSE = 4  # of a spread of settings every fourth is measured, and all between the best and its neighbours
CLOSE = 1e-7  # settings of the knob that are as good as the same


def calibrate(
    cls: type[P], task: Question, crowd: Crowd, budget: Budget, objective: Measure | None = None, **given: Any
) -> P:
    """The instance with the smallest objective (its worst rmse, unless told) that fits the budget.

    `given` fixes some parameters, or is an option of the protocol's own `choices`. A parameter that
    the protocol wants `searched` is looked for between its choices.
    """
    measure = objective or (lambda p: p.error_of_answer())
    settings: list[Mapping[str, Any]] = [{}]
    if cls.searched and not {cls.searched, cls.knob.name} & set(given):
        settings = [{cls.searched: setting} for setting in _searched(cls, task, crowd, budget, measure)]
    found = [each for setting in settings for each in calibrations(cls, task, crowd, budget, **given, **setting)]
    if not found:
        problem, works = f"cannot meet epsilon={budget.epsilon:g}, delta={budget.delta:g}", "use a larger budget"
        if cls.model is not Model.CENTRAL:  # where nobody is hidden by others
            problem += f" with {counted(crowd.honest, 'honest person', 'honest people')}"
            works = "use more people or a larger budget"
        raise Infeasible(problem, works, protocol=cls.name)
    return min(found, key=lambda protocol: compared(measure(protocol))) if len(found) > 1 else found[0]


def calibrations(cls: type[P], task: Question, crowd: Crowd, budget: Budget, **given: Any) -> Iterator[P]:
    """Every choice of the protocol that fits the budget, its knob at the least private setting."""
    cls.require(task)
    own = set(cls.parameter_names()[1])
    for name in given:
        if name not in own | cls.options:
            works = f"it has {', '.join(sorted(own | cls.options))}"
            raise BadArgument(name, f"is not a parameter of {cls.name}", works)
    if budget.delta == 0.0 and not cls.pure:
        works = Phrase("use {delta} or another model", delta=1e-6)
        raise Infeasible("cannot give delta = 0", works, protocol=cls.name)
    fixed = {name: value for name, value in given.items() if name in own}
    chosen = {name: value for name, value in given.items() if name in cls.options}
    best, worse = math.inf, 0
    for variant in filter(cls.answers, task.variants()):
        bases = _bases(cls, variant, crowd, budget, fixed, chosen)
        found = (each for base in bases if (each := _fitted(cls, base, budget, fixed)) is not None)
        if variant is task:
            yield from found
            continue
        fitting = list(found)
        error = min((each.error_of_answer() for each in fitting), default=math.inf)
        worse = 0 if error < WORTH * best else worse + 1
        if worse == 0:
            best = error
            yield from fitting
        elif worse == ENOUGH:
            return


def _fitted(cls: type[P], base: Mapping[str, Any], budget: Budget, fixed: Mapping[str, Any]) -> P | None:
    if cls.knob.name in fixed:
        protocol = cls(**base)
        budget.require(protocol.loss)
        return protocol
    turned = _turn(cls, base, budget)
    return turned if turned is not None and turned.serves else None


def attainable(
    cls: type[Protocol], task: Question, crowd: Crowd, budget: Budget, good: Callable[[Protocol], bool]
) -> bool:
    """Whether some choice within the budget is `good`, where more privacy never makes anything so.

    It is what calibration would find, but knobs are turned only until that is certain.
    """

    def watch(protocol: Protocol, within: bool) -> None:
        """Ends the search at a setting that decides it: one that fits and is good answers yes, one
        that does neither answers no, since more noise is never better and less does not fit."""
        if within == (protocol.serves and good(protocol)):
            raise _Decided(within)

    def attains(base: Mapping[str, Any]) -> bool:
        try:
            turned = _turn(cls, base, budget, watch)
        except _Decided as certain:
            return certain.answer
        return turned is not None and turned.serves and good(turned)

    cls.require(task)
    if any(
        attains(base)
        for variant in filter(cls.answers, task.variants())
        for base in _bases(cls, variant, crowd, budget, {}, {})
    ):
        return True
    between = _searched(cls, task, crowd, budget, lambda p: p.rmse()) if cls.searched else []
    settings = [{cls.searched: setting} for setting in between]
    return any(attains(base) for setting in settings for base in _bases(cls, task, crowd, budget, setting, {}))


class _Decided(Exception):
    """The search of the knob is decided."""

    def __init__(self, answer: bool) -> None:
        super().__init__()
        self.answer = answer


def _bases(
    cls: type[Protocol],
    task: Question,
    crowd: Crowd,
    budget: Budget,
    fixed: Mapping[str, Any],
    chosen: Mapping[str, Any],
) -> Iterator[Mapping[str, Any]]:
    """The parameters besides the knob: one set for each different choice."""
    tried: list[Mapping[str, Any]] = []
    if budget.rounds > 1 and "together" in cls.options:
        chosen = {"together": budget, **chosen}
    part = budget if budget.rounds == 1 else budget.pure_part
    for choice in cls.choices(task, crowd, part, **chosen):
        short = {name: _short(value) if isinstance(value, float) else value for name, value in choice.items()}
        base = {"task": task, "crowd": crowd, "neighbours": budget.neighbours, **short, **fixed}
        if base not in tried:
            tried.append(base)
            yield base


def _short(value: float) -> float:
    """A choice, which is a scale or a chance, as a short decimal; the knob is turned after it."""
    return shortened(value, 0.0, 1.0 if value < 1.0 else math.inf)


def _searched(cls: type[Protocol], task: Question, crowd: Crowd, budget: Budget, measure: Measure) -> list[int]:
    """The settings to calibrate: the best of a spread, and the best between its neighbours.

    They are measured with the knob where calibration would begin to look, which is near to where it
    ends.
    """
    cls.require(task)
    if budget.delta == 0.0 and not cls.pure:
        return [0]  # whatever it is: no knob will do
    bases = {base[cls.searched]: base for base in _bases(cls, task, crowd, budget, {}, {})}

    @cache
    def error(setting: int) -> float:
        base = {**next(iter(bases.values())), cls.searched: setting}
        try:
            rough = cls(**{**base, cls.knob.name: cls.knob.at(cls.knob.start(budget.gaussian_part, base), base)})
            return measure(rough) if rough.serves else math.inf
        except Refused:
            return math.inf

    spread = sorted(bases)
    coarse = min(range(0, len(spread), COARSE), key=lambda at: error(spread[at]), default=0)
    around = range(max(0, coarse - COARSE + 1), min(coarse + COARSE, len(spread)))
    best = min(around, key=lambda at: error(spread[at]), default=None)
    if best is None or math.isinf(error(spread[best])):
        return spread
    low, high = spread[max(0, best - 1)], spread[min(best + 1, len(spread) - 1)]
    while high - low > 3:
        left, right = (round(low + part * (high - low)) for part in (1.0 - GOLDEN, GOLDEN))
        low, high = (low, right) if error(left) <= error(right) else (left, high)
    return sorted({spread[best], min(range(low, high + 1), key=error)})


def _turn(
    cls: type[P], base: Mapping[str, Any], budget: Budget, watch: Callable[[P, bool], None] = lambda _, __: None
) -> P | None:
    """The least private setting of the knob that fits, or None. Whatever is returned was evaluated.

    `watch` is shown every setting that is tried, and whether it is within the budget.
    """
    knob = cls.knob

    @cache
    def setting(u: float) -> float:
        return knob.at(u, base)

    def at(u: float) -> P:
        return cls(**{**base, knob.name: setting(u)})

    def excess_at(points: int, watch: Callable[[P, bool], None]) -> Callable[[float], float]:
        """log(delta / budget): nearly a straight line in u. A pure budget only has a sign."""
        found: dict[float, float] = {}  # many u have the same setting

        def excess(u: float) -> float:
            here = setting(u)
            if here not in found:
                protocol = at(u)
                delta = budget.together(protocol.loss, points).delta(budget.epsilon)
                watch(protocol, delta <= budget.delta)
                over = delta - FLOOR if budget.delta == 0.0 else math.log(max(delta, FLOOR) / budget.delta)
                found[here] = over if budget.delta else math.copysign(1.0, over)
            return found[here]

        return excess

    excess = excess_at(POINTS, watch)
    start = min(max(knob.start(budget if budget.rounds == 1 else budget.gaussian_part, base), knob.low), knob.high)
    if at(start).unavoidable_delta(budget.epsilon) > budget.delta:
        return None
    tight = TIGHT if budget.rounds == 1 else TIGHT_TOGETHER
    bracket = None
    if budget.rounds > 1 and budget.delta:
        rough = excess_at(ROUGH_POINTS, lambda protocol, within: watch(protocol, True) if within else None)
        start, slope = _roughly(knob, start, budget, rough)
        # What is added to the noise by a curve of few points makes its slope flatter.
        slope *= 1.0 + 2.0 * (rough(start) - excess(start)) / -math.log(budget.delta)
        bracket = _nearby(knob, start, slope, excess) if slope > 0.0 else None
    if bracket is None:
        if budget.delta and excess(start) >= -math.log(budget.delta) and _hopeless(knob, excess):
            return None
        bracket = _bracket(knob, start, _stride(excess(start), budget), excess)
    if bracket is None:
        return None
    # Bounds jump a little wherever their windows change; there is no need to find out exactly
    # where.
    close = CLOSE if budget.rounds > 1 or at(start).loss.kind == "bound" else 0.0
    return at(crossing(excess, *bracket, tight=tight if budget.delta else 0.0, close=close))


def _roughly(knob: Knob, start: float, budget: Budget, excess: Callable[[float], float]) -> tuple[float, float]:
    """Where to begin to look: where a rough bound of many rounds fits, and how fast it falls there;
    the first guess if it fits nowhere."""
    tried: dict[float, float] = {}

    def remembered(u: float) -> float:
        tried[u] = excess(u)
        return tried[u]

    bracket = _bracket(knob, start, _stride(remembered(start), budget), remembered)
    if bracket is None:
        return start, 0.0
    root = crossing(remembered, *bracket, tight=ROUGHLY, close=NEARBY, jump=math.inf)
    beside = min((u for u in tried if abs(u - root) > NEARBY), key=lambda u: abs(u - root), default=math.inf)
    if abs(beside - root) > 2.0 * BESIDE:
        beside = root - BESIDE
    return root, (excess(beside) - excess(root)) / (root - beside)


def _nearby(knob: Knob, start: float, slope: float, excess: Callable[[float], float]) -> tuple[Point, Point] | None:
    """Settings around the one that just fits, not far from where a rough bound does; None if it
    takes a closer look to find them."""
    try:
        return secants(excess, start, slope, tight=TIGHT_TOGETHER, low=knob.low, high=knob.high, steps=SECANTS)
    except Refused:
        return None


def _hopeless(knob: Knob, excess: Callable[[float], float]) -> bool:
    """Whether the most private setting fails too: asked where the first guess loses everything."""
    try:
        return excess(knob.high) > 0.0
    except Refused:
        return False


def _stride(value: float, budget: Budget) -> float:
    """A step that probably goes just beyond the budget: with noise in proportion to e^u, the
    logarithm of delta grows like e^(3u/4)."""
    if not budget.delta:
        return FIRST_STEP
    times = 1.0 + value / math.log(budget.delta)
    return min(1.0, max(0.01, 1.5 * abs(math.log(max(times, 0.01)))))


def _bracket(knob: Knob, u: float, step: float, excess: Callable[[float], float]) -> tuple[Point, Point] | None:
    """Two settings, one over the budget and one within it, by growing steps from a first guess.

    A setting may be refused, as one with more noise than can be drawn; then the steps get smaller
    again. Where delta rises with more noise, what is left of it is the slack of wide tables, which
    more noise only makes larger.
    """
    value = excess(u)
    outward = 1.0 if value > 0.0 else -1.0
    while True:
        ahead = min(max(u + outward * step, knob.low), knob.high)
        if ahead == u:
            return None if value > 0.0 else ((u, 0.0), (u, value))
        try:
            there = excess(ahead)
        except Refused:
            if step < SMALLEST_STEP:
                raise
            step /= 4.0
            continue
        if (there > 0.0) != (value > 0.0):
            ends = sorted([(u, value), (ahead, there)])
            return ends[0], ends[1]
        if there > max(value, 0.0) + RISE:
            return None
        u, value, step = ahead, there, step * 2.0
