"""The price of trust on one's own data: the best protocol of every model of trust, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

from headcount.answers.estimate import Estimate
from headcount.answers.pictures import written
from headcount.common.plurals import people
from headcount.figures.intervals import Span, rows
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.phrases import Phrase
from headcount.planner.expected import UNKNOWN
from headcount.planner.objective import Objective
from headcount.privacy.budget import Budget
from headcount.privacy.model import Model
from headcount.questions.question import Question

LARGEST = 10  # categories that are shown
LARGEST_DRAWN = 6


@dataclass(frozen=True, eq=False)
class Side:
    """The answer of one model of trust, or why it has none."""

    model: Model
    answer: Estimate | None = None
    reason: str = ""

    @cached_property
    def error(self) -> float | None:
        """The predicted root mean square error in the task's unit, for the worst data."""
        if self.answer is None:
            return None
        protocol = self.answer.protocol
        return Objective.RMSE.of(protocol, UNKNOWN, protocol.crowd.size, 0.95) * self.answer.scale


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular, Pictured):
    """Answers to one question in every model of trust, from most trust to none, from `compare`.

    All of them were really drawn: an observer of all learns what `together` says, not what each
    costs alone. `comparison["central"]` is the estimate of a model.

    Parameters
    ----------
    task : Question
        What was asked.
    budget : Budget
        Of each answer.
    together : Budget
        Of all of them.
    sides : tuple of Side
        For each model its answer and predicted error, or why it has none.

    Examples
    --------
    >>> comparison = hc.compare([1] * 300 + [0] * 700, epsilon=1)
    >>> [str(side.model) for side in comparison.sides if side.answer is not None]
    ['central', 'local']
    >>> comparison.price_of_trust(comparison.sides[-1]) > 20
    True
    """

    task: Question
    budget: Budget  # of each answer
    together: Budget  # of all of them
    sides: tuple[Side, ...]

    @property
    def served(self) -> list[Estimate]:
        return [side.answer for side in self.sides if side.answer is not None]

    def __getitem__(self, model: str) -> Estimate:
        """What the model of this name answered."""
        for answer in self.served:
            if answer.protocol.model == model:
                return answer
        raise KeyError(model)

    def price_of_trust(self, side: Side) -> float | None:
        """The ratio of the side's error to that of the central model."""
        central = next((one.error for one in self.sides if one.model is Model.CENTRAL), None)
        return side.error / central if side.error is not None and central else None

    @property
    def n(self) -> int | None:
        return self.served[0].n

    @property
    def sheet(self) -> TextTable:
        """A line for each model."""
        several = self.task.shape.several
        shown = ("each count is off by", "all within") if several else ("answer", "95% interval", "error (rmse)")
        headings = ("model", "you trust", "protocol", *shown, "messages", "price of trust")
        title = f"{self.task.name} {self.task.about}, " if self.task.about else ""
        title += "" if self.n is None else f"{people(self.n)}, "
        title += f"{self.budget} for each answer, {self.budget.neighbours.words}"
        rows = tuple(self._row(side, len(headings)) for side in self.sides)
        return TextTable(headings, rows, frozenset(range(3, len(headings))), title)

    def _row(self, side: Side, width: int) -> tuple[str, ...]:
        head = (str(side.model), side.model.trusted)
        if side.answer is None or side.error is None:
            return (*head, *["-"] * (width - 2))
        protocol, price = side.answer.protocol, self.price_of_trust(side)
        if self.task.shape.several:
            widest = side.answer.simultaneous95
            shown = [_figure(side.error), "-" if widest is None else f"± {_figure(widest)}"]
        else:
            ((value, low, high),) = side.answer.shown()
            shown = [value, f"{low} to {high}", _figure(side.error)]
        times = "-" if price is None else f"× {_figure(price)}"
        return (*head, protocol.name, *shown, f"{protocol.messages_per_person:,.4g}", times)

    @property
    def cells(self) -> TextTable | None:
        """The largest categories of a histogram, as each model counted them."""
        if not self.task.shape.several:
            return None
        best = min(self.served, key=lambda answer: answer.protocol.rmse())
        largest = sorted(best.cells, key=lambda cell: -cell.value)[:LARGEST]
        counted = [{name: value for name, value, _ in answer.rows()} for answer in self.served]
        rows = [(str(cell.category), *(one.get(str(cell.category), "-") for one in counted)) for cell in largest]
        headings = ("category", *(str(answer.protocol.model) for answer in self.served))
        left = len(best.cells) - len(largest)
        title = f"the largest {len(largest)} of {len(best.cells):,} categories" if left > 0 else ""
        return TextTable(headings, tuple(rows), frozenset(range(1, len(headings))), title)

    @property
    def sentences(self) -> list[str]:
        """Who could not answer and why, and what all the answers cost."""
        lines: list[str] = [Phrase("{}: {}.", side.model, side.reason) for side in self.sides if side.answer is None]
        if len(self.served) == 1:
            return [*lines, f"The answer cost {self.together}."]
        return [
            *lines,
            f"Each answer alone costs {self.budget}. All {len(self.served)} are about the same people: together "
            f"they cost {self.together}.",
        ]

    @property
    def _sheets(self) -> list[TextTable]:
        return [self.sheet, *([] if self.cells is None else [self.cells])]

    def __str__(self) -> str:
        return "\n\n".join([*(sheet.text() for sheet in self._sheets), "\n".join(self.sentences)])

    def __repr__(self) -> str:
        return f"Comparison: {self.sheet.title}, {', '.join(each.protocol.name for each in self.served)}"

    def to_markdown(self) -> str:
        """Its tables and sentences, in Markdown."""
        return "\n\n".join([*(sheet.markdown() for sheet in self._sheets), *self.sentences])

    def _repr_html_(self) -> str:
        tables = "".join(sheet.html() for sheet in self._sheets)
        return f"<div>{tables}<small>{'<br>'.join(map(escape, self.sentences))}</small></div>"

    def records(self) -> list[dict[str, Any]]:
        """A row per model, or per category of each; what a model could not answer stays empty."""
        found = []
        for side in self.to_json()["models"]:
            answer = side.pop("answer") or {}
            cells = answer.get("cells") or [{key: answer.get(key) for key in ("value", "interval95")}]
            protocol = {"protocol": answer.get("protocol"), "messages_per_person": answer.get("messages_per_person")}
            found += [{**side, **protocol, **cell, "interval95": cell["interval95"] or (None, None)} for cell in cells]
        return found

    def draw(self, target: Any, theme: str, title: str) -> object:
        look: dict[str, Any] = {"title": title or "What trust is worth: one question, asked of each model"}
        look |= {"subtitle": self.sheet.title, "caption": f"Lines are 95% intervals. {self.sentences[-1]}"}
        look |= {"xlabel": self.task.unit_words or self.task.name, "percent": self.task.percent}
        return rows(self._spans(), target, theme=theme, from_zero=self.task.shape.several, **look)

    def _spans(self) -> list[Span]:
        if not self.task.shape.several:
            return [
                _span(answer, str(answer.protocol.model), answer.value, answer.interval(), answer.shown()[0])
                for answer in self.served
            ]
        best = min(self.served, key=lambda answer: answer.protocol.rmse())
        largest = sorted(best.cells, key=lambda cell: -cell.value)[:LARGEST_DRAWN]
        spans = []
        for category in (cell.category for cell in largest):
            for answer in self.served:
                names = answer.categories
                if category in names:
                    at = names.index(category)
                    ends, shown = answer.intervals()[at].tolist(), answer.shown()[at]
                    label = str(answer.protocol.model)
                    span = _span(answer, label, float(answer.values[at]), (ends[0], ends[1]), shown)
                    spans.append(replace(span, group=str(category)))
        return spans

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount compare --format json` prints it."""
        return {
            "task": self.task.name,
            "n": self.n,
            "budget": self.budget.to_json(),
            "together": self.together.to_json(),
            "models": [
                {
                    "model": str(side.model),
                    "trusted": side.model.trusted,
                    "feasible": side.answer is not None,
                    "reason": side.reason,
                    "rmse": side.error,
                    "price_of_trust": self.price_of_trust(side),
                    "answer": None if side.answer is None else side.answer.to_json(),
                }
                for side in self.sides
            ],
        }


def _span(answer: Estimate, label: str, value: float, ends: tuple[float, float], shown: tuple[str, str, str]) -> Span:
    text, low, high = written(shown, percent=answer.protocol.task.percent)
    return Span(label, value, *ends, f"{text}  ({low} to {high})", hue=str(answer.protocol.model))


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"
