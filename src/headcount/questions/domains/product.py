"""Products of domains: several columns of one person, one code for all of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from headcount.errors import BadArgument, BadData
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.reading import Array
from headcount.questions.reading import column as as_column


@dataclass(frozen=True)
class Product(Domain):
    """One code for every combination of the parts' codes, the last part's changing fastest.

    Where any label may occur in one of the parts, the code is text: the JSON list of what the parts
    hold.
    """

    of: tuple[Domain, ...]

    @property
    def shape(self) -> Shape:
        shapes = {part.shape for part in self.of}
        return Shape.KEY if Shape.KEY in shapes else Shape.SHARES if Shape.AMOUNT in shapes else Shape.ONE_OF

    @property
    def size(self) -> int:
        if self.shape is Shape.KEY:
            raise BadArgument("categories", "are not known", "name them, or use a protocol for unknown keys")
        return prod(part.size for part in self.of)

    @property
    def grouped(self) -> bool:
        return all(part.grouped for part in self.of)

    @property
    def parts(self) -> tuple[Domain, ...]:
        return self.of

    def joined(self, codes: Sequence[Codes]) -> Codes:
        if self.shape is Shape.KEY:
            return self._keys(codes)
        return np.ravel_multi_index([each.astype(np.int64) for each in codes], [part.size for part in self.of])

    def _keys(self, codes: Sequence[Codes]) -> Codes:
        rows = zip(*(each.tolist() for each in codes), strict=True)
        known: dict[Any, str] = {}
        texts = [known.get(row) or known.setdefault(row, json.dumps(row, ensure_ascii=False)) for row in rows]
        return np.fromiter(texts, dtype=object, count=len(texts))

    def compared(self, place: int) -> Product:
        return Product(tuple(part.compared(0) if at == place else part for at, part in enumerate(self.of)))

    def codes(self, column: Array) -> Codes:
        """The codes of entries that hold something for each part, in a list or a tuple."""
        rows = column.tolist()
        if not all(isinstance(row, list | tuple) and len(row) == len(self.of) for row in rows):
            raise BadData(f"data must be {len(self.of)} values per person")
        held = zip(*rows, strict=True) if rows else [()] * len(self.of)
        parts = zip(self.of, held, strict=True)
        return self.joined([part.codes(as_column(list(each))) for part, each in parts])

    def label(self, code: int) -> tuple[Any, ...]:
        places = np.unravel_index(code, [part.size for part in self.of])
        return tuple(part.label(int(place)) for part, place in zip(self.of, places, strict=True))

    @property
    def described(self) -> str:
        return " ".join(part.described for part in self.of)

    @property
    def accepted(self) -> str:
        return ", and ".join(part.accepted for part in self.of)

    def to_json(self) -> dict[str, Any]:
        return {"parts": [part.to_json() for part in self.of]}
