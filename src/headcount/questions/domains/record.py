"""Records: products of domains whose columns have names, as in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadData
from headcount.questions.domains.categories import Listed
from headcount.questions.domains.columns import columns_to_json
from headcount.questions.domains.domain import Codes
from headcount.questions.domains.product import Product
from headcount.questions.reading import Array, column


@dataclass(frozen=True)
class Record(Product):
    """Columns of a table; one person's answer is a mapping from their names."""

    of: tuple[Listed, ...]
    names: tuple[str, ...]
    unfit: ClassVar[str] = "data have answers that are no mappings with a value for each column, and nothing else"

    def codes(self, column: Array) -> Codes:
        """The codes of an array of mappings, one for each person."""
        answers = column.tolist()
        if not all(isinstance(answer, Mapping) and set(answer) == set(self.names) for answer in answers):
            raise BadData(self.unfit)
        return self.joined([self._read(name, part, answers) for name, part in zip(self.names, self.of, strict=True)])

    def _read(self, name: str, part: Listed, answers: list[Mapping[str, Any]]) -> Codes:
        return part.codes(column([answer[name] for answer in answers]))

    def label(self, code: int) -> Any:
        places = np.unravel_index(code, [part.size for part in self.of])
        return {name: part.label(int(at)) for name, part, at in zip(self.names, self.of, places, strict=True)}

    @property
    def described(self) -> str:
        return " ".join(f"{name}: {part.described}" for name, part in zip(self.names, self.of, strict=True))

    @property
    def accepted(self) -> str:
        return ", and ".join(f"{name}: {part.accepted}" for name, part in zip(self.names, self.of, strict=True))

    def to_json(self) -> dict[str, Any]:
        return {"columns": columns_to_json(zip(self.names, self.of, strict=True))}
