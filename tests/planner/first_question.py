"""A question for every protocol: a count where it can count, else a histogram, else a sum of real numbers."""

from __future__ import annotations

from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum


def question(cls: type[Protocol]) -> Question:
    if Shape.BIT in cls.shapes:
        return Count()
    if Shape.ONE_OF in cls.shapes:
        return Histogram(20)
    return Sum((0, 1)) if Shape.AMOUNT in cls.shapes else cls.tiny().task
