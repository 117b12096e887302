"""A question for every protocol: a count where it can count, else a histogram, else a sum of real numbers."""

from __future__ import annotations

from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.total import Sum


def question(cls: type[Protocol]) -> Question:
    if Shape.BIT in cls.shapes:
        return Count()
    return Histogram(20) if Shape.ONE_OF in cls.shapes else Sum((0, 1))
