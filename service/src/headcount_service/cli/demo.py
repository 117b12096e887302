"""The whole service on one machine: two listening parties, people reporting, a proved answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from headcount.cli.numbers import WHOLE
from headcount.cli.options import Delta, Epsilon, Formats
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, console, show
from headcount.errors import Refused
from headcount.planner.advise import advise
from headcount.privacy.crowd import Crowd
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.questions.count import Count
from headcount_service.cli.collection import MOST_DEVICES
from headcount_service.cli.releases import Released, release_table
from headcount_service.cli.web import free_port

YES = Chance.up(0.12)
MESSAGES = 36  # that everybody sends, at most
LIARS = 20  # one person in this many may lie or collude, and the guarantee still holds


def demo(
    people: Annotated[int, typer.Option(**WHOLE, help="How many people to simulate.")] = 200,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    how: Formats = Format.TABLE,
) -> None:
    """Simulated people report over this machine's network; releases a signed and proved answer."""
    # Ends with both parties gone and nothing left behind. The story is told to people only.
    from headcount_service.client.simulated import report_all
    from headcount_service.operator.operator import Operator

    terminal = console() if how is Format.TABLE else Console(quiet=True)
    Crowd(people)  # refuses what is no number of people
    answers = SeededCoins(people).bernoulli(YES, people)
    truth = int(np.count_nonzero(answers))
    terminal.print(
        f"{people:,} simulated people will be asked; {truth:,} of them would say yes. Nobody is to learn who.\n"
    )
    advice = advise(
        Count(),
        n=people,
        corrupt=people // LIARS,
        epsilon=epsilon,
        delta=delta,
        models=["shuffle"],
        collected=True,
        max_messages=MESSAGES,
    )
    terminal.print(advice.why(), highlight=False)
    with TemporaryDirectory(prefix="headcount-") as folder, _serving(Path(folder)) as ports:
        terminal.print(
            f"\nA shuffler listens at port {ports[0]}, an analyser at {ports[1]}, with keys and databases apart."
        )
        operator = Operator.open(folder)
        operator.endow("simulated people", 2 * epsilon, 2 * delta)
        collection = operator.create(
            advice.best,
            question="Have you ever lied to a survey?",
            population="simulated people",
            window=3_600,
            fixed=False,
        )
        lots = (min(MOST_DEVICES, people - at) for at in range(0, people, MOST_DEVICES))
        invited = [invitation for lot in lots for invitation in operator.invite(collection.id, lot)]
        receipts = report_all(
            operator.shuffler.address,
            collection.id,
            answers.astype(int).tolist(),
            hash=collection.hash,
            invitations=invited,
            watch=ProgressBar("devices report"),
        )
        terminal.print(f"{len(receipts):,} devices have reported. One of them tells its owner:\n")
        terminal.print(str(receipts[0]), style="italic", highlight=False)
        operator.close(collection.id)
        told = Released(operator.release(collection.id))
        verdict = told.verify()
        terminal.print("\nThe batch was closed, mixed, delivered, opened, counted and paid for:\n")
        terminal.print(release_table(told))
        terminal.print(f"\nIts certificate is {verdict.answer}. The truth was {truth:,}.")
    if how is not Format.TABLE:
        figures = {name: told.estimate[name] for name in ("value", "interval95", "protocol", "epsilon", "delta")}
        show(
            {"collection": collection.id, "people": people, "truth": truth, **figures, "answer": verdict.answer},
            how,
            "",
        )


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[int, int]]:
    """Both parties, in a process of their own, until this ends."""
    ports = free_port(), free_port()
    command = [sys.executable, "-m", "headcount", "serve", "--data", str(folder), "--ports", *map(str, ports)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    try:
        if server.stdout is None or not server.stdout.readline():
            raise Refused("the parties did not start", "try: headcount serve --data DIR")
        yield ports
    finally:
        server.terminate()
        server.wait()
