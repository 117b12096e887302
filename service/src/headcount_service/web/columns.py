"""The columns of a file that the page asks about, as library and command-line options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headcount.cli.numbers import whole
from headcount.cli.options import blanks_of, missing_of, synonyms_of, where_of
from headcount.errors import BadArgument
from headcount.privacy.budget import Neighbours

TYPED = ("column", "by", "and_by", "where", "unit", "max_contributions", "missing", "blanks", "synonyms", "numbers")
OWN = (*TYPED, "spelled", "private")


@dataclass(frozen=True)
class Columns:
    """The columns of answers, groups and people, and how their values are written, as typed."""

    column: str | None  # none where the question names its columns
    by: list[str]
    unit: str | None
    most: int | None  # rows of a person that count
    where: list[str] | None
    missing: list[str] | None
    blanks: list[str] | None
    synonyms: list[str] | None
    numbers: str | None
    spelled: bool
    private: bool  # how many people there are

    @classmethod
    def read(cls, given: dict[str, Any], *, one: bool) -> Columns:
        """Read the form's columns, of a question about one column or about those that it names."""
        told = {name: str(given.get(name, "")).strip() or None for name in TYPED}
        told["column"] = told["column"] if one else None
        if one and told["column"] is None:
            raise BadArgument("column", "is missing", "choose one")
        where = _values("where", told["where"], "write values as in Yes, Y")
        blanks = _values("blanks", told["blanks"], "write them as in NA, -")
        several = _values("synonyms", told["synonyms"], "write them as in yes=oui,ja; no=non", between=";")
        missing = _values("missing", told["missing"], "write one word, or several as in plan=other, left=no")
        most = None if told["max_contributions"] is None else whole("max_contributions", told["max_contributions"])
        return cls(
            told["column"],
            [name for name in (told["by"], told["and_by"]) if name is not None],
            told["unit"],
            most,
            where,
            missing,
            blanks,
            several,
            told["numbers"],
            spelled=given.get("spelled") in (True, "true"),
            private=given.get("private") in (True, "true"),
        )

    @property
    def neighbours(self) -> Neighbours:
        """The adjacency: one person's answer must not show, or that they are there at all."""
        return Neighbours.ADD_REMOVE if self.private else Neighbours.REPLACE

    @property
    def options(self) -> dict[str, Any]:
        """Options of `ask`, without those that were left empty."""
        where, missing = where_of(self.where), missing_of(self.missing)
        told = {
            "column": self.column,
            "by": self.by[0] if len(self.by) == 1 else self.by or None,
            "where": where[0] if where and len(where) == 1 else where,
            "unit": self.unit,
            "max_contributions": self.most,
            "neighbours": str(self.neighbours) if self.private else None,
            "missing": missing[0] if isinstance(missing, list) and len(missing) == 1 else missing,
            "blanks": blanks_of(self.blanks),
            "synonyms": synonyms_of(self.synonyms),
            "numbers": self.numbers,
            "spelled": self.spelled or None,
        }
        return {name: value for name, value in told.items() if value is not None}

    @property
    def names(self) -> list[str]:
        """The names of the columns that are read."""
        return [name for name in (self.column, *self.by, self.unit) if name is not None]

    @property
    def words(self) -> list[str]:
        """Options of the command line."""
        told: dict[str, list[str]] = {
            "--column": [self.column] if self.column else [],
            "--by": self.by,
            "--where": self.where or [],
            "--unit": [self.unit] if self.unit else [],
            "--max-contributions": [] if self.most is None else [str(self.most)],
            "--neighbours": [str(self.neighbours)] if self.private else [],
            "--missing": self.missing or [],
            "--blanks": [",".join(self.blanks)] if self.blanks else [],
            "--synonyms": self.synonyms or [],
            "--numbers": [self.numbers] if self.numbers else [],
        }
        words = [word for option, values in told.items() for value in values for word in (option, value)]
        return [*words, *(["--spelled"] if self.spelled else [])]

    def require_plain(self) -> None:
        """Refuses what a plan in a file cannot be run with."""
        told = self.options
        for name in ("by", "max_contributions", "neighbours", "blanks", "synonyms", "numbers"):
            if name in told:
                raise BadArgument(name, "is not known to plans in files", "take the command or the Python lines")


def _values(name: str, typed: str | None, works: str, between: str = ",") -> list[str] | None:
    """One value, or several with this between them."""
    if typed is None:
        return None
    values = [value.strip() for value in typed.split(between)]
    if not all(values):
        raise BadArgument(name, f"has nothing between two of {between!r}", works)
    return values
