"""Any question about data, by `ask`: the rows, the budget, the plan, the answer.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypedDict

from headcount.answers.estimate import Estimate
from headcount.common.calls import checked
from headcount.engines.engine import Engine, Rows, engine_for
from headcount.finding_groups import in_found_groups, require_in_one_place
from headcount.ledger.habit import habit
from headcount.ledger.ledger import Ledger
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.budget import Budget, Neighbours
from headcount.questions import required
from headcount.questions.question import Question
from headcount.questions.text_rules import TextRules
from headcount.running import carry_out
from headcount.types import (
    Data,
    Groups,
    Missing,
    ModelName,
    PersonIds,
    Relation,
    Where,
)


class Options(TypedDict, total=False):
    """The options of every question, beside the data and epsilon; `ask` explains each of them.

    Examples
    --------
    >>> options: hc.Options = {"delta": 1e-6, "model": "local"}
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=4, **options)
    >>> print(answer.protocol.name)
    randomised-response
    """

    delta: float
    model: ModelName | None
    neighbours: Relation
    protocol: str | None
    parameters: Mapping[str, float]
    column: str | None
    where: Where | None
    missing: Missing | None
    spelled: bool
    blanks: str | Sequence[str] | None
    synonyms: Mapping[str, str | Sequence[str]] | None
    numbers: str | None
    by: Groups | None
    unit: PersonIds | None
    max_contributions: int | None
    clamp: bool
    engine: Engine | None
    ledger: Ledger | None


@checked
def ask(
    data: Data,
    question: Question,
    *,
    epsilon: float,
    delta: float = 0.0,
    model: ModelName | None = None,
    neighbours: Relation = "replace",
    protocol: str | None = None,
    parameters: Mapping[str, float] = MappingProxyType({}),
    column: str | None = None,
    where: Where | None = None,
    missing: Missing | None = None,
    spelled: bool = False,
    blanks: str | Sequence[str] | None = None,
    synonyms: Mapping[str, str | Sequence[str]] | None = None,
    numbers: str | None = None,
    by: Groups | None = None,
    unit: PersonIds | None = None,
    max_contributions: int | None = None,
    clamp: bool = False,
    engine: Engine | None = None,
    ledger: Ledger | None = None,
) -> Estimate:
    """Answer any question about data, under differential privacy.

    Parameters
    ----------
    data : Data
        One value per person (a list, an array, a column of pandas, polars or Arrow), or a table
        with `column`: a frame, a file or folder (Parquet, CSV, Arrow) by its path, anything with
        the Arrow stream interface.
    question : Question
        For example ``hc.Mean((0, 120))``.
    epsilon, delta : float
        The privacy budget.
    model : str, optional
        Who adds the noise: "central" (unless told), the data holder, who asks; its best protocol is
        taken. With "shuffle-threshold", "shuffle-dummies", "shuffle" or "local" people's devices,
        and the shuffler, are simulated: the answer is as wrong as it would be if they had been
        trusted instead.
    neighbours : str
        The adjacency: "replace" one person's value, or "add-remove" one person.
    protocol, parameters : str and mapping, optional
        A protocol by name instead of the best one, and those of its parameters that are fixed
        instead of calibrated.
    column, by : optional
        The columns of a table that hold the answers and, for an answer in every group, one or
        several that tell the groups. A count needs no `column` then: it counts the people of each
        group.
    where : bool, float, str or list of these, optional
        The value that counts as a one, or several; a missing one then does not. True is compared as
        a truth value, 1 as a number, "1" as text, whatever the data hold.
    missing : str, float, list or mapping of these, optional
        What a missing value counts as, instead of being refused: "no", "other", "category" (one of
        its own), for sums a number; or "drop", which leaves its row out, where the number of people
        is private. Of several columns a list, or a mapping from their names.
    spelled : bool
        Read yes and no in any spelling (Yes, y, T, on, 1): in a count or a fraction, and where the
        categories of a histogram or of a table's column are yes and no.
    blanks : str or list of str, optional
        Text that means nothing, as ["NA", "-"], in every column that is read: it is missing, as
        blank text is.
    synonyms : mapping, optional
        Other words for the same, as {"Germany": ["germany", "Deutschland"]}, in every column that
        is read.
    numbers : str, optional
        How text writes numbers, by the example "1,234.50", "1.234,50", "1 234,50" or "1'234.50"; a
        currency may stand before or after.
    unit, max_contributions : optional
        The column of person ids, if a person may have several rows: these are merged into one
        answer, or at most `max_contributions` of them, sampled at random, count each for itself
        (more than one needs neighbours="add-remove").
    clamp : bool
        Bring the answer into the possible range; it is then no longer unbiased.
    engine, ledger : optional
        Where the work is done, and the ledger that is charged.

    Returns
    -------
    Estimate
        The answer, its interval and what it cost.

    Raises
    ------
    errors.BadData, errors.BadArgument
        If the data do not fit the question, or an argument is out of range.
    errors.Unsupported, errors.Infeasible
        If no protocol answers it under this model and adjacency, or none within the budget with
        this few people.
    errors.OverBudget
        If less than that is left in the ledger. Whatever is refused is not charged.

    Examples
    --------
    >>> ages = [20 + i % 60 for i in range(10_000)]
    >>> answer = hc.ask(ages, hc.Mean((0, 120)), epsilon=1)
    >>> 49 < answer.value < 50
    True
    """
    declared = any(said is not None for said in (synonyms, blanks, numbers))
    text = TextRules.of(synonyms, blanks, numbers) if declared else TextRules.plain
    question = required("question", question)
    rows = Rows.of(question, data, column=column, where=where, by=by, unit=unit, most=max_contributions, text=text)
    budget = Budget(epsilon, delta, Neighbours(neighbours))
    budget.require_hidden(rows.most or 1)
    if missing is not None or spelled or by is not None:
        question = question.declared(rows.reading_options(missing, spelled=spelled))
    question = question.planned(private=budget.neighbours.hides_size)
    engine = engine or engine_for(data)
    if (finding := question.finding) is not None:
        require_in_one_place(question, model, protocol)
        estimate = in_found_groups(question, finding, rows, budget, engine, ledger)
    else:
        answers = engine.answers(question, rows)
        crowd = crowd_for(question, answers.size, rows.most or 1, budget)
        plan = plan_for(question, crowd, budget, model, protocol, parameters)
        (estimate,) = carry_out([plan], answers, engine, ledger=ledger, column=rows.title)
    estimate = replace(estimate, rules=(*text.rules, *rows.rules(question)), most=rows.most)
    if ledger is None:
        estimate = replace(estimate, habit=habit(data, budget))
    return estimate.clamped() if clamp else estimate
