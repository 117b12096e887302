"""Advice: plans in order of preference, each with its figures or with what it lacks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headcount.common.plurals import people
from headcount.errors import BadArgument, Infeasible
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.phrases import Phrase
from headcount.planner.objective import Objective
from headcount.planner.option import CalibratedOption, Option, number
from headcount.planner.reasons import delta_warning, reasons
from headcount.planner.situation import InSituation, Situation
from headcount.privacy.model import Model
from headcount.protocols.base.plan import Plan


def _one_liar(option: CalibratedOption) -> str:
    reach = option.reach
    return f"{reach.furthest:,.4g}" if reach is not None and reach.bounded else "anything"


@dataclass(frozen=True, repr=False)
class Advice(InSituation, Tabular, Pictured):
    """The protocols that could answer a question, best first, as `advise` returns them.

    `best` is the best plan, `advice["zsum"]` the option of a protocol, `why()` the choice in plain
    sentences.

    Parameters
    ----------
    situation : Situation
        What was asked of whom, with which budget, and what makes an answer good.
    options : tuple of Option
        The protocols in order: each calibrated, with its figures, or with what it lacks. Asked
        backwards, each is in a situation of its own, with the epsilon or the n that it needs.
    within : float, optional
        Asked backwards, how small the objective was to be.
    solved : str
        What was solved for: "epsilon", "n" or nothing.

    Examples
    --------
    >>> advice = hc.advise("count", n=1_000, epsilon=1, delta=1e-6, protocols=["randomised-response", "zsum"])
    >>> advice
    Advice: 1,000 people, (ε=1, δ=1e-06), replace-one, 2 of 2 protocols can serve
    >>> advice["zsum"].rmse < advice["randomised-response"].rmse
    True
    """

    situation: Situation
    options: tuple[Option, ...]
    within: float | None = None  # the wish that was solved for
    solved: str = ""  # "epsilon" or "n"

    @cached_property
    def feasible(self) -> tuple[CalibratedOption, ...]:
        return tuple(option for option in self.options if isinstance(option, CalibratedOption))

    @property
    def best(self) -> Plan:
        """The best plan.

        Raises
        ------
        errors.Infeasible
            If no protocol can serve.
        """
        if not self.feasible:
            raise Infeasible(self._nothing)
        return self.feasible[0].plan

    @property
    def _nothing(self) -> Phrase:
        """The refusal: no protocol serves, and what each trusted one lacks."""
        trusted = self.situation.trusted
        among = "" if len(trusted) == len(Model) else f" of the {_either(trusted)} model"
        lacking = self._grouped(option for option in self.options if option.kind.model in trusted)
        if not lacking:
            return Phrase("no protocol{} answers this", among)
        each = [Phrase("{}: {}", ", ".join(names), reason) for reason, names in lacking]
        return Phrase("no protocol{} can serve ({})", among, Phrase.joined("; ", each))

    def best_of(self, model: str) -> CalibratedOption | None:
        """The best option of one model of trust; None if no protocol of it can serve.

        Parameters
        ----------
        model : str
            For example "shuffle".
        """
        trusted = Model(model)
        return next((option for option in self.feasible if option.kind.model is trusted), None)

    def plan(self, option: CalibratedOption | str) -> Plan:
        """The plan of an option, or of the protocol of this name."""
        return (option if isinstance(option, CalibratedOption) else self[option]).plan

    def __getitem__(self, name: str) -> CalibratedOption:
        """The option of the protocol of this name."""
        for option in self.feasible:
            if option.name == name:
                return option
        raise BadArgument("option", f"is {name!r}", f"use one of {', '.join(option.name for option in self.feasible)}")

    def why(self) -> str:
        """The choice in plain sentences: error, trust, promise, and what happens if people drop out
        or operators collude."""
        _ = self.best  # says why, if there is none
        return reasons(self.feasible)

    @property
    def title(self) -> str:
        given = self.situation
        crowd = people(given.crowd.size) if self.solved != "n" else "as few people as will do"
        if given.sizes and self.solved != "n":
            crowd = f"{given.sizes[0]:,} to {people(given.sizes[-1])}"
        budget = str(given.budget)
        budget = budget.replace(f"ε={given.budget.epsilon:g}", "ε=?") if self.solved == "epsilon" else budget
        words = [crowd, budget, given.budget.neighbours.words]
        words += [str(given.expected)] if given.expected.known else []
        words += [f"within {self.within:g}"] if self.within is not None else []
        return ", ".join(words)

    def sheet(self) -> TextTable:
        """A row for each protocol that serves."""
        columns = self._columns()
        rows = [tuple(cell(option) for cell in columns.values()) for option in self.feasible]
        figures = frozenset(range(2, len(columns) - 1))
        return TextTable(tuple(columns), tuple(rows), figures, self.title)

    def _columns(self) -> dict[str, Any]:
        given = self.situation
        columns: dict[str, Any] = {"protocol": lambda o: o.name, "model": lambda o: str(o.kind.model)}
        if self.solved == "epsilon":
            columns["epsilon"] = lambda o: f"{o.situation.budget.epsilon:.3g}"
        elif self.solved == "n":
            columns["people"] = lambda o: f"{o.situation.crowd.size:,}"
        if given.objective not in (Objective.RMSE, Objective.INTERVAL):
            columns[given.objective.words] = lambda o: number(o.objective) if math.isfinite(o.objective) else "none"
        columns["error (rmse)"] = lambda o: number(o.rmse)
        if any(option.protocol.strategy.words for option in self.feasible):
            columns["on average"] = lambda o: number(o.rmse_average)
            columns["noise on"] = lambda o: o.protocol.task.strategy.words
        elif not given.expected.known and any(not option.protocol.steady for option in self.feasible):
            if given.averaged:
                columns["worst category"] = lambda o: number(o.rmse_worst)
            else:
                columns["on average"] = lambda o: number(o.rmse_average)
        columns[f"{100 * given.confidence:.4g}% interval"] = lambda o: _either_side(o.half_width)
        if given.collected:
            columns["messages"] = lambda o: f"{given.costs(o.protocol)[0]:,.0f}"
            columns["bytes"] = lambda o: f"{given.costs(o.protocol)[1]:,.0f}"
            columns["one liar"] = _one_liar
        else:
            columns["messages"] = lambda o: f"{o.protocol.messages_per_person:,.4g}"
        columns["accounting"] = _accounting
        return columns

    @property
    def lacking(self) -> list[tuple[str, list[str]]]:
        """What the other protocols lack, each reason with the protocols that have it."""
        return self._grouped(option for option in self.options if not isinstance(option, CalibratedOption))

    @staticmethod
    def _grouped(options: Iterable[Option]) -> list[tuple[str, list[str]]]:
        """Names of protocols by reason."""
        grouped: defaultdict[str, list[str]] = defaultdict(list)
        for option in options:
            grouped[option.reason].append(option.name)
        return list(grouped.items())

    @property
    def _others(self) -> list[str]:
        return [f"- {', '.join(names)}: {reason}" for reason, names in self.lacking]

    @property
    def _remarks(self) -> list[str]:
        """Warnings that hold whatever is chosen."""
        given = self.feasible[0].situation if self.feasible else self.situation
        return [remark] if (remark := delta_warning(given)) else []

    def table(self) -> str:
        """Plain text, a line for each option."""
        if not self.feasible:
            return "\n".join([f"{self.title}: no protocol can serve", *self._others])
        return "\n".join([self.sheet().text(), *self._others, *self._remarks])

    def to_markdown(self) -> str:
        """Its table and remarks in Markdown."""
        below = [*self._others, *([""] if self._others and self._remarks else []), *self._remarks]
        return "\n".join([self.sheet().markdown(), *(["", *below] if below else [])])

    def records(self) -> list[dict[str, Any]]:
        """A row for each option."""
        options: list[dict[str, Any]] = self.to_json()["options"]
        return options

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.planner.advice_figure import draw

        return draw(self, target, theme, title)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Advice: {self.title}, {len(self.feasible)} of {len(self.options)} protocols can serve"

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount advise --format json` prints it."""
        given, crowd = self.situation, self.crowd
        return {
            "task": self.task.name,
            "budget": {**self.budget.to_json(), **({"epsilon": None} if self.solved == "epsilon" else {})},
            "crowd": {
                "n": None if self.solved == "n" else crowd.size,
                "least": None if self.budget.neighbours.hides_size else crowd.least,
                "corrupt": crowd.corrupt,
                "ones": given.expected.to_json(),
            },
            "best": self.feasible[0].name if self.feasible else None,
            "options": [option.to_json() for option in self.options],
            "objective": str(given.objective),
            "confidence": given.confidence,
            "within": self.within,
        }


def _either_side(width: float) -> str:
    return f"± {number(width)}" if math.isfinite(width) else "-"


def _either(models: Collection[Model]) -> str:
    return " or ".join(str(model) for model in Model if model in models)


def _accounting(option: CalibratedOption) -> str:
    kind = option.loss.kind
    panels = f", {option.situation.panels:,} panels" if option.situation.panels > 1 else ""
    return f"{kind}{panels}" if option.proportionate else f"{kind}; out of proportion"
