"""A question that the library does not have: which share of the people in each group is above a threshold?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headcount.programme.law import Floats
from headcount.questions.argument import CATEGORIES, Argument, Told
from headcount.questions.domains.categories import Categories
from headcount.questions.domains.domain import Codes, Domain, Label, Merge, Shape
from headcount.questions.domains.product import Product
from headcount.questions.question import Question
from headcount.questions.reading import Array, numbers


@dataclass(frozen=True)
class Above(Domain):
    """Whether a number is above the threshold; of several rows of a person, whether any is."""

    threshold: float
    shape = Shape.BIT
    merge = Merge.ANY
    size = 2
    described = "Whether a number is above a threshold."
    accepted = "a number"

    def codes(self, column: Array) -> Codes:
        return (numbers(column).require().values > self.threshold).astype(np.uint8)


@dataclass(frozen=True)
class ShareAbove(Question):
    """Which share of the people in each group is above a threshold?"""

    categories: Sequence[Label]
    threshold: float
    name: ClassVar[str] = "share-above"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    asks: ClassVar[str] = "Which share of each group is above a threshold"
    arguments: ClassVar[tuple[Argument, ...]] = (
        CATEGORIES,
        Argument("threshold", Told.NUMBER, "Above this a person counts.", needed=True),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))

    @cached_property
    def domain(self) -> Product:
        return Product((Categories(self.categories), Above(self.threshold)))

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        return [*self.categories]

    def unit(self, reports: int) -> float:
        """Of groups of the same size."""
        return len(self.categories) / max(1, reports)

    def answers(self, people: Floats, reports: int, *, private: bool = False) -> Floats:
        below, above = people.reshape(-1, 2).T
        return above / np.maximum(below + above, 1.0)

    def spans(self, cells: Callable[[float], Floats], confidence: float, reports: int, *, private: bool) -> Floats:
        """Both counts of a group lie within their intervals at once, and the share between those of the corners."""
        below, above = cells((1.0 + confidence) / 2.0).clip(0.0).reshape(-1, 2, 2).transpose(1, 0, 2)
        low, high = (above[:, end] / np.maximum(above[:, end] + below[:, 1 - end], 1.0) for end in (0, 1))
        return np.stack([low, high], axis=1)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "categories": [*self.categories], "threshold": self.threshold}
