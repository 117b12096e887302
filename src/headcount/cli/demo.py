"""The whole pipeline in one process, on simulated people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.markup import escape

from headcount.cli.render import advice_table, console, grid
from headcount.core.budget import Budget, Neighbours
from headcount.core.chance import Chance
from headcount.core.coins import SecretCoins, SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import MissingExtra
from headcount.core.estimate import Estimate
from headcount.core.model import Model
from headcount.core.task import Count
from headcount.drawing.bars import Bar, bars
from headcount.planner.advise import advise

YES = Chance.up(0.12)


def demonstrate(*, people: int, epsilon: float, delta: float, out: Path) -> None:
    """Advice first, then the best protocol of each model through randomiser, shuffler and analyser, then a figure."""
    terminal = console()
    Crowd(people)  # refuses what is no number of people
    answers = SeededCoins(people).bernoulli(YES, people)
    truth = int(np.count_nonzero(answers))
    terminal.print(
        f"\n{people:,} simulated people were asked; {truth:,} of them would say yes. Nobody is to learn who.\n"
    )
    advice = advise(Count(), n=people, epsilon=epsilon, delta=delta, ones=truth, neighbours=Neighbours.REPLACE)
    terminal.print(advice_table(advice))
    table = grid(
        "model", "protocol", "truth", "answer", "95% interval", "off by", "messages sent", "guarantee",
        title="\nThe best protocol of each model, run:", right=(2, 3, 4, 5, 6),
    )  # fmt: skip
    answered: list[tuple[Estimate, float]] = []
    for model in Model:
        option = advice.best_of(model)
        if option is None:
            terminal.print(f"{model}: no protocol meets the budget")
            continue
        protocol, coins = advice.plan(option).protocol, SecretCoins()
        batch = protocol.randomise(answers, coins)  # the crowd's devices, then the shuffler
        released = protocol.release(protocol.tally(batch), coins)  # the trusted side, where there is one
        estimate = replace(protocol.estimate(released), budget=advice.budget)  # the analyser
        low, high = estimate.interval()
        sent = f"{people:,} values" if model is Model.CENTRAL else f"{batch.messages.size:,}"
        table.add_row(
            str(model), option.name, f"{truth:,}", f"{estimate.value:,.1f}", f"{low:,.1f} to {high:,.1f}",
            f"{abs(estimate.value - truth):,.1f}", sent, ", ".join(estimate.promises()[:2]),
        )  # fmt: skip
        answered.append((estimate, option.half_width))
    terminal.print(table)
    _figure(answered, truth, advice.budget, out)


def _figure(answered: list[tuple[Estimate, float]], truth: int, budget: Budget, out: Path) -> None:
    people = answered[0][0].protocol.crowd.size if answered else 0
    rows = [
        Bar(estimate.protocol.name, estimate.protocol.model, half, dot=abs(float(estimate.value) - truth))
        for estimate, half in answered
    ]
    try:
        bars(
            rows, out, title=f"The price of trust: counting {people:,} people, {truth:,} of whom say yes",
            subtitle=f"{budget}, {budget.neighbours.words}. A bar holds 19 of 20 answers; the dot is this one.",
            xlabel="how far the answer is off (people)",
        )  # fmt: skip
    except MissingExtra as missing:
        console().print(f"\nNo figure: {escape(str(missing))}")
        return
    console().print(f"\nFigure written to {out}")
