"""The error figure of a protocol: seeded simulation, with the prediction drawn over it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np

from headcount.audit.conformance.scenarios import (
    Scenario,
    count_scenario,
    histogram_scenario,
    samples_directly,
    spread_scenario,
)
from headcount.errors import Infeasible
from headcount.figures.canvas import number
from headcount.privacy.budget import Budget
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats, Noise
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount.questions.distribution import Distribution
from headcount.questions.domains.domain import Shape
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.sum_and_mean import Mean, Sum
from headcount_survey.figures.simulated import Runs, Size, simulated
from headcount_survey.pages.situations import parted

BUDGET = Budget(1.0, 1e-6)
PEOPLE = (500, 1_000, 2_000, 4_000)
SHOWN = 2_000  # among whom the errors are shown one by one
RUNS = 10_000  # of a protocol that draws its tallies from their law
MOST, FEWER = (1_000, 160), (200, 40)  # of one that goes through every person: at most, and at least
MESSAGES = 5e6  # that such runs may have in all, beyond the least
LIMIT = 5.0  # standard errors between simulation and prediction
THEMES = {"light": ".svg", "dark": "-dark.svg"}


@dataclass(frozen=True, eq=False)
class Trial:
    """A protocol in a situation, and the errors of its first judged cell in repeated runs."""

    protocol: Protocol
    situation: Scenario
    errors: Floats

    @property
    def law(self) -> Noise:
        return self.protocol.noise(next(iter(self.situation.holders.values())), self.situation.people)

    @property
    def size(self) -> Size:
        squares = self.errors**2
        rmse = float(np.sqrt(squares.mean()))
        doubt = float(squares.std()) / (2.0 * max(rmse, 1e-12) * np.sqrt(squares.size))
        return Size(self.situation.people, self.law.rmse, rmse, doubt)

    def require(self) -> None:
        """A prediction that is off is no figure but a mistake. Of a sum it may be too large: others are harder."""
        off = (self.size.simulated - self.size.predicted) / max(self.size.doubt, 1e-12)
        if off > LIMIT or (off < -LIMIT and not isinstance(self.situation.task, Sum)):
            raise AssertionError(f"{self.protocol.name} is {off:.1f} standard errors off its prediction: {self.size}")


GROUPED = Mean.posed(bounds=(0, 100), whole=True, categories=["a", "b"]).declared(ReadingOptions(by=("group",)))


def situations(cls: type[Protocol], people: int) -> dict[str, Scenario]:
    """A count where it counts, a histogram of twenty categories, a tree over 64 bins, numbers in two groups, or for a
    sum three crowds to choose from."""
    if Shape.BIT in cls.shapes:
        return {"count": count_scenario(people, people // 5, BUDGET)}
    if Shape.ONE_OF in cls.shapes:
        return {"histogram": histogram_scenario(people, BUDGET)}
    if Shape.K_OF in cls.shapes:
        tree = Distribution((0.0, 64.0), 64, radices=(8, 8))
        return {"distribution": histogram_scenario(people, BUDGET, 64, tree)}
    if Shape.AMOUNT not in cls.shapes:
        return {"spread": spread_scenario(people, BUDGET, GROUPED)}
    half = Scenario(task := Sum((0.0, 1.0)), BUDGET, task.domain.codes(np.full(people, 0.5)), {"all in the middle": 0})
    return {"spread": spread_scenario(people, BUDGET), "parted": parted(people, BUDGET), "half": half}


def hardest(cls: type[Protocol], seed: int) -> str:
    """The crowd whose answers scatter most: what is predicted of a sum is said of the hardest."""
    crowds = situations(cls, PEOPLE[0])
    if len(crowds) == 1:
        return next(iter(crowds))
    return max(crowds, key=lambda name: tried(cls, crowds[name], seed, *FEWER).size.simulated)


def tried(cls: type[Protocol], situation: Scenario, seed: int, most: int, least: int) -> Trial:
    """So many runs where each goes through every person, unless they are too long; more where none does."""
    protocol, values = situation.calibrated(cls), situation.values
    cell, coins = next(iter(situation.judged.values())), SeededCoins(seed)
    if samples_directly(protocol):
        totals = protocol.sample(np.bincount(values, minlength=situation.task.values), coins, RUNS)
    else:
        affordable = MESSAGES / (situation.people * max(1.0, protocol.messages_per_person))
        totals = protocol.repeated(values, coins, min(most, max(least, round(affordable))))
    points = np.array([protocol.point(Tally(situation.people, row))[cell] for row in totals])
    return Trial(protocol, situation, points - situation.task.truth(values)[cell])


def trials(cls: type[Protocol]) -> list[Trial]:
    """Among few and many people; where there are too few for the budget, there is nothing to try."""
    seed = crc32(cls.name.encode())
    crowd, found = hardest(cls, seed), []
    for people in PEOPLE:
        with suppress(Infeasible):
            runs = MOST if people == SHOWN else FEWER
            found.append(tried(cls, situations(cls, people)[crowd], seed + people, *runs))
    return found


def draw(cls: type[Protocol], folder: Path) -> None:
    """Both figures of a protocol, light and dark. What was simulated must be what was predicted."""
    found = trials(cls)
    for one in found:
        one.require()
    shown = next(one for one in found if one.situation.people == SHOWN)
    task, judged = shown.situation.task.name, next(iter(shown.situation.judged))
    what = {"count": f"A count of {judged}", "histogram": f"The largest of 20 counts, {judged}"}
    subtitle = f"{what.get(task, f'A sum of numbers between 0 and 1, {judged}')}; {SHOWN:,} people, {BUDGET}"
    for theme, ending in THEMES.items():
        simulated(
            Runs(shown.errors, shown.law), [one.size for one in found], folder / f"{cls.name}{ending}",
            model=cls.model, theme=theme, title=f"{cls.name}: typically off by {number(shown.law.rmse)}, as predicted",
            subtitle=subtitle, unit="units" if task == "sum" else "people",
        )  # fmt: skip
