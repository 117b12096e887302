"""The oldest versions that headcount and its service allow, one constraint on a line, as pip reads them.

Names as arguments choose among the dependencies; without any, those for development count as well.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECTS = [ROOT / "pyproject.toml", ROOT / "service" / "pyproject.toml"]
OURS = re.compile(r"headcount(\[[\w,]+\]$|==)")
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)")


def oldest(*names: str, projects: list[str] | None = None) -> list[str]:
    """A constraint for each dependency: its lower bound, exactly."""
    bounds: dict[str, str] = {}
    for text in projects or [path.read_text(encoding="utf-8") for path in PROJECTS]:
        bounds.update(_bounds(_others(text)))
    return [f"{name}=={bounds[name]}" for name in names or sorted(bounds)]


def _others(project: str) -> list[str]:
    """What a project needs of others, extras and all."""
    table = tomllib.loads(project)["project"]
    extras = table.get("optional-dependencies", {}).values()
    needed = [*table["dependencies"], *(each for extra in extras for each in extra)]
    return [each for each in needed if not OURS.match(each)]


def _bounds(needed: Iterable[str]) -> Iterator[tuple[str, str]]:
    for each in needed:
        found = BOUND.match(each)
        if found is None:
            raise ValueError(f"{each} in pyproject.toml has no lower bound: write name>=version")
        yield found[1], found[2]


if __name__ == "__main__":
    print("\n".join(oldest(*sys.argv[1:])))
