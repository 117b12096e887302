"""The studies, one line each: every question, figure and theorem of the notes in runnable form."""

from headcount.core.errors import BadArgument
from headcount.studies.answers import Answers
from headcount.studies.errata import Errata
from headcount.studies.smallest_crowd import SmallestCrowd
from headcount.studies.statements import Statements
from headcount.studies.study import Study

STUDIES: tuple[type[Study], ...] = (
    SmallestCrowd,
    Statements,
    Errata,
    Answers,
)


def study(name: str) -> Study:
    """The study of this name."""
    for found in STUDIES:
        if found.name == name:
            return found()
    raise BadArgument("name", f"is {name!r}", f"use one of {', '.join(found.name for found in STUDIES)}")
