"""What a person may answer, in the words of whoever is asked."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from headcount.errors import BadArgument, BadData
from headcount.questions.question import Question
from headcount.questions.reading import column


def encoded(task: Question, answer: Any) -> npt.NDArray[Any]:
    """The code of one answer; refused, without quoting it, if it is outside the domain."""
    try:
        return task.domain.codes(column([answer]))
    except BadData:
        works = f"answer with {task.domain.accepted}"
        raise BadArgument("answer", "is not one that the question takes", works) from None
