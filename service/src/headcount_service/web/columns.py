"""What the page is told of a file's columns: which are read, and how, as the library and the command line take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headcount.cli.options import blanks_of, missing_of, synonyms_of, where_of
from headcount.errors import BadArgument

OWN = ("column", "by", "where", "unit", "missing", "blanks", "synonyms", "numbers", "spelled")


@dataclass(frozen=True)
class Columns:
    """The columns of answers, groups and people, and how values are written there, as it was typed."""

    column: str | None  # none where the question names its columns
    by: str | None
    unit: str | None
    where: list[str] | None
    missing: list[str] | None
    blanks: list[str] | None
    synonyms: list[str] | None
    numbers: str | None
    spelled: bool

    @classmethod
    def read(cls, given: dict[str, Any], *, one: bool) -> Columns:
        """Of a question about one column, or about those that it names."""
        told = {name: str(given.get(name, "")).strip() or None for name in OWN}
        told["column"] = told["column"] if one else None
        if one and told["column"] is None:
            raise BadArgument("column", "is missing", "choose one")
        where = _values("where", told["where"], "write values as in Yes, Y")
        blanks = _values("blanks", told["blanks"], "write them as in NA, -")
        several = _values("synonyms", told["synonyms"], "write them as in yes=oui,ja; no=non", between=";")
        missing = _values("missing", told["missing"], "write one word, or several as in plan=other, left=no")
        spelled = given.get("spelled") in (True, "true")
        return cls(told["column"], told["by"], told["unit"], where, missing, blanks, several, told["numbers"], spelled)

    @property
    def options(self) -> dict[str, Any]:
        """As `ask` takes them, without those that were not told."""
        where, missing = where_of(self.where), missing_of(self.missing)
        told = {
            "column": self.column,
            "by": self.by,
            "where": where[0] if where and len(where) == 1 else where,
            "unit": self.unit,
            "missing": missing[0] if isinstance(missing, list) and len(missing) == 1 else missing,
            "blanks": blanks_of(self.blanks),
            "synonyms": synonyms_of(self.synonyms),
            "numbers": self.numbers,
            "spelled": self.spelled or None,
        }
        return {name: value for name, value in told.items() if value is not None}

    @property
    def names(self) -> list[str]:
        """Of all columns that are read."""
        return [name for name in (self.column, self.by, self.unit) if name is not None]

    @property
    def words(self) -> list[str]:
        """As the command line takes them."""
        told: dict[str, list[str]] = {
            "--column": [self.column] if self.column else [],
            "--by": [self.by] if self.by else [],
            "--where": self.where or [],
            "--unit": [self.unit] if self.unit else [],
            "--missing": self.missing or [],
            "--blanks": [",".join(self.blanks)] if self.blanks else [],
            "--synonyms": self.synonyms or [],
            "--numbers": [self.numbers] if self.numbers else [],
        }
        words = [word for option, values in told.items() for value in values for word in (option, value)]
        return [*words, *(["--spelled"] if self.spelled else [])]

    def require_plain(self) -> None:
        """Refuses what a plan in a file cannot be run with."""
        for name in ("by", "blanks", "synonyms", "numbers"):
            if getattr(self, name) is not None:
                raise BadArgument(name, "is not known to plans in files", "take the command or the Python lines")


def _values(name: str, typed: str | None, works: str, between: str = ",") -> list[str] | None:
    """One value, or several with this between them."""
    if typed is None:
        return None
    values = [value.strip() for value in typed.split(between)]
    if not all(values):
        raise BadArgument(name, f"has nothing between two of {between!r}", works)
    return values
