"""An advice in three sentences that somebody without statistics can act on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from headcount.core.crowd import Crowd
from headcount.core.histogram import Histogram
from headcount.core.model import Model
from headcount.planner.option import Candidate, number
from headcount.planner.situation import Situation


def reasons(ranked: Sequence[Candidate], people: int | None) -> str:
    """What to use and how wrong it will be; what is trusted and promised; what happens if people do not keep to it.

    `people` is how many would be needed for an answer better than a guess, where this one is not.
    """
    first = ranked[0]
    sentences = [_choice(ranked), _promise(first), _otherwise(first)]
    if first.guesswork:
        more = f"with {people:,} people or more it would be" if people else "no number of people would change that"
        sentences.append(f"But that is no better than to guess half of them without asking anybody; {more}.")
    return " ".join(sentences)


def _choice(ranked: Sequence[Candidate]) -> str:
    first = ranked[0]
    given = first.situation
    answer = "each count" if isinstance(given.task, Histogram) else f"the {given.task.name}"
    close = f"within {_amount(first.half_width, given)} of the truth {_often(given.confidence)}"
    honest = " if nobody lies" if given.crowd.corrupt else ""
    found = f"Use {first.name}: of {given.crowd.size:,} people it tells {answer} {close}{honest}"
    other = next((option for option in ranked if option.kind.model is not first.kind.model), None)
    if other is None:
        return f"{found}."
    close = f"within {_amount(other.half_width, given)}"
    return f"{found}; trusting {other.kind.model.trusted}, {other.name} would come {close}."


def _amount(width: float, given: Situation) -> str:
    return f"{number(100.0 * width)} percentage points" if given.task.name == "fraction" else number(width)


def _often(confidence: float) -> str:
    rare = 1.0 / (1.0 - confidence)
    return (
        f"{round(rare) - 1} times out of {round(rare)}"
        if abs(rare - round(rare)) < 1e-6
        else f"{confidence:.1%} of the time"
    )


def _promise(first: Candidate) -> str:
    """The meaning of (epsilon, delta), with the odds as a number."""
    budget, trust = first.situation.budget, first.kind.model.trusted
    whom = "Nobody has to be trusted" if first.kind.model is Model.LOCAL else f"You trust {trust}"
    change = "answered anything else" if budget.neighbours == "replace" else "not taken part"
    odds = math.exp(budget.epsilon)
    factor = f"{odds:,.3g} times" if odds < 1e6 else f"10^{budget.epsilon / math.log(10):.0f} times"
    rarely = f", except with a chance of {budget.delta:g}" if budget.delta else ""
    return (
        f"{whom}, and each person is promised (ε={budget.epsilon:g}, δ={budget.delta:g}): whatever is seen is at most "
        f"{factor} as likely as if they had {change}{rarely}."
    )


def _otherwise(first: Candidate) -> str:
    return f"{_dropouts(first.kind.model, first.situation.crowd)}; {_collusion(first)}."


def _dropouts(model: Model, crowd: Crowd) -> str:
    if model is Model.LOCAL:
        return "If people stay away the promise to the others is untouched"
    if model is Model.CENTRAL:
        return "If people stay away the promise to the others holds, for a plan with fewer people"
    liars = f", of which {crowd.corrupt:,} may be lies" if crowd.corrupt else ""
    wish = "" if crowd.least < crowd.size else " (plan with a smaller least= if some may stay away)"
    return f"If fewer than {crowd.least:,} reports come{liars}, nothing is released{wish}"


def _collusion(first: Candidate) -> str:
    if first.kind.model is Model.LOCAL:
        return "and nobody could break it by colluding"
    if first.kind.model is Model.CENTRAL:
        return "but nothing keeps the analyser from looking at every answer"
    left = first.protocol.local_epsilon
    whole = "nothing is left of it" if left is None else f"each person is still promised ε={left:.3g}"
    return f"and if the shuffler and the analyser collude, {whole}"
