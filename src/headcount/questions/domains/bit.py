"""Bits: yes or no."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.domains.domain import Domain, Merge, Shape
from headcount.questions.domains.missing import DROP, NO, REFUSE, rule
from headcount.questions.reading import Array, Declared, Read, absent, all_declared, equal_any, missing_values, truths

NOT_A_BIT = (
    "data has values other than 0 and 1, true and false",
    Phrase("use {where} to say which counts as 1"),
)
NOT_SPELLED = (
    "data has values that say neither yes nor no",
    Phrase(
        "say which of them mean nothing, as in {blanks}, or which are another word for yes, as in {synonyms}; or use "
        "{where} to say which count as 1",
        blanks=["NA", "-"],
        synonyms={"yes": ["oui"]},
    ),
)
SPELLED = "yes and no are read in any spelling"


@dataclass(frozen=True)
class Bit(Domain):
    """A truth value, or whether the column holds one of the values `where`.

    A missing one is refused, but not with `where`: there it is none of these values, unless
    `missing` says otherwise. With `spelled` it may say yes and no, on and off, t and f, y and n, in
    any case.
    """

    where: tuple[Declared, ...] | None = None
    missing: str | None = None
    spelled: bool = False
    shape = Shape.BIT
    merge = Merge.ANY
    size = 2
    described = "One value for each person, 0 or 1."
    accepted = "1 for yes or 0 for no"

    def codes(self, column: Array) -> npt.NDArray[np.uint8]:
        if self.where is not None:
            if self.missing == REFUSE and absent(column).any():
                raise missing_values(NO)
            return equal_any(column, self.where).view(np.uint8)
        read = truths(column, spelled=self.spelled)
        if self.missing in (NO, DROP):
            read = Read(
                np.where(read.missing, 0, read.values).astype(np.uint8), read.strange, np.zeros_like(read.missing)
            )
        return read.require(*(NOT_SPELLED if self.spelled else NOT_A_BIT), counts_as=NO).values

    def told_by(self, where: object) -> Bit:
        """The same where the asker says which values count as a one."""
        if where is None:
            return self
        if self.spelled:
            raise BadArgument("where", "is given together with spelled", "list every spelling, or leave it out")
        return replace(self, where=all_declared(where))

    def compared(self, place: int) -> Bit:
        return replace(self, where=None, missing=None, spelled=False)

    def label(self, code: int) -> float:
        return float(code)

    @property
    def rules(self) -> list[str]:
        said = [] if self.where is None or len(self.where) == 1 else [f"{_listed(self.where)} count as yes"]
        spelled = [SPELLED] if self.spelled else []
        return [*said, *spelled, *rule(self.missing)]

    def to_json(self) -> dict[str, Any]:
        missing = {} if self.missing is None else {"missing": self.missing}
        return {**({"spelled": True} if self.spelled else {}), **missing}


def _listed(values: tuple[Declared, ...]) -> str:
    *others, last = [f"{value:.15g}" if isinstance(value, float) else str(value) for value in values]
    return f"{', '.join(others)} and {last}" if others else last
