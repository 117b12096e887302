"""The figure of a frontier, and what it says in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from headcount.figures.axis import Axis
from headcount.figures.canvas import Target, number
from headcount.figures.lines import Line, Panel, lines
from headcount.figures.tradeoffs import Dots, tradeoffs
from headcount.privacy.model import Model

if TYPE_CHECKING:
    from headcount.planner.frontier import Frontier, FrontierPoint

NEAR = 1.1  # times the central error
LABELS = {
    "messages": "messages that each person sends, on average (further left is cheaper)",
    "epsilon": "privacy budget, epsilon (further left is more private)",
    "n": "how many people report",
}


def draw(frontier: Frontier, target: Target, theme: str, title: str) -> Target:
    """Draw a frontier into a file, into bytes or onto axes."""
    task = frontier.task
    unit = f", in {task.unit_words}" if task.unit_words else " (0.01 is one of 100 people)" if task.percent else ""
    ylabel = f"typical error (rmse) of {'each count' if task.shape.several else f'the {task.name}'}{unit}"
    of = {name: frontier.of(name) for name in dict.fromkeys(point.protocol for point in frontier.points)}
    if frontier.against == "messages":
        return tradeoffs(
            [
                Dots(name, found[0].model, [(p.messages, p.rmse) for p in found], [p.front for p in found])
                for name, found in of.items()
            ],
            target,
            title=title or _cheap(frontier),
            xlabel=LABELS["messages"],
            ylabel=ylabel,
            theme=theme,
            subtitle=f"{_sentence(frontier)} Filled: nothing beats it at no more trust.",
        )
    error = Axis(ylabel, log=True)
    if frontier.against != "dropouts":
        across = Axis(LABELS[frontier.against], log=True)
        errors = _curves({name: [(p.x, p.rmse) for p in found] for name, found in of.items()}, number)
        panels = [Panel(errors, across, error)]
        return lines(panels, target, title=title or _trust(frontier), subtitle=_sentence(frontier), theme=theme)
    errors = _curves({name: [(p.x, p.rmse) for p in found] for name, found in of.items()}, "{:.0%}".format)
    kept = {name: [(p.x, p.epsilon_left) for p in found if p.epsilon_left is not None] for name, found in of.items()}
    left = _curves({name: points for name, points in kept.items() if points}, "{:.0%}".format)
    promised = frontier.budget.epsilon
    panels = [
        Panel(
            errors, Axis("share of people who may fail to report", shares=True), error, "Planned for: the error grows"
        ),
        Panel(
            left,
            Axis("share of people who fail to report", shares=True),
            Axis(f"epsilon that really holds, where {number(promised)} was promised"),
            "Not planned for: privacy is lost",
        ),
    ]
    return lines(panels, target, title=title or _lost(frontier), subtitle=_sentence(frontier), theme=theme)


def _curves(of: Mapping[str, Sequence[tuple[float, float]]], text: Callable[[float], str]) -> list[Line]:
    """Each named after its protocol, and how far it goes if others go further."""
    drawn = {name: [(x, y) for x, y in points if math.isfinite(y)] for name, points in of.items()}
    right = max(points[-1][0] for points in drawn.values() if points)
    return [
        Line(name if points[-1][0] == right else f"{name}, to {text(points[-1][0])}", points, name)
        for name, points in drawn.items()
        if points
    ]


def _sentence(frontier: Frontier) -> str:
    text = frontier.heading
    return f"{text[0].upper()}{text[1:]}."


def _best(points: Sequence[FrontierPoint], model: Model) -> FrontierPoint | None:
    return min((point for point in points if point.model is model), key=lambda point: point.rmse, default=None)


def _cheap(frontier: Frontier) -> str:
    """How little it takes to be nearly as good as if the analyser were trusted."""
    central = _best(frontier.points, Model.CENTRAL)
    near = [p for p in frontier.front if p.model is Model.SHUFFLE and central and p.rmse <= NEAR * central.rmse]
    if not near:
        return "The more messages people send, the closer the answer"
    cost = f"{near[0].messages:.3g} messages a person"
    return f"At {cost}, {near[0].protocol} is nearly as close as a trusted analyser"


def _trust(frontier: Frontier) -> str:
    """What trusting a shuffler gains over trusting nobody, where the frontier was asked for."""
    base = frontier.crowd.size if frontier.against == "n" else frontier.budget.epsilon
    x = min((point.x for point in frontier.points), key=lambda place: abs(math.log(place / base)))
    here = [point for point in frontier.points if point.x == x]
    shuffled, local = _best(here, Model.SHUFFLE), _best(here, Model.LOCAL)
    if shuffled is None or local is None or local.rmse < 2.0 * shuffled.rmse:
        return "Whom you trust decides how wrong the answer is"
    where = f"{x:,.0f} people" if frontier.against == "n" else f"epsilon {number(x)}"
    gain = f"{local.rmse / shuffled.rmse:,.0f} times smaller"
    return f"At {where}, trusting a shuffler instead of nobody makes the error {gain}"


def _lost(frontier: Frontier) -> str:
    """What planning for dropouts costs the best of the shuffled, and what not planning does."""
    first = _best([p for p in frontier.points if p.x == min(q.x for q in frontier.points)], Model.SHUFFLE)
    if first is None:
        return "What it costs to plan for people who drop out"
    last = frontier.of(first.protocol)[-1]
    lost = last.epsilon_left
    left = (
        f"; unplanned, epsilon {number(frontier.budget.epsilon)} becomes {number(lost)}"
        if lost is not None and math.isfinite(lost)
        else ""
    )
    more = last.rmse / first.rmse - 1.0
    return f"Planning for {last.x:.0%} dropouts costs {first.protocol} {more:.0%} more error{left}"
