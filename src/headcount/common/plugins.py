"""Classes and commands that other packages add by entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

Kind = TypeVar("Kind")


@cache
def _every() -> Any:  # of a type that changes with Python's version
    """The entry points of all installed packages, which take a moment to read."""
    return entry_points()


def entry_points_of(group: str) -> list[EntryPoint]:
    return sorted(_every().select(group=group), key=lambda point: point.name)


def with_installed(own: dict[str, type[Kind]], group: str, base: type[Any], called: str) -> dict[str, type[Kind]]:
    """These classes by name and other packages'; one not of the base, or a name twice, is refused.

    Which of two classes a name means must not depend on what else is installed.
    """
    every = dict(own)
    for point in entry_points_of(group):
        found: Any = point.load()
        fits = isinstance(found, type) and issubclass(found, base)
        if not fits:
            raise TypeError(f"the entry point {point.name} of the group {group}, {point.value}, is not a {called}")
        if every.setdefault(found.name, found) is not found:
            raise ValueError(f"the entry point {point.name}, {point.value}, has the name of another: {found.name}")
    return every
