"""From the call to the printed answer: as few files as the page on the architecture says, in the order it draws."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from walk import FOLDER, WALKS, counted, files, passed

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURE = re.findall(r"─ ([\w/]+\.py)", PAGE.split("```text")[1].split("```")[0])
LONGEST = dict(zip(WALKS, re.findall(r"^\|.*functions \| (.*) \|$", PAGE, re.MULTILINE), strict=True))
ASKED = """
import sys; sys.path.append("benchmarks")
import headcount as hc
from walk import DATA, FOLDER, files, passed
ledger = hc.Ledger(epsilon=1, delta=1e-6)
asked = {"epsilon": 1, "delta": 1e-6, "protocol": "poisson-count", "ledger": ledger}
print(*files(passed(lambda: str(hc.count(DATA, **asked)), FOLDER), FOLDER))
"""


def numbers(text):
    return [int(number) for number in re.findall(r"\d+", text)]


@pytest.mark.parametrize("name", WALKS)
def test_no_walk_is_longer_than_the_page_says(name):
    pairs = zip(numbers(counted(name)), numbers(LONGEST[name]), strict=True)
    assert all(0.8 * most < found <= most for found, most in pairs)


def in_order(picture, walk):
    places = [walk.index(name) for name in picture]
    return places == sorted(places)


def test_the_picture_shows_the_walk_in_its_order():
    said = subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    walk = said.split()
    assert len(PICTURE) > 10
    assert in_order(PICTURE, walk)
    assert not in_order([PICTURE[-1], *PICTURE], walk)


def test_each_function_is_counted_once_and_comprehensions_are_not():
    def inner(number):
        return [each + number for each in range(3)]

    seen = passed(lambda: [inner(number) for number in range(5)], Path(__file__).parent)
    assert [code.co_name for code in seen] == ["inner"]
    assert files(seen, Path(__file__).parent) == [Path(__file__).name]
    assert passed(lambda: inner(1), FOLDER) == []
