"""Sections of the page on speed that are measured apart from the others."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from page import Section, page, replaced


def section(title: str, figure: str) -> Section:
    return Section(title, "What was measured.", ["figure"], [[figure]], "What limits it.")


def test_a_section_that_is_measured_again_takes_the_place_of_the_old_one_and_says_so():
    old = page("# Head\n", [section("One", "1"), section("Two", "2"), section("Three", "3")])
    new = replaced(old, [section("Two", "22"), section("Between", "0")], "Another machine.")
    titles = [line for line in new.splitlines() if line.startswith("#")]
    assert titles == ["# Head", "## One", "## Two", "## Between", "## Three"]
    assert "| 22 |" in new
    assert "| 2 |" not in new
    assert new.count("Measured apart from the rest of the page. Another machine.") == 2
    assert new.partition("## Two")[0] == old.partition("## Two")[0]
    assert new.partition("## Three")[2] == old.partition("## Three")[2]


def test_a_section_that_the_page_lacks_comes_last():
    old = page("# Head\n", [section("One", "1")])
    new = replaced(old, [section("Two", "2")], "Another machine.")
    assert new.startswith(old)
    assert replaced(new, [section("Two", "2")], "Another machine.") == new
