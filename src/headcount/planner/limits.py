"""The limits of a budget: the fewest people, the most rounds, the fewest ones told from none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from headcount.common.calls import checked
from headcount.errors import Infeasible
from headcount.phrases import Phrase
from headcount.planner.advice import Advice
from headcount.planner.advise import advise, require_distance
from headcount.planner.objective import Objective
from headcount.planner.option import fewest_of
from headcount.planner.reachable import MOST_PEOPLE, require_reachable
from headcount.planner.selection import Names
from headcount.planner.solve import CLOSE
from headcount.privacy.budget import MOST_ROUNDS, Budget, Neighbours
from headcount.questions import question_called
from headcount.questions.question import Question
from headcount.types import People

SOME = 10_000  # people, among whom it shows which protocol may do with the fewest
P = ParamSpec("P")
R = TypeVar("R")
MORE = 100  # times as many, while none is close to a share or a mean


def _with_wishes(asked: Callable[P, R]) -> Callable[P, R]:
    """Hands what is not its own on to `advise`."""
    return checked(asked, advise)


@_with_wishes
def smallest_n(
    task: Question | str, *, epsilon: float, delta: float = 0.0, within: float | None = None, **wishes: Any
) -> int:
    """The fewest people for whom some protocol meets the budget and answers better than a guess.

    Parameters
    ----------
    task : Question or str
        What is asked.
    epsilon, delta : float
        The privacy budget.
    within : float, optional
        How small the objective is to be instead: the half-width of the 95% interval, unless told
        otherwise.
    wishes
        Other arguments of `advise`, such as `models`.

    Returns
    -------
    int
        A number of people; with `within`, to about 0.2%.

    Raises
    ------
    errors.BadArgument
        As `advise` does.
    errors.Infeasible
        If no number of people is enough.

    Examples
    --------
    >>> 50 < hc.smallest_n("count", epsilon=1, delta=1e-6, protocols="zsum") < 100
    True
    >>> 1_000 < hc.smallest_n("fraction", epsilon=1, delta=1e-6, within=0.01, protocols="zsum") < 1_200
    True
    """
    if within is not None:
        return _fewest(task, within, {"epsilon": epsilon, "delta": delta, **wishes})
    advice = advise(task, n=1, epsilon=epsilon, delta=delta, **wishes)
    enough = fewest_of(found for found in advice.options if found.kind.model in advice.situation.trusted)
    if enough is None:
        raise Infeasible(
            "no number of people is enough for this budget", Phrase("use a larger one, or {delta}", delta=1e-6)
        )
    return enough[0]


def _fewest(task: Question | str, within: float, wishes: dict[str, Any]) -> int:
    """Solved for the best protocol at some size, and again while another needs fewer people."""
    question = question_called(task)
    require_distance(question, within)
    budget = Budget(wishes["epsilon"], wishes["delta"], Neighbours(wishes.get("neighbours", "replace")))
    objective = Objective.parse(wishes.get("objective") or "interval")
    planned = question.planned(private=budget.neighbours.hides_size)
    require_reachable(planned, budget, objective, wishes.get("confidence", 0.95), within)
    asked = wishes.get("protocols")

    def solved(names: Names) -> Advice:
        return advise(task, within=within, **{**wishes, "protocols": names})

    def size(name: str) -> float:
        """Infinite if it is not as close in every larger crowd."""
        return min((found.protocol.crowd.size for found in solved([name]).feasible), default=math.inf)

    def close(people: int, names: Names) -> list[str]:
        options = advise(task, n=people, **{"objective": "interval", **wishes, "protocols": names}).feasible
        return [option.name for option in options if option.objective <= within and not option.guesswork]

    some, share = SOME + wishes.get("corrupt", 0), question.per_person
    lasting, tried, fewest = close(some, asked), set[str](), math.inf
    while share and not lasting and some < MOST_PEOPLE / MORE:
        some *= MORE
        lasting = close(some, asked)
    while math.isinf(fewest) and (untried := [name for name in lasting if name not in tried]):
        tried.add(untried[0])
        fewest = size(untried[0])
    if math.isinf(fewest):
        return solved(asked).best.protocol.crowd.size
    if fewest > some:
        lasting = close(int(fewest), asked)
    while fewest > 1 and (untried := [name for name in lasting if name not in tried]):
        better = close(min(int(fewest) - 1, int(fewest / CLOSE)), untried)
        if not better:
            break
        tried.add(better[0])
        fewest = min(fewest, size(better[0]))
    return int(fewest)


@_with_wishes
def most_rounds(
    task: Question | str, *, n: People, epsilon: float, delta: float = 0.0, within: float, **wishes: Any
) -> int:
    """How many rounds fit into a budget, if the interval of each is to be this narrow.

    Parameters
    ----------
    task : Question or str
        What is asked in every round.
    n : int or pair of int
        How many people will report.
    epsilon, delta : float
        The privacy budget, for all rounds together.
    within : float
        How small the objective is to be in each round: the half-width of the 95% interval, unless
        told otherwise.
    wishes
        Other arguments of `advise`, such as `models`.

    Returns
    -------
    int
        A number of rounds, at most 10,000.

    Raises
    ------
    errors.BadArgument
        As `advise` does.
    errors.Infeasible
        If not even one round is as good as that.

    Examples
    --------
    >>> hc.most_rounds("count", n=1_000, epsilon=1, delta=1e-6, within=40, protocols="discrete-gaussian")
    23
    """

    require_distance(question_called(task), within)

    def good(rounds: int) -> bool:
        options = advise(
            task, n=n, epsilon=epsilon, delta=delta, rounds=rounds, **{"objective": "interval", **wishes}
        ).feasible
        return any(option.objective <= within for option in options)

    if not good(1):
        raise Infeasible(f"not even one round is within {within:g}", "use more people or a larger budget")
    low, high = 1, 2
    while high <= MOST_ROUNDS and good(high):
        low, high = high, 2 * high
    while high - low > 1 and low < MOST_ROUNDS:
        middle = min((low + high) // 2, MOST_ROUNDS)
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


@_with_wishes
def smallest_detectable(task: Question | str, *, n: People, epsilon: float, delta: float = 0.0, **wishes: Any) -> float:
    """The fewest people with a one whom the best protocol can tell from none.

    Both errors, to see some where there are none and to overlook them, have a chance of at most 5%,
    or of what `confidence` leaves.

    Parameters
    ----------
    task : Question or str
        A count, a fraction or a histogram.
    n : int or pair of int
        How many people will report.
    epsilon, delta : float
        The privacy budget.
    wishes
        Other arguments of `advise`, such as `models` and `confidence`.

    Returns
    -------
    int or float
        A number of people; of a fraction, their share.

    Raises
    ------
    errors.BadArgument
        As `advise` does.
    errors.Infeasible
        If no protocol can serve, or none can tell any number of ones from none.

    Examples
    --------
    >>> hc.smallest_detectable("count", n=1_000, epsilon=1, models="central")
    5
    """
    advice = advise(task, n=n, epsilon=epsilon, delta=delta, objective="detectable", **wishes)
    _ = advice.best  # says why, if there is none
    fewest = advice.feasible[0].objective
    if not math.isfinite(fewest):
        raise Infeasible("no number of ones can be told from none", "use more people or a larger budget")
    return int(fewest) if fewest.is_integer() else fewest
