"""Is the advisor's recommendation the best there is? By brute force over the catalogue, and runs.

    python -m headcount_survey.pages.recommendations [--runs 20000] [--out docs/recommendations.md]

The command fails if any other plan would have a smaller objective, or if the simulated errors of
the recommended plan are larger than a rival's by more than five standard errors of their
difference.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headcount.audit.conformance.scenarios import samples_directly
from headcount.errors import Refused
from headcount.planner.advice import Advice
from headcount.planner.calibrate import calibrations
from headcount.planner.option import TOO_MANY, CalibratedOption, number
from headcount.privacy.crowd import Crowd
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount_survey.pages.measures import CONFIDENCE, called_none, contradiction, predicted, simulated
from headcount_survey.pages.questions import Asked, grid
from headcount_survey.pages.situations import RUNS

LIMIT = 5.0
MESSAGES = 6e7  # that all runs of a plan may have together, where every person is gone through
HEAVY = 5e6  # messages of a single run, which must all be in memory: such a rival is measured and not run
RIVALS = 3
SPREAD = 1.1  # from one setting to the next, of a parameter that the advisor searches: calibrated one by one
CLOSE = 1e-3


def by_force(asked: Asked) -> Iterator[tuple[float, Protocol]]:
    """Every choice of every trusted protocol within the budget, with its objective in people."""
    for cls in CATALOGUE:
        if cls.answers(asked.task) and cls.model in asked.trusted:
            try:
                for setting in _settings(cls, asked):
                    for protocol in calibrations(cls, asked.task, Crowd(asked.people), asked.budget, **setting):
                        yield _predicted(asked, protocol), protocol
            except Refused:
                continue


def _settings(cls: type[Protocol], asked: Asked) -> Iterable[dict[str, int]]:
    """The protocol's own choices; for a parameter that the advisor searches, its whole range."""
    if not cls.searched:
        return ({},)
    listed = sorted(choice[cls.searched] for choice in cls.choices(asked.task, Crowd(asked.people), asked.budget))
    steps = math.ceil(math.log(listed[-1] / listed[0]) / math.log(SPREAD))
    spread = {*listed, *(round(listed[0] * SPREAD**step) for step in range(steps))}
    return ({cls.searched: setting} for setting in sorted(spread))


def _predicted(asked: Asked, protocol: Protocol) -> float:
    return predicted(protocol, asked.objective, asked.held or (asked.people,), asked.people)


@dataclass(frozen=True)
class Rival:
    """Another plan, its objective predicted and simulated, and how far it contradicts advice."""

    name: str
    predicted: float
    simulated: float
    z: float
    runs: int


@dataclass(frozen=True)
class Examined:
    """A recommendation: in the task's unit."""

    asked: Asked
    name: str
    predicted: float
    simulated: float
    least: float  # of all plans, by brute force
    plans: int
    runs: int
    rivals: tuple[Rival, ...]

    @property
    def smallest(self) -> bool:
        return self.predicted <= self.least * (1.0 + CLOSE) + 1e-12

    @property
    def worst_z(self) -> float:
        return max((rival.z for rival in self.rivals), default=0.0)

    @property
    def fine(self) -> bool:
        return self.smallest and self.worst_z <= LIMIT

    def _told(self, rival: Rival) -> str:
        fewer = f" in {rival.runs:,} runs" if rival.runs < self.runs else ""
        return f"{rival.name} {rival.z:+.1f}{fewer}"

    def row(self) -> str:
        nearest, *others = self.rivals or [Rival("none", math.nan, math.nan, 0.0, self.runs)]
        verdict = "holds" if self.fine else "contradicted" if self.smallest else "not the best"
        cells = [
            self.asked.words,
            self.asked.objective,
            self.name,
            _shown(self.predicted),
            _shown(self.simulated),
            nearest.name,
            _shown(nearest.predicted),
            _shown(nearest.simulated),
            f"{nearest.z:+.1f}",
            ", ".join(self._told(rival) for rival in others),
            f"{self.plans}",
            f"{min(self.runs, nearest.runs):,}",
            verdict,
        ]
        return "| " + " | ".join(cells) + " |"


def _shown(value: float) -> str:
    return "" if math.isnan(value) else number(value)


def examine(asked: Asked, runs: int = RUNS, seed: int = 0, advice: Advice | None = None) -> Examined:
    """The advisor's answer, or another that is put in its place."""
    first = (advice or asked.advice()).feasible[0]
    every = list(by_force(asked))
    usable = [plan for plan in every if plan[1].messages_per_person <= TOO_MANY] or every
    others = _rivals([plan for plan in usable if _light(plan[1])], first.protocol)
    unit, mine = asked.task.unit(asked.people), runs_of(first.protocol, runs)
    compare = _detected if asked.objective == "detectable" else _errors
    figure, rivals = compare(asked, first, [protocol for _, protocol in others], runs, seed)
    return Examined(
        asked=asked,
        name=first.name,
        predicted=first.objective,
        simulated=figure * unit,
        least=min(least for least, _ in usable) * unit,
        plans=len(every),
        runs=mine,
        rivals=tuple(
            Rival(protocol.name, least * unit, seen * unit, z, min(mine, runs_of(protocol, runs)))
            for (least, protocol), (seen, z) in zip(others, rivals, strict=True)
        ),
    )


def _rivals(plans: Iterable[tuple[float, Protocol]], first: Protocol) -> list[tuple[float, Protocol]]:
    """The best settings of the nearest other protocols, and of every other model's best one."""
    found: list[tuple[float, Protocol]] = []
    for least, protocol in sorted(plans, key=lambda plan: (plan[0], plan[1].messages_per_person)):
        met = [first, *(each for _, each in found)]
        known, trusted = {each.name for each in met}, {each.model for each in met}
        if protocol.name not in known and (len(found) < RIVALS or protocol.model not in trusted):
            found.append((least, protocol))
    return found


def _light(protocol: Protocol) -> bool:
    return samples_directly(protocol) or protocol.crowd.size * protocol.messages_per_person <= HEAVY


def runs_of(protocol: Protocol, runs: int) -> int:
    """Fewer where people are gone through and there are many of them or of their messages."""
    if samples_directly(protocol):
        return runs
    return min(runs, max(200, int(MESSAGES / (protocol.crowd.size * max(1.0, protocol.messages_per_person)))))


def _errors(
    asked: Asked, first: CalibratedOption, others: list[Protocol], runs: int, seed: int
) -> tuple[float, list[tuple[float, float]]]:
    mine = asked.errors(first.protocol, runs_of(first.protocol, runs), seed, asked.held)
    found = []
    for protocol in others:
        theirs = asked.errors(protocol, runs_of(protocol, runs), seed, asked.held)
        both = min(len(mine), len(theirs))
        z = contradiction(mine[:both], theirs[:both], asked.objective)
        found.append((simulated(theirs, asked.objective), z))
    return simulated(mine, asked.objective), found


def _detected(
    asked: Asked, first: CalibratedOption, others: list[Protocol], runs: int, seed: int
) -> tuple[float, list[tuple[float, float]]]:
    """How often each notices the number that the best one can just tell from none.

    It must be 19 times out of 20, and must not be.
    """
    least, error = round(first.objective), math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / runs)

    def noticed(protocol: Protocol, ones: int) -> float:
        told = asked.errors(protocol, runs, seed, (ones,)) + ones
        return float(np.mean(told > called_none(protocol.noise(0, asked.people))))

    own = (CONFIDENCE - noticed(first.protocol, least)) / error
    shares = [noticed(protocol, least - 1) for protocol in others]
    return noticed(first.protocol, least), [(share, max(own, (share - CONFIDENCE) / error)) for share in shares]


HEAD = """# Is the recommendation the best?

Made by `make recommendations`. In each situation the advisor is asked. Then every choice that a protocol
lists of its settings (of a threshold, which the advisor searches, every one from the least to the largest in steps of
{step:.0%}) is calibrated and measured again, for every protocol that may be trusted, by brute force and from the bare law
of its error: none may have an objective that is smaller by more than {close:g} of it. And the recommended plan is run {runs:,} times, through `sample`, beside its {rivals} nearest rivals and the
best of every other model, on the same data and with the same seeds (fewer times where everybody must be gone through
in a large crowd: see *runs*; not at all where a run has more than {heavy:,.0f} messages). **z** is by how many standard errors of the difference the recommended plan turned out
*worse*: of the squared errors run by run; or of the share of errors below the 95% quantiles, where those are compared.
It may be {limit:g} at most; below zero the simulation speaks for the recommendation.

What is predicted of a sum is the error of the crowd that is hardest to estimate, so each plan has the crowd that is
hardest for it. For *detectable* the predicted figure is the fewest ones that can be told from none 19 times out of 20;
the simulated one is how often the recommended plan noticed so many, and a rival one fewer. *worst-bin* is within which
all bins are at once.

| situation | objective | recommended | predicted | simulated | nearest rival | predicted | simulated | z | other rivals, z | plans | runs | verdict |
|---|---|---|---:|---:|---|---:|---:|---:|---|---:|---:|---|
"""  # noqa: E501


def _job(given: tuple[int, int]) -> Examined:
    place, runs = given
    return examine(list(grid())[place], runs, place)


def summary(found: list[Examined]) -> str:
    wrong = sum(not each.fine for each in found)
    return (
        f"{len(found)} situations, {sum(each.plans for each in found):,} plans measured, "
        f"{sum(len(each.rivals) for each in found)} rivals simulated; worst z {max(e.worst_z for e in found):+.1f}; "
        f"{'every recommendation holds' if not wrong else f'{wrong} do not hold'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="The advisor's recommendations against brute force and simulation.")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = []
    with ProcessPoolExecutor() as pool:
        for each in pool.map(_job, [(place, given.runs) for place in range(len(list(grid())))]):
            found.append(each)
            print(each.row(), flush=True)
    if given.out:
        head = HEAD.format(runs=given.runs, rivals=RIVALS, limit=LIMIT, heavy=HEAVY, step=SPREAD - 1.0, close=CLOSE)
        rows = "".join(f"{each.row()}\n" for each in found)
        given.out.write_text(f"{head}{rows}\n{summary(found)}\n", encoding="utf-8")
    print(summary(found))
    sys.exit(not all(each.fine for each in found))


if __name__ == "__main__":
    main()
