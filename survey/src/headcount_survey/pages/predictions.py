"""Predicted bias, variance, interval and coverage against simulation, for each protocol and task.

    python -m headcount_survey.pages.predictions [--runs 20000] [--out docs/predictions.md]

Each figure is judged in standard errors of the simulation itself; the command fails if any is off
by more than five.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path

from headcount.audit.conformance.predictions import CONFIDENCE, LIMIT, JudgedPrediction, judge_predictions
from headcount.audit.conformance.scenarios import Scenario
from headcount.privacy.model import Model
from headcount.protocols import named
from headcount_survey.pages.situations import RUNS, answering, entrant, situations


def _job(given: tuple[int, str, int]) -> list[JudgedPrediction]:
    place, name, runs = given
    situation = list(situations())[place]
    protocol = entrant(named(name), situation, runs)
    return [] if protocol is None else judge_predictions(protocol, situation, runs, place)


def judgements(runs: int) -> Iterator[tuple[Scenario, JudgedPrediction]]:
    """All judgements, made on all cores, in the order of the situations and of the catalogue."""
    grid = list(situations())
    jobs = [(place, cls.name, runs) for place, each in enumerate(grid) for cls in answering(each.task)]
    with ProcessPoolExecutor() as pool:
        for (place, _, _), found in zip(jobs, pool.map(_job, jobs), strict=True):
            yield from ((grid[place], judged) for judged in found)


SEVERAL = {"histogram", "distribution", "table"}  # of whose cells some are judged
HEAD = (
    "| protocol | model | bias | z | std | simulated | z | 95% ± | within | inside | coverage | wider |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
)
PROSE = """# Predicted and simulated error

Made by `make predictions`: {runs:,} seeded runs of every row, through the protocol's own `sample`, which draws tallies
from their law where that is known and goes through every person where it is not.

- **bias, std**: as predicted from the exact law of the error; the z beside each is how many standard errors of the
  simulation, by its own fourth moment, lie between the two. It may be {limit:g} at most.
- **95% ±**: the predicted half-width h. *Within* is how often the error was at most h, *inside* how often it was less
  than h, which is what the next shorter interval about the answer would cover. The first must reach 95%, the second
  must not, up to {limit:g} standard errors of {error:.4f}: no shorter interval of the same kind, equally wide on both
  sides and chosen before the data are seen, would do.
- **coverage**: of the interval that comes with the answer, at least 95% less {limit:g} standard errors; and how many
  times **wider** it is on average than the predicted one. It is the same where the error does not hang on the data.
  Elsewhere nobody knows the truth when the interval is made, and it holds every truth that would have called this
  answer likely; `sample-threshold` makes it tail by tail, and what is suppressed may be anything small.
- **sums and means**: what is predicted is the error of the crowd that is hardest to estimate, because an interval must
  hold for any. Where *all hold the hardest value* all of the above is judged. Other crowds may have less error, never
  more, and a shorter interval could do for them if it were known that they are the ones who come (in brackets).
- **histograms**: the largest and the smallest category are judged, with two thirds as many people in each as in the
  one before.
- **distributions and tables**: so are two cells of the first level of a tree, and of the first margin that is measured,
  before least squares.
"""


def row(judged: JudgedPrediction) -> str:
    name = f"{judged.protocol}, {judged.cell}" if judged.task in SEVERAL else judged.protocol
    cells = [
        name,
        str(judged.model),
        f"{_clean(judged.bias):.4g}",
        f"{judged.bias_z:+.1f}",
        f"{_clean(judged.std):.4g}",
        f"{judged.simulated_std:.4g}",
        f"{judged.variance_z:+.1f}",
        f"{judged.half:.4g}",
        f"{judged.within:.4f}",
        f"{judged.inside:.4f}" if judged.exact else f"({judged.inside:.4f})",
        f"{judged.coverage:.4f}",
        f"{judged.wider:.2f}" if math.isfinite(judged.wider) else "",
    ]
    return "| " + " | ".join(cells) + " |"


def _clean(value: float) -> float:
    return round(value, 9) + 0.0


def page(found: Sequence[tuple[Scenario, JudgedPrediction]], runs: int) -> str:
    error = math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / runs)
    lines = [PROSE.format(runs=runs, limit=LIMIT, error=error), *_overview([judged for _, judged in found]), ""]
    for situation, rows in groupby(found, key=lambda pair: pair[0]):
        lines += [f"## {situation.words[0].upper()}{situation.words[1:]}", "", *HEAD]
        lines += [*(row(judged) for _, judged in rows), ""]
    return "\n".join([*lines, summary(found), ""])


def _overview(rows: Iterable[JudgedPrediction]) -> Iterator[str]:
    """For every task and model the number of judgements, and the worst of each figure."""
    yield "| task | model | rows | worst z of bias | of variance | least within | most inside | least coverage |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    tasks, models = ("count", "fraction", "histogram", "sum", "mean", "distribution", "table"), list(Model)
    place = {(task, model): i for i, (task, model) in enumerate((t, m) for t in tasks for m in models)}
    for (task, model), some in groupby(
        sorted(rows, key=lambda row: place[row.task, row.model]), key=lambda row: (row.task, row.model)
    ):
        these = list(some)
        bias, variance, within, inside, coverage = _worst(these)
        yield (
            f"| {task} | {model} | {len(these)} | {bias:.1f} | {variance:.1f} | {within:.4f} | {inside:.4f} "
            f"| {coverage:.4f} |"
        )


def _worst(rows: Sequence[JudgedPrediction]) -> tuple[float, float, float, float, float]:
    return (
        max(abs(row.bias_z) for row in rows),
        max(abs(row.variance_z) if row.exact else max(row.variance_z, 0.0) for row in rows),
        min(row.within for row in rows),
        max((row.inside for row in rows if row.exact), default=0.0),
        min(row.coverage for row in rows),
    )


def summary(found: Sequence[tuple[Scenario, JudgedPrediction]]) -> str:
    rows = [judged for _, judged in found]
    bias, variance, within, inside, coverage = _worst(rows)
    wrong = sum(not row.holds for row in rows)
    return (
        f"{len({id(situation) for situation, _ in found})} situations, {len(rows)} rows of {rows[0].runs:,} runs, "
        f"{len({row.protocol for row in rows})} protocols: worst z {bias:.1f} of bias and {variance:.1f} of variance, "
        f"worst coverage {coverage:.4f}, worst tightness {within:.4f} within and {inside:.4f} inside the predicted "
        f"interval; {'all hold' if not wrong else f'{wrong} do not hold'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Predicted error and coverage against simulation.")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each protocol in each situation")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found = list(judgements(arguments.runs))
    if arguments.out:
        arguments.out.write_text(page(found, arguments.runs), encoding="utf-8")
    else:
        print(page(found, arguments.runs))
    for situation, judged in found:
        if not judged.holds:
            print(f"{situation.words}: {row(judged)}", file=sys.stderr)
    print(summary(found))
    sys.exit(any(not judged.holds for _, judged in found))


if __name__ == "__main__":
    main()
