"""What the asker says of the data, beside the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headcount.errors import BadArgument


@dataclass(frozen=True)
class ReadingOptions:
    """How columns are read: what a missing value counts as, and whether yes and no have spellings.

    `by` names the columns of groups. `everybody` is said where there is no column of answers, only
    groups.
    """

    missing: Any = None
    spelled: bool = False
    by: tuple[str, ...] = ()
    everybody: bool = False
    column: str = "data"  # as the column of answers is called

    def require_by(self, categories: object, other: object) -> None:
        """Refuses groups without a column that tells them."""
        if self.by:
            return
        if categories is not None:
            raise BadArgument("by", "is missing", "name the column of groups, or ask for a histogram")
        if other:
            raise BadArgument("other", "needs categories", "name the column of groups and those that are not other")

    def require_column(self, name: str) -> None:
        if self.everybody:
            raise BadArgument("column", f"is missing for a {name}", "name the column that holds people's answers")
