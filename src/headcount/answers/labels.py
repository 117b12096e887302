"""How the categories of an answer are written."""

from __future__ import annotations

from typing import Any

from headcount.questions.domains.domain import Label


def called(category: Any) -> str:
    """A category as text; a group of several columns by what it is in each of them."""
    return ", ".join(map(str, category)) if isinstance(category, tuple) else str(category)


def plain(category: Any) -> Label:
    """A category for a column of a table: of several columns of groups as text."""
    return called(category) if isinstance(category, tuple) else category
