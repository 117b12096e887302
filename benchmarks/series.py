"""How far rounds, and sums over a year, are from the truth, beside figures that were derived before they were built.

    python benchmarks/series.py            exact figures, in a minute
    python benchmarks/series.py --prove    and every claim checked again from its certificate alone

Errors are in people, for 10,000 of them, at delta 1e-6 for all rounds together. What is more than 1% above its figure
fails, and so does a claim that is not proved. Advice for 365 rounds should take at most 2 s of a processor at rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

import headcount as hc
from headcount.planner.calibrate import calibrations
from headcount.protocols import named

PEOPLE, DELTA, ALLOWED, SECONDS = 10_000, 1e-6, 1.01, 2.0
ADD_REMOVE, REPLACE = "add-remove", "replace"


@dataclass(frozen=True)
class Row:
    """A promise for all rounds, and the error of each round, or of the largest sum, that is expected of a protocol."""

    what: str
    protocol: str
    rounds: int
    expected: float
    epsilon: float = 1.0
    overhead: float | None = None
    sums: str = ""  # the neighbours, where everybody comes once and sums are told

    def found(self) -> tuple[float, hc.Plan]:
        """The error, and the plan that has it."""
        if self.overhead is not None:
            budget, wished = hc.Budget(self.epsilon, DELTA, rounds=self.rounds), {"overhead": self.overhead}
            each = calibrations(named(self.protocol), hc.Count(), hc.Crowd(PEOPLE), budget, **wished)
            best = min(each, key=hc.Protocol.rmse)
            return best.rmse(), hc.Plan(best, budget)
        option = hc.advise(
            "count",
            n=PEOPLE,
            epsilon=self.epsilon,
            delta=DELTA,
            rounds=self.rounds,
            contributes=1 if self.sums else None,
            neighbours=self.sums or REPLACE,
            protocols=self.protocol,
        ).feasible[0]
        return option.rmse, option.plan


ROWS = (
    Row("each round, noise within 1%", "correlated-count", 4, 5.70, overhead=0.01),
    Row("each round, own noise", "correlated-count", 12, 14.2, overhead=0.01),
    Row("each round, own noise", "correlated-count", 12, 3.95, 4.0, overhead=0.01),
    Row("each round", "poisson-count", 52, 30.8),
    Row("each round", "discrete-gaussian", 52, 30.47),
    Row("each round", "poisson-count", 365, 80.8),
    Row("each round", "discrete-gaussian", 365, 80.8),
    Row("each round, a panel", "randomised-response", 52, 780.0),
    Row("largest sum, two levels", "geometric", 365, 17.5, sums=ADD_REMOVE),
    Row("largest sum, square root", "discrete-gaussian", 365, 12.4, sums=ADD_REMOVE),
    Row("largest sum, two levels", "geometric", 365, 33.9, sums=REPLACE),
    Row("largest sum, square root", "discrete-gaussian", 365, 15.8, sums=REPLACE),
)


def too_large(row: Row, error: float) -> bool:
    """Whether an error is more than 1% above what was derived."""
    return error > ALLOWED * row.expected


def advised() -> float:
    """Seconds of a processor for advice on 365 rounds, over the whole catalogue."""
    began = process_time()
    hc.advise("count", n=PEOPLE, epsilon=1, delta=DELTA, rounds=365)
    return process_time() - began


def lines(prove: bool) -> Iterator[tuple[str, bool]]:
    """What is printed, and whether it is as it should be."""
    yield f"{'advice for 365 rounds, seconds of a processor':86} {advised():8.2f} / {SECONDS:g}", True
    for row in ROWS:
        error, plan = row.found()
        promise = f"({row.epsilon:g}, {DELTA:g}), {row.rounds} rounds, {row.sums or REPLACE}"
        answer = hc.verify(hc.certify(plan)).answer if prove else ""
        told = f"{row.what:28} {row.protocol:20} {promise:36} {error:8.2f} / {row.expected:g}  {answer}"
        yield told.rstrip(), not too_large(row, error) and answer in ("", "proved")


def main() -> None:
    given = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    given.add_argument("--prove", action="store_true", help="prove every claim again from its certificate")
    wrong = 0
    for told, right in lines(given.parse_args().prove):
        print(told if right else f"{told}  WORSE", flush=True)
        wrong += not right
    print(f"{wrong} of {len(ROWS)} are worse than their figures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
