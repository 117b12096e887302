"""The same questions about the same rows: every engine has the same tally, or refuses for the same reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headcount as hc
from headcount.engines.engine import Engine, Rows
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.errors import Refused
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.budget import Budget, Neighbours
from headcount.programme.coins import KeyedCoins, SeededCoins
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.questions.count import Count, Fraction
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.sum_and_mean import Mean, Sum
from stress import some

PEOPLE = 600
AT = np.arange(PEOPLE)
NAN = float("nan")
WORDS = ["ash", "oak", "elm", "fir"]
TABLE = pa.table({
    "yes": pa.array(AT % 3 == 0),
    "bit": pa.array(AT % 2),
    "real_bit": pa.array((AT % 5 == 0).astype(float)),
    "age": pa.array(AT % 90, pa.int32()),
    "share": pa.array(np.sqrt(AT) / 25.0),
    "single": pa.array((AT % 7) / 8.0, pa.float32()),
    "tree": pa.array([WORDS[i * (i + 1) // 2 % 4] for i in AT]),
    "place": pa.array((AT // 7) % 5, pa.int64()),
    "one_each": pa.array([f"p{i}" for i in AT]),
    "some_each": pa.array(AT // 3),
    "gaps": pa.array([None if i == 70 else int(i % 2) for i in AT]),
    "nan": pa.array([NAN if i == 70 else float(i % 2) for i in AT]),
    "no_word": pa.array([None if i == 70 else "ash" for i in AT]),
    "no_id": pa.array([None if i == 70 else "ash" for i in AT]),
    "same_tree": pa.array([WORDS[i // 3 % 4] for i in AT]),
    "halves": pa.array(AT % 10 / 2.0),
    "day": pa.array((20_454 + AT % 365).astype(np.int32), pa.date32()),
    "moment": pa.array(1_767_225_600_000_000 + AT * 52_000_000_123, pa.timestamp("us", tz="UTC")),
    "day_text": pa.array([str(np.datetime64("2026-01-01") + np.timedelta64(i % 365, "D")) for i in AT]),
    "clock": pa.array([f"{i % 3}:{i % 60:02}:00" for i in AT]),
    "whole_real": pa.array(AT % 7 * 1.0),
    "whole_text": pa.array([f" {i % 7 - 2}.0" for i in AT]),
    "large": pa.array(AT * 10**15),
})  # fmt: skip
TREES = Histogram(WORDS)


def in_groups(question: Question, *by: str, **said: Any) -> Question:
    return question.declared(ReadingOptions(by=by or ("by",), **said))


YEAR = "2026-01-01", "2026-12-31"


def ranges(bounds: Any, bins: Any = None, **told: Any) -> hc.Distribution:
    """All in one level, so that no plan has to choose radices."""
    question = hc.Distribution(bounds, bins, **told)
    return replace(question, radices=(question.bins,))


def table(**columns: Any) -> hc.Table:
    others = {
        "age": {"bins": [0, 18, 65, 90]},
        "day": {"bounds": YEAR, "bins": "quarter"},
        "share": {"bounds": (0, 1), "bins": 3},
    }
    return hc.Table({"tree": WORDS, **(columns or others)})


@dataclass(frozen=True)
class Case:
    """A question, and which rows."""

    task: Question
    rows: dict[str, Any]
    table: pa.Table = field(default_factory=lambda: TABLE, repr=False)
    neighbours: Neighbours = Neighbours.REPLACE


NOBODY = TABLE.slice(0, 0)
ANSWERED = {
    "truth values": Case(Count(), {"column": "yes"}),
    "zeros and ones": Case(Count(), {"column": "bit"}),
    "zeros and ones as floats": Case(Fraction(), {"column": "real_bit"}),
    "a word counts": Case(Count(), {"column": "tree", "where": "oak"}),
    "a number counts": Case(Count(), {"column": "age", "where": 30}),
    "a number as text counts": Case(Count(), {"column": "age", "where": "30"}),
    "no number is a word": Case(Count(), {"column": "age", "where": "old"}),
    "a truth value as text counts": Case(Count(), {"column": "yes", "where": "true"}),
    "true counts": Case(Count(), {"column": "real_bit", "where": True}),
    "no whole number counts": Case(Count(), {"column": "age", "where": 30.5}),
    "a fraction counts": Case(Count(), {"column": "halves", "where": 2.5}),
    "false counts": Case(Count(), {"column": "yes", "where": False}),
    "one counts as true": Case(Count(), {"column": "yes", "where": 1}),
    "nobody can hold it": Case(Count(), {"column": "yes", "where": 7}),
    "what is missing does not count": Case(Count(), {"column": "gaps", "where": 1}),
    "a word that is missing does not count": Case(Count(), {"column": "no_word", "where": "ash"}),
    "any row of a person": Case(Count(), {"column": "yes", "unit": "some_each"}),
    "any number of a person": Case(Count(), {"column": "bit", "unit": "some_each"}),
    "any word of a person": Case(Fraction(), {"column": "tree", "where": "ash", "unit": "some_each"}),
    "people with one row": Case(Count(), {"column": "bit", "unit": "one_each"}),
    "all of a person's rows": Case(Count(), {"column": "bit", "unit": "some_each", "most": 3},
                                   neighbours=Neighbours.ADD_REMOVE),
    "words": Case(TREES, {"column": "tree"}),
    "words and others": Case(Histogram(["ash", "yew"], other=True), {"column": "tree"}),
    "words of people": Case(TREES, {"column": "same_tree", "unit": "some_each"}),
    "a row of each person": Case(TREES, {"column": "same_tree", "unit": "some_each", "most": 1}),
    "numbers by their number": Case(Histogram(90), {"column": "age"}),
    "numbers by name": Case(Histogram([0, 1, 2, 3, 4]), {"column": "place"}),
    "small floats by name": Case(Histogram([i / 8.0 for i in range(7)]), {"column": "single"}),
    "fractions": Case(Histogram(5, fractions=True), {"column": "place"}),
    "bins": Case(Histogram.binned([0, 18, 65, 90]), {"column": "age"}),
    "bins with others": Case(Histogram.binned(4, (0.0, 0.8), other=True), {"column": "share"}),
    "ranges": Case(ranges((0, 1), 40), {"column": "share"}),
    "ranges of whole numbers, clipped": Case(ranges((10, 50), 7, clip=True), {"column": "age"}),
    "ranges of single whole numbers": Case(ranges((0, 89), whole=True), {"column": "age"}),
    "ranges of single whole numbers, clipped": Case(ranges((10, 50), whole=True, clip=True), {"column": "age"}),
    "ranges of whole numbers as floats": Case(ranges((0, 3), whole=True, clip=True), {"column": "whole_real"}),
    "ranges of whole numbers as text": Case(ranges((-2, 4), whole=True), {"column": "whole_text"}),
    "ranges of whole numbers, one missing": Case(ranges((0, 5), whole=True, missing=3), {"column": "nan"}),
    "ranges of days": Case(ranges(YEAR), {"column": "day"}),
    "ranges of moments": Case(ranges(YEAR, "hour"), {"column": "moment"}),
    "ranges of days as text": Case(ranges(YEAR, "week"), {"column": "day_text"}),
    "ranges of durations": Case(ranges(("0:00", "3:00"), "minute"), {"column": "clock"}),
    "ranges of people": Case(ranges(YEAR), {"column": "day", "unit": "one_each"}),
    "months": Case(Histogram.binned("month", YEAR), {"column": "moment"}),
    "months and others": Case(Histogram.binned("month", ("2026-02-01", "2026-03-31"), other=True), {"column": "day"}),
    "a table": Case(table(), {"column": ("tree", "age", "day", "share")}),
    "words nobody named": Case(Histogram(), {"column": "tree"}),
    "numbers nobody named": Case(Histogram(), {"column": "place"}),
    "reals nobody named": Case(Histogram(), {"column": "share"}),
    "numbers as words": Case(Histogram(["0", "1", "2", "3", "4"]), {"column": "place"}),
    "groups": Case(in_groups(Count(WORDS)), {"column": "yes", "by": "tree"}),
    "groups by number": Case(in_groups(Count(5)), {"column": "bit", "by": "place"}),
    "groups of a word": Case(in_groups(Count(5)), {"column": "tree", "where": "oak", "by": "place"}),
    "groups of people": Case(
        in_groups(Count(WORDS)), {"column": "yes", "by": "same_tree", "unit": "some_each"}
    ),
    "fractions of groups": Case(
        in_groups(Fraction({"tree": WORDS, "place": 5}), "tree", "place"), {"column": "yes", "by": ["tree", "place"]}
    ),
    "people of groups": Case(
        in_groups(Count({"tree": WORDS, "place": 5}), "tree", "place", everybody=True), {"by": ["tree", "place"]}
    ),
    "sums of groups": Case(in_groups(Sum.posed(bounds=(0, 100), categories=WORDS)), {"column": "age", "by": "tree"}),
    "means of groups of people": Case(
        in_groups(Mean.posed(bounds=(0, 100), clip=True, categories=WORDS)),
        {"column": "age", "by": "same_tree", "unit": "some_each"},
    ),
    "whole numbers": Case(Sum.whole((0, 100)), {"column": "age"}),
    "whole numbers as reals": Case(Sum((0, 100)), {"column": "age"}),
    "reals": Case(Sum((0, 1)), {"column": "share"}),
    "small floats": Case(Mean((-1, 1)), {"column": "single"}),
    "halves to steps": Case(Sum((0, 9), 6), {"column": "halves", "where": None}, TABLE.slice(0, 1)),
    "truth values added": Case(Sum.whole((0, 1)), {"column": "yes"}),
    "clipped": Case(Sum.whole((20, 50), clip=True), {"column": "age"}),
    "clipped from between the steps": Case(Sum.whole((1, 3), clip=True), {"column": "halves"}, TABLE.slice(0, 1)),
    "clipped reals": Case(Mean((0.3, 0.7), clip=True), {"column": "share"}),
    "large numbers": Case(Mean((0, 10**18)), {"column": "large"}),
    "added up by person": Case(Sum.whole((0, 300)), {"column": "age", "unit": "some_each"}),
    "averaged by person": Case(Mean((0, 100)), {"column": "age", "unit": "some_each"}),
    "reals added up by person": Case(Sum((0, 3)), {"column": "share", "unit": "some_each"}),
    "reals averaged by person": Case(Mean((0, 1)), {"column": "share", "unit": "some_each"}),
    "rows of people who are real numbers": Case(Sum((0, 1)), {"column": "share", "unit": "some_each", "most": 3},
                                                neighbours=Neighbours.ADD_REMOVE),
    "halves added up by person": Case(Sum((0, 15)), {"column": "halves", "unit": "some_each"}),
    "people who may be missing": Case(Count(), {"column": "yes"}, neighbours=Neighbours.ADD_REMOVE),
    "sums of those": Case(Sum((10, 100), clip=True), {"column": "age"}, neighbours=Neighbours.ADD_REMOVE),
    "one person": Case(Count(), {"column": "bit"}, TABLE.slice(1, 1)),
    "nobody": Case(Count(), {"column": "bit"}, NOBODY, neighbours=Neighbours.ADD_REMOVE),
    "nobody's word": Case(Count(), {"column": "tree", "where": "oak"}, NOBODY, neighbours=Neighbours.ADD_REMOVE),
    "nobody's sum": Case(Sum((0, 1)), {"column": "bit"}, NOBODY, neighbours=Neighbours.ADD_REMOVE),
    "nobody's words": Case(TREES, {"column": "tree"}, NOBODY, neighbours=Neighbours.ADD_REMOVE),
    "nobody's bins": Case(Histogram.binned([0, 18, 90]), {"column": "age"}, NOBODY, neighbours=Neighbours.ADD_REMOVE),
    "nobody's unknown": Case(Histogram(), {"column": "tree"}, NOBODY, neighbours=Neighbours.ADD_REMOVE),
    "nobody's rows": Case(
        Sum.whole((0, 9)), {"column": "bit", "unit": "some_each"}, NOBODY, neighbours=Neighbours.ADD_REMOVE
    ),
}  # fmt: skip
REFUSED = {
    "gaps": (Case(Count(), {"column": "gaps"}), "missing values"),
    "not a number": (Case(Count(), {"column": "nan"}), "missing values"),
    "gaps in a sum": (Case(Sum((0, 1)), {"column": "gaps"}), "missing values"),
    "not a number in a sum": (Case(Sum((0, 1), clip=True), {"column": "nan"}), "missing values"),
    "gaps among words": (Case(TREES, {"column": "no_word"}), "missing values"),
    "gaps among unknown words": (Case(Histogram(), {"column": "no_word"}), "missing values"),
    "gaps in bins": (Case(Histogram.binned([0, 1, 2]), {"column": "gaps"}), "missing values"),
    "gaps of people": (Case(Count(), {"column": "gaps", "unit": "some_each"}), "missing values"),
    "missing ids": (Case(Count(), {"column": "bit", "unit": "no_id"}), "missing person ids"),
    "neither zero nor one": (Case(Count(), {"column": "age"}), "other than 0 and 1"),
    "neither zero nor one of a person": (Case(Count(), {"column": "age", "unit": "some_each"}), "other than 0 and 1"),
    "words for a count": (Case(Count(), {"column": "tree"}), "use where="),
    "words for a sum": (Case(Sum((0, 1)), {"column": "tree"}), "must be numbers"),
    "words for bins": (Case(Histogram.binned([0, 1]), {"column": "tree"}), "outside the edges"),
    "numbers for words": (Case(TREES, {"column": "age"}), "outside the categories"),
    "words for numbers": (Case(Histogram(5), {"column": "tree"}), "outside the categories"),
    "outside the bounds": (Case(Sum((0, 50)), {"column": "age"}), "outside the bounds"),
    "outside the bounds by little": (Case(Sum((0, 0.9)), {"column": "share"}), "outside the bounds"),
    "between the steps": (Case(Sum.whole((0, 5)), {"column": "halves"}), "between the steps"),
    "outside the categories": (Case(Histogram(["ash", "oak"]), {"column": "tree"}), "outside the categories"),
    "outside of ranges": (Case(ranges((0, 50), 5), {"column": "age"}), "outside the bounds"),
    "outside of whole numbers": (Case(ranges((0, 50), whole=True), {"column": "age"}), "outside the bounds"),
    "one after the last whole number": (Case(ranges((0, 88), whole=True), {"column": "age"}), "outside the bounds"),
    "between whole numbers": (Case(ranges((0, 5), whole=True), {"column": "halves"}), "between the steps"),
    "far between whole numbers": (Case(ranges((0, 5), whole=True), {"column": "large"}), "outside the bounds"),
    "gaps in whole numbers": (Case(ranges((0, 1), whole=True), {"column": "nan"}), "missing values"),
    "words for whole numbers": (Case(ranges((0, 1), whole=True), {"column": "tree"}), "must be numbers"),
    "gaps in ranges": (Case(ranges((0, 1), 2), {"column": "nan"}), "missing values"),
    "outside of days": (Case(ranges(("2026-02-01", "2026-12-31")), {"column": "moment"}), "outside the bounds"),
    "words for days": (Case(ranges(YEAR), {"column": "tree"}), "must be moments"),
    "days for numbers": (Case(ranges((0, 1), 2), {"column": "day"}), "must be numbers"),
    "days outside a table": (
        Case(table(hired={"bounds": ("2026-02-01", "2026-12-31"), "bins": "month"}), {"column": ("tree", "day")}),
        "that are no days",
    ),
    "outside the edges": (Case(Histogram.binned([0, 18, 65]), {"column": "age"}), "outside the edges"),
    "groups not named": (Case(in_groups(Count(["ash"])), {"column": "yes", "by": "tree"}), "has groups outside"),
    "different categories of a person": (Case(TREES, {"column": "tree", "unit": "some_each"}), "different categories"),
    "no such column": (Case(Count(), {"column": "nope"}), "does not have"),
    "no such unit": (Case(Count(), {"column": "bit", "unit": "nope"}), "does not have"),
    "no such groups": (Case(in_groups(Count(2)), {"column": "bit", "by": "nope"}), "does not have"),
    "where for a sum": (Case(Sum((0, 1)), {"column": "bit", "where": 1}), "where"),
    "a whole number that doubles do not tell apart": (Case(Count(), {"column": "age", "where": 2**53}), "2\\*\\*53"),
    "blank text counts": (Case(Count(), {"column": "tree", "where": " "}), "blank"),
    "several groups and rows": (
        Case(Histogram(5, other=True), {"column": "bit", "by": "place", "unit": "some_each", "most": 2}),
        "does not fit a histogram",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """An engine, what it makes of a table, and in which parts it takes the crowd."""

    engine: Engine
    taken: Callable[[pa.Table], Any]

    def answers(self, case: Case) -> Any:
        task = case.task.planned(private=case.neighbours.hides_size)
        return self.engine.answers(task, Rows(self.taken(case.table), **case.rows, key=b"5"))

    def plan(self, case: Case, size: int, model: str = "central") -> Plan:
        budget = Budget(1.0, 1e-6, case.neighbours)
        task = case.task.planned(private=case.neighbours.hides_size)
        return plan_for(task, crowd_for(task, size, case.rows.get("most") or 1, budget), budget, model)

    def tally(self, case: Case, model: str = "central") -> Tally:
        answers = self.answers(case)
        return self.engine.tally(self.plan(case, answers.size, model), answers, SeededCoins(3))


ENGINES = ("memory", "arrow", "spark")
ASKED_OF_SPARK = 6  # every so many of the questions always, the others under stress


def on_every_engine(names: Iterable[str]) -> pytest.MarkDecorator:
    names = list(names)
    every = [(engine, name) for engine in ENGINES for name in names]
    chosen = some(every, lambda each: each[0] != "spark" or names.index(each[1]) % ASKED_OF_SPARK == 0)
    return pytest.mark.parametrize(("setting", "name"), chosen, indirect=["setting"])


@pytest.fixture(params=ENGINES)
def setting(request: pytest.FixtureRequest) -> Setting:
    if request.param == "spark":
        return _on_spark(request.getfixturevalue("spark"))
    return Setting({"memory": MemoryEngine, "arrow": FileEngine}[request.param](), lambda table: table)


@cache
def _on_spark(session: Any) -> Setting:
    """One for each session, which reads a table once."""
    from headcount.engines.spark import SparkEngine

    kept: dict[int, Any] = {}

    def frame(table: pa.Table) -> Any:
        if id(table) not in kept:
            rows = session.createDataFrame(table, schema=None if table.num_rows else _schema(table))
            kept[id(table)] = rows.repartition(3, "one_each")
        return kept[id(table)]

    return Setting(SparkEngine(), frame)


def _schema(table: pa.Table) -> str:
    """Spark finds no types in a table without rows."""
    names = {
        "bool": "boolean",
        "date32[day]": "date",
        "timestamp[us, tz=UTC]": "timestamp",
        "int64": "bigint",
        "int32": "int",
        "double": "double",
        "float": "float",
        "string": "string",
    }
    return ", ".join(f"{column.name} {names[str(column.type)]}" for column in table.schema)


IN_MEMORY = Setting(MemoryEngine(), lambda table: table)


@on_every_engine(ANSWERED)
def test_the_same_rows_give_the_same_tally(setting, name):
    """To a trusted side, where nothing is drawn before the release: exactly."""
    assert setting.tally(ANSWERED[name]) == IN_MEMORY.tally(ANSWERED[name])


@on_every_engine(REFUSED)
def test_the_same_rows_are_refused_for_the_same_reason(setting, name):
    case, reason = REFUSED[name]
    with pytest.raises(Refused, match=reason) as refusal:
        setting.tally(case)
    assert not any(word in str(refusal.value) for word in ("600", "70", "oak"))


@pytest.mark.parametrize(
    ("name", "model"),
    some(
        [("truth values", "local"), ("words", "shuffle"), ("reals", "local"), ("bins", "local")],
        lambda case: case[0] in ("words", "reals"),
    ),
)
def test_the_tally_of_the_same_coins_is_the_same(setting, name, model):
    """In the order of the rows; on Spark sorted within each partition, whose number is that of the part."""
    case = ANSWERED[name]
    answers = setting.answers(case)
    plan = setting.plan(case, answers.size, model)
    parts = [case.table.column(case.rows["column"]).to_numpy()]
    if not isinstance(setting.engine, MemoryEngine | FileEngine):
        parts = _partitions(setting.taken(case.table), case.rows["column"])
        assert len(parts) > 1
    for coins in (SeededCoins(3), KeyedCoins(b"k" * 32)):
        there, here = (
            engine.tally(plan, given, coins) for engine, given in ((setting.engine, answers), (MemoryEngine(), parts))
        )
        assert there == here
    assert setting.engine.tally(plan, answers, SeededCoins(4)) != setting.engine.tally(plan, answers, SeededCoins(3))


def _partitions(frame: Any, column: str) -> list[np.ndarray]:
    rows = frame.selectExpr("spark_partition_id() AS part", column).toArrow()
    return [
        np.sort(rows.filter(pa.compute.equal(rows["part"], part))[column].to_numpy())
        for part in range(max(rows["part"].to_pylist()) + 1)
    ]


@pytest.mark.parametrize("model", ["central", "local", "shuffle"])
def test_questions_are_answered_with_secret_coins(setting, model):
    """An interval misses its truth once in a million questions; here are five."""
    data, budget = setting.taken(TABLE), {"epsilon": 2, "delta": 1e-6, "model": model, "engine": setting.engine}
    trees = TABLE["tree"].to_pylist()
    answers = [
        (hc.count(data, column="yes", **budget), [200]),
        (hc.histogram(data, column="tree", categories=WORDS, **budget), [trees.count(word) for word in WORDS]),
        (hc.mean(data, column="halves", bounds=(0, 5), **budget), [2.25]),
    ]
    for answer, truth in answers:
        assert answer.secret
        confidence = 1 - 1e-6 / len(truth)
        for (low, high), true in zip(np.atleast_2d(answer.intervals(confidence)), truth, strict=True):
            assert low <= true <= high
