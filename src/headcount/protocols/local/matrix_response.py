r"""A randomiser of one's own [BBGN19]: one message, by the chances in a matrix.

Randomiser: with chance `lie` a message of the mean of all rows, otherwise one of the row R of the own value.
Analyser:   least squares: with $m_y$ messages y and W the reciprocals of the mean row r,
            $\hat c = (A m - n\,\mathrm{lie}/k)/(1-\mathrm{lie})$ with $A = (R W R^T)^{-1} R W$, so
            that $A R^T = 1$.
View:       each single report, even if all others collude; the two rows that are told apart best.
Error:      unbiased; $\mathrm{Var}\,\hat c_j = \sum_z c_z \mathrm{Var}[A_{jy} \mid y \sim R_z]$: for the cell j, and
            the value z of everybody else, for which it is largest.

[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from typing import Any, ClassVar, Self

import numpy as np

from headcount.answers.intervals import SKEWED, covering, skewed_by, sure_half_width
from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd, Model, PrivacyLoss
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.pair import ManyPairs, WorstPair
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme import Brick, Chance, Emit, Field, From, Let, Maybe, Table, Tally
from headcount.programme.chance import WORD
from headcount.programme.law import Floats, Law, Noise, weighed
from headcount.protocols.base import Choices, Knob, Protocol, Shape
from headcount.protocols.shared.chance_matrix import Rows, common_denominator, identity, matrix_rows, matrix_text
from headcount.questions import Count, Histogram, Question

CELL = Field.named("cell")
AS_GIVEN = -45.0  # the end of the knob at which nobody lies
FINE = 1 << 12  # steps of a lattice on which scores are put that have none of their own
SAME = 1e-9  # relatively: scores this close are rounded differently
BLURRED = 1e8  # a matrix of a larger condition tells crowds apart by rounding errors alone


def _first_guess(budget: Budget, given: Any) -> float:
    """The knob for a matrix by which everybody says what they hold."""
    return math.log(given["task"].values) - math.log(math.expm1(min(budget.epsilon, 40.0)))


@dataclass(frozen=True, kw_only=True)
class MatrixResponse(Protocol):
    """One message each, by a matrix of one's own: `hc.randomiser` writes it."""

    name: ClassVar[str] = "matrix-response"
    model: ClassVar[Model] = Model.LOCAL
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.BIT})
    knob: ClassVar[Knob] = Knob(
        "lie", lambda u, _: 0.0 if u <= AS_GIVEN else 1.0 / (1.0 + math.exp(-u)), AS_GIVEN, 20.0, _first_guess
    )
    pure: ClassVar[bool] = True
    steady: ClassVar[bool] = False
    reference: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2019, arXiv:1903.02837"

    matrix: str
    lie: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "matrix", matrix_text(self.matrix))
        if self.lie != 0.0:
            self.as_chance("lie", 0.0, 1.0 - 1e-8, Chance.up)
        if len(self.rows) != self.task.values:
            works = f"give a row for each of the {self.task.values} values that a person may hold"
            raise BadArgument("matrix", f"has {len(self.rows)} rows", works)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """Unless a matrix is given, everybody says what they hold, or lies."""
        return ({"matrix": identity(task.values)},)

    @property
    def rows(self) -> Rows:
        """The chances of the messages of those who do not lie."""
        return matrix_rows(self.matrix)

    @cached_property
    def _mean_row(self) -> tuple[Fraction, ...]:
        return tuple(sum(column, Fraction(0)) / len(self.rows) for column in zip(*self.rows, strict=True))

    @cached_property
    def drawn(self) -> Rows:
        """The chances of the messages, exactly as they are drawn."""
        lie = Fraction(self.lie)
        return tuple(
            tuple(lie * usual + (1 - lie) * own for usual, own in zip(self._mean_row, row, strict=True))
            for row in self.rows
        )

    @cached_property
    def chances(self) -> Floats:
        """`drawn`, in doubles."""
        return np.array(self.drawn, dtype=np.float64)

    @property
    def kinds(self) -> int:
        return len(self.rows[0])

    def report(self, value: Field) -> Brick:
        own = Let("cell", From(self._cells), Emit(self._message(value)))
        if not self.lie:
            return own
        usual = Let("usual", From(_table(self._mean_row)), Emit(Field.named("usual")))
        return Maybe(Chance(self.lie), usual, own)

    @cached_property
    def _ends(self) -> tuple[tuple[Fraction, ...], ...]:
        """The cumulative chances of each row, without the last, which is 1."""
        return tuple(tuple(accumulate(row[:-1])) for row in self.rows)

    @cached_property
    def _cuts(self) -> tuple[Fraction, ...]:
        """The cumulative chances of all rows: between two, every value's message is fixed."""
        return tuple(sorted({end for row in self._ends for end in row} - {Fraction(0), Fraction(1)}))

    @property
    def _cells(self) -> Table:
        ends = (Fraction(0), *self._cuts, Fraction(1))
        return _table([above - below for below, above in pairwise(ends)])

    def _message(self, value: Field) -> Field:
        """The value's message in a cell: how many messages of its row end before the cell."""
        cells = len(self._cuts) + 1
        places = [[self._place(end) for end in column] for column in zip(*self._ends, strict=True)]
        passed = [(CELL + (cells - _selected(value, place))) // cells for place in places]
        return sum(passed[1:], passed[0]) if passed else Field.of(0)

    def _place(self, end: Fraction) -> int:
        """The first cell that lies beyond."""
        return sum(start < end for start in (Fraction(0), *self._cuts))

    def view(self, honest: int) -> PrivacyLoss:
        first, second = zip(*combinations(range(len(self.rows)), 2), strict=True)
        return WorstPair(ManyPairs(self.chances[list(first)], self.chances[list(second)]))

    @property
    def message_laws(self) -> MessageLaws:
        return MessageLaws.of(self.chances)

    def shuffled_loss(self, honest: int) -> PrivacyLoss:
        """Exact for a bit that is flipped either way alike."""
        first, second, *_ = self.drawn
        if len(self.drawn) == self.kinds == 2 and second == first[::-1] and 0 < min(first) < max(first):
            return ShuffledBits(Chance.down(float(min(first))), honest - 1)
        return Amplified(self.message_laws, honest)

    @cached_property
    def odds(self) -> Fraction | None:
        """The largest odds of a message between two values; None where one rules a value out."""
        columns = [column for column in zip(*self.drawn, strict=True) if any(column)]
        return None if any(not all(column) for column in columns) else max(max(c) / min(c) for c in columns)

    @property
    def local_epsilon(self) -> float | None:
        return None if self.odds is None else math.log(self.odds.numerator) - math.log(self.odds.denominator)

    @cached_property
    def scores(self) -> Floats:
        """The score of each message: what it adds to the estimate of each cell."""
        rows, usual = np.array(self.rows, dtype=np.float64), np.array(self._mean_row, dtype=np.float64)
        told = usual > 0.0
        weighed = rows[:, told] / usual[told]
        normal = weighed @ rows[:, told].T
        if np.linalg.cond(normal) > BLURRED:
            works = "use rows of which none is a mixture of others"
            raise BadArgument("matrix", "has the same messages for different crowds, so that none can be told", works)
        scores = np.zeros_like(rows)
        scores[:, told] = np.linalg.solve(normal, weighed)
        scores = (scores - self.lie / len(rows)) / (1.0 - self.lie)
        return np.asarray(scores[-self.task.cells :])

    def point(self, tally: Tally) -> Floats:
        return np.asarray(self.scores @ tally.totals, dtype=np.float64)

    @cached_property
    def _values(self) -> range:
        """The values that the cells stand for."""
        return range(len(self.rows))[-self.task.cells :]

    @cached_property
    def _laws(self) -> list[tuple[float, float, list[Law]]]:
        """Per cell, a lattice's step and start, and a report score's law on it, by value."""
        lattices = (_lattice(scores) for scores in self.scores)
        return [(step, first, [_law(places, row) for row in self.chances]) for step, first, places in lattices]

    @cached_property
    def _variances(self) -> Floats:
        """The variances of a report's score: for each cell, by the value that is held."""
        return np.array([[step**2 * law.variance for law in laws] for step, _, laws in self._laws])

    def _hardest_crowd(self, truth: int, reports: int) -> tuple[int, int]:
        """The cell, and what all others hold, of largest error for a cell of `truth` people."""
        own = self._variances[range(len(self._values)), self._values]
        others = self._variances.copy()
        others[range(len(self._values)), self._values] = -1.0
        held = others.argmax(axis=1)
        cell = int((truth * own + (reports - truth) * others.max(axis=1)).argmax())
        return cell, int(held[cell])

    def noise(self, truth: int, reports: int) -> Noise:
        cell, other = self._hardest_crowd(truth, reports)
        step, first, laws = self._laws[cell]
        law, block = Law.coarse_sum((laws[self._values[cell]], truth), (laws[other], reports - truth))
        centre = (truth - reports * first) / step / block
        return Noise.of(law, centre=centre, scale=step * block)

    def size_of_error(self, truth: int, reports: int) -> float:
        cell, other = self._hardest_crowd(truth, reports)
        own = self._variances[cell, self._values[cell]]
        return math.sqrt(truth * own + (reports - truth) * self._variances[cell, other])

    def extremes(self, reports: int) -> tuple[int, ...]:
        """The ends, as the largest of several affine variances is convex."""
        return (0, reports)

    def intervals(self, tally: Tally, confidence: float) -> Floats:
        people, reports = self.point(tally), tally.reports
        spread = max(self.size_of_error(truth, reports) for truth in (0, reports))
        most = float(np.ptp(self.scores, axis=1).max())
        half = np.full(people.size, sure_half_width(most, spread, reports, confidence))
        if reports > SKEWED and spread:
            usual = covering(self, people, reports, confidence) @ np.array([-0.5, 0.5])
            half = np.minimum(half, usual + skewed_by(usual, spread, most))
        return np.stack([people - half, people + half], axis=1)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), matrix="5/8 1/8 1/4; 1/8 3/4 1/8; 1/4 1/4 1/2", lie=0.25)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls(task=Histogram(2), crowd=Crowd(4), matrix="1/2 1/3 1/6 0; 1/6 1/6 1/3 1/3", lie=0.125)
        yield cls(task=Count(), crowd=Crowd(4), matrix="0.7 0.3; 0.2 0.8")
        yield cls.tiny()


def _table(masses: Iterable[Fraction]) -> Table:
    """These chances exactly: a word that is left over is drawn again."""
    masses = [*masses]
    whole = common_denominator((tuple(masses),))
    return Table(0, tuple(int(mass * whole) * (WORD // whole) for mass in masses))


def _selected(value: Field, numbers: list[int]) -> Field:
    """The number that belongs to the value."""
    width = 1 << (len(numbers) - 1).bit_length()
    chosen = Field.of(numbers[0])
    for each, number in enumerate(numbers):
        if number != numbers[0]:
            here = (width - 1 - (value ^ each)) // (width - 1)  # 1 where they are the same, and 0 elsewhere
            chosen = chosen + here * (number - numbers[0])
    return chosen


def _lattice(scores: Floats) -> tuple[float, float, Floats]:
    """A step, a start, and each score's steps from there: whole numbers if they share a lattice."""
    first, span = float(scores.min()), float(np.ptp(scores))
    step = 0.0
    for gap in (scores - first).tolist():
        while gap > SAME * span:
            step, gap = gap, (step % gap if step else 0.0)
            gap = 0.0 if step - gap < SAME * span else gap
    places = (scores - first) / step if step else np.zeros_like(scores)
    if places.max() <= FINE:
        return step or 1.0, first, np.rint(places)
    return span / FINE, first, (scores - first) * (FINE / span)


def _law(places: Floats, chances: Floats) -> Law:
    """The law of a place; between whole numbers it is shared out so that the mean stays."""
    below = np.floor(places)
    part = places - below
    cells = int(below.max()) + 2
    at = below.astype(np.int64)
    return Law(0, weighed(at, chances * (1.0 - part), cells) + weighed(at + 1, chances * part, cells))
