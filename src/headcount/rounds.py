"""A series: the same question asked round after round, every week of a year, under one promise.

The budget is charged once, beforehand, for all rounds together. After that every round that is run
publishes an answer; sums, differences and trends of answers are post-processing and cost nothing.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self, SupportsIndex

import numpy as np

from headcount.answers.error_law import ErrorLaw
from headcount.answers.error_sums import by_panels, error_sum
from headcount.answers.estimate import Estimate
from headcount.answers.linear import Linear
from headcount.common.calls import checked
from headcount.common.quantity import quantity
from headcount.engines.engine import Rows, engine_for
from headcount.errors import BadArgument, Unsupported
from headcount.figures.over_time import Course, over_time
from headcount.figures.picture import Picture
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.ledger.ledger import Ledger
from headcount.phrases import Phrase
from headcount.planner.advice import Advice
from headcount.planner.blocks_of_rounds import BlockWidths
from headcount.programme.coins import Coins, SecretCoins
from headcount.programme.law import Noise
from headcount.protocols.base.plan import Plan
from headcount.questions.domains.domain import Label
from headcount.running import carry_out
from headcount.types import Data, PersonIds, Where

TWICE, ONCE = "a series {}, because {} would run rounds that were paid for once", "run all of its rounds in one process"


class Series(Tabular):
    """Rounds of one plan, paid for together and beforehand.

    Parameters
    ----------
    plan : Plan or Advice
        A plan for several rounds, from `hc.advise(…, rounds=52)`.
    ledger : Ledger, optional
        The ledger that is charged, once, for all rounds. Stopping early gives nothing back.

    Raises
    ------
    errors.BadArgument
        If the plan is for one round.
    errors.OverBudget
        If less than that is left in the ledger.

    Examples
    --------
    >>> plan = hc.advise("count", n=1_000, epsilon=1, delta=1e-6, rounds=4, protocols="geometric").best
    >>> series = hc.Series(plan, ledger=hc.Ledger(epsilon=1, delta=1e-6))
    >>> for ones in (300, 310, 350):
    ...     answer = series.run([1] * ones + [0] * (1_000 - ones))
    >>> low, high = series.difference(3, 1).interval(0.999999)
    >>> low < 50 < high
    True
    >>> series
    Series: 3 of 4 rounds, (ε=1, δ=1e-06) for 4 rounds, replace-one
    """

    @checked
    def __init__(self, plan: Plan | Advice, *, ledger: Ledger | None = None) -> None:
        plan = plan.best if isinstance(plan, Advice) else plan
        if plan.rounds == 1:
            raise BadArgument("plan", "is for one round", Phrase("make one with {rounds}", rounds=52))
        if ledger is not None:
            ledger.charge(plan)
        self._begin(plan, plan.rounds, BlockWidths((1,), plan.rounds, 0.0))

    _turns: ClassVar[Lock] = Lock()  # one round at a time

    def _begin(self, plan: Plan, rounds: int, levels: BlockWidths) -> None:
        self.plan, self.rounds, self.levels, self._process = plan, rounds, levels, os.getpid()
        self.begins: Sequence[str] = ()  # when each round begins, where that was told
        self.asks = plan.protocol.task.asks
        self.rules: tuple[str, ...] = ()  # what was declared of the data
        self._answers: list[Estimate | None] = []
        self._blocks: dict[tuple[int, int], Estimate] = {}
        self._figured: dict[tuple[int, Label | None], dict[str, _Figure]] = {}  # which later rounds do not change
        self._sums: dict[Label | None, _Sum] = {}  # of the rounds so far, the newest

    @classmethod
    def of_events(
        cls, plan: Plan, begins: Sequence[str], levels: BlockWidths, asks: str, rules: tuple[str, ...] = ()
    ) -> Self:
        """A series that is paid for, in which each person counts in at most as many rounds, times
        levels, as the plan is for."""
        made = cls.__new__(cls)
        made._begin(plan, len(begins), levels)
        made.begins, made.asks, made.rules = begins, asks, rules
        return made

    def take(self, nodes: Mapping[tuple[int, int], Estimate]) -> None:
        """The answers of all nodes: of rounds, and of blocks by their first round and width."""
        self._answers = [nodes[at, 1] for at in range(1, self.rounds + 1)]
        self._blocks = {node: answer for node, answer in nodes.items() if node[1] > 1}
        self._figured.clear()
        self._sums.clear()

    @property
    def answers(self) -> Mapping[int, Estimate]:
        """The answers by number of round, from 1 on; None for a round that was skipped."""
        return {at: answer for at, answer in enumerate(self._answers, 1) if answer is not None}

    @property
    def left(self) -> int:
        """How many rounds are still to come."""
        return self.rounds - len(self._answers)

    def run(
        self,
        data: Data,
        *,
        column: str | None = None,
        where: Where | None = None,
        unit: PersonIds | None = None,
        coins: Coins | None = None,
    ) -> Estimate:
        """Ask the next round's question of data.

        With panels the data are those of the people whose panel it is. If too few people came, the
        round is refused before anything is drawn: `skip` it, or try again.

        Parameters
        ----------
        data, column, where, unit
            As for `run`.
        coins : Coins, optional
            Secret ones unless given.

        Returns
        -------
        Estimate
            Of the panel alone, where there are panels; `round` tells everybody's.

        Raises
        ------
        errors.Unsupported
            If all rounds were run.
        errors.TooFewReports
            If fewer people came than are needed.
        """
        with self._slot():
            fresh = (coins or SecretCoins()).part(len(self._answers) + 1)  # the same draws twice would tell changes
            protocol, engine = self.plan.protocol, engine_for(data)
            rows = Rows.of(protocol.task, data, column=column, where=where, unit=unit)
            answers = engine.answers(protocol.task, rows)
            protocol.require_fit(answers.size)  # before anything is drawn
            answer = carry_out([self.plan], answers, engine, fresh)[0]
            self._answers.append(answer)
        return answer

    def skip(self) -> None:
        """Leave a round out. What it might have cost is not given back: the slot lapses."""
        with self._slot():
            self._answers.append(None)

    def add(self, answer: Estimate) -> None:
        """Take the answer of the next round from elsewhere, such as a release of a collection.

        Parameters
        ----------
        answer : Estimate
            Made by this plan.
        """
        if answer.protocol != self.plan.protocol:
            raise BadArgument("answer", "was made by another protocol", "give an answer of this plan")
        with self._slot():
            self._answers.append(answer)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """The next round, for one thread of the process that paid for it."""
        if os.getpid() != self._process:
            raise Unsupported(TWICE.format("is a copy that a fork made of another process's", "both"), ONCE)
        with self._turns:
            if not self.left:
                raise Unsupported(f"all {self.rounds:,} rounds are over", "make a plan for more rounds")
            yield

    def round(self, number: int, *, cell: Label | None = None) -> Linear:
        """The answer of one round, of everybody, with its interval.

        Parameters
        ----------
        number : int
            Of the round, from 1 on.
        cell : optional
            The category, of a histogram.
        """
        return self.linear({number: 1.0}, cell=cell)

    def cumulative(self, last: int | None = None, *, first: int = 1, cell: Label | None = None) -> Linear:
        """The sum of the answers of these rounds; a round that was skipped adds nothing.

        Parameters
        ----------
        last : int, optional
            Number of the last round; the newest unless given.
        first : int
            Number of the first round.
        cell : optional
            The category, of a histogram.
        """
        nodes = self.levels.nodes(*self._stretch(last, first))
        answers = self.answers
        parts = [(self._blocks.get(node) or answers.get(node[0]), 1.0) for node in nodes]
        return self._summed([(answer, weight) for answer, weight in parts if answer is not None], cell)

    def distinct(self, last: int | None = None, *, first: int = 1, cell: Label | None = None) -> Linear:
        """How many different people these rounds counted.

        It is their sum where each person counts in one round. Otherwise the same people may be in
        several, and the sum is no number of people.

        Parameters
        ----------
        last : int, optional
            Number of the last round; the newest unless given.
        first : int
            Number of the first round.
        cell : optional
            The category, of a histogram.

        Raises
        ------
        errors.Unsupported
            If a person may be in several of these rounds, or the question is not how many people
            there are.
        """
        last, first = self._stretch(last, first)
        if self.plan.protocol.task.unit_words != "people":
            raise Unsupported(f"a {self._counts} tells no number of people", "ask for a count or a histogram")
        if last > first and not self._each_once:
            raise Unsupported(
                "people who are in several rounds would be counted several times: monthly people are not the sum of "
                "weekly ones",
                "ask for them as a question of its own, with rounds that are so long, in a plan for all rounds of both",
            )
        return self.cumulative(last, first=first, cell=cell)

    @property
    def _each_once(self) -> bool:
        """Whether nobody counts in more than one round."""
        return bool(self.begins) and self._most == 1

    @property
    def _most(self) -> int:
        """In how many rounds of a table with times a person counts at most."""
        return self.plan.budget.rounds // len(self.levels.widths)

    @property
    def _several(self) -> bool:
        """Whether there is an answer for each of several categories."""
        return self.plan.protocol.task.shape.several

    @property
    def _counts(self) -> str:
        """What an answer is called."""
        return self.plan.protocol.task.name

    def difference(self, later: int, earlier: int, *, cell: Label | None = None) -> Linear:
        """By how much one round's answer is larger than another's.

        Parameters
        ----------
        later, earlier : int
            Numbers of two rounds.
        cell : optional
            The category, of a histogram.
        """
        return self.linear({later: 1.0, earlier: -1.0}, cell=cell)

    def trend(self, last: int | None = None, *, first: int = 1, cell: Label | None = None) -> Linear:
        """The slope of the least-squares line through the answers of these rounds, per round.

        Parameters
        ----------
        last : int, optional
            Number of the last round; the newest unless given.
        first : int
            Number of the first round.
        cell : optional
            The category, of a histogram.
        """
        last, first = self._stretch(last, first)
        numbers = [at for at in self.answers if first <= at <= last]
        if len(numbers) < 2:
            raise BadArgument("first", "leaves fewer than two answers", "a trend needs two or more")
        middle = math.fsum(numbers) / len(numbers)
        spread = math.fsum((at - middle) ** 2 for at in numbers)
        return self.linear({at: (at - middle) / spread for at in numbers}, cell=cell)

    def linear(self, weights: Mapping[int, float], *, cell: Label | None = None) -> Linear:
        """A weighted sum of answers and its exact interval: errors of rounds are independent.

        Parameters
        ----------
        weights : mapping
            A weight for the number of each round.
        cell : optional
            The category, of a histogram.
        """
        self._require_answers(weights)
        answers = self.answers
        return self._summed([(answers[number], weight) for number, weight in weights.items()], cell)

    def _stretch(self, last: int | None, first: int) -> tuple[int, int]:
        """The last and the first of a stretch of rounds that are over."""
        newest = len(self._answers)
        if not newest:
            raise BadArgument("series", "has no answer yet", "run a round first")
        last = newest if last is None else last
        for name, number in (("last", last), ("first", first)):
            works = f"use a whole number from 1 to {newest:,}"
            if quantity(name, number, works) != int(number) or not 1 <= number <= newest:
                raise BadArgument(name, f"is {number:,}", works)
        if first > last:
            raise BadArgument("first", f"is {first:,}, after the last, {last:,}", "use one that is not later")
        return int(last), int(first)

    def _require_answers(self, numbers: Iterable[int]) -> None:
        if not numbers:
            raise BadArgument("weights", "name no round that has an answer", "run a round first")
        answers = self.answers
        for number in numbers:
            if isinstance(number, bool | float) or number not in answers:
                raise BadArgument("round", f"{number} has no answer", f"use one of {self._numbers}")

    def _summed(self, answers: Sequence[tuple[Estimate, float]], cell: Label | None) -> Linear:
        """The weighted sum of answers with independent errors."""
        if not answers:
            raise BadArgument("weights", "name no round that has an answer", "run a round first")
        value, parts = 0.0, []
        for answer, weight in answers:
            part, noise = self._of_everybody(answer, cell, several=len(answers) > 1)
            value += weight * part
            parts.append((noise, weight))
        return self._told(value, error_sum(parts))

    def _told(self, value: float, error: Noise) -> Linear:
        law = ErrorLaw(error, error.rmse)
        return Linear(value, (value, law), (value, law), (self.promise,))

    @property
    def promise(self) -> str:
        """The promise of all rounds together, in words."""
        budget = self.plan.budget
        if not self.begins:
            return f"{budget}, {budget.neighbours.words}"
        most = self._most
        counted = "one round" if most == 1 else f"at most {most:,} rounds, further ones are not counted"
        told = f"; as declared: {'; '.join(self.rules)}" if self.rules else ""
        return f"{replace(budget, rounds=1)} for all rounds, {budget.neighbours.words}, each person in {counted}{told}"

    @property
    def _numbers(self) -> str:
        return ", ".join(map(str, self.answers)) or "none so far"

    def _of_everybody(self, answer: Estimate, cell: Label | None, *, several: bool) -> tuple[float, Noise]:
        """A cell's value and the law of its error, both of everybody, in the question's unit."""
        protocol, panels, reports = answer.protocol, self.plan.panels, answer.tally.reports
        if answer.drops_small:
            works = "list the categories, or take the answer of each round, with its intervals, from `answers`"
            raise Unsupported("small counts read 0, and how far sums of such answers err is not known", works)
        at = self._cell(answer, cell)
        noise = protocol.noise(0, reports) if protocol.steady else protocol.error(None, max(1, reports))
        if panels == 1:
            return float(answer.values[at]), _scaled(noise, answer.scale)
        everybody = panels * reports  # of whom half may hold it, the worst
        noise = by_panels(noise, everybody, panels, everybody // 2, several=several)
        whole = answer.protocol.task.answers(panels * answer.people, everybody, private=False)
        return float(whole[at]), _scaled(noise, protocol.task.unit(everybody))

    def _cell(self, answer: Estimate, cell: Label | None) -> int:
        if not answer.protocol.task.shape.several:
            return 0
        if cell not in answer.categories:
            raise BadArgument("cell", "is missing or not a category", "name one of the question's categories")
        return answer.categories.index(cell)

    def records(self) -> list[dict[str, Any]]:
        """A row per round, or per category in it: answer, sum so far, change, 95% intervals."""
        several = self._several
        found = []
        for number in range(1, len(self._answers) + 1):
            answer = self.answers.get(number)
            begins = {"begins": self.begins[number - 1]} if self.begins else {}
            for cell in answer.categories if several and answer is not None else (None,):
                told = {} if not several else {"category": cell}
                found.append({"round": number, **begins, **told, **_columns(self._record(number, cell))})
        return found

    def plot(self, *, cell: Label | None = None, title: str = "", theme: str = "light") -> Picture:
        """Each round's answer, the sum so far and the change since the last, with 95% intervals.

        Parameters
        ----------
        cell : optional
            The category, of a histogram.
        title : str
            What to write above it; its own words unless given.
        theme : str
            "light" or "dark".

        Returns
        -------
        Picture
        """
        if not self.answers:
            raise BadArgument("series", "has no answer yet", "run a round first")
        return Picture.drawn(lambda target, theme: self._draw(target, theme, title, cell), None, theme)

    def _draw(self, target: Any, theme: str, title: str, cell: Label | None) -> Any:
        records = [self._record(number, cell) for number in range(1, len(self._answers) + 1)]
        task = self.plan.protocol.task
        named = {"answer": task.unit_words or task.name, "cumulative": "sum so far", "change": "change"}
        courses = [
            Course(label, [(at["round"], at[name]["value"], *at[name]["interval95"]) for at in records if name in at])
            for name, label in named.items()
        ]
        asked = self.asks if cell is None else f"{self.asks} {cell}"
        look = {"title": title or asked, "subtitle": "Round by round, with 95% intervals", "caption": self.promise}
        return over_time([each for each in courses if each.points], target, names=self.begins, theme=theme, **look)

    def sheet(self, *, cell: Label | None = None, changes: bool = False) -> TextTable:
        """A row for each round: its answer, and the sum so far, with their 95% intervals.

        Parameters
        ----------
        cell : optional
            The category, of a histogram.
        changes : bool
            Also the change since the round before.
        """
        names = {"answer": self._counts, "cumulative": "sum so far"} | ({"change": "change"} if changes else {})
        rows = []
        for number in range(1, len(self._answers) + 1):
            found = self._figures(number, cell)
            parts = [found[name].shown if name in found else ("", "") for name in names]
            if not found:
                parts[0] = ("skipped", "")
            rows.append((self._called(number), *(part for pair in parts for part in pair)))
        columns = ("round", *(part for name in names.values() for part in (name, "95% interval")))
        return TextTable(columns, tuple(rows), frozenset({0, *range(1, len(columns), 2)}), repr(self))

    def _called(self, number: int) -> str:
        return self.begins[number - 1] if self.begins else str(number)

    def table(self, *, cell: Label | None = None) -> str:
        """The same as plain text.

        Parameters
        ----------
        cell : optional
            The category, of a histogram.
        """
        return self.sheet(cell=cell).text()

    def to_json(self, *, cell: Label | None = None) -> list[dict[str, Any]]:
        """A record per round: answer, sum so far and change since the last, with intervals.

        Parameters
        ----------
        cell : optional
            The category, of a histogram.
        """
        return [self._record(number, cell) for number in range(1, len(self._answers) + 1)]

    def _record(self, number: int, cell: Label | None) -> dict[str, Any]:
        found = self._figures(number, cell)
        if not found:
            return {"round": number, "skipped": True}
        return {"round": number} | {
            name: {"value": part.value, "interval95": list(part.interval)} for name, part in found.items()
        }

    def _figures(self, number: int, cell: Label | None) -> dict[str, _Figure]:
        """What a table, a chart and a file tell of a round, once; nothing of a skipped one."""
        if number not in self.answers:
            return {}
        if (number, cell) not in self._figured:
            found = {"answer": self.round(number, cell=cell), "cumulative": self._so_far(number, cell)}
            if number - 1 in self.answers:
                found["change"] = self.difference(number, number - 1, cell=cell)
            self._figured[number, cell] = {name: _Figure.of(part) for name, part in found.items()}
        return self._figured[number, cell]

    def _so_far(self, last: int, cell: Label | None) -> Linear:
        """The sum of all rounds up to one, from the sum up to the one before where that is
        known."""
        if len(self.levels.widths) > 1 or self._blocks or min(self.answers) == last:
            return self.cumulative(last, cell=cell)
        known = self._sums.get(cell)
        if known is None or known.last >= last:
            known = _Sum(0, 0.0, Noise(np.zeros(1), np.ones(1)))
        for number in range(known.last + 1, last + 1):
            if (answer := self._answers[number - 1]) is not None:
                value, noise = self._of_everybody(answer, cell, several=True)
                known = _Sum(number, known.value + value, error_sum([(known.error, 1.0), (noise, 1.0)]))
        self._sums[cell] = known
        return self._told(known.value, known.error)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        if self.left:
            raise Unsupported(TWICE.format("with rounds to come cannot be copied or pickled", "the copy"), ONCE)
        return super().__reduce_ex__(protocol)

    def __str__(self) -> str:
        return self.table() if self._answers and not self._several else repr(self)

    def __repr__(self) -> str:
        asked = f"{len(self.answers):,} of {self.rounds:,} rounds"
        panels = f", {self.plan.panels:,} panels" if self.plan.panels > 1 else ""
        return f"Series: {asked}{panels}, {self.promise}"


class _Sum(NamedTuple):
    """The sum of all answers up to a round, and the law of its error."""

    last: int
    value: float
    error: Noise


class _Figure(NamedTuple):
    """A value, its 95% interval, and both as text, without the law of its error."""

    value: float
    interval: tuple[float, float]
    shown: tuple[str, str]

    @classmethod
    def of(cls, found: Linear) -> Self:
        value, low, high = found.shown()
        return cls(found.value, found.interval(), (value, f"{low} to {high}"))


def _scaled(noise: Noise, scale: float) -> Noise:
    return Noise(noise.values * scale, noise.masses, noise.dropped)


def _columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with a column for each number; empty ones where there is none."""
    columns: dict[str, Any] = {}
    for name in ("answer", "cumulative", "change"):
        part = record.get(name) or {"value": None, "interval95": (None, None)}
        low, high = part["interval95"]
        columns |= {name: part["value"], f"{name}_low95": low, f"{name}_high95": high}
    return columns
