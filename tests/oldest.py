"""The oldest versions that pyproject.toml allows, one constraint on a line, as pip reads them.

Names as arguments choose among the dependencies; without any, those for development count as well.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)")


def oldest(*names: str, project: str | None = None) -> list[str]:
    """A constraint for each dependency: its lower bound, exactly."""
    table = tomllib.loads(project or PROJECT.read_text(encoding="utf-8"))["project"]
    needed = [*table["dependencies"], *(each for extra in table["optional-dependencies"].values() for each in extra)]
    bounds = dict(_bounds(each for each in needed if not each.startswith(f"{table['name']}[")))
    return [f"{name}=={bounds[name]}" for name in names or sorted(bounds)]


def _bounds(needed: Iterator[str]) -> Iterator[tuple[str, str]]:
    for each in needed:
        found = BOUND.match(each)
        if found is None:
            raise ValueError(f"{each} in {PROJECT.name} has no lower bound: write name>=version")
        yield found[1], found[2]


if __name__ == "__main__":
    print("\n".join(oldest(*sys.argv[1:])))
