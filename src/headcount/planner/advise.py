"""Advice: every protocol that could serve, calibrated, with its exact predicted error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headcount.common.calls import checked
from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.planner.advice import Advice
from headcount.planner.expected import Expected
from headcount.planner.objective import Objective
from headcount.planner.option import Option, best_option, in_order
from headcount.planner.selection import Names, Progress, matching_protocols, parsed_models
from headcount.planner.situation import Caps, Situation, counted_rounds, crowd_and_sizes, crowd_of
from headcount.planner.solve import fewest_people, smallest_epsilon
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.questions import question_called
from headcount.questions.question import Question
from headcount.types import Ones, People

COLLECTED = 32  # messages that a person is asked for at most, unless told otherwise


@checked
def advise(
    task: Question | str,
    *,
    n: People | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    rounds: int = 1,
    contributes: int | None = None,
    ones: Ones | None = None,
    neighbours: str = "replace",
    models: Names = None,
    least: int | None = None,
    corrupt: int = 0,
    honest: float | None = None,
    objective: str | None = None,
    liars: int = 1,
    confidence: float = 0.95,
    max_messages: float | None = None,
    max_bytes: float | None = None,
    collected: bool = False,
    max_contributions: int = 1,
    within: float | None = None,
    protocols: Names = None,
    watch: Progress = iter,
) -> Advice:
    """Rank the protocols of all trust models by exact predicted error; others say what they lack.

    Backwards, `within` without `epsilon` finds the smallest epsilon with which each protocol's
    interval is that narrow, and `within` without `n` the fewest people.

    Parameters
    ----------
    task : Question or str
        What is asked: "count", hc.Histogram(100), …
    n : int or pair of int
        How many people will report. With a pair (fewest, most) the guarantee holds for any number
        between, and answers are judged by the worse end.
    epsilon, delta : float
        The privacy budget.
    rounds : int
        How often the same people are asked, every week for example. The budget is for all rounds
        together, the plan for one of them, and the errors are those of one round.
    contributes : int, optional
        In how many of the rounds a person counts at most: in one, as those who sign up do. The
        question is then how many people have come so far, which is `hc.Arrivals(rounds)`. More than
        one needs neighbours="add-remove". Unless given, people may be in all rounds.
    ones : int, list, dict or str, optional
        How many people are expected to hold a one, or in a histogram to be in a category: a number,
        several, a table of weights such as {0: 90, 500: 10}, "uniform", or "unknown" (unless
        given), when the worst case counts.
    neighbours : str
        The adjacency: "replace" or "add-remove".
    models : str or list, optional
        The models of trust that you accept, of "central", "shuffle-threshold", "shuffle-dummies",
        "shuffle" and "local"; all unless given.
    least, corrupt : int
        Reports without which nothing is released, and how many of them may come from people who do
        not follow the protocol.
    honest : float, optional
        Instead of `corrupt`, the fraction of reports from people who follow the protocol.
    objective : str
        What makes an answer good: "rmse" (unless given), "interval" (unless given, with `within`),
        "worst-bin", "relative", "detectable" or "robust", which puts what liars add to a typical
        error.
    liars : int
        Against how many people who lie an answer is to be "robust".
    confidence : float
        Of intervals and of what is detectable.
    max_messages, max_bytes : float, optional
        The most that a person may send: on average, or on the wire with `collected`, where it is 32
        messages unless given, as a liar may make all of theirs count.
    collected : bool
        Whether reports are collected from devices, where everybody sends the same number of sealed
        messages. Of protocols whose objective is at most half again that of the best, those with
        the fewest messages then come first.
    max_contributions : int
        Where `n` counts rows, how many of them a person may have: the guarantee is for all of these
        together. More than one needs neighbours="add-remove".
    within : float, optional
        How small the objective is to be, where epsilon or n is solved for; refused for a quantile,
        which is a value, where errors are numbers of people.
    protocols : str or list, optional
        Protocols by name; all that answer the question unless given. For several rounds, those
        whose privacy takes minutes to account for are left out unless they are named.
    watch : callable
        Wraps what is iterated over, to show progress.

    Returns
    -------
    Advice
        The protocols, best first; `best` is a plan that `run` takes.

    Raises
    ------
    errors.BadArgument
        If an argument is missing, out of range or does not fit another.
    errors.Infeasible
        If none of the protocols answers such a question. If none can serve, `best` of the advice
        raises this.

    Examples
    --------
    >>> advice = hc.advise("count", n=1_000, epsilon=1, delta=1e-6, protocols=["randomised-response", "zsum"])
    >>> advice.best
    Plan: count by zsum (shuffle), 1,000 people, (ε=1, δ=1e-06), replace-one
    >>> backwards = hc.advise("count", n=1_000, delta=1e-6, within=20, protocols="zsum")
    >>> 0.4 < backwards.best.budget.epsilon < 0.5
    True
    """
    asked = objective or ("rmse" if within is None else "interval")
    unknown = _unknown(n, epsilon, within)
    if unknown == "n" and (ones is not None or least is not None):
        raise BadArgument("n", "is missing", "ones and least hang on it: give it, or leave those out")
    budget = Budget(1.0 if epsilon is None else epsilon, delta, Neighbours(neighbours), rounds)
    if contributes is not None:
        if max_contributions > 1:
            raise BadArgument("max_contributions", "is given together with contributes", "leave one of them out")
        max_contributions = counted_rounds(contributes, rounds, budget)
        task, budget = question_called(task).over_rounds(rounds), replace(budget, rounds=1)
    question = question_called(task).planned(private=budget.neighbours.hides_size)
    people = 1 + corrupt if n is None else n
    crowd, sizes = crowd_and_sizes(people, budget, least, corrupt, honest, max_contributions)
    given = Situation(
        question,
        crowd,
        budget,
        Expected.parse(ones, crowd.size),
        Objective.parse(asked),
        confidence,
        frozenset(parsed_models(models)),
        Caps(COLLECTED if collected and max_messages is None else max_messages, max_bytes),
        collected,
        liars,
        sizes,
        protocols is not None,
    )
    kinds = watch(matching_protocols(given.task, None, protocols))
    if within is None:
        return Advice(given, in_order([best_option(kind, given) for kind in kinds], given))
    require_distance(given.task, within)
    if unknown == "epsilon":
        _require_effort(given, within)
        found = [smallest_epsilon(kind, given, within) for kind in kinds]
        return _solved(given, found, within, unknown, lambda each: each.situation.budget.epsilon)

    def crowd_of_size(people: int) -> Crowd:
        return crowd_of(people, None, corrupt, honest, max_contributions)

    found = [fewest_people(kind, given, within, crowd_of_size) for kind in kinds]
    return _solved(given, found, within, unknown, lambda each: each.situation.crowd.size)


def require_distance(question: Question, within: float) -> None:
    """Refuse what is no distance of an answer from the truth."""
    if not quantity("within", within, "use a positive number") > 0.0:
        raise BadArgument("within", f"is {within:g}", "use a positive number")
    if question.of_a_value:
        problem = f"is a number of people, and the answer to a {question.name} is a value"
        told = "ask for a distribution with {best_for}, whose error is that of the people below a value: "
        works = Phrase(told + "{within} of {n} is 1% in rank", best_for="quantiles", within=100, n=10_000)
        raise BadArgument("within", problem, works)


def _require_effort(given: Situation, within: float) -> None:
    """Refuse a wish that a guess of the middle fulfils without asking anybody."""
    half = given.task.unit(given.crowd.size) * given.crowd.size / 2.0
    if given.objective in (Objective.RMSE, Objective.INTERVAL, Objective.WORST_BIN) and within > half:
        raise BadArgument("within", f"is {within:g}, which a guess without asking comes to", f"use less than {half:g}")


def _unknown(n: People | None, epsilon: float | None, within: float | None) -> str:
    """The argument to solve for."""
    missing = [name for name, value in (("n", n), ("epsilon", epsilon)) if value is None]
    if within is None and missing:
        raise BadArgument(missing[0], "is missing", Phrase("give it, or {within} to have it solved for"))
    if within is not None and len(missing) != 1:
        raise BadArgument("within", "needs either n or epsilon to be left out", "leave the one out that is wanted")
    return missing[0] if missing else ""


def _solved(
    given: Situation, found: list[Option], within: float, unknown: str, needed: Callable[[Option], float]
) -> Advice:
    """The advice, ranked by what each option needs."""
    ranked = sorted(found, key=lambda each: (each.rank[0], needed(each), *each.rank[1:]))
    return Advice(given, tuple(ranked), within, unknown)
