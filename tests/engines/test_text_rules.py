"""How text is written: synonyms, blanks and numbers in a form of their own, alike in memory, in files and on Spark."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.cli.files import _csv as read_alone
from headcount.engines.engine import Rows
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.engines.spark import SparkEngine
from headcount.errors import BadArgument, BadData, Refused
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.text_rules import FORMS, TextRules

SURE = {"epsilon": 50}
PLAIN = {"synonyms": None, "blanks": None, "numbers": None}
ODD = [
    *("€1,234.50", "-€ 5", "€-5.25", "1.234,50 €", "1 234,50", "1'234.50 CHF", "USD 12", "12.5", "12,5", "1,23", "+3"),
    *("--5", "5-", "€", "€€5", "1e3", ".5", "5.", "", " ", "NA", "-", "1,2345", "12,345", "0012", "(5)", "5 %", "٣"),
    "1\u00a0234,50",
]


def in_file(folder, values, others=None):
    path = folder / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = zip(values, others or ["a"] * len(values), strict=True)
        csv.writer(file).writerows([("x", "g"), *rows])
    return str(path)


def outcome(engine, data, missing=None, **told):
    """What all hold together, without noise; or why it is refused."""
    question = hc.Sum.posed(bounds=(-10_000, 10_000), clip=True).declared(ReadingOptions(missing))
    try:
        answers = engine.answers(question, Rows(data, "x", text=TextRules.of(**{**PLAIN, **told})))
    except Refused as refusal:
        return refusal.problem.partition(";")[0]
    try:
        return sum(answers.tolist()) if isinstance(answers, np.ndarray) else total(answers)
    except Refused as refusal:
        return refusal.problem.partition(";")[0]


def total(answers):
    return answers.total() if callable(answers.total) else answers.total


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ("1,234.50", "€1,234.50", 1234.5),
        ("1,234.50", "-€1,234.50", -1234.5),
        ("1,234.50", "$ -7", -7.0),
        ("1,234.50", "1234.5 USD", 1234.5),
        ("1.234,50", "1.234,50 €", 1234.5),
        ("1.234,50", "1.234", 1234.0),
        ("1.234,50", "12.5", None),
        ("1,234.50", "12,5", None),
        ("1 234,50", "1\u202f234,50 zł", 1234.5),
        ("1'234.50", "CHF 1’234.50", 1234.5),
        ("1,234.50", "1e3", None),
        ("1,234.50", "five", None),
    ],
)
def test_numbers_as_they_are_written(form, text, value, tmp_path):
    for data in ({"x": [text] * 3}, in_file(tmp_path, [text] * 3)):
        if value is None:
            with pytest.raises(BadData, match=rf"column 'x' has text that is no number as {form}; list the text that"):
                hc.mean(data, column="x", bounds=(-2_000, 2_000), numbers=form, **SURE)
        else:
            answer = hc.sum(data, column="x", bounds=(-10_000, 10_000), numbers=form, **SURE)
            assert answer.value == pytest.approx(3 * value, abs=3_000)
            assert f"numbers are written as {form}" in answer.rules


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    text=st.sampled_from(ODD) | st.text("0123456789.,' €-+KC\u00a0", max_size=9),
    form=st.sampled_from([*FORMS]),
    missing=st.sampled_from([None, 7]),
)
@example(text="", form="1,234.50", missing=7)
def test_files_take_text_as_memory_does(text, form, missing, tmp_path_factory):
    asked = {"numbers": form, "blanks": ["NA", "-"], "missing": missing}
    path = in_file(tmp_path_factory.mktemp("x"), [text, "1"])
    assert outcome(FileEngine(), path, **asked) == outcome(MemoryEngine(), {"x": [text, "1"]}, **asked)


def test_reading_blank_cells_as_no_numbers_is_caught(monkeypatch, tmp_path):
    in_sql = TextRules.in_sql
    broken = lambda *asked, **told: in_sql(*asked, **told).replace("THEN NULL", "THEN '?'")  # noqa: E731
    monkeypatch.setattr(TextRules, "in_sql", broken)
    asked = {"numbers": "1,234.50", "missing": 7}
    assert outcome(FileEngine(), in_file(tmp_path, ["", "1"]), **asked) != outcome(
        MemoryEngine(), {"x": ["", "1"]}, **asked
    )


@pytest.mark.stress
def test_spark_takes_text_as_memory_does(spark):
    for form in FORMS:
        for text in [each for each in ODD if each]:
            asked = {"numbers": form, "blanks": ["NA", "-"], "synonyms": {"3": ["five"]}, "missing": 7}
            frame = spark.createDataFrame([(text,), ("five",)], ["x"])
            assert outcome(SparkEngine(), frame, **asked) == outcome(MemoryEngine(), {"x": [text, "five"]}, **asked)


COUNTRIES = ["Germany", " germany", "Deutschland", "中国", "N/A", "", "Österreich"]
SAME = {"Germany": ["germany", "Deutschland"], "Austria": ["Österreich"]}


def test_other_words_for_the_same_and_for_nothing(tmp_path):
    held = COUNTRIES * 50
    for data in ({"x": held}, in_file(tmp_path, held)):
        asked = {"synonyms": SAME, "blanks": "N/A", "missing": "category", "column": "x"}
        listed = hc.histogram(data, categories=["Germany", "Austria", "中国"], **asked, **SURE)
        assert listed.values.round().tolist() == [150, 50, 50, 100]
        found = hc.histogram(data, delta=1e-6, **asked, **SURE)
        assert {cell.category: round(cell.value) for cell in found} == {
            "Austria": 50,
            "Germany": 150,
            "中国": 50,
            "(missing)": 100,
        }
        assert found.rules[:3] == (
            "germany and Deutschland count as Germany", "Österreich counts as Austria", "N/A is missing",
        )  # fmt: skip


def test_of_several_columns_each_says_what_a_missing_value_counts_as(tmp_path):
    said, groups = ["oui", "no", "-", "YES"] * 50, ["a", "A", "b", ""] * 50
    asked = {"column": "x", "by": "g", "categories": ["a", "b"], "spelled": True, "blanks": ["-"]}
    same = {"synonyms": {"yes": ["oui"], "a": ["A"]}}
    for data in ({"x": said, "g": groups}, in_file(tmp_path, said, groups)):
        answer = hc.fraction(data, **asked, **same, missing={"x": "no", "g": "other"}, **SURE)
        assert np.round(answer.values, 1).tolist() == [0.5, 0.0, 1.0]
        with pytest.raises(
            BadData, match=r"column 'g' has missing values; use missing= to say .* as: other or category"
        ):
            hc.fraction(data, **asked, **same, missing={"x": "no"}, **SURE)
        with pytest.raises(BadData, match="column 'x' has values that say neither yes nor no"):
            hc.fraction(data, **asked, missing={"x": "no", "g": "other"}, **SURE)
        with pytest.raises(BadArgument, match="names 'plan', which is not asked about; use one of g, x"):
            hc.fraction(data, **asked, missing={"plan": "other"}, **SURE)


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"numbers": "1.2"}, "numbers is '1.2'"),
        ({"blanks": [3]}, "blanks names something that is no text"),
        ({"blanks": [""]}, "blanks is blank"),
        ({"synonyms": ["a"]}, "synonyms are a list"),
        ({"synonyms": {"a": ["b"], "c": "b"}}, "synonyms names 'b' twice"),
    ],
)
def test_what_cannot_be_meant_is_refused(told, problem):
    with pytest.raises(BadArgument, match=problem):
        hc.mean(["1"], bounds=(0, 2), **told, **SURE)
    with pytest.raises(BadArgument, match="numbers is for numbers, and this count reads none"):
        hc.count(["yes"], where="yes", numbers="1,234.50", **SURE)


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("a;x;b", "1;{};2"),
        ("a, of all;x;b", "1;{};2"),
        ('"a, b";x', "1;{}"),
        ("\ufeffx;a", "{};1"),
        ("x,a;b", "{},1"),
        ("x", "{}"),
    ],
)
def test_the_first_line_says_what_separates_cells(header, row, tmp_path):
    path = tmp_path / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\r\n".join([header, *[row.format(held) for held in ("yes", "no", "yes")]]) + "\r\n")
    assert hc.count(path, column="x", spelled=True, **SURE).value == 2
    assert read_alone(path, ["x"])["x"] == ["yes", "no", "yes"]


def test_files_that_are_separated_otherwise_are_one_table(tmp_path):
    for number, between in enumerate(",;"):
        (tmp_path / f"{number}.csv").write_text("a,x\n1,yes\n2,no\n".replace(",", between))
    assert hc.count(tmp_path, column="x", spelled=True, **SURE).value == 2


def test_amounts_in_groups_that_nobody_listed_are_written_as_declared(tmp_path):
    amounts, groups = ["€1,000.00", "0.50"] * 400, ["a", "b"] * 400
    for data in ({"x": amounts, "g": groups}, in_file(tmp_path, amounts, groups)):
        asked = {"column": "x", "by": "g", "bounds": (0, 2_000), "numbers": "1,234.50"}
        answer = hc.mean(data, **asked, epsilon=40, delta=1e-6, neighbours="add-remove")
        assert np.abs(answer.values[:2] - [1_000.0, 0.5]).max() < 5
