"""Pages that take long to make are about the catalogue there is: some protocols may be newer, and none may be gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headcount.protocols import CATALOGUE
from headcount_survey.pages import attacks

DOCS = Path(__file__).parents[2] / "docs"
NAMES = {cls.name for cls in CATALOGUE}
NEWER = 6  # protocols that a page need not have yet


def first_cells(text):
    """What rows of tables begin with, up to a comma."""
    return {cell.strip(" `") for cell in re.findall(r"^\| ([^|,]+)", text, re.MULTILINE)}


def out_of_date(text):
    """What a page names that is not there, and what it lacks; what it says that it leaves out it does not lack."""
    named = {cell for cell in first_cells(text) if cell not in ("protocol", "task")}
    left_out = set(re.findall(r"`([\w-]+)`", text.partition("Left out: ")[2].partition("\n")[0]))
    return named - NAMES, NAMES - named - left_out


@pytest.mark.parametrize("page", ["certificates"])
def test_a_page_names_the_protocols_that_there_are(page):
    gone, lacking = out_of_date((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert not gone
    assert len(lacking) <= NEWER, sorted(lacking)


def test_a_page_of_another_catalogue_is_noticed():
    text = (DOCS / "certificates.md").read_text(encoding="utf-8")
    assert out_of_date(text.replace("| zsum |", "| zsums |"))[0] == {"zsums"}
    without = re.sub(r"^\| geometric .*\n", "", text, flags=re.MULTILINE)
    assert "geometric" in out_of_date(without)[1]
    assert "geometric" not in out_of_date(f"{without}\nLeft out: `geometric`.\n")[1]


def test_what_an_instance_shows_little_of_is_attacked_in_another():
    for name, task in attacks.MORE:
        cls = next(cls for cls in CATALOGUE if cls.name == name)
        first, *others = (tiny for tiny in cls.tinies() if tiny.task.name == task)
        assert [len(list(attacks.like(tiny))) for tiny in (first, *others)] == [2, *(1 for _ in others)]


def test_what_is_left_out_is_said():
    rows = list(attacks.attacks(1_000, among=[next(iter(CATALOGUE)).tiny()]))
    assert f"`{CATALOGUE[0].name}`" not in attacks.left_out(rows)
    assert f"`{CATALOGUE[-1].name}`" in attacks.left_out(rows)
