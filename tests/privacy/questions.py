"""A question for every protocol: a count where it can count, else a histogram, else a sum of real numbers."""

from __future__ import annotations

from headcount.core.histogram import Histogram
from headcount.core.protocol import Protocol
from headcount.core.task import Count, Sum, Task


def question(cls: type[Protocol]) -> Task:
    if "count" in cls.tasks:
        return Count()
    return Histogram(20) if "histogram" in cls.tasks else Sum((0, 1))
