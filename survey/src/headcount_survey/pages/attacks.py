"""Every protocol under attack, beside the exact epsilon of the same crowd.

    python -m headcount_survey.pages.attacks [--samples 1000000] [--out docs/attacks.md]
    python -m headcount_survey.pages.attacks --alarms 200 [--samples 100000]

For each tiny instance the law of its view is enumerated, and the delta is that of the epsilon from
0.3 to 4 which samples see most sharply. The command fails if a lower bound lies above the exact
epsilon or the claim, or if no instance of a protocol's task lets nine tenths of the exact epsilon
be found. With `--alarms` it attacks sound instances that often, with other coins each time, where
they claim an epsilon of 1, and fails if any of them raises an alarm.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from headcount.audit.attacks.lower_bound import attack
from headcount.audit.conformance.exact_loss import exact_delta
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol

EPSILONS = np.round(np.geomspace(0.3, 4.0, 40), 2)
STEP = 1e-4
REACHED = 0.9

# Where a tiny instance gives nearly everything away at any epsilon, or where its views hardly ever
# repeat.
MORE: dict[tuple[str, str], Callable[[Any], Protocol]] = {
    ("geometric", "distribution"): lambda tiny: replace(tiny, scale=0.5),
    ("geometric", "table"): lambda tiny: replace(tiny, scale=0.5),
    ("discrete-gaussian", "distribution"): lambda tiny: replace(tiny, scale=0.6),
    ("negative-binomial-count", "count"): lambda tiny: replace(tiny, shape=6.0, decay=0.4),
    ("split-and-mix", "sum"): lambda tiny: replace(tiny, crowd=Crowd(2), inner=6.0),
    ("poisson-histogram", "distribution"): lambda tiny: replace(tiny, mean=0.8),
    ("poisson-histogram", "table"): lambda tiny: replace(tiny, mean=0.8),
    ("correlated-histogram", "histogram"): lambda tiny: replace(tiny, crowd=Crowd(2), inner=3.0, decay=0.1),
}


@dataclass(frozen=True)
class Row:
    """One attack: what is true, what was found, and what is claimed."""

    protocol: str
    task: str
    relation: str
    people: int
    delta: float
    exact: float
    found: float
    claimed: float
    samples: int

    @property
    def reached(self) -> float:
        return self.found / self.exact

    @property
    def sound(self) -> bool:
        return self.found <= min(self.claimed, self.exact)


def instances() -> Iterator[Protocol]:
    return (instance for cls in CATALOGUE for tiny in cls.tinies() for instance in like(tiny))


def like(tiny: Protocol) -> Iterator[Protocol]:
    """The instance itself, and another one where that shows little."""
    yield tiny
    first = next(each for each in type(tiny).tinies() if each.task.name == tiny.task.name)
    if (tiny.name, tiny.task.name) in MORE and tiny == first:
        yield MORE[tiny.name, tiny.task.name](tiny)


def attacks(samples: int = 10**6, seed: int = 1, among: Iterable[Protocol] | None = None) -> Iterator[Row]:
    """One row for each instance whose delta depends on epsilon, in the catalogue's order."""
    for protocol in instances() if among is None else among:
        point = sharpest(protocol, protocol.crowd.honest)
        if point is None:
            continue
        exact, delta = point
        found = attack(protocol, samples=samples, delta=delta, coins=SeededCoins(seed))
        yield Row(
            protocol.name,
            protocol.task.name,
            protocol.neighbours.words,
            max(map(sum, found.pair)),
            delta,
            exact,
            found.epsilon,
            found.claim,
            samples,
        )


def _attacked(samples: int, seed: int, protocol: Protocol) -> list[Row]:
    return list(attacks(samples, seed, [protocol]))


def sharpest(protocol: Protocol, people: int) -> tuple[float, float] | None:
    """The epsilon from 0.3 to 4 that samples see best, and its exact delta; None if it is constant.

    The best event at epsilon has a chance of q = -delta' e^-epsilon for the one crowd and delta +
    e^epsilon q for the other, so that the curve alone says how well it can be told from samples.
    """
    exact = exact_delta(protocol, people, [*EPSILONS, *(EPSILONS + STEP)])
    here, beyond = np.array([float(delta.high) for delta in exact]).reshape(2, -1)
    fall = (here - beyond) / STEP
    p, q = np.minimum(here + fall, 1.0), fall * np.exp(-EPSILONS)
    spread = np.sqrt(p * (1.0 - p)) + np.exp(EPSILONS) * np.sqrt(q * (1.0 - q))
    told = (fall > 1e-6) & (here > 1e-9)
    missed = np.full(EPSILONS.size, math.inf)
    missed[told] = spread[told] / (fall[told] * EPSILONS[told])
    best = int(np.argmin(missed))
    return (float(EPSILONS[best]), float(here[best])) if told.any() else None


def false_alarms(runs: int, samples: int) -> list[str]:
    """Sound instances in turn, each with other coins: those that seemed violated."""
    sound = itertools.islice(itertools.cycle([tiny for cls in CATALOGUE for tiny in cls.tinies()]), runs)
    found = (attack(protocol, samples=samples, coins=SeededCoins(seed)) for seed, protocol in enumerate(sound))
    return [f"{one.protocol.name}: {one}" for one in found if one.violated]


HEAD = """# Attacks

Made by `make attacks`. Small instances of each protocol are run {samples:,} times for each of
two crowds that must look alike. *Exact* is the epsilon at this delta of the enumerated law, *found* a lower bound on it
from the outside (wrong with a chance of at most one in a million), *claimed* the protocol's own. Where an instance
gives the same away at any epsilon it is left out; where it gives nearly everything away, or where its views hardly
ever repeat, another one follows.

| protocol | task | neighbours | people | delta | found | exact | claimed | found / exact |
|---|---|---|---:|---:|---:|---:|---:|---:|
"""


def left_out(rows: Iterable[Row]) -> str:
    """The page's sentence about protocols without a row; empty where all have one."""
    seen = {row.protocol for row in rows}
    names = ", ".join(f"`{cls.name}`" for cls in CATALOGUE if cls.name not in seen)
    return f"\nLeft out: {names}.\n" if names else ""


def _line(row: Row) -> str:
    claim = f"{row.claimed:.3f}" if math.isfinite(row.claimed) else "none"
    return (
        f"| `{row.protocol}` | {row.task} | {row.relation} | {row.people} | {row.delta:.4g} | {row.found:.3f} | "
        f"{row.exact:.3f} | {claim} | {row.reached:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=lambda text: int(float(text)), default=10**6, help="runs of each crowd")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the page to write")
    parser.add_argument("--alarms", type=int, help="how many attacks on sound instances to look for alarms in")
    options = parser.parse_args()
    if options.alarms:
        alarms = false_alarms(options.alarms, options.samples)
        print(f"{options.alarms:,} attacks on sound instances, {len(alarms)} alarms")
        sys.exit("\n".join(alarms) or 0)
    rows = []
    with ProcessPoolExecutor() as pool:
        for found in pool.map(partial(_attacked, options.samples, options.seed), instances()):
            rows += found
            print(*map(_line, found), sep="\n", flush=True)
    if options.out:
        options.out.write_text(
            HEAD.format(samples=options.samples) + "\n".join(map(_line, rows)) + "\n" + left_out(rows)
        )
    best: dict[tuple[str, str, str], float] = {}
    for row in rows:
        which = (row.protocol, row.task, row.relation)
        best[which] = max(best.get(which, 0.0), row.reached)
    problems = [f"{row.protocol}: {row.found:.4g} was found" for row in rows if not row.sound]
    problems += [f"{which[0]}: only {reached:.2f} was found" for which, reached in best.items() if reached < REACHED]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
