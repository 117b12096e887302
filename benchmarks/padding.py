"""The error of padded counts and histograms, collected from devices by a shuffler and an analyser that listen.

    python benchmarks/padding.py [--people 10000] [--categories 1000] [--histograms 20] [--counts 100] [--unsealed …]

Every device is one of its own, and answers over HTTP. The error of a histogram is over its categories. It is the same
in every crowd, as that of a count is, so that it is measured over many small ones. A count is one number for a whole
batch: to one percent it is measured by what the shuffler draws and the analyser counts and releases, unsealed.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence

import numpy as np

import headcount as hc
from headcount.figures.text_table import TextTable
from headcount.programme.coins import SecretCoins
from headcount.programme.tally import Batch
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service.cli.releases import Released
from headcount_service.client.simulated import report_all
from parties import Serving, serving

BUDGET = hc.Budget(1, 1e-6)
FEW = range(3)  # people of a small crowd
VALUES = 7  # categories that anybody holds
COLUMNS = ("plan", "analyser's noise", "devices", "bytes", "rmse ± its standard error", "predicted", "certificate")


def measured(parties: Serving, protocol: Protocol, answers: Sequence[int]) -> tuple[np.ndarray, int, str]:
    """The errors of one release, what a device has sent, and what is proved."""
    plan = hc.Plan(protocol, BUDGET, Wire.of(protocol, BUDGET, X25519))
    desk, population = parties.desk, f"people at {time.time_ns()}"
    desk.endow(population, 2, 1e-5)
    terms = {"window": 36_000, "admission": "anyone", "fixed": False, "trust_all": True}
    collection = desk.create(plan, question="Which?", population=population, **terms)
    receipts = report_all(desk.shuffler.address, collection.id, answers, hash=collection.hash)
    assert {receipt.messages for receipt in receipts} == {1}
    desk.close(collection.id)
    told = Released(desk.release(collection.id))
    several = protocol.task.shape.several
    values = [cell["value"] for cell in told.estimate["cells"]] if several else [told.estimate["value"]]
    truth = np.bincount(answers, minlength=len(values)) if several else [sum(answers)]
    return np.array(values) - truth, receipts[0].bytes, told.verify().answer


def row(parties: Serving, analyser: bool, answers: Sequence[int], categories: int, times: int) -> tuple[str, ...]:
    task, name = (hc.Histogram(categories), "padded-histogram") if categories else (None, "padded-count")
    given = {"n": 10_000, "least": len(answers), "epsilon": 1, "delta": 0.99e-6, "analyser": analyser}
    protocol = hc.protocol(name, task, **given)
    found = [measured(parties, protocol, answers) for _ in range(times)]
    devices = f"{len(answers):,}" if times == 1 else f"{times} × {len(answers)}"
    errors = np.concatenate([each[0] for each in found])
    return name, "yes" if analyser else "no", devices, str(found[0][1]), *erring(errors, protocol), found[0][2]


def unsealed(analyser: bool, answers: Sequence[int], times: int) -> tuple[str, ...]:
    """A count by what the parties draw and count, without seals and network."""
    given = {"n": 10_000, "least": len(answers), "epsilon": 1, "delta": 0.99e-6, "analyser": analyser}
    protocol, coins, errors = hc.protocol("padded-count", **given), SecretCoins(), []
    sent = np.array([(answer,) for answer in answers], dtype=protocol.message)
    for _ in range(times):
        seen = Batch(len(answers), np.concatenate([sent, protocol.padding(coins)]))
        errors.append(protocol.estimate(protocol.release(protocol.tally(seen), padded=True)).value - sum(answers))
    told = erring(np.array(errors), protocol)
    return "padded-count", "yes" if analyser else "no", f"{times:,} × {len(answers)}", "unsealed", *told, ""


def erring(errors: np.ndarray, protocol: Protocol) -> tuple[str, str]:
    """The root mean square, with its standard error, and what is predicted."""
    squares = errors**2
    rmse = math.sqrt(squares.mean())
    spread = squares.std() / math.sqrt(squares.size) / (2.0 * rmse)
    return f"{rmse:.3f} ± {spread:.3f} of {errors.size:,}", f"{protocol.rmse():.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors of padded counts and histograms, collected from devices.")
    usual = {"people": 10_000, "categories": 1_000, "histograms": 20, "counts": 100, "unsealed": 100_000}
    for name, times in usual.items():
        parser.add_argument(f"--{name}", type=int, default=times)
    told = parser.parse_args()
    wanted = [(list(range(told.people)), told.categories, min(1, told.people)), (FEW, told.categories, told.histograms)]
    with serving("SQLite") as parties:
        rows = [
            row(parties, own, [person % (VALUES if categories else 2) for person in people], categories, times)
            for people, categories, times in [*wanted, (FEW, 0, told.counts)]
            if times
            for own in (True, False)
        ]
    rows += [unsealed(own, [0, 1, 0], told.unsealed) for own in (True, False) if told.unsealed]
    print(TextTable(COLUMNS, tuple(rows), frozenset({2, 3, 4, 5}), "one message from every device").text())


if __name__ == "__main__":
    main()
