"""The whole pipeline in one process, on simulated people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from headcount.cli.render import advice_table, console, grid
from headcount.core.budget import Neighbours
from headcount.core.chance import Chance
from headcount.core.coins import SecretCoins, SeededCoins
from headcount.core.estimate import Estimate
from headcount.core.model import Model
from headcount.core.task import Count
from headcount.planner.advise import advise

YES = Chance.up(0.12)


def demonstrate(*, people: int, epsilon: float, delta: float, out: Path) -> None:
    """Advice first, then the best protocol of each model through randomiser, shuffler and analyser, then a figure."""
    terminal = console()
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
    _figure(answered, truth, people, out)


def _figure(answered: list[tuple[Estimate, float]], truth: int, people: int, out: Path) -> None:
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        console().print("\nNo figure: it needs an optional part, pip install 'headcount\\[plots]'")
        return
    colours = {Model.CENTRAL: "#0072B2", Model.THRESHOLD: "#E69F00", Model.SHUFFLE: "#009E73", Model.LOCAL: "#CC79A7"}
    figure, axes = plt.subplots(figsize=(8, 3.4), layout="constrained")
    for row, (estimate, half) in enumerate(reversed(answered)):
        protocol = estimate.protocol
        axes.barh(row, half, height=0.55, color=colours[protocol.model], alpha=0.75)
        axes.plot(abs(estimate.value - truth), row, "o", color="black", ms=6, zorder=3, clip_on=False)
        axes.text(half * 1.08, row, f"± {half:,.1f}", va="center", fontsize=10)
    axes.set_yticks(range(len(answered)), [f"{e.protocol.name}\n{e.protocol.model}" for e, _ in reversed(answered)])
    widest = max(half for _, half in answered)
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_xlim(0.0, 3.0 * widest)
    ticks = [0, *(10**power for power in range(8) if 10**power < 3 * widest)]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("people off the truth: the bar holds 19 of 20 answers, the dot is this one")
    axes.set_title(
        f"Counting {people:,} people, {truth:,} of whom say yes: the price of trust", loc="left", fontsize=11
    )
    axes.spines[["top", "right"]].set_visible(False)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=150)
    plt.close(figure)
    console().print(f"\nFigure written to {out}")
