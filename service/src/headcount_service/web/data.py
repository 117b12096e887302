"""Questions about a file on this machine: its columns, the advice, the answer with its picture, and the ledger.

A column is told by its name and type, and never by a value: what to ask is chosen without looking. The file is read by
the engines that the command line has, an answer is charged to its ledger before it is drawn, and nothing is sent on.
"""

from __future__ import annotations

import os
import re
import shlex
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import headcount
from headcount.answers.estimate import Estimate
from headcount.asking import ask
from headcount.cli.files import table
from headcount.cli.options import bins_of, categories_of, where_of
from headcount.engines.duckdb_connection import database
from headcount.engines.engine import Rows, engine_for
from headcount.engines.file_formats import column_types, kind_named
from headcount.errors import BadArgument, Refused
from headcount.figures.canvas import matplotlib
from headcount.ledger.ledger import Ledger
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.questions import QUESTIONS
from headcount.questions.argument import Argument, Told
from headcount.questions.question import Question

LARGEST = 1 << 30  # bytes of a file that is dropped
EPSILON, DELTA = 3.0, 1e-5  # that a file may lose in all, where no ledger is named
OWN = ("column", "where", "unit")  # what a question about a column is told besides its arguments
PICTURES = 100  # that are kept
THEMES = ("light", "dark")


def asked_of(kind: type[Question]) -> bool:
    """Whether it is asked of one column."""
    return not any(argument.told is Told.COLUMNS for argument in kind.arguments)


def described() -> list[dict[str, Any]]:
    """What may be asked about a column, and what each question has to be told."""
    return [
        {
            "name": kind.name,
            "asks": kind.asks,
            "where": kind.name in COUNTING,
            "arguments": [
                {
                    "name": each.name,
                    "label": each.label or each.name.capitalize(),
                    "told": str(each.told),
                    "help": re.sub(r"--(\w+)", r"the \1", each.help),
                    "needed": each.needed,
                }
                for each in kind.arguments
                if each.name != "categories" or kind.name not in COUNTING
            ],
        }
        for kind in QUESTIONS.values()
        if asked_of(kind)
    ]


def _counting() -> frozenset[str]:
    """Questions that can be told which value counts."""
    found = set()
    for kind in QUESTIONS.values():
        if asked_of(kind) and not any(argument.needed for argument in kind.arguments):
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
    column: str
    where: list[str] | None  # which values count as a one, as they were typed
    unit: str | None
    epsilon: float
    delta: float

    @classmethod
    def read(cls, given: Any) -> Asked:
        if not isinstance(given, dict) or not all(isinstance(value, str | bool) for value in given.values()):
            raise BadArgument("question", "is not a form of text", "fill in the page's own")
        kind = QUESTIONS.get(given.get("task", ""))
        if kind is None or not asked_of(kind):
            raise BadArgument("task", "is not known", "choose one of the page's")
        told = {each.name: _read(each, given) for each in kind.arguments}
        told = {name: value for name, value in told.items() if value not in (None, False)}
        known = {"task", *OWN, "epsilon", "delta", *_fields(kind)}
        for name in sorted(set(given) - known):
            raise BadArgument(name, f"does not belong to a {kind.name}", "leave it out")
        column, unit = given.get("column", ""), given.get("unit", "") or None
        if not column:
            raise BadArgument("column", "is missing", "choose one")
        where = _values(given.get("where", ""))
        numbers = _number("epsilon", given.get("epsilon", "")), _number("delta", given.get("delta", "") or "0")
        return cls(kind.posed(**told), told, column, where, unit, *numbers)

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta)

    @property
    def own(self) -> dict[str, Any]:
        """What is told of the data, as `ask` takes it."""
        return {"column": self.column, "where": where_of(self.where), "unit": self.unit}

    def rows(self, data: Any, question: Question) -> Rows:
        return Rows.of(question, data, **self.own)

    @property
    def _numbers(self) -> dict[str, Any]:
        return {**self.told, "epsilon": self.epsilon, "delta": self.delta or None}

    @property
    def columns(self) -> list[str]:
        """What is told of the data, as the command line takes it."""
        where = [word for text in self.where or [] for word in ("--where", text)]
        return [*_options({"column": self.column}), *where, *_options({"unit": self.unit})]

    def command(self, name: str) -> str:
        """The command that asks the same."""
        words = ["headcount", self.question.name, name, *self.columns, *_options(self._numbers)]
        return shlex.join([*words, "--plot", "chart.png"])

    def python(self, name: str) -> str:
        """Python that asks the same."""
        where = where_of(self.where)
        options = {**self.own, "where": where[0] if where and len(where) == 1 else where, **self._numbers}
        told = ", ".join(f"{option}={value!r}" for option, value in options.items() if value is not None)
        asked = f"answer = hc.{self.question.name}({name!r}, {told})"
        if not hasattr(headcount, self.question.name):
            kind = type(self.question)
            asked = (
                f"from {kind.__module__} import {kind.__name__}\n\nanswer = hc.ask({name!r}, {self.question!r}, {told})"
            )
        return f'import headcount as hc\n\n{asked}\nprint(answer)\nanswer.plot().save("chart.png")'


def _fields(kind: type[Question]) -> set[str]:
    return {part for each in kind.arguments for part in _parts(each)}


def _parts(argument: Argument) -> tuple[str, ...]:
    return (f"{argument.name}.low", f"{argument.name}.high") if argument.told is Told.BOUNDS else (argument.name,)


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
        case Told.LABELS:
            return categories_of(typed[0])
        case Told.EDGES:
            return bins_of(typed[0])
        case Told.TEXT:
            return typed[0]
    return _number(argument.name, typed[0])


def _values(typed: str | bool) -> list[str] | None:
    """One value, or several between commas; None where nothing is typed."""
    if not str(typed).strip():
        return None
    values = [value.strip() for value in str(typed).split(",")]
    if not all(values):
        raise BadArgument("where", "has nothing between two commas", "write values as in Yes, Y")
    return values


def _number(name: str, typed: str) -> float:
    try:
        return float(typed)
    except (TypeError, ValueError):
        raise BadArgument(name, "is not a number", "write one, as 0.5") from None


def _options(given: dict[str, Any]) -> list[str]:
    found = {f"--{name.replace('_', '-')}": value for name, value in given.items() if value is not None}
    return [word for option, value in found.items() for word in (option, *_typed(value))]


def _typed(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, tuple):
        return [f"{each:g}" for each in value]
    if isinstance(value, list):
        return [",".join(map(str, value))]
    return [f"{value:g}" if isinstance(value, float) else str(value)]


@dataclass(eq=False)
class File:
    """A file that questions are asked about, with its ledger and the pictures of its answers."""

    path: Path
    name: str  # as the user calls it
    ledger: Ledger
    kept: str  # where its ledger is
    answers: list[Estimate] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def to_json(self) -> dict[str, Any]:
        columns = [{"name": name, "type": kind} for name, kind in column_types(self.path)]
        return {"name": self.name, "columns": columns, "questions": described(), "ledger": self._ledger()}

    def _ledger(self) -> dict[str, Any]:
        ledger = self.ledger
        charges = [{name: row[name] for name in ("task", "epsilon", "spent")} for row in ledger.records()]
        budget = {"budget": str(ledger.budget), "kept": self.kept, "charges": charges}
        return {**budget, "spent": ledger.spent, "outlook": ledger.outlook()}

    def planned(self, asked: Asked) -> Plan:
        """The plan for everybody in the file, and only for as many."""
        question = asked.question.planned(private=asked.budget.neighbours.hides_size)
        columns = [asked.column, *([asked.unit] if asked.unit else [])]
        data = table(str(self.path), columns, None)
        answers = engine_for(data).answers(question, asked.rows(data, question))
        crowd = crowd_for(question, answers.size, 1, asked.budget)
        return plan_for(question, crowd, asked.budget, None, None, {})

    def advised(self, asked: Asked) -> dict[str, Any]:
        """Which protocol it would be and how wrong. Nothing is drawn, and nothing charged."""
        plan = self.planned(asked)
        protocol, task = plan.protocol, plan.protocol.task
        share = self.ledger.would_cost(plan)
        return {
            "protocol": protocol.name,
            "people": protocol.crowd.size,
            "off": protocol.rmse() * task.unit(protocol.crowd.size),
            "unit": task.unit_words,
            "percent": task.percent,
            "share": share,
            "fits": self.ledger.affords(plan) >= 1,
            "command": asked.command(self.name),
            "python": asked.python(self.name),
        }

    def plan(self, asked: Asked) -> dict[str, Any]:
        command = ["headcount", "run", "plan.json", self.name, *asked.columns]
        return {"file": self.planned(asked).saved(), "command": shlex.join(command)}

    def answered(self, asked: Asked) -> dict[str, Any]:
        columns = [asked.column, *([asked.unit] if asked.unit else [])]
        data = table(str(self.path), columns, None)
        with self.lock:
            estimate = ask(
                data,
                asked.question,
                epsilon=asked.epsilon,
                delta=asked.delta,
                ledger=self.ledger,
                **asked.own,
            )
            self.answers.append(estimate)
            number = len(self.answers) - 1
        rows = estimate.rows() if estimate.protocol.task.shape.several else []
        return {
            "number": number,
            "asked": f"{asked.question.asks}, in the column {asked.column}?",
            "value": "" if rows else _single(estimate),
            "interval": "" if rows else "95% interval {1} to {2}".format(*estimate.shown()[0]),
            "rows": [list(row) for row in rows[:PICTURES]],
            "note": estimate.note,
            "guarantee": ", ".join(map(str, estimate.promises())),
            "command": asked.command(self.name),
            "python": asked.python(self.name),
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
    """Its refusals told instead of raised, with the field that they are about."""

    @wraps(work)
    def telling(*given: Any) -> dict[str, Any]:
        try:
            return work(*given)
        except BadArgument as refusal:
            return {"error": str(refusal), "field": refusal.argument}
        except Refused as refusal:
            return {"error": str(refusal)}

    return telling


class Files:
    """The files of a trial: at most one that was named when it began, and those that were dropped on the page."""

    def __init__(self, folder: Path, named: Path | None = None) -> None:
        self._folder = folder
        self._files: list[File] = []
        self._dropped: dict[bytes, int] = {}  # by their content
        self._dropping = threading.Lock()
        if named is not None:
            self._opened(named, str(named), Path("headcount.ledger"))

    def _opened(self, path: Path, name: str, ledger: Path | None = None) -> int:
        if ledger is not None and ledger.exists():
            book, kept = Ledger.open(ledger), str(ledger)
        else:
            book, kept = Ledger(epsilon=EPSILON, delta=DELTA), "until the page is closed down"
        column_types(path)  # which refuses what is no table
        self._files.append(File(path, name, book, kept))
        return len(self._files) - 1

    def prepare(self) -> None:
        """What takes a moment the first time is loaded before somebody waits for it."""
        with suppress(Refused):
            database(os.getpid())
            import_module("pyarrow.dataset")
            matplotlib()

    def drop(self, name: str, content: bytes) -> dict[str, Any]:
        """A file that was dropped, in the trial's own folder, which goes when the trial ends.

        Dropped again, it is the same file, with the ledger that it had.
        """
        told = sha256(content).digest() + kind_named(name).encode()
        with self._dropping:
            if told not in self._dropped:
                self._dropped[told] = self._kept(name, content)
        return self.state(self._dropped[told])

    def _kept(self, name: str, content: bytes) -> int:
        kept = self._folder / f"dropped-{len(self._files)}{kind_named(name)}"
        kept.touch(mode=0o600)
        kept.write_bytes(content)
        try:
            return self._opened(kept, Path(name).name)
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
