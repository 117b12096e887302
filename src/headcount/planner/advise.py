"""Which algorithm should I use? Every protocol that could serve, calibrated, with its exact predicted error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, Infeasible
from headcount.core.quantity import quantity
from headcount.core.task import Task
from headcount.planner.advice import Advice
from headcount.planner.backwards import CLOSE, fewest_people, smallest_epsilon
from headcount.planner.competitors import Names, Watch, competitors
from headcount.planner.objective import Objective
from headcount.planner.option import Option, option
from headcount.planner.situation import Situation, crowd_of, situation

SOME = 10_000  # people, among whom it shows which protocol may do with the fewest


def advise(
    task: Task | str, *, n: Any = None, epsilon: float | None = None, delta: float = 0.0, ones: Any = None,
    neighbours: str = "replace", models: Names = None, least: int | None = None,
    corrupt: int = 0, honest: float | None = None, objective: str | None = None, confidence: float = 0.95,
    max_messages: float | None = None, max_bytes: float | None = None, collected: bool = False,
    max_contributions: int = 1, within: float | None = None, protocols: Names = None, watch: Watch = iter,
) -> Advice:  # fmt: skip
    """Plans ranked by their exact predicted error, across the models of trust; those that cannot serve say what lacks.

    `n` is how many people will report, or a pair (fewest, most): then the promise holds for any number between, and
    answers are judged by the worse end. `ones` is how many are expected to hold a one (in a histogram, to be in a
    category): a number, several, a table of weights such as {0: 90, 500: 10}, "uniform", or nothing for "unknown",
    when each protocol is judged by its worst case. `models` are those of the four that you can trust. `honest` is the
    fraction of reports that come from people who follow the protocol; `least` and `corrupt` say the same in people.
    `objective` is "rmse", "interval", "worst-bin", "relative" or "detectable". `max_messages` and `max_bytes` cap
    what a person sends; with `collected=True`, on the wire, where everybody sends the same number of sealed messages.
    Where `n` are rows, `max_contributions` says how many of them a person may have: the promise is for all of those
    together.

    Backwards: `within=` without `epsilon` finds the smallest epsilon for which each protocol's interval is that narrow,
    and without `n` the fewest people.
    """
    asked = objective or ("rmse" if within is None else "interval")
    unknown = _unknown(n, epsilon, within)
    if unknown == "n" and (ones is not None or least is not None):
        raise BadArgument("n", "is missing", "ones and least hang on it: give it, or leave those out")
    given = situation(
        task, n=1 + corrupt if n is None else n, epsilon=1.0 if epsilon is None else epsilon, delta=delta, ones=ones,
        neighbours=neighbours, models=models, least=least, corrupt=corrupt, honest=honest, objective=asked,
        confidence=confidence, max_messages=max_messages, max_bytes=max_bytes, collected=collected,
        max_contributions=max_contributions,
    )  # fmt: skip
    kinds = watch(competitors(given.task, None, protocols))
    if within is None:
        return Advice(given, tuple(sorted((option(kind, given) for kind in kinds), key=lambda found: found.rank)))
    if not quantity("within", within, "use a positive number") > 0.0:
        raise BadArgument("within", f"is {within:g}", "use a positive number")
    if unknown == "epsilon":
        _require_effort(given, within)
        found = [smallest_epsilon(kind, given, within) for kind in kinds]
        return _solved(given, found, within, unknown, lambda each: each.situation.budget.epsilon)

    def crowd(people: int) -> Crowd:
        return crowd_of(people, None, corrupt, honest, max_contributions)

    found = [fewest_people(kind, given, within, crowd) for kind in kinds]
    return _solved(given, found, within, unknown, lambda each: each.situation.crowd.size)


def _require_effort(given: Situation, within: float) -> None:
    """Refuses a wish that whoever guesses the middle fulfils without asking anybody."""
    half = given.task.unit(given.crowd.size) * given.crowd.size / 2.0
    if given.objective in (Objective.RMSE, Objective.INTERVAL, Objective.WORST_BIN) and within > half:
        raise BadArgument("within", f"is {within:g}, which a guess without asking comes to", f"use less than {half:g}")


def _unknown(n: Any, epsilon: float | None, within: float | None) -> str:
    """What is to be solved for."""
    missing = [name for name, value in (("n", n), ("epsilon", epsilon)) if value is None]
    if within is None and missing:
        raise BadArgument(missing[0], "is missing", "give it, or within= to have it solved for")
    if within is not None and len(missing) != 1:
        raise BadArgument("within", "needs either n or epsilon to be left out", "leave the one out that is wanted")
    return missing[0] if missing else ""


def _solved(
    given: Situation, found: list[Option], within: float, unknown: str, needed: Callable[[Option], float]
) -> Advice:
    ranked = sorted(found, key=lambda each: (each.rank[0], needed(each), *each.rank[1:]))
    return Advice(given, tuple(ranked), within, unknown)


def smallest_n(
    task: Task | str, *, epsilon: float, delta: float = 0.0, within: float | None = None, **wishes: Any
) -> int:
    """The fewest people for whom some protocol meets the budget with an answer better than a guess, or this close."""
    if within is not None:
        return _fewest(task, within, {"epsilon": epsilon, "delta": delta, **wishes})
    advice = advise(task, n=1, epsilon=epsilon, delta=delta, **wishes)
    enough = [found.smallest_n for found in advice.options if found.kind.model in advice.situation.trusted]
    if not any(enough):
        raise Infeasible("no number of people is enough for this budget; use a larger one, or delta=1e-6")
    return min(n for n in enough if n)


def _fewest(task: Task | str, within: float, wishes: dict[str, Any]) -> int:
    """Solved for the protocol that is best in a crowd of some size, and again while another does with fewer people."""

    def solved(names: list[str]) -> int:
        return advise(
            task, within=within, **{**wishes, "protocols": names or wishes.get("protocols")}
        ).best.protocol.crowd.size

    def close(people: int) -> list[str]:
        options = advise(task, n=people, **{"objective": "interval", **wishes}).feasible
        return [option.name for option in options if option.objective <= within]

    some = SOME + wishes.get("corrupt", 0)
    lasting = close(some)
    tried = lasting[:1]
    fewest = solved(tried)
    if fewest > some:
        lasting = close(fewest)
    while fewest > 1:
        fewer = close(min(fewest - 1, int(fewest / CLOSE)))
        better = [name for name in fewer if name in lasting and name not in tried]
        if not better:
            break
        tried.append(better[0])
        fewest = min(fewest, solved(better[:1]))
    return fewest


def smallest_detectable(task: Task | str, *, n: Any, epsilon: float, delta: float = 0.0, **wishes: Any) -> float:
    """The fewest people with a one whom the best protocol can tell from none, 19 times out of 20 both ways."""
    advice = advise(task, n=n, epsilon=epsilon, delta=delta, objective="detectable", **wishes)
    _ = advice.best  # says why, if there is none
    fewest = advice.feasible[0].objective
    if not math.isfinite(fewest):
        raise Infeasible("no number of ones can be told from none; use more people or a larger budget")
    return int(fewest) if fewest.is_integer() else fewest
