"""What is asked of the crowd."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from headcount.core.errors import BadData

Bits = npt.NDArray[np.uint8]


class Task(ABC):
    """A question about the crowd. What a person holds is an integer below `values`."""

    name: ClassVar[str]
    values: ClassVar[int]

    @abstractmethod
    def encoded(self, data: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """The data as integers below `values`; refused, without quoting any, where they are something else."""


@dataclass(frozen=True)
class Count(Task):
    """How many people hold a one?"""

    name: ClassVar[str] = "count"
    values: ClassVar[int] = 2

    def encoded(self, data: npt.NDArray[Any]) -> Bits:
        if data.ndim != 1:
            raise BadData(f"data must be one value per person, not {data.ndim}-dimensional; try one column of it")
        if data.size == 0:
            raise BadData("data is empty; a count needs at least one person")
        if data.dtype == np.bool_:
            return data.view(np.uint8)
        if data.dtype.kind not in "iuf":
            raise BadData("data must be 0/1 or true/false; use where to say which value counts as 1")
        if data.dtype.kind == "f" and np.isnan(data).any():
            raise BadData("data has missing values; drop them, or fill them with 0 or 1, first")
        bits: npt.NDArray[np.bool_] = data == 1
        if int(np.count_nonzero(bits)) + int(np.count_nonzero(data == 0)) < data.size:
            raise BadData("data has values other than 0 and 1; use where to say which value counts as 1")
        return bits.view(np.uint8)
