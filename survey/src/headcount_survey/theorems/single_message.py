"""One message each and no delta: the shuffler hides nothing that the randomiser does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from math import log
from pathlib import Path
from typing import ClassVar

from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Panel, lines
from headcount.planner.selection import Progress
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance
from headcount.programme.coins import Coins, SeededCoins
from headcount_survey.study import Verdict
from headcount_survey.theorems.claim import Case, Checked, Claim, Claims, Form, crowd, shown
from headcount_survey.theorems.multi_message import GAP
from headcount_survey.theorems.views import PLACE, Randomiser

SEED = 12
CROWDS = tuple(sorted({round(10 ** (i / 6)) for i in range(19)}))
ALMOST = Fraction(999, 1000)


@dataclass(frozen=True)
class Tried:
    """A randomiser by name, in a crowd of this size."""

    name: str
    randomiser: Randomiser
    people: int

    def __str__(self) -> str:
        return f"{self.name}, {crowd(self.people)}"


def extremal() -> Iterator[tuple[str, Randomiser]]:
    """Randomisers all of whose ratios are 1 or 3: the best ones have but two."""
    for values in (2, 3):
        rows = [[3 if i == j else 1 for j in range(values)] for i in range(values)]
        yield f"response over {values} values", Randomiser.single(rows)
        yield f"response over {values} values, or silence", Randomiser.single([[*row, 2] for row in rows])
    pairs = [(0, 1), (0, 2), (1, 2)]
    yield (
        "one pair of three values",
        Randomiser.single([[3 if i in pair else 1 for pair in pairs] for i in range(3)]),
    )


def random(many: int, coins: Coins) -> Iterator[tuple[str, Randomiser]]:
    """Two or three values, two or three messages, chances from 1 to 20 parts."""
    for i in range(many):
        values, messages = (2 + coins.below(2, 2)).tolist()
        rows = 1 + coins.below(20, values * messages).reshape(values, messages)
        yield f"random {i + 1} ({values} values, {messages} messages)", Randomiser.single(rows.tolist())


def crowded(randomisers: Iterator[tuple[str, Randomiser]], most: int) -> list[Tried]:
    return [Tried(name, r, people) for name, r in randomisers for people in range(1, most + 1)]


def local_below_shuffled(tried: Tried) -> Case:
    """The theorem: the randomiser's own ratio is at most the shuffled crowd's."""
    return Case(str(tried), tried.randomiser.factor(1), tried.randomiser.factor(tried.people))


def shuffled_below_local(tried: Tried) -> Case:
    """Shuffling never hurts either."""
    case = local_below_shuffled(tried)
    return Case(case.at, case.right, case.left)


def violating_crowds(randomiser: Randomiser, factor: Fraction) -> tuple[int, int, int]:
    """Two values and a message whose likelihood ratio between people holding them breaks it.

    The event is that all messages are this one.
    """
    for x, other in product(range(len(randomiser.reports)), repeat=2):
        for message, weight in randomiser.reports[x].items():
            if weight > factor * randomiser.reports[other].get(message, 0):
                return x, other, message
    raise ValueError("the randomiser is as private as that")


def witnessed(tried: Tried) -> Case:
    """Just below the randomiser's own epsilon: e**epsilon times one chance, and the other."""
    randomiser, people = tried.randomiser, tried.people
    factor = ALMOST * Fraction(randomiser.factor(1))
    x, other, message = violating_crowds(randomiser, factor)
    values = range(len(randomiser.reports))
    same = tuple(people * (value == x) for value in values)
    changed = tuple(held - (value == x) + (value == other) for value, held in enumerate(same))
    event = people * message
    parts = randomiser.total**people
    less, more = (Fraction(randomiser.view(held).get(event, 0), parts) for held in (changed, same))
    return Case(str(tried), factor * less, more)


def silent(tried: Tried) -> Case:
    """The last message is silence, seen by nobody; n is known. The ratios must be the same."""
    randomiser, people = tried.randomiser, tried.people
    hidden = PLACE * (len(randomiser.reports[0]) - 1)
    seen = Randomiser(tuple({m & ((1 << hidden) - 1): w for m, w in row.items()} for row in randomiser.reports))
    return Case(str(tried), randomiser.factor(1), seen.factor(people))


def approximate(tried: Tried, factor: Fraction, *, times: int) -> Case:
    """The randomiser's delta at epsilon and ln(times) more, against the crowd's at epsilon."""
    left = tried.randomiser.delta(1, factor * times)
    return Case(f"{tried}, e^epsilon = {factor}", left, tried.randomiser.delta(tried.people, factor))


class SingleMessage(Checked):
    name: ClassVar[str] = "single-message"
    question: ClassVar[str] = "Is a pure guarantee with one message each ever better shuffled than not?"
    source: ClassVar[str] = "the notes on pure shuffle privacy; claim 4.2 and theorem 4.1 of Balcer and Cheu"
    statement: ClassVar[str] = (
        "If everybody sends at most one message and the shuffled messages of n people are epsilon-private (delta = "
        "0), then each message is epsilon-private on its own, for the same epsilon, whatever n. With delta above 0 "
        "it is (epsilon + ln n, delta)-private."
    )
    verdict: ClassVar[Verdict] = Verdict.CORRECTED
    draws: ClassVar[bool] = True

    def claims(self, quick: bool, watch: Progress) -> Claims:
        most = 3 if quick else 5
        tried = crowded(extremal(), most) + crowded(random(15 if quick else 100, SeededCoins(SEED)), most)
        factors = [(one, factor) for one in tried for factor in (Fraction(1), Fraction(5, 4), Fraction(2))]
        gaps = [Tried("R-gap, four messages each", GAP, people) for people in range(2, 6)]
        several = [one for one in factors if one[0].people > 1]
        return {
            "local": Claim.over(
                "the local ratio is at most that of the shuffled crowd", map(local_below_shuffled, watch(tried))
            ),
            "tight": Claim.over("and never less", map(shuffled_below_local, tried)),
            "witness": Claim.over("the crowds of the proof violate any smaller epsilon", map(witnessed, tried)),
            "silence": Claim.over(
                "the same if one of the messages is silence", map(silent, [one for one in tried if one.people < 4])
            ),
            "approximate": Claim.over(
                "with delta, ln n more is enough for the local guarantee",
                (approximate(one, factor, times=one.people) for one, factor in factors),
            ),
            "with-delta": Claim.over(
                "with delta, the local guarantee is the shuffled one too",
                (approximate(one, factor, times=1) for one, factor in several),
                Form.TWIN,
            ),
            "several-messages": Claim.over(
                "the local ratio is at most that of the shuffled crowd, for several messages each",
                map(local_below_shuffled, gaps),
                Form.TWIN,
            ),
        }

    def answer(self, claims: Claims) -> str:
        local, gap, delta = claims["local"], claims["several-messages"].worst, claims["with-delta"].worst
        return (
            "The two guarantees are not only ordered but equal, to the last digit, in "
            f"{local.cases} crowds: without delta a shuffler adds nothing to single messages, and "
            "crowds that show it can be written down. Silence counts as a message, because the "
            "number of people is known. Both conditions are needed. With several messages "
            f"({gap.at}) the shuffled ratio is {shown(gap.right)} and the local one has no bound; "
            f"with delta ({delta.at}) the crowd loses {shown(delta.right)} and the message "
            f"{shown(delta.left)}, and so a paper that sends more messages, or allows a delta, "
            "contradicts nothing."
        )

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        curves = [Line("delta = 0", [(n, log(3)) for n in CROWDS])]
        curves += [Line(f"delta = {delta:g}", _amplified(delta)) for delta in (1e-9, 1e-6, 1e-3)]
        panel = Panel(curves, Axis("people", log=True), Axis("epsilon of the shuffled crowd"))
        title = "Without delta a crowd hides nobody who sends one message; with a little of it, it does"
        text = "Each person's bit is kept with chance 3/4, which alone is private with epsilon = ln 3"
        return lines([panel], path, title=title, subtitle=text, theme=theme)


@cache
def _amplified(delta: float) -> list[tuple[float, float]]:
    """Epsilon of shuffled bits kept with chance 3/4; never more than that of one alone."""
    return [(n, min(ShuffledBits(Chance.up(0.25), n - 1).epsilon(delta), log(3))) for n in CROWDS]
