"""The changelog has the usual form, and its newest version is the one that is installed."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

import headcount

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def faults(text: str) -> list[str]:
    """What is not of the form of Keep a Changelog."""
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    found = [] if headings[:1] == ["[Unreleased]"] else ["unreleased changes do not stand first"]
    versions = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\S+)", heading) for heading in headings[1:]]
    found += [f"{heading} is no dated version" for heading, one in zip(headings[1:], versions, strict=True) if not one]
    dated = [(tuple(map(int, one.groups()[:3])), date.fromisoformat(one[4])) for one in versions if one]
    found += [
        "versions are not in order" for newer, older in pairwise(dated) if newer[0] <= older[0] or newer[1] < older[1]
    ]
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", part, re.MULTILINE)
        found += [f"{kind} is no kind of change" for kind in kinds if kind not in KINDS]
        found += ["kinds are not in order"] if kinds != sorted(set(kinds), key=[*KINDS, *kinds].index) else []
    return found


def test_the_changelog_has_the_usual_form() -> None:
    assert faults(TEXT) == []
    assert re.findall(r"^## \[(\d.*?)\]", TEXT, re.MULTILINE)[0] == headcount.__version__


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## [Unreleased]\n", "## [9.9.9] - 2027-01-01\n", "unreleased changes do not stand first"),
        (" - 2026-11-15\n\n### Added\n\n- Nine", "\n\n### Added\n\n- Nine", "[0.1.0] is no dated version"),
        ("## [0.1.0]", "## [0.3.0]", "versions are not in order"),
        ("### Removed", "### Dropped", "Dropped is no kind of change"),
        ("### Removed", "### Added", "kinds are not in order"),
    ],
)
def test_another_form_is_noticed(old: str, new: str, fault: str) -> None:
    assert old in TEXT
    assert fault in faults(TEXT.replace(old, new, 1))
