"""Labels that other people chose, as categories found in data, are words wherever an answer is shown or exported."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import pytest

import headcount as hc
from cli.shell import headcount
from headcount.figures import canvas, text_table
from headcount.figures.text_table import TextTable, comma_separated

FORMULAS = ('=HYPERLINK("https://elsewhere")', "@SUM(A1)", "+1|cmd", "-2+3+cmd|' /C calc'!A0", "=1+1")
TAGS = ("<script>alert(1)</script>", "]]>--><b>", "![](https://elsewhere)")
DRAWN = ("$\\frac{$", "a$b$c_{", "\x1b[31mred", "\u202eturned", "two\nlines", "\\input{secret}", "100%")
LABELS = (*FORMULAS, *TAGS, *DRAWN, "[red]x", "[/]", "a|b", "plain")
HARMLESS = ("-5 to 0", "+", "-", "a=b", "plain", "")


@pytest.fixture(scope="module")
def answer() -> hc.Estimate:
    return hc.histogram([label for label in LABELS for _ in range(100)], categories=LABELS, epsilon=1)


def labels_in(text: str) -> list[str]:
    return [row["category"] for row in csv.DictReader(io.StringIO(text, newline=""))]


def obeyed_by_a_spreadsheet(label: str) -> bool:
    """Whatever it takes for a formula, before which it leaves out what is white."""
    first = label.strip()[:1]
    return bool(first) and (first in "=@＝＠" or (first in "+-＋－" and any(sign in label for sign in "(|!")))


def test_no_label_is_a_formula_in_a_spreadsheet(answer: hc.Estimate, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = labels_in(answer.to_csv())
    assert not any(map(obeyed_by_a_spreadsheet, shown))
    assert [label.removeprefix("'") for label in shown] == list(LABELS)
    monkeypatch.setattr(text_table, "_inert", lambda cell: cell)  # the twin
    assert {label for label in labels_in(answer.to_csv()) if obeyed_by_a_spreadsheet(label)} == {*FORMULAS}


def test_no_label_ends_its_row() -> None:
    assert labels_in(comma_separated([{"category": "a\r=1+1"}, {"category": "b\r\n=1+1"}])) == ["a\n=1+1", "b\n=1+1"]


@pytest.mark.parametrize("label", [" =1+1", "\t=1+1", "＝1+1", "\n-2|cmd"])
def test_what_stands_before_a_formula_does_not_hide_it(label: str) -> None:
    assert obeyed_by_a_spreadsheet(label)
    assert labels_in(comma_separated([{"category": label}])) == [f"'{label}"]


def test_headings_are_no_formulas_either() -> None:
    assert comma_separated([{"=1+1": 5}]) == "'=1+1\n5\n"


@pytest.mark.parametrize("label", HARMLESS)
def test_what_is_no_formula_is_written_as_it_is(label: str) -> None:
    assert labels_in(comma_separated([{"category": label, "value": -5.0}])) == [label]


def test_numbers_below_zero_stay_numbers() -> None:
    assert comma_separated([{"value": -5.0}]) == "value\n-5.0\n"


def test_no_label_is_a_tag_or_a_picture(answer: hc.Estimate) -> None:
    compared = hc.compare([label for label in TAGS for _ in range(100)], categories=TAGS, epsilon=1, delta=1e-6)
    rows = TextTable.of([{"category": label} for label in LABELS]).markdown()
    for text in (answer._repr_html_(), compared._repr_html_(), compared.to_markdown(), rows):
        assert "<script" not in text
        assert "<b>" not in text
    assert "![" not in rows
    assert len(rows.splitlines()) == 2 + len(LABELS)


def test_no_label_is_a_command_of_latex(answer: hc.Estimate) -> None:
    assert r"\input" not in answer.to_latex()


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_every_label_can_be_drawn(suffix: str, answer: hc.Estimate, tmp_path: Path) -> None:
    path = tmp_path / f"figure{suffix}"
    answer.plot(title="<b> $x$ \x1b[31m").save(path)
    if suffix == ".svg":
        assert [part for part in ElementTree.parse(path).iter() if part.tag.endswith("script")] == []  # noqa: S314


def test_labels_on_axes_of_a_users_own_are_words_too(answer: hc.Estimate) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    answer.plot(ax=figure.subplots(), title="$\\frac{$")
    with pytest.warns(UserWarning, match="Glyph"):
        figure.savefig(io.BytesIO())


def test_labels_that_are_read_as_formulas_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The twin."""
    answer = hc.histogram(DRAWN[:2] * 100, categories=DRAWN[:2], epsilon=1)
    answer.plot().save(tmp_path / "figure.png")
    monkeypatch.setattr(canvas, "WORDS", {})
    with pytest.raises(ValueError, match="frac"):
        answer.plot().save(tmp_path / "figure.png")


def test_the_command_line_exports_no_formula(tmp_path: Path) -> None:
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["said"], *([label] for label in FORMULAS for _ in range(200))])
    asked = ("histogram", "people.csv", "--column", "said", "--epsilon", 1, "--delta", 1e-6)
    told = headcount(*asked, "--format", "csv", where=tmp_path)
    found = labels_in(told.stdout)
    assert found
    assert not any(map(obeyed_by_a_spreadsheet, found))
