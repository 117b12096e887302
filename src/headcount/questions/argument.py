"""What a question must be told before it can be asked: command lines and pages derive from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Told(StrEnum):
    """What kind of thing an argument is."""

    LABELS = "labels"  # a list of them, or how many there are
    BOUNDS = "bounds"  # two numbers
    LIMITS = "limits"  # two numbers or two days
    GROUPS = "groups"  # labels of one column, or of several by their names
    EDGES = "edges"  # increasing numbers or days, how many bins there are, or which periods
    NUMBER = "number"
    TEXT = "text"
    FLAG = "flag"
    COLUMNS = "columns"  # names of columns, each with what it holds


@dataclass(frozen=True)
class Argument:
    """An argument of `Question.posed`.

    A form asks for the arguments that have a `first` value, with which it begins, under their
    `label`. The question's class takes those by the same name.
    """

    name: str
    told: Told
    help: str
    needed: bool = False
    label: str = ""
    first: Any = None


GROUPS = Argument(
    "categories",
    Told.GROUPS,
    "With --by, the groups: for one column a,b,c; for several, --categories plan=free,pro --categories country=DE,FR. "
    "Left out, they are whatever enough people share, which needs a delta.",
)
OTHER_GROUPS = Argument("other", Told.FLAG, "With --by, count people in none of the groups apart.")
BOUNDS = Argument("bounds", Told.BOUNDS, "The smallest and the largest possible value.")
CATEGORIES = Argument(
    "categories",
    Told.LABELS,
    "The categories, separated by commas: numbers where each of them is one (1,2,3), text otherwise; or how "
    "many there are, called 0, 1, 2 …",
)
