"""How much privacy does shuffling add to a local report: by closed forms, by numerical bounds, and
exactly?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.privacy import laws
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance
from headcount.programme.law import Floats
from headcount_survey.study import Finding, Study

DELTA = 1e-6
LOCAL = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0)
DOTTED = (1.5, 2.5)  # over the bound that it attains
PEOPLE, TWO = 10_000, 2.0
CROWDS = (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000)
KINDS, ANSWERS = (2, 3, 5, 10, 20, 50, 100), 10
CALLED = {
    "none": "without a shuffler",
    "erlingsson": "Erlingsson et al. 2019",
    "blanket": "Balle et al. 2019, closed form",
    "clones_formula": "Feldman et al. 2021, closed form",
    "clones": "clones, computed",
    "cover": "blanket, computed",
    "exact": "exact",
}
LOOKS: dict[str, tuple[str, tuple[float, ...]]] = {
    "none": ("soft", RULE),
    "erlingsson": ("hashing", BOUND),
    "blanket": ("sampling", BOUND),
    "clones_formula": ("central noise", BOUND),
    "clones": ("central noise", ()),
    "cover": ("sampling", ()),
    "exact": ("ink", ()),
}


class Amplification(Study):
    name: ClassVar[str] = "amplification"
    question: ClassVar[str] = "How much privacy does a shuffler add to reports that are already private on their own?"
    source: ClassVar[str] = "amplification by shuffling: Erlingsson et al. 2019, Balle et al. 2019, Feldman et al. 2021"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        local, crowds, kinds = ((0.3,), CROWDS[:3:2], KINDS[1:2]) if quick else (LOCAL, CROWDS, KINDS)
        grid = {(2, e, PEOPLE) for e in local} | {(ANSWERS, e, PEOPLE) for e in local}
        grid |= {(2, TWO, n) for n in crowds} | {(k, TWO, PEOPLE) for k in kinds} | {(ANSWERS, TWO, PEOPLE)}
        rows = [{"answers": k, "local_epsilon": e, "people": n, **shuffled(k, e, n)} for k, e, n in watch(sorted(grid))]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_drawn, rows))


def shuffled(answers: int, local: float, people: int) -> dict[str, float | None]:
    """Epsilon of the shuffled reports by each method, at the study's delta; None where a method has
    no claim."""
    lie = answers / (math.exp(local) + answers - 1.0)
    exact = (
        ShuffledBits(Chance(lie / 2.0), people - 1).epsilon(DELTA)
        if answers == 2
        else _solved(lambda epsilon: attained(answers, lie, people, epsilon), local)
    )
    return {
        "none": local,
        "erlingsson": erlingsson(local, people),
        "blanket": blanket(local, people),
        "clones_formula": clones_formula(local, people),
        "clones": clones(local, people, answers).epsilon(DELTA),
        "cover": Amplified(MessageLaws.response(lie, answers), people).epsilon(DELTA),
        "exact": exact,
    }


def clones(local: float, people: int, answers: int) -> Amplified:
    """Those of any randomiser; of one flipped bit, where nothing else is sent, they are all the lies."""
    lie = 2.0 / (math.exp(local) + 1.0)
    return Amplified(MessageLaws.response(lie, 2) if answers == 2 else MessageLaws.clones(local), people)


def erlingsson(local: float, people: int) -> float | None:
    """Stated for at least 1,000 people and local epsilons up to 1/2."""
    if local > 0.5 or people < 1_000:
        return None
    return min(local, 12.0 * local * math.sqrt(math.log(1.0 / DELTA) / people))


def blanket(local: float, people: int) -> float:
    """The theorem for any local randomiser, solved for epsilon; shuffling never harms."""
    spread = (math.exp(local) - math.exp(-local)) ** 2

    def delta(epsilon: float) -> float:
        ratio = math.tanh(epsilon / 2.0) ** 2 / spread
        rate = (1.0 - math.exp(-2.0)) * people * min(math.exp(-local), ratio)
        return math.exp(-rate) * (math.exp(epsilon) + 1.0) ** 2 * spread / (4.0 * people * math.expm1(epsilon))

    return _solved(delta, local)


def clones_formula(local: float, people: int) -> float | None:
    """Stated for local epsilons up to ln(n / 16 ln(2/delta))."""
    if local > math.log(people / (16.0 * math.log(2.0 / DELTA))):
        return None
    more = math.exp(local)
    inner = 8.0 * math.sqrt(more * math.log(4.0 / DELTA) / people) + 8.0 * more / people
    return min(local, math.log1p(math.tanh(local / 2.0) * inner))


def attained(answers: int, lie: float, people: int, epsilon: float) -> float:
    """Delta of one crowd, in which everybody else holds a third answer: no bound on delta can lie
    below it.

    With N the counts of n messages that hold the third answer, and mu the law of a message, the
    view of a person who holds x has masses (1/n) sum_w N_w mu_x(w)/mu_3(w) times those of N: the
    divergence is an expectation over N."""
    each, factor = lie / answers, math.exp(epsilon)
    keep = 1.0 - lie + each
    third = (factor - 1.0) * each / keep  # what a message with the third answer counts against
    gain, cost = (keep - factor * each) / each + third, (factor * keep - each) / each - third
    against, fixed = factor - 1.0 - third, third * people
    seconds, rests, masses = _others(people, each, (answers - 3) * each)
    level = (cost * seconds + against * rests + fixed) / gain
    return float((masses * _above(level, people - seconds - rests, each / (each + keep))).sum()) * gain / people


def _others(people: int, second: float, rest: float) -> tuple[Floats, Floats, Floats]:
    """Counts of two cells of a multinomial on a coarse grid, with their masses: smooth where the
    grid is coarse."""
    law = laws.binomial(people, second)
    step = max(1, int(law.masses.size // 100))
    seconds, first = law.values[::step], law.masses[::step] * step
    share = rest / (1.0 - second)
    wide = laws.binomial(people, share) if rest else laws.binomial(1, 0.0)
    low, high = max(0, wide.start - wide.masses.size // 2), wide.start + 3 * wide.masses.size // 2
    stride = max(1, (high - low) // 200)
    masses = (
        laws.binomials(people - seconds, share, low, high)[:, ::stride] * stride if rest else np.ones((first.size, 1))
    )
    rests = np.arange(low, high + 1)[::stride] if rest else np.zeros(1)
    across = np.broadcast_to(seconds[:, None], masses.shape).astype(np.float64)
    return across, np.broadcast_to(rests, masses.shape).astype(np.float64), first[:, None] * masses


def _above(level: Floats, trials: Floats, chance: float) -> Floats:
    """E[(Bin(trials, chance) - level)_+], for levels of 0 or more."""
    last, slots = np.floor(level).astype(np.int64), trials.astype(np.int64)
    tail, inner = laws.binomial_above(last, slots, chance), laws.binomial_above(last - 1, slots - 1, chance)
    return np.where(last >= slots, 0.0, np.maximum(trials * chance * inner - level * tail, 0.0))


def _solved(delta: Callable[[float], float], local: float) -> float:
    """The smallest epsilon up to the local one at which delta is small enough."""
    if delta(local) > DELTA:
        return local
    low, high = 1e-6, local
    while high - low > 1e-5 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if delta(middle) > DELTA else (low, middle)
    return high


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    cells = [
        (
            str(row["answers"]),
            f"{row['local_epsilon']:g}",
            f"{row['people']:,}",
            *("" if row[name] is None else f"{row[name]:.3g}" for name in list(CALLED)[1:]),
        )
        for row in rows
    ]
    names = [*list(CALLED.values())[1:-1], "exact, or attained by a crowd"]
    return TextTable(("answers", "local epsilon", "people", *names), tuple(cells), frozenset(range(9)))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    at = {(row["answers"], row["local_epsilon"], row["people"]): row for row in rows}
    two, ten = at[2, TWO, PEOPLE], at[ANSWERS, TWO, PEOPLE]
    binary = [row for row in rows if row["answers"] == 2]
    several = [row for row in rows if row["answers"] > 2]
    loose = max(min(row["clones_formula"] or math.inf, row["blanket"]) / row["exact"] for row in binary)
    clones = [row["clones"] / row["exact"] for row in binary]
    gap = [row["cover"] / row["exact"] for row in several]
    few, many = (f(row["people"] for row in rows) for f in (min, max))
    falls = at[2, TWO, few]["exact"] / at[2, TWO, many]["exact"]
    return (
        f"Much, and the closed forms hide most of it. {PEOPLE:,} flipped bits of local epsilon {TWO:g} have epsilon "
        f"{two['exact']:.3f} once shuffled (delta {DELTA:g}); clones, computed, say {two['clones']:.3f}, their closed "
        f"form {two['clones_formula']:.3f} and the blanket's {two['blanket']:.3f}. Over the grid the best closed form "
        f"is up to {number(loose)} times too large and the computed clones {min(clones):.2f} to {max(clones):.2f} "
        f"times. With {ANSWERS} answers instead of two the same local epsilon leaves {ten['exact']:.3f}, attained by a "
        f"crowd of which everybody else holds a third answer, and the computed blanket is {min(gap):.4f} to "
        f"{max(gap):.4f} times what such crowds attain: with three answers or more it is as good as exact. From "
        f"{few:,} to {many:,} people epsilon falls {number(falls)} times; in proportion to 1/√n it would fall "
        f"{number(math.sqrt(many / few))} times."
    )


def _drawn(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def drawn(key: str, fixed: dict[str, float], every: Sequence[str]) -> list[Line]:
        chosen = sorted((row for row in rows if all(row[k] == v for k, v in fixed.items())), key=lambda row: row[key])
        found = []
        for name in every:
            points = [(float(row[key]), row[name]) for row in chosen if row[name] is not None]
            label = "attained by a crowd" if name == "exact" and fixed.get("answers") != 2 else CALLED[name]
            hue, dashes = LOOKS[name]
            found.append(Line(label, points, hue, DOTTED if label != CALLED[name] else dashes))
        return found

    every, computed = list(CALLED), ["blanket", "clones_formula", "clones", "cover", "exact"]
    single = [name for name in every if name != "cover"]  # for one bit that is what the clones are
    local, after = Axis("local epsilon", log=True, low=0.1, high=5.0), "epsilon, shuffled"
    panels = [
        Panel(
            drawn("local_epsilon", {"answers": 2, "people": PEOPLE}, single),
            local,
            Axis(after, log=True, low=2e-3, high=8.0),
            f"One bit, {PEOPLE:,} people",
        ),
        Panel(
            drawn("local_epsilon", {"answers": ANSWERS, "people": PEOPLE}, every),
            local,
            Axis(after, log=True, low=9e-4, high=8.0),
            f"{ANSWERS} answers, {PEOPLE:,} people",
        ),
        Panel(
            drawn("people", {"answers": 2, "local_epsilon": TWO}, single[2:]),
            Axis("people", log=True),
            Axis(after, log=True),
            f"One bit, local epsilon {TWO:g}",
        ),
        Panel(
            drawn("answers", {"people": PEOPLE, "local_epsilon": TWO}, computed),
            Axis("answers", log=True),
            Axis(after, log=True),
            f"Several answers, local epsilon {TWO:g}",
        ),
    ]
    return lines(
        panels,
        path,
        title="Shuffling adds far more privacy than the closed forms say",
        subtitle=f"Randomised response, shuffled, at δ = {DELTA:g}: upper bounds, beside what is exact or attained",
        theme=theme,
    )
