"""The page's data: a quick ranking at once, all of it a little later, and data for its pictures.

These run in processes of their own. Each takes what the page sent and gives JSON; what is refused
is told, not raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from headcount.errors import BadArgument, Refused
from headcount.phrases import said
from headcount.planner.advice import Advice
from headcount.planner.contenders import contenders, winners
from headcount.planner.frontier_points import frontier
from headcount.planner.option import CalibratedOption
from headcount.planner.selection import matching_protocols
from headcount.planner.situation import crowd_of
from headcount.privacy.budget import Budget
from headcount.privacy.model import Model
from headcount.protocols import named
from headcount.questions.domains.domain import Shape
from headcount_service.web.form import MOST_PEOPLE, Form, Labels, offered

SLOW = {
    "sample-threshold",
    "blanket-histogram",
    "almost-one-message-histogram",
    "cheu-sum",
    "blanket-sum",
    "recursive-sum",
    "almost-central-sum",
}
SHOWN = 8  # protocols in a picture, at most
USELESS = 0.999  # relative error from which on "nobody" is as good an answer
SPELLING = Labels()
Told = dict[str, Any]


def told(function: Callable[[Told], Told]) -> Callable[[Told], Told]:
    """The function with refusals told, not raised: problem and remedy in the page's words."""

    @wraps(function)
    def asked(given: Told) -> Told:
        try:
            return function(given)
        except BadArgument as refusal:
            problem, remedy = said(refusal.problem, SPELLING), said(refusal.remedy, SPELLING)
            return {"error": str(refusal), "field": refusal.argument, "problem": problem, "remedy": remedy}
        except Refused as refusal:
            return {"error": refusal.said(SPELLING)}

    return asked


@told
def quick(given: Told) -> Told:
    """The ranking of protocols that are computed at once, and the names of the others."""
    form = Form.read(given)
    able = [kind.name for kind in matching_protocols(form.question, None, None) if kind.model in form.models]
    soon = [name for name in able if name not in SLOW]
    waiting = [name for name in able if name in SLOW]
    if not soon:
        return {"ranking": [], "waiting": waiting}
    return {**_ranked(form, form.advice(soon), everything=False), "waiting": waiting}


@told
def whole(given: Told) -> Told:
    """The ranking of all protocols, in the order of `advise`."""
    form = Form.read(given)
    advice = form.advice()
    trusted = [
        {"reason": said(reason, SPELLING), "protocols": names}
        for reason, names in advice.lacking
        if any(named(name).model in form.models for name in names)
    ]
    return {**_ranked(form, advice, everything=True), "waiting": [], "lacking": trusted}


def _ranked(form: Form, advice: Advice, everything: bool) -> Told:
    rows = [_row(option, everything or place == 0) for place, option in enumerate(advice.feasible)]
    return {
        "ranking": rows,
        "why": said(advice.why(), SPELLING) if rows else "",
        "title": advice.title,
        "python": form.python(),
        "command": form.command(),
    }


def _row(option: CalibratedOption, everything: bool) -> Told:
    protocol = option.protocol
    return {
        "protocol": option.name,
        "model": str(option.kind.model),
        "rmse": option.rmse,
        "worst": option.rmse_worst if option.situation.averaged else None,
        "interval": _finite(option.half_width) if everything else None,
        "messages": protocol.messages_per_person,
        "bits": protocol.bits_per_person,
        "accounting": protocol.loss.kind,
        "at_least": option.epsilon_at_least if everything and protocol.loss.kind == "bound" else None,
        "proportionate": option.proportionate,
    }


@told
def errors(given: Told) -> Told:
    """The errors of some protocols for one number of people: a place of the curves."""
    form = Form.read(_without(given, "protocols"))
    advice = form.advice(_some(given["protocols"]))
    return {"n": form.n, "rmse": {option.name: option.rmse for option in advice.feasible}}


@told
def costs(given: Told) -> Told:
    """Errors against messages: every choice of some protocols."""
    form = Form.read(_without(given, "protocols"))
    found = frontier(form.question, **form.crowd, protocols=_some(given["protocols"]), points=7)
    points = [
        {"protocol": point.protocol, "messages": point.messages, "rmse": point.rmse, "front": point.front}
        for point in found.points
    ]
    return {"points": points}


@told
def column(given: Told) -> Told:
    """The best-counting protocol for this crowd at several numbers of ones: a column of the map."""
    form = Form.read(_without(given, "truths"))
    if form.question.shape is not Shape.BIT:
        raise BadArgument("task", f"is a {form.question.name}", "the map is of counts")
    truths = given["truths"]
    if not isinstance(truths, list) or not 1 <= len(truths) <= 60 or not all(_possible(one) for one in truths):
        raise BadArgument("truths", "are not numbers of ones", "give up to 60 of them")
    told = form.crowd
    budget, crowd = Budget(told["epsilon"], told["delta"]), crowd_of(form.n, None, 0, told.get("honest"), each=1)
    kinds = matching_protocols(form.question, list(form.models), None)
    field = [entry for kind in kinds for entry in contenders(kind, crowd, budget, "exact")]
    possible = sorted(one for one in truths if one <= form.n)
    best, rmse = winners(field, possible)
    cells = [
        {"ones": ones, "winner": entry.name, "rmse": error, "useful": error < USELESS * max(1, ones)}
        for ones, entry, error in zip(possible, best, rmse.tolist(), strict=True)
        if entry is not None
    ]
    return {"n": form.n, "cells": cells}


@told
def plan(given: Told) -> Told:
    """The text of a plan file: a browser would write 1.0 as 1 and change its hash."""
    name = given.get("protocol")
    advice = Form.read(_without(given, "protocol")).advice(_some([name]))
    return {"file": advice.best.saved()}


@told
def complete(given: Told) -> Told:
    """The advice as `headcount advise --format json` prints it."""
    return {"advice": Form.read(given).advice().to_json()}


def _without(given: Mapping[str, Any], name: str) -> Told:
    if name not in given:
        raise BadArgument(name, "is missing", "say which")
    return {key: value for key, value in given.items() if key != name}


def _some(names: Any) -> list[str]:
    if not isinstance(names, list) or not 1 <= len(names) <= SHOWN or not all(isinstance(name, str) for name in names):
        raise BadArgument("protocols", "are not names", f"give up to {SHOWN} of them")
    return names


def _possible(one: Any) -> bool:
    return isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= MOST_PEOPLE


def _finite(width: float) -> float | None:
    return width if math.isfinite(width) else None


def ready() -> None:
    """Fill caches, before the first request."""
    first = next(iter(offered().values()))
    needed = {field.name: field.first for field in first.fields if field.needed}
    quick({"task": first.kind.name, "models": [str(Model.SHUFFLE)], **needed})
