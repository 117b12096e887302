"""Engines, and which one takes which data: an engine makes codes of rows, and tallies of codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from headcount.common.quantity import quantity
from headcount.engines.counts_by_round import Counts, InRounds
from headcount.errors import BadArgument, BadData, without_cause
from headcount.programme.coins import Coins, SecretCoins
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.questions.domains.domain import Domain
from headcount.questions.domains.product import Product
from headcount.questions.question import Question
from headcount.questions.reading import AS_NUMBERS
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.text_rules import BLANKS, TextRules

KEY = 16  # bytes of the key that samples a person's rows


@dataclass(frozen=True)
class Rows:
    """Which data, and what of them is a person's answer.

    `column` names the column of a table, or one for each part of the domain, `where` the values of
    it that count as a one, `by` the columns of groups; without `column` people are counted by their
    groups alone. A row is a person, unless `unit` names the column of person ids: then a person's
    rows are merged into one answer, or, with `most`, at most that many of them are kept and count
    each for itself: a sample drawn with the `key`. With `in_rounds`, a person's rows are merged
    round by round; without `column` everybody with a row in a round counts as a one. `text` says
    how text is written in the columns of groups and answers.
    """

    data: Any
    column: str | tuple[str, ...] | None = None
    where: object = None
    by: Any = None
    unit: Any = None
    most: int | None = None
    in_rounds: InRounds | None = None
    text: TextRules = TextRules.plain
    key: bytes = field(default_factory=lambda: SecretCoins().stream(KEY).tobytes(), repr=False)
    columns: tuple[str | None, ...] = field(init=False, repr=False, compare=False)  # of people's answers

    def __post_init__(self) -> None:
        asked = self.column if isinstance(self.column, tuple) else (self.column,)
        if self.in_rounds is not None:
            asked = (self.in_rounds.time, *(name for name in asked if name is not None))
        object.__setattr__(self, "columns", asked)
        if self.most is None:
            return
        works = "use a whole number of rows from 1 to 1,000"
        number = quantity("max_contributions", self.most, works)
        if number != int(number) or not 1 <= number <= 1_000:
            raise BadArgument("max_contributions", f"is {number:g}", works)
        if self.unit is None:
            raise BadArgument("max_contributions", "needs unit", "name the column of person ids")
        object.__setattr__(self, "most", int(number))
        if self.most > 1 and isinstance(self.column, tuple):
            raise BadArgument("max_contributions", "cannot be given for several columns", "merge a person's rows first")

    @classmethod
    def of(cls, question: Question, data: Any, *, column: str | None = None, **others: Any) -> Rows:
        """The rows that a question reads, which may name its columns itself."""
        if not question.reads:
            return cls(data, column=column, **others)
        if column is not None:
            raise BadArgument("column", f"is given, and a {question.name} names its columns itself", "leave it out")
        return cls(data, column=question.reads, **others)

    def names(self) -> list[tuple[str, str]]:
        """The columns read from a table, each after its argument; parts of the domain first."""
        if self.column is None and not self.groups and self.in_rounds is None:
            raise BadArgument("column", "is missing for a table", "name the column that holds people's answers")
        groups = (("by", name) for name in self.groups.values())
        times = 0 if self.in_rounds is None else 1
        columns = [("time" if at < times else "column", name) for at, name in enumerate(self.columns)]
        given = [*groups, *columns, ("unit", self.unit)]
        for argument, name in given:
            if name is not None and not isinstance(name, str):
                raise BadArgument(argument, "does not name a column", "give the name of a column of the table")
        return [(argument, name) for argument, name in given if name is not None]

    @cached_property
    def tabular(self) -> bool:
        """Whether the data are a table, of which columns are named."""
        frame = any(hasattr(self.data, name) for name in ("columns", "column_names", "sparkSession"))
        streamed = hasattr(self.data, "__arrow_c_stream__") and not hasattr(self.data, "to_numpy")
        return frame or streamed or self.column is not None or isinstance(self.data, str | Path | Mapping)

    @cached_property
    def groups(self) -> dict[str, Any]:
        """The groups, by their names: the names of columns, or columns themselves."""
        if self.by is None:
            return {}
        if isinstance(self.by, str):
            return {self.by: self.by}
        if isinstance(self.by, Mapping):
            return dict(self.by)
        if self.tabular and isinstance(self.by, list | tuple) and all(isinstance(name, str) for name in self.by):
            if len(set(self.by)) < len(self.by) or not self.by:
                raise BadArgument("by", "names a column twice, or none", "name each column once")
            return {name: name for name in self.by}
        return {"by": self.by}

    @property
    def title(self) -> str | None:
        """What is asked about, by the names of columns alone: "spend by plan"; of values without a
        name none."""
        if not self.tabular:
            return None
        asked = self.column if isinstance(self.column, tuple) else (self.column,)
        told = ", ".join(name for name in asked if isinstance(name, str)) or "people"
        groups = ", ".join(name for name in self.groups.values() if isinstance(name, str))
        return f"{told} by {groups}" if groups else told

    def domain(self, task: Question) -> Domain:
        """How these rows are read: as the question has it, and, of a series, by rounds."""
        asked = task.read_as(self.where, 0 if self.by is None else len(self.groups))
        if self.text.numbers is not None and not any(part.reads_numbers for part in asked.parts):
            raise BadArgument("numbers", f"is for numbers, and this {task.name} reads none", "leave it out")
        if self.in_rounds is None:
            return asked
        return Product((self.in_rounds.rounds, *(asked.parts if self.column is not None else ())))

    def rules(self, task: Question) -> list[str]:
        """What was declared: of values, of several columns that are read by different rules after
        the name of each, and how many rows of a person count."""
        domain = self.domain(task)
        told, said = [part.rules for part in domain.parts], domain.rules
        if len({*map(tuple, told)} - {()}) > 1 and self.tabular:
            said = [f"{name}: {rule}" for (_, name), rules in zip(self.names(), told, strict=False) for rule in rules]
        if self.most is None:
            return said
        count = "row of each person counts" if self.most == 1 else "rows of each person count"
        of_these = "drawn by lot: the answer and its interval are of these rows, not of all"
        return [*said, f"at most {self.most:,} {count}, {of_these}"]

    @property
    def everybody(self) -> bool:
        """Whether there is no column of answers, only groups."""
        return self.by is not None and self.column is None and self.tabular

    def of_part(self, place: int) -> AbstractContextManager[None]:
        """Refusals of a part's values name their column, and the number format not matched."""
        named = self.tabular and not self.everybody
        return _refusing(self.names()[place][1] if named else None, self.text.numbers)

    def reading_options(self, missing: object, *, spelled: bool) -> ReadingOptions:
        """What is declared of the data beside what counts as a one."""
        column = self.column if isinstance(self.column, str) else "data"
        return ReadingOptions(missing, spelled, tuple(map(str, self.groups)), self.everybody, column)


@contextmanager
def _refusing(column: str | None, form: str | None) -> Iterator[None]:
    try:
        yield
    except BadData as refusal:
        if form is not None and refusal.remedy == AS_NUMBERS:  # which says how numbers are to be declared
            refusal = BadData(f"data has text that is no number as {form}", BLANKS)
        without_cause(refusal if column is None else refusal.in_column(column))


class Answers(Protocol):
    """One answer per person, ready to be tallied."""

    @property
    def size(self) -> int:
        """How many there are."""


class Engine(Protocol):
    """Memory, files or a cluster: the same plan gives the same tally."""

    def answers(self, task: Question, rows: Rows) -> Answers: ...

    def require(self, task: Question, answers: Any) -> None:
        """Refuses answers that the task cannot take, before anything is charged or drawn."""

    def tally(self, plan: Plan, answers: Any, coins: Coins) -> Tally: ...

    def rounds(self, task: Question, rows: Rows) -> list[Counts]:
        """What people hold in each round, for a trusted side."""


def engine_for(data: Any) -> Engine:
    """Files and streams go to DuckDB, Spark's frames stay on Spark, all else is held in memory."""
    kind = type(data).__module__
    if kind.startswith("pyspark.sql."):
        from headcount.engines.spark import SparkEngine

        return SparkEngine()
    streamed = hasattr(data, "__arrow_c_stream__") and not (hasattr(data, "to_numpy") or hasattr(data, "column_names"))
    if isinstance(data, str | Path) or kind == "pyarrow._dataset" or streamed:
        from headcount.engines.files import FileEngine

        return FileEngine()
    from headcount.engines.memory import MemoryEngine

    return MemoryEngine()
