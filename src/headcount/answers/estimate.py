"""An answer: a number or several, how far off they may be, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from headcount.answers.arithmetic import Arithmetic
from headcount.answers.cell import Cell, rows_sheet
from headcount.answers.change import Part
from headcount.answers.error_law import ErrorLaw
from headcount.answers.intervals import digits
from headcount.answers.labels import called, plain
from headcount.answers.linear import CellErrors, Linear, cell_errors
from headcount.answers.two_runs import Operand
from headcount.answers.worst_case import worst_truth
from headcount.common.quantity import require_confidence
from headcount.errors import BadArgument, Unsupported
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.privacy.budget import Budget, total
from headcount.programme.law import Floats, Noise
from headcount.programme.tally import Tally
from headcount.questions.domains.categories import OTHER
from headcount.questions.domains.domain import REBUILT, Label, Shape

if TYPE_CHECKING:
    from headcount.answers.top import Top
    from headcount.protocols.base.plan import Plan
    from headcount.protocols.base.protocol import Protocol

SHOWN = 20  # cells of a histogram that are printed
SHOWN_CONFIDENCE = 0.95  # of the intervals that are printed
SIMULATED = "simulated devices"
MOST_KEYS = 10**10  # different labels that people may hold, where how many they are is private
RECORDED = ("task", "value", "interval95", "std_error", "protocol", "model", "epsilon", "delta", "neighbours", "n")


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Tabular, Pictured, Arithmetic):
    """An answer with its error and its guarantee, as `count` and its kin return it.

    It is unbiased unless the protocol says otherwise, and never clamped unless asked. Confidence
    intervals come from the exact law of the error. `float(estimate)` is its value,
    `estimate["chrome"]` a cell of a histogram, and the difference of two estimates has its own
    interval.

    Parameters
    ----------
    protocol : Protocol
        What made it.
    tally : Tally
        What was released.
    people : ndarray
        The estimate of each cell, in people.
    budget : Budget, optional
        What the protocol was calibrated for.
    secret : bool
        Whether it was drawn with secret coins.
    within : str
        What it was brought into: see `clamped` and `consistent`.
    simulated : bool
        Whether people's devices were simulated by the data holder.
    habit : str
        What to know about other questions that were asked of the same people, if anything.
    rules : tuple of str
        What was declared of the data, in words; to how many rows it applied is not told.
    most : int, optional
        How many rows of a person count at most, each for itself (which `rules` say); None where
        they are merged.
    before : tuple of Plan
        What was released of the same data before, to choose what this one is about: groups that
        nobody listed.

    Examples
    --------
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=1, delta=1e-6)
    >>> low, high = answer.interval()
    >>> low <= answer.value <= high
    True
    >>> answer.n
    1000
    """

    protocol: Protocol
    tally: Tally
    people: Floats  # the estimate of each cell, in people
    budget: Budget | None = None
    secret: bool = True
    within: Literal["", "range", "crowd"] = ""  # what it was brought into: see `clamped` and `consistent`
    simulated: bool = False
    habit: str = ""
    rules: tuple[str, ...] = ()
    most: int | None = None
    before: tuple[Plan, ...] = ()

    @cached_property
    def measured(self) -> Floats:
        """Each part's estimate, in people, before it was brought into a range; errors are of it."""
        if not self.within:
            return self.people
        return self.protocol.rebuilt(self.protocol.point(self.tally), self.tally.reports)

    @property
    def values(self) -> Floats:
        """The estimate of each cell, in the task's unit."""
        return self.protocol.task.answers(self.people, self.tally.reports, private=self.n is None)

    @property
    def value(self) -> float:
        """The answer, where it is one number."""
        return float(self.values[self._only])

    @property
    def _only(self) -> int:
        if self.protocol.task.shape.several:
            several = f"a {self.protocol.task.name} has several values"
            raise Unsupported(several, "use .cells, .values, or [category] for one of them")
        return 0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval of an answer that is one number.

        Parameters
        ----------
        confidence : float
            Chance that the interval covers the truth, above 0 and below 1.

        Returns
        -------
        tuple of float
            Its two ends.
        """
        low, high = self.intervals(confidence)[self._only].tolist()
        return low, high

    def intervals(self, confidence: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Confidence intervals, a row [low, high] for each cell.

        Simultaneous ones are exact where the cells' errors are independent, and conservative where
        they are not.

        Parameters
        ----------
        confidence : float
            Chance that an interval covers the truth, above 0 and below 1.
        simultaneous : bool
            Whether all of them are to cover at once.

        Returns
        -------
        ndarray
        """
        require_confidence(confidence)
        return self._intervals(self.each_at(confidence) if simultaneous else confidence)

    def _intervals(self, confidence: float) -> Floats:
        return self.protocol.task.spans(self.people_intervals, confidence, self.tally.reports, private=self.n is None)

    def people_intervals(self, confidence: float) -> Floats:
        """A row [low, high] for each part of the answer, in people."""
        ends = self.protocol.intervals(self.tally, confidence)
        return self._bounded(ends) if self.within else ends

    def linear(self, weights: npt.ArrayLike) -> Linear:
        """A sum of the parts of the answer with these weights, and its exact interval.

        Parameters
        ----------
        weights : array-like
            One for each part, in order: for each category of a histogram, for each bin of a
            distribution.

        Returns
        -------
        Linear

        Raises
        ------
        errors.Unsupported
            If the errors of the parts depend on each other or on the data in a way that is not
            known.
        errors.BadArgument
            If there are not as many weights as parts.

        Examples
        --------
        >>> answer = hc.histogram(["a"] * 600 + ["b"] * 400, categories=["a", "b", "c"], epsilon=1, model="central")
        >>> 500 < answer.linear([1, 0, 1]).value < 700
        True
        """
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != self.people.shape:
            raise BadArgument("weights", "are not one for each part of the answer", f"give {self.people.size:,}")
        unit = self.protocol.task.answers(self.measured, self.tally.reports, private=self.n is None)
        part = float((given * unit).sum()), self._law_of(given)
        return Linear(float((given * self.values).sum()), part, part, self.promises())

    def _law_of(self, weights: Floats) -> ErrorLaw:
        law = self._errors.combined(self.protocol.strategy.terms(weights))
        return law.widened(self._own_in(weights)).scaled(self.scale)

    def _own_in(self, weights: Floats) -> float:
        """What people add to the variance of a sum in cells of their own, by the noisy counts:
        nothing for most protocols."""
        if self._own_variances is None:
            return 0.0
        strategy = self.protocol.strategy
        squares = self._own_variances * strategy.coefficients(weights) ** 2
        told = float(strategy.squares(weights) @ self.measured)
        return max(0.0, float(squares @ self.protocol.point(self.tally)) - told)

    @cached_property
    def _own_variances(self) -> Floats | None:
        """The variance that a person adds to each of their own cells; None if there is none."""
        sizes = self.protocol.strategy.sizes_of_families
        own = [self.protocol.own_variance(family) for family in range(len(sizes))]
        return np.repeat(own, sizes) if any(own) else None

    @property
    def _errors(self) -> CellErrors:
        return cell_errors(self.protocol, self.tally.reports)

    def each_at(self, confidence: float) -> float:
        """The confidence of each interval for which all of them cover at once."""
        task = self.protocol.task
        most = MOST_KEYS if self.n is None else self.tally.reports
        cells = max(1, most if task.shape is Shape.KEY else self._answers)
        return confidence ** (1.0 / cells) if self.protocol.independent else 1.0 - (1.0 - confidence) / cells

    @property
    def _answers(self) -> int:
        """How many answers there are."""
        return self.values.size

    def _bounded(self, people: Floats) -> Floats:
        if not self.within:
            return people
        return np.clip(people, self._fewest, math.inf if self.n is None else float(self.n))

    @property
    def _fewest(self) -> float:
        relative = self.n is None and self.protocol.task.low < 0.0
        return -math.inf if relative else 0.0

    @property
    def error(self) -> Noise:
        """The law of the error, in people, at the estimate itself (of a histogram's largest cell).

        Where nothing passed a threshold, it is that at the worst of the counts which may have been
        dropped.
        """
        guess = self._worst_dropped if self._all_dropped else max(self._guesses())
        return self.protocol.noise(guess, self._people(guess))

    @property
    def drops_small(self) -> bool:
        """Whether small counts read 0. Only then is 0 certain where nobody is."""
        return not self.protocol.steady and self.protocol.noise(0, self.tally.reports).rmse == 0.0

    @property
    def _all_dropped(self) -> bool:
        return not self.people.any() and self.drops_small

    @property
    def _most_dropped(self) -> int:
        """The largest count that may have been dropped, with 95% confidence."""
        nothing = replace(self.tally, totals=np.zeros(1, dtype=np.int64), keys=None)
        most = self.protocol.intervals(nothing, 0.95)[0, 1]
        return int(most if self.n is None else min(most, self.n))

    @property
    def _worst_dropped(self) -> int:
        most = max(1, self._most_dropped)
        return worst_truth(lambda truth: self.protocol.size_of_error(truth, self._people(truth)), most)[1]

    @property
    def nearly(self) -> str:
        """That intervals are approximate, where they are."""
        nearly = self.protocol.approximate and self.protocol.task.shape is Shape.K_OF
        return "intervals take errors to be independent, and these are only nearly so" if nearly else ""

    @property
    def note(self) -> str:
        """What a 0 stands for where small counts are dropped; of several answers also what they are
        about, where that is not the data themselves, and what holds of all of them."""
        dropped = "small counts are dropped and read 0" if (self.people == 0.0).any() and self.drops_small else ""
        task = self.protocol.task
        return "; ".join(filter(None, [task.about, self._of_all or dropped])) if task.shape.several else dropped

    @property
    def _of_all(self) -> str:
        """That intervals are approximate, or which labels may be left out."""
        if self.protocol.task.shape is Shape.KEY and self.drops_small:
            few = self.in_its_words(f"fewer than about {self._most_dropped:,} people")
            return f"labels of {few} may be left out"
        return self.nearly

    def _people(self, guess: int) -> int:
        """The number of reports; a lower bound on it where it is private."""
        return guess if self.n is None else self.tally.reports

    @property
    def scale(self) -> float:
        """One person's part in the task's unit."""
        return self.protocol.task.unit(self.tally.reports)

    @property
    def std_error(self) -> float:
        """The root mean square of the error, at the estimate itself."""
        return self.error.rmse * self.scale

    @property
    def n(self) -> int | None:
        """How many people reported; None where that is itself private."""
        return None if self.protocol.neighbours.hides_size else self.tally.reports

    @property
    def delta(self) -> float | None:
        """The delta of the protocol at the budget's epsilon, and of what was released before."""
        if self.budget is None:
            return None
        own = self.budget.together(self.protocol.loss).delta(self.budget.epsilon)
        return own + sum(plan.protocol.loss.delta(plan.budget.epsilon) for plan in self.before)

    @property
    def spent(self) -> Budget | None:
        """The budget, with that of what was released before: they add up."""
        if self.budget is None or not self.before:
            return self.budget
        return total([self.budget, *(plan.budget for plan in self.before)])

    @property
    def categories(self) -> list[Label]:
        """The labels of a histogram's cells."""
        return self.protocol.task.labels(None if self.tally.keys is None else self.tally.keys.tolist())

    @property
    def cells(self) -> list[Cell]:
        """The categories of a histogram with values and 95% intervals; the rest is in `other`."""
        rows = zip(self.categories, self.values.tolist(), self.intervals().tolist(), strict=True)
        found = [Cell(category, value, (low, high), of=self) for category, value, (low, high) in rows]
        return found[:-1] if self._has_other else found

    @property
    def group_sizes(self) -> Floats:
        """By which the cells are the largest: in how many people they are about."""
        return self.people

    @property
    def _has_other(self) -> bool:
        return self.protocol.task.other and (self.tally.keys is None or self.categories[-1:] == [OTHER])

    @property
    def other(self) -> Cell | None:
        """The people in no category, where they were counted."""
        if not self._has_other:
            return None
        low, high = self.intervals()[-1].tolist()
        return Cell(OTHER, float(self.values[-1]), (low, high), of=self)

    @property
    def simultaneous95(self) -> float | None:
        """The half-width that covers all cells at once with 95% confidence.

        None where the number of cells is private, and where intervals differ in width.
        """
        if self._private_keys or not self.protocol.task.scales_cells:
            return None
        ends = self.protocol.intervals(self.tally, self.each_at(0.95))
        away = np.abs(ends - self.protocol.point(self.tally)[:, None])
        return float(away.max(initial=0.0)) * self.scale

    @property
    def _private_keys(self) -> bool:
        return self.n is None and self.protocol.task.shape is Shape.KEY

    def _guesses(self) -> list[int]:
        """Truths near the smallest and the largest estimate."""
        if self.protocol.steady:
            return [0]
        ends = np.array([self.people.min(initial=0.0), self.people.max(initial=0.0)])
        most = math.inf if self.n is None else self.tally.reports
        low, high = np.clip(np.rint(ends), 0, most).astype(int).tolist()
        return [low, high]

    def sorted(self, by: Literal["value", "category"] = "value") -> list[Cell]:
        """The cells, the largest first, or in the order of their categories.

        Parameters
        ----------
        by : str
            "value" or "category".

        Returns
        -------
        list of Cell
        """
        if by not in ("value", "category"):
            raise BadArgument("sort", f"is {by!r}", "use value or category")
        if by == "category":
            return sorted(self.cells, key=lambda cell: (not isinstance(cell.category, int | float), cell.category))
        return sorted(self.cells, key=lambda cell: -math.inf if math.isnan(cell.value) else cell.value, reverse=True)

    def top(self, k: int) -> Top:
        """The `k` largest cells, and what can be said for certain about who is among them.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        Top
            The cells with the largest answers; which categories are surely among the largest, and
            which may be.

        Raises
        ------
        errors.BadArgument
            If `k` is not a whole number from 1 on.
        errors.Unsupported
            If the answer is a single number.

        Examples
        --------
        >>> answer = hc.histogram(["a"] * 600 + ["b"] * 400 + ["c"] * 5, categories=["a", "b", "c"], epsilon=1)
        >>> answer.top(2).surely
        ['a', 'b']
        """
        if not self.protocol.task.shape.several:
            raise Unsupported("only answers for several categories have largest ones")
        from headcount.answers.top import ranked

        return ranked(self, k)

    def __iter__(self) -> Iterator[Cell]:
        """The cells, and `other` where it was counted."""
        if not self.protocol.task.shape.several:
            raise Unsupported(f"a {self.protocol.task.name} is one number", "use .value and .interval()")
        return iter([*self.cells, *([] if self.other is None else [self.other])])

    def __getitem__(self, category: Label) -> Cell:
        for cell in self:
            if cell.category == category:
                return cell
        raise KeyError(category)

    def clamped(self) -> Estimate:
        """The estimate brought into the range of possible answers; no longer unbiased."""
        bounded = replace(self, within="range")
        return replace(bounded, people=bounded._bounded(self.people))

    def consistent(self) -> Estimate:
        """The nearest counts that are not negative and add up to the people; no longer unbiased.

        What a liar adds to all of them alike goes with that; what tells one from another may count
        a little more, up to `protocol.reach().consistent(cells)` people for each.
        """
        if self.n is None or not self.protocol.task.shape.several or self.protocol.task.shape is Shape.KEY:
            raise Unsupported("only a histogram with known categories and a public number of people can be consistent")
        return replace(self, within="crowd", people=_onto_simplex(self.people, float(self.n)))

    @property
    def _operand(self) -> Operand:
        task = self.protocol.task
        labels = tuple(self.categories) if task.shape.several else ()
        spans = cache(self.intervals)

        def within(place: int) -> Callable[[float], tuple[float, float]]:
            return lambda confidence: (float(spans(confidence)[place, 0]), float(spans(confidence)[place, 1]))

        parts = zip(self.values.tolist(), self._laws, strict=True)
        found = tuple(Part(value, within(place), law) for place, (value, law) in enumerate(parts))
        promises, unit = ", ".join(filter(None, [self.told, *self.promises()])), self.in_its_words(task.unit_words)
        return Operand(task, labels, found, promises, self.spent, self.tally, self._apart, unit, self.most)

    def operand_of(self, category: Label) -> Operand:
        """What a difference or ratio needs of one of its cells."""
        return self._operand.part(self.categories.index(category))

    def _is(self, other: Arithmetic) -> bool:
        return isinstance(other, Estimate) and self.tally is other.tally

    @property
    def _apart(self) -> bool:
        """Whether the errors of its parts are independent of each other."""
        return self.protocol.independent and not self.within and self.protocol.task.shape not in REBUILT

    @property
    def _laws(self) -> Sequence[ErrorLaw | None]:
        """The law of the error of each value; None where it is not the law of a cell, scaled."""
        scaled = self.protocol.task.scales_cells and not self.within
        return [self._law if scaled else None] * self._answers

    @property
    def _law(self) -> ErrorLaw:
        lattice = self.error.step if self.protocol.task.shape is Shape.AMOUNT else 0.0
        return ErrorLaw(self.error, self.error.rmse, lattice=lattice).scaled(self.scale)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        promised = ", ".join(self.promises())
        if self.habit:
            promised += f"\n({self.habit}: ledger=hc.Ledger.open('ledger', epsilon=…))"
        if self.protocol.task.shape.several:
            return "\n".join([*self._lines(), *filter(None, [self.note, self.told]), promised])
        ((number, left, right),) = self.shown()
        note = f"; {self.note}" if self.note else ""
        told = f"{number} {self.protocol.task.about}".rstrip()
        rules = f"\n{self.told}" if self.rules else ""
        return f"{told}  (95% interval {left} to {right}{note})   {promised}{rules}"

    @property
    def told(self) -> str:
        """What was declared of the data, as a line; nothing if nothing was."""
        return f"as declared: {'; '.join(self.rules)}" if self.rules else ""

    def in_its_words(self, text: str) -> str:
        """A question's words about people: about rows where a person may count more than once."""
        return text if (self.most or 1) == 1 else text.replace("people", "rows")

    def __repr__(self) -> str:
        if not self.protocol.task.shape.several:
            habit = f"; {self.habit.partition(';')[0]}" if self.habit else ""
            return f"{str(self).partition(chr(10))[0]}{habit}"
        cells = "unknown labels" if self._private_keys else f"{self._answers:,} cells"
        return f"{type(self).__name__}: {self.protocol.task.name} of {cells}, {', '.join(self.promises())}"

    @property
    def sheets(self) -> list[TextTable]:
        """Tables of the answer, where it is shown as such."""
        return []

    def rows(self, most: int | None = None) -> list[tuple[str, str, str]]:
        """Category, value and interval of each cell, or the first few, as text; `other` is last."""
        pairs = zip(self.categories[:most], self.shown(most), strict=True)
        return [(called(category), value, f"{low} to {high}") for category, (value, low, high) in pairs]

    def rows_of(self, cells: Sequence[Cell]) -> list[tuple[str, str, str]]:
        """The same for these cells, in their order."""
        known = {row[0]: row for row in self.rows()}
        return [known[called(cell.category)] for cell in cells]

    def _lines(self) -> list[str]:
        rows = self.rows(SHOWN)
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)] if rows else [0, 0]
        lines = [f"{name:<{widths[0]}}  {value:>{widths[1]}}  (95% interval {span})" for name, value, span in rows]
        left = self._answers - SHOWN
        lines += [f"… and {left:,} more; see .cells"] if left > 0 else []
        return lines or [self.in_its_words("nothing can be shown: no category has enough people")]

    def shown(self, most: int | None = None) -> list[tuple[str, str, str]]:
        """Each value, or the first few, and the ends of its 95% interval, in meaningful digits."""
        numbers = np.column_stack([self.values, self._intervals(SHOWN_CONFIDENCE)])[:most]
        whole = bool((numbers == np.rint(numbers)).all())
        places = 0 if whole else digits(0.0, float(np.max(numbers[:, 2] - numbers[:, 1])))
        texts = ((f"{number:,.{places}f}" for number in row) for row in numbers.tolist())
        return [(value, low, high) for value, low, high in texts]

    def promises(self) -> list[str]:
        """The guarantee as printed: budget, adjacency, model, protocol, people, accounting."""
        words = [] if self.spent is None else [str(self.spent)]
        model = f"{self.protocol.model} ({SIMULATED})" if self.simulated else self.protocol.model
        names = [self.protocol.name, *(plan.protocol.name for plan in self.before)]
        words += [self.protocol.neighbours.words, model, " after ".join(names)]
        if self.n is not None:
            words.append(f"n={self.n:,}")
        words.append("bound" if self.before else self.protocol.loss.kind)
        return words if self.secret else [*words, "seeded: not private"]

    def _repr_html_(self) -> str:
        if not self.protocol.task.shape.several:
            return super()._repr_html_()
        tables = "".join(sheet.html() for sheet in self.sheets or [rows_sheet(self.rows(SHOWN))])
        words = [self.note, self.told, *self.promises(), self.habit]
        return f"<div>{tables}<small>{escape(', '.join(filter(None, words)))}</small></div>"

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.answers.pictures import draw

        return draw(self, target, theme, title)

    def records(self) -> list[dict[str, Any]]:
        """A row for each category, or a single one."""
        if not self.protocol.task.shape.several:
            told = self.to_json()
            return [{name: told[name] for name in RECORDED}]
        return [
            {"category": plain(cell.category), "value": cell.value, "interval95": list(cell.interval95)}
            for cell in self
        ]

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount count --format json` prints it."""
        protocol, loss = self.protocol, self.protocol.loss
        loss = loss if self.budget is None else self.budget.together(loss)
        slack = None if self.budget is None else loss.delta_slack(self.budget.epsilon)
        before = (plan.protocol.loss.delta_slack(plan.budget.epsilon) for plan in self.before)
        return {
            "task": protocol.task.name,
            **self._answer(),
            "std_error": self.std_error,
            "protocol": protocol.name,
            "model": str(protocol.model),
            "simulated": self.simulated,
            "rules": list(self.rules),
            **({} if self.most is None else {"max_contributions": self.most}),
            "parameters": protocol.to_json()["parameters"],
            "epsilon": None if self.spent is None else self.spent.epsilon,
            "delta": self.delta,
            "delta_slack": None if slack is None else slack + sum(before),
            "neighbours": str(protocol.neighbours),
            "accounting": "bound" if self.before else loss.kind,
            "n": self.n,
            "messages_per_person": protocol.messages_per_person,
            "local_epsilon": protocol.group_local_epsilon,
            "released": self._released(),
        }

    def _released(self) -> dict[str, Any]:
        """What everything else follows from, for `hc.load_answer`."""
        protocol, tally = self.protocol, self.tally
        before = [{"protocol": plan.protocol.to_json(), "budget": plan.budget.to_json()} for plan in self.before]
        return {
            **({"before": before} if before else {}),
            "protocol": protocol.to_json(),
            "budget": None if self.budget is None else self.budget.to_json(),
            "reports": 0 if self.n is None else tally.reports,
            "totals": tally.totals.tolist(),
            "keys": None if tally.keys is None else tally.keys.tolist(),
            "modulus": tally.modulus,
            "within": self.within,
            "secret": self.secret,
            "simulated": self.simulated,
        }

    def _answer(self) -> dict[str, Any]:
        if not self.protocol.task.shape.several:
            clipped = self.protocol.task.clipped_to
            return {
                "value": self.value,
                "interval95": list(self.interval()),
                "clipped_to": None if clipped is None else list(clipped),
            }
        other = None if self.other is None else {"value": self.other.value, "interval95": list(self.other.interval95)}
        return {"cells": [cell.to_json() for cell in self.cells], "simultaneous95": self.simultaneous95, "other": other}


def _onto_simplex(people: Floats, total: float) -> Floats:
    """The Euclidean projection onto the simplex of this sum: subtract a constant, cut at zero."""
    falling = np.sort(people)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, people.size + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(people - excess[last], 0.0))
