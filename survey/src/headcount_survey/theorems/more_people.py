"""More people never hurt where the shuffler shows all messages; where it drops counts, they may."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from headcount.audit.conformance.exact_loss import AGREES, Interval, worst_delta
from headcount.audit.enumeration import Enumerated
from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Panel, lines
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.questions.count import Count
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, plain, shown

EPSILONS = (0.0, 0.3, 1.0, 2.5)
SLOW = frozenset(
    {
        "split-and-mix",
        "almost-central-sum",
        "poisson-histogram",
        "correlated-histogram",
        "almost-one-message-histogram",
        "hadamard-shuffle",
        "count-min-shuffle",
    }
)
ROUNDING = Fraction(1, 10**9)
AT_SIZE = ("zsum", "poisson-count", "negative-binomial-count", "cheu-count")
DRAWN = ("poisson-count", "zsum", "cheu-count", "sample-threshold")


def tiny(model: Model, *, quick: bool) -> list[Protocol]:
    """Instances of every protocol of the model, small enough to enumerate."""
    kinds = [kind for kind in CATALOGUE if kind.model is model and not (quick and kind.name in SLOW)]
    return [protocol for kind in kinds for protocol in kind.tinies()]


def one_more(protocols: Iterable[Protocol]) -> Iterator[Case]:
    """The worst neighbours of n + 1 people against those of n, up to one more than planned."""
    for protocol in protocols:
        enumerated = Enumerated(protocol)
        losses = [worst_delta(enumerated, people, EPSILONS) for people in range(1, protocol.crowd.honest + 2)]
        for people, (fewer, more) in enumerate(pairwise(losses), start=1):
            for epsilon, here, there in zip(EPSILONS, fewer, more, strict=True):
                at = f"{protocol.name} ({protocol.task.name}), {people} to {people + 1} people, epsilon = {epsilon:g}"
                yield _compared(at, here, there)


def _compared(at: str, fewer: Interval, more: Interval) -> Case:
    """Compared as intervals, which are far narrower than any difference that matters."""
    if max(fewer.width, more.width) > AGREES:
        raise ArithmeticError(f"too little is known: {at}")
    return Case(at, more.low, fewer.high)


def at_size(names: Iterable[str]) -> Iterator[Case]:
    """The same by the accounting, for plans of a thousand people to whom more come."""
    for name in names:
        plan = calibrate(named(name), Count(), Crowd(1_000), Budget(1.0, 1e-6))
        for fewer, more in pairwise((500, 800, 1_000, 1_001, 1_100, 2_000)):
            here, there = (Fraction(plan.loss_if(people).delta(1.0)) for people in (fewer, more))
            yield Case(f"{name}, {fewer:,} to {more:,} people", there, here * (1 + ROUNDING))


def shared_again(most: int) -> Iterator[Case]:
    """Randomised response with noise made for each crowd: three coins on average, in any crowd."""
    losses = {n: worst_delta(Enumerated(CheuCount(crowd=Crowd(n), lam=3.0)), n, EPSILONS) for n in range(4, most + 1)}
    for n in range(4, most):
        for epsilon, here, there in zip(EPSILONS, losses[n], losses[n + 1], strict=True):
            yield _compared(f"cheu-count, lam = 3, {n} to {n + 1} people, epsilon = {epsilon:g}", here, there)


@cache
def _curve(name: str, most: int) -> list[tuple[float, float]]:
    enumerated = Enumerated(named(name).tiny())
    return [(n, float(worst_delta(enumerated, n, [1.0])[0].high)) for n in range(1, most + 1)]


class MorePeople(Checked):
    name: ClassVar[str] = "more-people"
    question: ClassVar[str] = "Can it cost anybody privacy that more people than planned take part?"
    source: ClassVar[str] = "what calibration relies on; the notes: privacy needs at least so many people"
    statement: ClassVar[str] = (
        "Let what a person sends depend on their value and not on how many take part, and let all messages be "
        "shown. Then delta among n + 1 people is at most that among n, at every epsilon: the messages of one more "
        "are added to what is seen anyhow. It is not so if counts below a threshold are hidden, nor if each "
        "person's noise is made smaller because there are more of them."
    )
    verdict: ClassVar[Verdict] = Verdict.HOLDS
    draws: ClassVar[bool] = True

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def claims(self, quick: bool, watch: Progress) -> Claims:
        shuffled = tiny(Model.SHUFFLE, quick=quick)
        self._kinds = {protocol.name for protocol in shuffled}
        thresholded = tiny(Model.THRESHOLD, quick=quick)
        return {
            "shown": Claim.over("one more person never raises delta, if messages are shown", one_more(watch(shuffled))),
            "at-size": Claim.over(
                "nor do more than the thousand that were planned", at_size(AT_SIZE[: 2 if quick else 4])
            ),
            "hidden": Claim.over(
                "one more person never raises delta, if small counts are hidden", one_more(thresholded), Form.TWIN
            ),
            "shared": Claim.over(
                "one more person never raises delta, if the same noise is shared among them",
                shared_again(7 if quick else 10),
                Form.TWIN,
            ),
        }

    def answer(self, claims: Claims) -> str:
        hidden, shared = claims["hidden"].worst, claims["shared"].worst
        before, after = (shown(round(plain(side), 12)) for side in (shared.right, shared.left))
        return (
            f"{len(self._kinds)} shuffle protocols were enumerated, from one person to one more "
            f"than planned, and in none of {claims['shown'].cases:,} comparisons does the next "
            "person raise delta: whoever sees n + 1 people's messages could have added one "
            "person's to those of n. Whether noise is added to counts or bits are flipped does not "
            f"matter. Hiding small counts breaks it, {hidden.at}, delta rises from "
            f"{shown(hidden.right)} to {shown(hidden.left)}: a crowd below the threshold shows "
            f"nothing at all. So does noise made anew for a larger crowd, {shared.at}: {before} to "
            f"{after}."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        curves = [Line(name, _curve(name, 12), dots=True) for name in DRAWN]
        panel = Panel(curves, Axis("people who take part"), Axis("delta at epsilon = 1"))
        title = "Each further person helps to hide the others, unless small counts are dropped"
        text = "Exact delta of four tiny protocols planned for six people, each of whom sends the same as ever"
        return lines([panel], path, title=title, subtitle=text, theme=theme)
