"""How far ranges, medians and tables are from the truth, beside the figures that were derived before they were built.

    python benchmarks/distributions.py            exact figures, in a minute
    python benchmarks/distributions.py --runs 400 and errors of the median, simulated, with their standard errors

Errors are in people, at epsilon 1 and delta 1e-6 under replacement; messages are those of a person. What is more than
1% above its figure fails. Radices are given or, where none are, chosen by the advisor.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

import headcount as hc
from headcount.programme.coins import SeededCoins
from headcount.questions.strategies.tree import Tree

EPSILON, DELTA, ALLOWED = 1.0, 1e-6, 1.01
ADULT = {"sex": 2, "race": 5, "relationship": 6, "marital": 7, "workclass": 9, "education": 16}
ADULTS = 48_842


@dataclass(frozen=True)
class Row:
    """A tree by a protocol, and what is expected of it: error of a mean range, largest of a prefix, messages."""

    part: str
    protocol: str
    bins: int
    people: int
    radices: tuple[int, ...] | None
    range_: float
    prefix: float = math.nan
    messages: float = math.nan
    given: tuple[tuple[str, float], ...] = ()
    most: float | None = None

    def planned(self) -> hc.Protocol:
        question = hc.Distribution((0, 1), self.bins, radices=self.radices)
        if self.radices is not None:
            pure = {} if self.protocol == "oracle-by-lot" else {"delta": DELTA}
            return hc.protocol(self.protocol, question, n=self.people, epsilon=EPSILON, **pure, **dict(self.given))
        advice = hc.advise(
            question, n=self.people, epsilon=EPSILON, delta=DELTA, protocols=self.protocol, max_messages=self.most
        )
        return advice.best.protocol

    def figures(self) -> tuple[hc.Protocol, tuple[float, float, float]]:
        found = self.planned()
        tree, cell = found.strategy, found.rmse()
        assert isinstance(tree, Tree)
        largest = cell * math.sqrt(float(tree.prefix_variances.max()))
        return found, (found.error_of_answer(), largest, found.messages_per_person)


SMALL, LARGE, WIDE = 10_000, 1_000_000, 1 << 16
ROWS = (
    Row("A4", "geometric", 64, SMALL, (64,), 9.2, 11.2),
    Row("A4", "geometric", 64, SMALL, (16, 4), 10.0, 11.3),
    Row("A4", "geometric", 1_024, SMALL, (1_024,), 36.6, 44.8),
    Row("A4", "geometric", 1_024, SMALL, (16, 8, 8), 21.9, 22.1),
    Row("A4", "geometric", 1_024, SMALL, (32, 32), 22.1, 22.2),
    Row("A4", "geometric", 1_024, SMALL, None, 21.9),
    Row("A4", "geometric", 1_024, SMALL, (2,) * 10, 34.1, 30.7),
    Row("A4", "geometric", WIDE, SMALL, (16,) * 4, 46.3, 43.1),
    Row("A4", "geometric", 1 << 20, SMALL, (16,) * 5, 65.4),
    Row("A4", "discrete-gaussian", 1_024, SMALL, (8, 4, 4, 4, 2), 24.5, 24.4),
    Row("A4", "discrete-gaussian", WIDE, SMALL, (4,) * 8, 41.2, 37.1),
    Row("A4", "discrete-gaussian", 1 << 20, SMALL, (8,) * 4 + (4,) * 4, 53.7),
    Row("A5", "poisson-histogram", 1_024, SMALL, (1_024,), 85.4, 104.5, 5.4),
    Row("A5", "poisson-histogram", 1_024, SMALL, (32, 32), 34.0, 34.1, 9.9),
    Row("A5", "poisson-histogram", 1_024, SMALL, (16, 8, 8), 27.1, 27.3, 15.8),
    Row("A5", "poisson-histogram", 1_024, SMALL, (4,) * 5, 25.8, 24.0, 29.6),
    Row("A5", "poisson-histogram", 1_024, SMALL, (8, 4, 4, 4, 2), 24.6, 24.5, 35.7),
    Row("A5", "correlated-histogram", 1_024, LARGE, (32, 32), 23.2, 23.3, 3.13),
    Row("A5", "padded-histogram", 1_024, LARGE, (32, 32), 22.1, math.nan, math.nan, (("analyser_scale", 0.0),)),
    Row("A5", "hashed-histogram", 1_024, SMALL, None, 29.8, math.nan, 6.6, (), 6.6),
    Row("A5", "hashed-histogram", 1_024, SMALL, None, 26.8, math.nan, 12.8, (), 13.0),
    Row("A5", "hashed-histogram", WIDE, SMALL, None, 49.9, math.nan, 15.6, (), 15.75),
    Row("A5", "hashed-histogram", WIDE, SMALL, None, 44.8, math.nan, 28.8, (), 28.8),
    Row("A5", "hashed-histogram", WIDE, LARGE, None, 43.9, math.nan, 14.1, (), 14.1),
    Row("A8", "oracle-by-lot", 1_024, SMALL, (1_024,), 2_508, 3_070, 1.0),
    Row("A8", "oracle-by-lot", 1_024, SMALL, (8, 4, 4, 4, 2), 788, 783, 1.0),
    Row("A8", "oracle-by-lot", 1_024, SMALL, (4,) * 5, 826, 766, 1.0),
    Row("A8", "oracle-by-lot", 1_024, LARGE, (8, 4, 4, 4, 2), 7_880, 7_826, 1.0),
)


def tables() -> Iterator[tuple[str, float, float]]:
    """B4: the root mean square error of a cell, over margins."""
    for model, expected in (("shuffle", 20.16), ("local", 1_430.0)):
        delta = 0.0 if model == "local" else DELTA
        best = hc.advise(hc.Table(ADULT), n=ADULTS, epsilon=EPSILON, delta=delta, models=model).options[0]
        yield f"six columns, {best.name}", best.rmse, expected


def medians(runs: int) -> Iterator[tuple[str, float, float, str]]:
    """A8: the root mean square error of the median in people, of log-normal data and of two humps."""
    ranks = (np.arange(SMALL) + 0.5) / SMALL
    normal, halves = (np.array([*map(NormalDist().inv_cdf, places.tolist())]) for places in (ranks, 2.0 * ranks % 1.0))
    data = {
        "log-normal": np.exp(0.6 * normal - 1.5),
        "two humps with few between": np.where(ranks < 0.5, 0.3, 0.7) + 0.05 * halves,
    }
    expected = {"geometric": "10 to 14", "poisson-histogram": "11 to 13"}
    for name, radices in (("geometric", (32, 32)), ("poisson-histogram", (4,) * 5)):
        protocol = hc.protocol(
            name, hc.Distribution((0, 1), 1_024, radices=radices), n=SMALL, epsilon=EPSILON, delta=DELTA
        )
        for shape, values in data.items():
            codes = protocol.task.domain.codes(np.clip(values, 0.0, 1.0))
            held = np.bincount(codes, minlength=1_024)
            below, off = np.append(0, np.cumsum(held)), []
            for totals in protocol.sample(held, SeededCoins(3), runs):
                people = protocol.estimate(hc.Tally(SMALL, totals, released=True)).people
                place = int(np.flatnonzero(np.cumsum(people) >= SMALL / 2)[0])
                off.append(max(0.0, SMALL / 2 - below[place + 1], below[place] - SMALL / 2))
            squares = np.array(off) ** 2
            error = math.sqrt(float(squares.mean()))
            told = expected[name] if shape == "log-normal" else "-"
            yield f"{name}, {shape}", error, float(squares.std()) / math.sqrt(runs) / (2.0 * error), told


def too_large(row: Row, found: tuple[float, float, float]) -> bool:
    """Whether a figure is more than 1% above what was derived, to the digits that it has."""
    pairs = zip(found, (row.range_, row.prefix, row.messages), strict=True)
    return any(figure > ALLOWED * expected + 0.05 for figure, expected in pairs)


def main() -> None:
    given = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    given.add_argument("--runs", type=int, default=0, help="simulate medians, so often")
    runs, worse = given.parse_args().runs, 0
    print(f"{'':4} {'protocol':22} {'bins':>9} {'people':>9}  {'tree':28} mean range      largest prefix  messages")
    for row in ROWS:
        protocol, found = row.figures()
        pairs = list(zip(found, (row.range_, row.prefix, row.messages), strict=True))
        worse += too_large(row, found)
        shown = "  ".join(f"{figure:7,.1f}/{'-' if math.isnan(told) else f'{told:g}':6}" for figure, told in pairs)
        radices = "x".join(map(str, protocol.task.radices or ()))
        print(f"{row.part:4} {row.protocol:22} {row.bins:9,} {row.people:9,}  {radices:28} {shown}", flush=True)
    for name, figure, expected in tables():
        worse += figure > ALLOWED * expected
        print(f"B4   {name:52} {figure:7,.2f}/{expected:g}", flush=True)
    for name, error, spread, expected_text in medians(runs) if runs else ():
        print(f"A8   median, {name:44} {error:7.2f} ± {spread:.2f}/{expected_text}", flush=True)
    print(f"{worse} of {len(ROWS) + 2} are more than 1% above their figures")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
