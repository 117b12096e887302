"""A claim that one number is at most another, for every case of a list, in exact arithmetic."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from flint import arb, ctx

from headcount.figures.canvas import number
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.proof.ball_laws import ball
from headcount_survey.study import Finding, Theorem

PRECISION = 256  # bits
UNEXPECTED = "Not as expected"

Exact: TypeAlias = int | Fraction | arb | float  # a double only where it is infinite, or an exact claim of the library


class Form(StrEnum):
    """The form in which a claim is stated."""

    TRUE = "as it ought to read"
    NOTES = "as it was written"
    TWIN = "changed, to see it fail"

    @property
    def should_hold(self) -> bool:
        return self is Form.TRUE


@dataclass(frozen=True)
class Case:
    """A case: its place, and two numbers of which the first should be at most the second."""

    at: str
    left: Exact
    right: Exact

    @property
    def holds(self) -> bool:
        """Certainly; raises where balls overlap, so that nothing is certain."""
        if not isinstance(self.left, arb) and not isinstance(self.right, arb):
            return self.left <= self.right
        left, right = (side if isinstance(side, arb) else ball(Fraction(side)) for side in (self.left, self.right))
        if not left <= right and not left > right:
            raise ArithmeticError(f"more precision is needed: {self.at}")
        return bool(left <= right)

    @property
    def strain(self) -> float:
        """The first by the second: above one it fails."""
        left, right = (plain(side) for side in (self.left, self.right))
        if right and math.isfinite(right):
            return left / right
        return math.inf if left > right else 0.0


@dataclass(frozen=True)
class Claim:
    """A claim, its form, its cases and failures, and the case that strains it most."""

    text: str
    form: Form
    cases: int
    fails: int
    worst: Case

    @classmethod
    def over(cls, text: str, cases: Iterable[Case], form: Form = Form.TRUE) -> Claim:
        with ctx.workprec(PRECISION):
            seen = [(case, case.holds) for case in cases]
        worst = max(seen, key=lambda pair: (not pair[1], pair[0].strain, plain(pair[0].left)))[0]
        return cls(text, form, len(seen), sum(not held for _, held in seen), worst)

    @property
    def holds(self) -> bool:
        return not self.fails

    def row(self, check: str) -> dict[str, Any]:
        sides = {name: _kept(getattr(self.worst, name)) for name in ("left", "right")}
        head = {"check": check, "claim": self.text, "form": str(self.form)}
        return {**head, "cases": self.cases, "fails": self.fails, "at": self.worst.at, **sides}


Claims: TypeAlias = Mapping[str, Claim]


class Checked(Theorem):
    """A theorem that is a list of claims, each with a short name."""

    @abstractmethod
    def claims(self, quick: bool, watch: Progress) -> Claims:
        """The claims to check; those in a false form are there to be refuted."""

    @abstractmethod
    def answer(self, claims: Claims) -> str:
        """The finding; passed checks are told after it, or before it if some failed."""

    def figure(self, claims: Claims, path: Path, theme: str) -> Path:
        raise NotImplementedError

    draws: ClassVar[bool] = False

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        with ctx.workprec(PRECISION):
            claims = self.claims(quick, watch)
            found, stood = self.answer(claims), standing(claims.values())
            answer = f"{stood} {found}" if stood.startswith(UNEXPECTED) else f"{found} {stood}"
        rows = [claim.row(check) for check, claim in claims.items()]
        draw = (lambda path, theme: self.figure(claims, path, theme)) if self.draws else None
        return Finding(answer, rows, _sheet(claims.values()), draw)


def standing(claims: Iterable[Claim]) -> str:
    """How many claims hold that should, and how many are refuted that should be."""
    every = list(claims)
    good = [claim for claim in every if claim.form.should_hold]
    bad = [claim for claim in every if not claim.form.should_hold]
    wrong = [claim.text for claim in every if claim.holds != claim.form.should_hold]
    if wrong:
        return f"{UNEXPECTED}: {'; '.join(wrong)}."
    text = f"{_all_of(len(good), 'The corrected statement holds', 'corrected statements hold')} in "
    text += "the one case" if sum(c.cases for c in good) == 1 else f"all {sum(c.cases for c in good):,} cases"
    if not bad:
        return f"{text}."
    fails, cases = sum(c.fails for c in bad), sum(c.cases for c in bad)
    refuted = _all_of(len(bad), "the other form is refuted", "other forms are refuted")
    return f"{text}; {refuted}, in {fails:,} of {cases:,}."


def _all_of(many: int, one: str, several: str) -> str:
    every = "both" if many == 2 else f"all {many}"
    return one if many == 1 else f"{every.capitalize() if one[0].isupper() else every} {several}"


def _sheet(claims: Iterable[Claim]) -> TextTable:
    headings = ("claim", "form", "cases", "fails", "hardest case", "left side", "right side")
    cells = [
        (c.text, str(c.form), f"{c.cases:,}", f"{c.fails:,}", c.worst.at, shown(c.worst.left), shown(c.worst.right))
        for c in claims
    ]
    return TextTable(headings, tuple(cells), frozenset({2, 3, 5, 6}))


def crowd(people: int) -> str:
    return "1 person" if people == 1 else f"{people:,} people"


def plain(value: Exact) -> float:
    """The number as a double; infinite if it is too large for one."""
    if isinstance(value, arb):
        return float(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf


def shown(value: Exact) -> str:
    """Three digits of it, however small."""
    if isinstance(value, arb) and value.is_finite() and not 1e-300 < float(value) < 1e300 and value != 0:
        return str(value.str(2, radius=False))
    size = value if isinstance(value, float) else plain(value)
    return f"{size:.2g}" if size and (abs(size) < 1e-3 or 1e7 <= abs(size) < math.inf) else number(size)


def within(values: Sequence[Exact]) -> str:
    """The smallest and the largest, in words."""
    return f"{shown(min(values))} to {shown(max(values))}"


def _kept(value: Exact) -> float | str:
    size = plain(value)
    return size if math.isfinite(size) else "infinite"
