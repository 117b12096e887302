"""The cost of post-quantum seals to a shuffler that takes uploads, beside classical ones."""

from __future__ import annotations

from functools import partial

from headcount.protocols.base.report_size import HYBRID, X25519
from page import Section
from parties import DATABASES, Serving, serving
from timing import Spread
from uploads import CONNECTIONS, kept, sent

RATE = 700.0  # uploads a second: few enough for a machine that has other work
SUITES = {"X25519": X25519, "ML-KEM-768 with X25519": HYBRID}


def measure(quick: bool) -> Section:
    long, rounds = (4.0, 2) if quick else (8.0, 5)
    rows = [row for database in DATABASES for row in _rows(database, long, rounds)]
    return Section(
        "Seals",
        f"{RATE:,.0f} uploads a second for {long:.0f} s, sealed by either suite, {rounds} times in turns. What an "
        "upload takes of a core is what the shuffler used for it: HTTP, opening the outer seal, a share of a commit.",
        ["database", "seal", "bytes of an upload", "half within", "99% within", "core for an upload"],
        rows,
        "To open the outer seal takes about twice as long, all of it in cryptography; the rest is longer bodies.",
    )


def _rows(database: str, long: float, rounds: int) -> list[list[str]]:
    core: dict[str, list[float]] = {name: [] for name in SUITES}
    half, most = ({name: list[float]() for name in SUITES} for _ in range(2))
    size = dict.fromkeys(SUITES, 0)
    with serving(database) as served:
        for _ in range(rounds):
            for name, suite in SUITES.items():
                collection, before = served.collection(1_000, suite), list[float]()
                size[name] = collection.report_format(1).upload_bytes
                noted = partial(_note, served, before)
                seen = sent(served, collection, CONNECTIONS, (RATE, long), before=noted)
                core[name].append((served.processor("shuffler") - before[0]) / len(seen.due))
                half[name].append(seen.milliseconds(0.5))
                most[name].append(seen.milliseconds(0.99))
                kept(served, collection, seen)
    rows = []
    for name in SUITES:
        took = [f"{Spread.of(each[name]):.0f} ms" for each in (half, most)]
        each = Spread.of([1e6 * each for each in core[name]])
        rows.append([database, name, f"{size[name]:,}", *took, f"{each:.0f} µs"])
    plain, hybrid = core.values()
    ratio = Spread.of([more / less for less, more in zip(plain, hybrid, strict=True)])
    return [*rows, [database, "the second, by the first", "", "", "", f"{ratio:.2f}"]]


def _note(served: Serving, before: list[float]) -> None:
    before.append(served.processor("shuffler"))
