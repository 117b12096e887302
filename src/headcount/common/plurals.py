"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: float, one: str, several: str = "", digits: str = ",") -> str:
    """The number with its noun: 1 person, 1,000 people; with an s unless told."""
    shown = f"{number:{digits}}"
    return f"{shown} {one if shown == '1' else several or f'{one}s'}"


def people(number: int) -> str:
    return counted(number, "person", "people")
