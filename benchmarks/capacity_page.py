"""The page on capacity: what was measured, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import capacity_words as words
import split
from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line as Stroke
from headcount.figures.lines import Note, Panel, lines
from headcount.figures.text_table import TextTable
from model import BUSY, DAY, Line, bottleneck, cores_for, people_a_day, shards
from parties import DATABASES
from stages import Measured

STAGES = ("uploads", "mixing", "handing on", "opening and counting")
NAMED = ("cheu-count", "zsum", "poisson-histogram", "correlated-count")
USUAL, CROWD = "zsum", 10**6
CORES = (1, 2, 4, 16, 64)
WINDOWS = {"an hour": 3_600.0, "a day": DAY}
GIGABYTE = 1e9


def costs(seen: Measured, database: str, messages: int) -> dict[str, float]:
    """Seconds of a core for each person, by stage. An upload is opened once, however many messages are in it."""
    each = {stage: seen.line(f"{stage}, {database}").each for stage in STAGES}
    return {stage: cost * (1 if stage == "uploads" else messages) for stage, cost in each.items()}


def batch(seen: Measured, database: str, messages: int) -> Line:
    """Seconds of a batch, by people: its stages come one after the other, each on one core."""
    parts = [seen.line(f"{stage}, {database}") for stage in STAGES[1:]]
    whole = Line(sum(p.fixed for p in parts), sum(p.each for p in parts), sum(p.unsure for p in parts))
    return whole.times(messages)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], words_first: int = 1) -> str:
    figures = frozenset(range(words_first, len(headings)))
    return TextTable(tuple(headings), tuple(tuple(row) for row in rows), figures).markdown()


def page(seen: Measured, facts: str, others: float, *, quick: bool) -> str:
    parts = [
        words.HEAD.format(hurried=words.HURRIED if quick else "", machine=facts, others=others, busy=f"{BUSY:.0%}"),
        short(seen), words.FIGURE,
        words.MEASURED, measured(seen), words.SENT, sent(), words.PEOPLE, people(seen), words.NEEDED, needed(seen),
        words.DISK, disk(seen), words.SPLIT.format(busy=f"{BUSY:g}"), splitting(seen),
        words.APART, apart(), words.TOGETHER, left(), words.CASCADE, cascade(seen), words.LEDGER, ledger(seen),
        words.FILES, files(seen), words.BILLION, words.TODAY,
    ]  # fmt: skip
    return "\n\n".join(part.strip() for part in parts) + "\n"


def short(seen: Measured) -> str:
    plan = split.sent(USUAL, CROWD)
    each = costs(seen, DATABASES[0], plan.messages)
    full, most = bottleneck(each), batch(seen, DATABASES[0], plan.messages).most(DAY)
    billion = sum(cores_for(10**9, cost) for cost in each.values())
    return (
        f"**In short.** For a count by {USUAL}, of {plan.messages} messages and {plan.upload} bytes from everybody, a "
        f"core that is busy half the time takes {_round(people_a_day(sum(each.values()), 1))} people a day through all "
        f"stages together; *{full}* is full first. A thousand million people a day would keep {number(billion)} such "
        f"cores busy and send {10**9 * plan.upload / GIGABYTE:,.0f} GB. One batch cannot be that large: one process "
        f"mixes it and one opens it, and {_round(most)} people are through in a day."
    )


def measured(seen: Measured) -> str:
    rows = []
    for database in DATABASES:
        for stage in STAGES:
            line, points = seen.line(f"{stage}, {database}"), seen.points[f"{stage}, {database}"]
            what = "uploads" if stage == "uploads" else "messages"
            rows.append([
                stage, database, _sizes(points, what), f"{1e3 * line.fixed:,.0f} ms",
                f"{1e6 * line.each:.1f} ± {2e6 * line.unsure:.1f} µs", f"{1.0 / line.each:,.0f}/s",
            ])  # fmt: skip
    line, points = seen.line("sealing, by messages"), seen.points["sealing, by messages"]
    rows.append(["sealing, on a device", "", _sizes(points, "messages a report"), f"{1e3 * line.fixed:.2f} ms",
                 f"{1e6 * line.each:.1f} ± {2e6 * line.unsure:.1f} µs", f"{1.0 / line.each:,.0f}/s"])  # fmt: skip
    for database in DATABASES:
        for role in ("shuffler", "analyser"):
            line, points = (f(f"memory of the {role}, {database}") for f in (seen.line, seen.points.__getitem__))
            rows.append([f"memory of the {role}", database, _sizes(points, "messages"), f"{line.fixed:,.0f} MB",
                         f"{1e6 * line.each:,.0f} ± {2e6 * line.unsure:,.0f} bytes", ""])  # fmt: skip
    return table(["stage", "database", "measured at", "fixed", "and for each", "of a core"], rows, 3)


def sent() -> str:
    rows = []
    for name in split.COLLECTED:
        for crowd in split.CROWDS:
            plan = split.sent(name, crowd)
            rows.append([
                name, f"{crowd:,}", str(plan.messages), f"{plan.message} B", f"{plan.upload:,} B",
                *(f"{number(crowd * size / GIGABYTE)} GB" for size in (plan.upload, plan.delivered)), number(plan.rmse),
            ])  # fmt: skip
    return table(
        ["plan", "people", "messages each", "a message", "an upload", "all uploads", "handed on", "error"], rows
    )


def people(seen: Measured) -> str:
    rows = []
    for name in NAMED:
        plan = split.sent(name, CROWD)
        each = costs(seen, DATABASES[0], plan.messages)
        full = bottleneck(each)
        for stage, cost in each.items():
            mark = "**" if stage == full else ""
            taken = [f"{mark}{_round(people_a_day(cost, cores))}{mark}" for cores in CORES]
            rows.append([name if stage == STAGES[0] else "", f"{mark}{stage}{mark}", *taken])
    return table(["plan", "stage", *(f"{cores} core{'s' * (cores > 1)}" for cores in CORES)], rows, 2)


def needed(seen: Measured) -> str:
    rows = []
    for name in NAMED:
        for crowd in (10**6, 10**9):
            plan = split.sent(name, crowd)
            each = costs(seen, DATABASES[0], plan.messages)
            cores = [f"{cores_for(crowd, cost):,.2g}" for cost in (*each.values(), sum(each.values()))]
            rows.append([name, f"{crowd:,}", *cores])
    return table(["plan", "people a day", *STAGES, "all"], rows)


def disk(seen: Measured) -> str:
    rows = []
    for database in DATABASES:
        before, analyser = (
            seen.line(f"{place}, {database}") for place in ("on the disk before mixing", "on the analyser's disk")
        )
        after = max(0.0, max(cost for _, cost in seen.points[f"on the disk after purge, {database}"]))
        rows.append([
            database, *(f"{line.each:,.0f} ± {2 * line.unsure:,.0f} B" for line in (before, analyser)),
            f"{after:,.0f} B in all", *(f"{number(many * before.each / GIGABYTE)} GB" for many in (10**6, 10**9)),
        ])  # fmt: skip
    return table(
        ["database", "a report, before mixing", "a message, at the analyser", "after purge", "10^6 reports", "10^9"],
        rows,
    )


def splitting(seen: Measured) -> str:
    rows = []
    for name in NAMED:
        for window, length in WINDOWS.items():
            plan = split.sent(name, CROWD)
            each = costs(seen, DATABASES[0], plan.messages)
            most = batch(seen, DATABASES[0], plan.messages).most(length)
            rate = BUSY / sum(each[stage] for stage in STAGES[:3])
            rows.append([
                name, window, f"{rate:,.0f}/s, {_round(rate * length)}", _round(most),
                *(f"{shards(crowd, length, most, rate):,}" for crowd in (10**6, 10**7, 10**8, 10**9)),
            ])  # fmt: skip
    heads = ["plan", "window", "taken by one shuffler", "largest batch", "shufflers for 10^6", "10^7", "10^8", "10^9"]
    return table(heads, rows, 2)


def apart() -> str:
    rows = []
    for name in split.SPLIT:
        for crowd in (10**6, 10**9):
            errors = [split.apart(name, crowd, k) for k in split.SHARDS]
            rows.append([name, f"{crowd:,}", *map(number, errors), f"{errors[-1] / errors[0]:.3f}"])
    return table(["plan", "people", *(f"k = {k}" for k in split.SHARDS), "16 over 1"], rows)


def left() -> str:
    rows = []
    for name in split.SPLIT:
        rows.append([name, *(f"{split.left(name, CROWD, k):.2g}" for k in split.SHARDS)])
    return table(["plan", *(f"k = {k}" for k in split.SHARDS)], rows)


def cascade(seen: Measured) -> str:
    rows = []
    opening = seen.line(f"opening and counting, {DATABASES[0]}").each
    handing = sum(seen.line(f"{stage}, {DATABASES[0]}").each for stage in ("mixing", "handing on"))
    seal = seen.line("sealing, by messages").each
    for name in NAMED:
        plan = split.sent(name, CROWD)
        before = sum(costs(seen, DATABASES[0], plan.messages).values())
        more = plan.messages * (opening + handing)
        rows.append([
            name, f"{plan.upload:,} B", f"{plan.cascaded:,} B", f"{plan.cascaded / plan.upload - 1.0:.0%}",
            f"{1e6 * before:,.0f} µs", f"{1e6 * (before + more):,.0f} µs", f"{1e6 * plan.messages * seal:,.0f} µs",
        ])  # fmt: skip
    heads = ["plan", "upload", "with two shufflers", "more", "a person's cost", "with two", "more on the device"]
    return table(heads, rows)


def ledger(seen: Measured) -> str:
    points = seen.points["a charge, by earlier ones"]
    rows = [[f"{earlier:,.0f}", f"{1e3 * cost:,.0f} ms"] for earlier, cost in points]
    line = seen.line("a charge, by earlier ones")
    (many, reading), (_, size) = seen.points["reading a ledger again"][0], seen.points["bytes of a ledger"][0]
    after = (
        f"By the line through them a charge takes {1e3 * line.fixed:,.0f} ms, and {1e3 * line.each:.2f} ± "
        f"{2e3 * line.unsure:.2f} ms more for each earlier one. A ledger of {many:,.0f} charges is {size / 1e3:,.0f} "
        f"kB and is read and checked again in {reading:.1f} s."
    )
    return table(["earlier charges", "a charge"], rows) + "\n\n" + after


def files(seen: Measured) -> str:
    rows = []
    for kind, whom in (("geometric", "central"), ("zsum", "shuffle")):
        line, points = (f(f"rows of a file, {kind}") for f in (seen.line, seen.points.__getitem__))
        rows.append([
            f"{kind} ({whom})", _sizes(points, "rows"), f"{1e3 * line.fixed:,.0f} ms",
            f"{1e9 * line.each:,.1f} ± {2e9 * line.unsure:,.1f} ns", f"{1.0 / line.each / 1e6:,.0f} million/s",
            f"{line.at(1e9):,.1f} s",
        ])  # fmt: skip
    return table(["plan", "measured at", "fixed", "and for each row", "of a core", "10^9 rows, one core"], rows, 2)


def drawn(seen: Measured, path: Path, theme: str) -> Path:
    plan, sizes = split.sent(USUAL, CROWD), [10.0**power for power in range(6, 10)]
    each = costs(seen, DATABASES[0], plan.messages)
    strokes = [Stroke(stage, [(x, cores_for(x, cost)) for x in sizes]) for stage, cost in each.items()]
    left_panel = Panel(
        strokes, Axis("people a day", log=True), Axis("cores kept busy half the time", log=True),
        "What it takes", [Note("one core", y=1.0)],
    )  # fmt: skip
    parts = [2**power for power in range(5)]
    curves = [Stroke(name, [(k, split.apart(name, CROWD, k)) for k in parts], name) for name in split.SPLIT]
    right = Panel(
        curves,
        Axis("shards, each mixed by itself", log=True),
        Axis("error of their sum, people", log=True),
        "What splitting costs",
    )
    title = "More people take more cores; shards that are mixed apart take accuracy"
    fitted = f"Left: {USUAL}, {plan.messages} messages each, fitted to measurements"
    exact = f"Right: {CROWD:,} people, exact, {split.BUDGET}"
    return lines([left_panel, right], path, theme=theme, title=title, subtitle=f"{fitted}. {exact}")


def _sizes(points: Sequence[tuple[float, float]], what: str) -> str:
    return f"{min(x for x, _ in points):,.0f} to {max(x for x, _ in points):,.0f} {what}"


def _round(value: float) -> str:
    """Two digits are all that such figures are good for."""
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{float(f'{value / size:.2g}'):,g} {name}"
    return f"{float(f'{value:.2g}'):,.0f}"
