"""Questions about a file on this machine: its columns, advice, answer with picture, and ledger.

A column is told by its name and type, and never by a value: what to ask is chosen without looking.
The file is read by the engines that the command line has, an answer is charged to its ledger before
it is drawn, and nothing is sent on.
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import headcount
from headcount.answers.estimate import Estimate
from headcount.asking import ask
from headcount.cli.files import table
from headcount.cli.ledger import DEFAULT, is_here
from headcount.cli.options import bins_of, categories_of, columns_of, groups_of, limits_of
from headcount.engines.duckdb_connection import database
from headcount.engines.engine import Rows, engine_for
from headcount.engines.file_formats import column_types, kind_named
from headcount.errors import BadArgument, Refused
from headcount.figures.canvas import matplotlib
from headcount.ledger.allowance import up
from headcount.ledger.ledger import Ledger
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.questions import QUESTIONS
from headcount.questions.argument import GROUPS, OTHER_GROUPS, Argument, Told
from headcount.questions.question import Question
from headcount.questions.text_rules import TextRules
from headcount_service.web.columns import OWN, Columns
from headcount_service.web.curve import curve_of, sheet_of

LARGEST = 1 << 30  # bytes of a file that is dropped
EPSILON, DELTA = 3.0, 1e-5  # that a file may lose in all, where no ledger is named
IN_GROUPS = (
    "The groups, between commas; of two columns as in plan=free,pro; country=DE,FR. "
    "Left out, they are whatever enough people share, which needs a delta."
)
PICTURES = 100  # that are kept
THEMES = ("light", "dark")


def of_one_column(kind: type[Question]) -> bool:
    """Whether it is asked of one column, and does not name several itself."""
    return not any(argument.told is Told.COLUMNS for argument in kind.arguments)


def described() -> list[dict[str, Any]]:
    """What may be asked, and what each question has to be told."""
    return [
        {
            "name": kind.name,
            "asks": kind.asks,
            "where": kind.name in COUNTING,
            "spelled": kind.name in COUNTING
            or any(each.told in (Told.LABELS, Told.COLUMNS) for each in kind.arguments),
            "column": of_one_column(kind),
            "arguments": [
                {
                    "name": each.name,
                    "label": each.label or each.name.capitalize(),
                    "told": str(each.told),
                    "help": IN_GROUPS if each is GROUPS else re.sub(r"With --by, (\w)", _capital, each.help),
                    "needed": each.needed,
                    "grouped": each in (GROUPS, OTHER_GROUPS),
                }
                for each in kind.arguments
            ],
            "grouped": GROUPS in kind.arguments,
        }
        for kind in QUESTIONS.values()
    ]


def _capital(found: re.Match[str]) -> str:
    return found[1].upper()


def _counting() -> frozenset[str]:
    """Questions that can be told which value counts."""
    found = set()
    for kind in QUESTIONS.values():
        if of_one_column(kind) and not any(argument.needed for argument in kind.arguments):
            try:
                kind.posed().read_as(True, 0)
            except Refused:
                continue
            found.add(kind.name)
    return frozenset(found)


COUNTING = _counting()


@dataclass(frozen=True)
class Asked:
    """A question about a file, as it was typed."""

    question: Question
    told: dict[str, Any]  # the arguments of the question
    lines: dict[str, list[str]]  # those that name columns, as they were typed: a line for each column
    columns: Columns
    epsilon: float
    delta: float

    @classmethod
    def read(cls, given: Any) -> Asked:
        if not isinstance(given, dict) or not all(isinstance(value, str | bool) for value in given.values()):
            raise BadArgument("question", "is not a form of text", "fill in the page's own")
        kind = QUESTIONS.get(given.get("task", ""))
        if kind is None:
            raise BadArgument("task", "is not known", "choose one of the page's")
        told = {each.name: _read(each, given) for each in kind.arguments}
        told = {name: value for name, value in told.items() if value not in (None, False)}
        known = {"task", *OWN, "epsilon", "delta", *_fields(kind)}
        for name in sorted(set(given) - known):
            raise BadArgument(name, f"does not belong to a {kind.name}", "leave it out")
        columns = Columns.read(given, one=of_one_column(kind))
        lines = {each.name: _lines(given.get(each.name, "")) for each in kind.arguments if each.told is Told.COLUMNS}
        numbers = _number("epsilon", given.get("epsilon", "")), _number("delta", given.get("delta", "") or "0")
        return cls(kind.posed(**told), told, lines, columns, *numbers)

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta, self.columns.neighbours)

    @property
    def names(self) -> list[str]:
        """The names of the columns that are read."""
        return [*self.question.reads, *self.columns.names]

    def rows(self, data: Any, question: Question) -> Rows:
        """The rows to be read, with the question as it is declared."""
        told = self.columns.options
        rules = TextRules.of(told.get("synonyms"), told.get("blanks"), told.get("numbers"))
        chosen = {name: told.get(name) for name in ("column", "by", "where", "unit")}
        return Rows.of(question, data, text=rules, most=self.columns.most, **chosen)

    def declared(self, rows: Rows) -> Question:
        """The question as the columns are declared."""
        said = rows.reading_options(self.columns.options.get("missing"), spelled=self.columns.spelled)
        question = self.question.declared(said).planned(private=self.budget.neighbours.hides_size)
        if question.finding is not None:
            raise BadArgument("categories", "is missing", "name the groups")
        return question

    @property
    def _numbers(self) -> dict[str, Any]:
        return {**self.told, "epsilon": self.epsilon, "delta": self.delta or None}

    def command(self, name: str, ledger: Path | None) -> str:
        """The command that asks the same, and charges the same ledger."""
        lines = [word for each, lines in self.lines.items() for line in lines for word in (f"--{each}", line)]
        told = {each: value for each, value in self._numbers.items() if each not in self.lines}
        words = ["headcount", self.question.name, name, *self.columns.words, *lines, *_options(told)]
        return shlex.join([*words, *_options({"ledger": ledger}), "--plot", "chart.png"])

    def python(self, name: str, ledger: Path | None) -> str:
        """Python that asks the same, and charges the same ledger."""
        options = {
            name: value for name, value in {**self.columns.options, **self._numbers}.items() if value is not None
        }
        kept = [] if ledger is None else [f"ledger=hc.Ledger.open({str(ledger)!r})"]
        told = ", ".join([*(f"{option}={value!r}" for option, value in options.items()), *kept])
        asked = f"answer = hc.{self.question.name}({name!r}, {told})"
        if not hasattr(headcount, self.question.name):
            kind = type(self.question)
            others = (f"{option}={value!r}" for option, value in options.items() if option not in self.told)
            told = ", ".join([*others, *kept])
            asked = (
                f"from {kind.__module__} import {kind.__name__}\n\nanswer = hc.ask({name!r}, {self.question!r}, {told})"
            )
        return f'import headcount as hc\n\n{asked}\nprint(answer)\nanswer.plot().save("chart.png")'


def _fields(kind: type[Question]) -> set[str]:
    return {part for each in kind.arguments for part in _parts(each)}


def _parts(argument: Argument) -> tuple[str, ...]:
    pair = argument.told in (Told.BOUNDS, Told.LIMITS)
    return (f"{argument.name}.low", f"{argument.name}.high") if pair else (argument.name,)


def _read(argument: Argument, given: dict[str, Any]) -> Any:
    """An argument from its fields; None where they are empty."""
    typed = [given.get(part, "") for part in _parts(argument)]
    if argument.told is Told.FLAG:
        return typed[0] in (True, "true")
    if not all(str(each).strip() for each in typed):
        if argument.needed:
            raise BadArgument(argument.name, "is missing", "fill it in")
        return None
    match argument.told:
        case Told.BOUNDS:
            return tuple(_number(argument.name, each) for each in typed)
        case Told.LIMITS:
            return limits_of((str(typed[0]).strip(), str(typed[1]).strip()))
        case Told.LABELS:
            return categories_of(typed[0])
        case Told.GROUPS:
            return groups_of([each.strip() for each in str(typed[0]).split(";")])
        case Told.EDGES:
            return bins_of(typed[0])
        case Told.TEXT:
            return typed[0]
        case Told.COLUMNS:
            return columns_of(_lines(typed[0]))
    return _number(argument.name, typed[0])


def _lines(typed: str | bool) -> list[str]:
    return [line.strip() for line in str(typed).splitlines() if line.strip()]


def _number(name: str, typed: str) -> float:
    try:
        return float(typed)
    except (TypeError, ValueError):
        raise BadArgument(name, "is not a number", "write one, as 0.5") from None


def _options(given: dict[str, Any]) -> list[str]:
    found = {f"--{name.replace('_', '-')}": value for name, value in given.items() if value is not None}
    each = [(option, one) for option, value in found.items() for one in _apart(value)]
    return [word for option, value in each for word in (option, *_typed(value))]


def _apart(value: Any) -> list[Any]:
    """The values of an option that is repeated for each column, where there are several."""
    if not isinstance(value, dict):
        return [value]
    return [f"{name}={''.join(_typed(labels))}" for name, labels in value.items()]


def _typed(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, tuple):
        return [each if isinstance(each, str) else f"{each:g}" for each in value]
    if isinstance(value, list):
        return [",".join(map(str, value))]
    return [f"{value:g}" if isinstance(value, float) else str(value)]


@dataclass(eq=False)
class File:
    """A file that questions are asked about, with its ledger and the pictures of its answers."""

    path: Path
    name: str  # as the user calls it
    ledger: Ledger
    kept: Path | None  # where its ledger is; in memory unless it is kept
    answers: list[Estimate] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def to_json(self) -> dict[str, Any]:
        columns = [{"name": name, "type": kind} for name, kind in column_types(self.path)]
        return {"name": self.name, "columns": columns, "questions": described(), "ledger": self._ledger()}

    def _ledger(self) -> dict[str, Any]:
        ledger = self.ledger
        charges = [
            {"asks": each.asks, "epsilon": float(each.epsilon), "spent": up(each.spent)} for each in ledger.charges
        ]
        kept = "until the page is closed down" if self.kept is None else str(self.kept)
        budget = {"budget": str(ledger.budget), "kept": kept, "charges": charges}
        return {**budget, "spent": ledger.spent, "outlook": ledger.outlook()}

    def holds(self, content: bytes) -> bool:
        """Whether the file has this content; folders and file patterns have none of their own."""
        if not self.path.is_file() or self.path.stat().st_size != len(content):
            return False
        return self.path.read_bytes() == content

    def planned(self, asked: Asked) -> Plan:
        """The plan for everybody in the file, and only for as many."""
        data = table(str(self.path), asked.names, None)
        rows = asked.rows(data, asked.question)
        question = asked.declared(rows)
        answers = engine_for(data).answers(question, rows)
        asked.budget.require_hidden(rows.most or 1)
        crowd = crowd_for(question, answers.size, rows.most or 1, asked.budget)
        return plan_for(question, crowd, asked.budget, None, None, {})

    def advised(self, asked: Asked) -> dict[str, Any]:
        """Which protocol it would be and how wrong. Nothing is drawn, and nothing charged."""
        plan = self.planned(asked)
        protocol, task = plan.protocol, plan.protocol.task
        share = self.ledger.would_cost(plan)
        private = asked.columns.private  # the plan is for a nominal crowd then, of which no share is known
        return {
            "protocol": protocol.name,
            "people": None if private else protocol.crowd.size,
            "off": None if private and task.per_person else protocol.rmse() * task.unit(protocol.crowd.size),
            "unit": task.unit_words,
            "percent": task.percent,
            "share": share,
            "fits": self.ledger.affords(plan) >= 1,
            "command": asked.command(self.name, self.kept),
            "python": asked.python(self.name, self.kept),
        }

    def plan(self, asked: Asked) -> dict[str, Any]:
        asked.columns.require_plain()
        columns = replace(asked.columns, missing=None, spelled=False)  # which the plan says
        command = ["headcount", "run", "plan.json", self.name, *columns.words]
        return {"file": self.planned(asked).saved(), "command": shlex.join(command)}

    def answered(self, asked: Asked) -> dict[str, Any]:
        data = table(str(self.path), asked.names, None)
        asked.declared(asked.rows(data, asked.question))  # which refuses what the page does not ask
        with self.lock:
            estimate = ask(
                data,
                asked.question,
                epsilon=asked.epsilon,
                delta=asked.delta,
                ledger=self.ledger,
                **asked.columns.options,
            )
            self.answers.append(estimate)
            number = len(self.answers) - 1
        several = estimate.protocol.task.shape.several
        rows = estimate.rows() if several and not estimate.sheets else []
        where = f", in the column {asked.columns.column}" if asked.columns.column else ""
        return {
            "number": number,
            "asked": f"{f'{asked.question.asks}{where}'.rstrip('?')}?",
            "value": "" if several else _single(estimate),
            "interval": "" if several else "95% interval {1} to {2}".format(*estimate.shown()[0]),
            "rows": [list(row) for row in rows[:PICTURES]],
            "sheets": [sheet_of(sheet) for sheet in estimate.sheets],
            "curve": curve_of(estimate),
            "note": estimate.note,
            "rules": f"As declared: {'; '.join(estimate.rules)}." if estimate.rules else "",
            "guarantee": ", ".join(map(str, estimate.promises())),
            "command": asked.command(self.name, self.kept),
            "python": asked.python(self.name, self.kept),
            "ledger": self._ledger(),
        }

    def picture(self, number: int, theme: str) -> bytes:
        if not number < len(self.answers) or theme not in THEMES:
            raise BadArgument("picture", "is not there", "ask first")
        data, _ = self.answers[number].plot(theme=theme)._repr_png_()
        return data


def _single(estimate: Estimate) -> str:
    task = estimate.protocol.task
    return f"{estimate.shown()[0][0]} {task.about or task.unit_words}".rstrip()


def told(work: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The same work, with refusals returned as JSON, not raised, with the field concerned."""

    @wraps(work)
    def telling(*given: Any) -> dict[str, Any]:
        try:
            return work(*given)
        except BadArgument as refusal:
            return {"error": str(refusal), "field": refusal.argument}
        except Refused as refusal:
            return {"error": str(refusal)}

    return telling


def _new_ledger() -> tuple[Ledger, Path | None]:
    """One in memory, which is kept nowhere."""
    return Ledger(epsilon=EPSILON, delta=DELTA), None


class Files:
    """A trial's files: at most one named at its start, and those dropped on the page."""

    def __init__(self, folder: Path, named: Path | None = None) -> None:
        self._folder = folder
        self._files: list[File] = []
        self._dropping = threading.Lock()
        if named is not None:
            book = (Ledger.open(DEFAULT), Path(DEFAULT)) if is_here() else _new_ledger()
            self._opened(named, str(named), *book)

    def _opened(self, path: Path, name: str, ledger: Ledger, kept: Path | None) -> int:
        column_types(path)  # which refuses what is no table
        self._files.append(File(path, name, ledger, kept))
        return len(self._files) - 1

    def prepare(self) -> None:
        """Load DuckDB, Parquet and matplotlib before somebody waits for them."""
        with suppress(Refused):
            database(os.getpid())
            import_module("pyarrow.parquet")
            matplotlib()

    def drop(self, name: str, content: bytes) -> dict[str, Any]:
        """A file that was dropped, in the trial's own folder, which goes when the trial ends.

        One that was dropped before, or named, is about the same people: it has the ledger that it
        had, also if it is read in another way now, by another ending of its name.
        """
        kind = kind_named(name)
        with self._dropping:
            alike = [number for number, file in enumerate(self._files) if file.holds(content)]
            same = [number for number in alike if self[number].path.name.lower().endswith(kind)]
            number = same[0] if same else self._kept(name, content, *alike[:1])
        return self.state(number)

    def _kept(self, name: str, content: bytes, *alike: int) -> int:
        """Writes what was dropped, with the ledger of the file that it is like, or a new one."""
        book = [(self[number].ledger, self[number].kept) for number in alike] or [_new_ledger()]
        kept = self._folder / f"dropped-{len(self._files)}{kind_named(name)}"
        kept.touch(mode=0o600)
        kept.write_bytes(content)
        try:
            return self._opened(kept, Path(name).name, *book[0])
        except Refused:
            kept.unlink()
            raise

    def state(self, number: int) -> dict[str, Any]:
        return {"number": number, **self[number].to_json()}

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, number: int) -> File:
        if not 0 <= number < len(self._files):
            raise BadArgument("file", "is not there", "drop it again")
        return self._files[number]
