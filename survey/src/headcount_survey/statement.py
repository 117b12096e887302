"""A statement of the notes or of a paper, what became of it, and the computation that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias

from headcount_survey.study import Verdict


@dataclass(frozen=True)
class Seen:
    """The outcome of a computation, with its figures in one line.

    `said` tells whether the statement came out right as it is said; `mended`, whether the corrected
    form did, if there is one that keeps what the statement is for; `instead`, where nothing can be
    kept, whether the contrary did.
    """

    said: bool
    figure: str
    mended: bool | None = None
    instead: bool | None = None

    @property
    def verdict(self) -> Verdict | None:
        """Which verdict this supports, if any."""
        if self.said:
            return Verdict.HOLDS
        if self.mended is None:
            return Verdict.FALSE if self.instead else None
        return Verdict.CORRECTED if self.mended else None


Check: TypeAlias = Callable[[], Seen]


class Known(StrEnum):
    """How the right form is known: of what is false, the contrary."""

    PROVED = "proved"
    CERTIFIED = "certified"
    INSTANCE = "an instance"


class Severity(StrEnum):
    """The harm to a reader who relies on the statement as it was made, the gravest first."""

    PRIVACY = "privacy"
    ACCURACY = "accuracy"
    PROOF = "proof"
    WORDING = "wording"


@dataclass(frozen=True)
class Basis:
    """How something is known, and by which argument or over which range."""

    known: Known
    text: str = ""

    def __post_init__(self) -> None:
        if (self.known is Known.INSTANCE) != (not self.text):
            raise ValueError("a proof needs its argument and a certificate its range; an instance is what was computed")

    def __str__(self) -> str:
        joint = {Known.PROVED: ": ", Known.CERTIFIED: " over ", Known.INSTANCE: ""}
        return f"{self.known}{joint[self.known]}{self.text}"


INSTANCE = Basis(Known.INSTANCE)


def proved(argument: str) -> Basis:
    return Basis(Known.PROVED, argument)


def certified(over: str) -> Basis:
    return Basis(Known.CERTIFIED, over)


def holds(said: object, figure: str) -> Seen:
    return Seen(bool(said), figure)


def corrected(said: object, mended: object, figure: str) -> Seen:
    return Seen(bool(said), figure, mended=bool(mended))


def refuted(said: object, instead: object, figure: str) -> Seen:
    return Seen(bool(said), figure, instead=bool(instead))


@dataclass(frozen=True)
class Entry:
    """A row of a table, and the command that shows it."""

    key: str
    title: str

    @property
    def heading(self) -> str:
        return f"{self.key} {self.title}"

    @property
    def command(self) -> str:
        return f"headcount study check {self.key}"


@dataclass(frozen=True)
class Statement(Entry):
    """One row: its place, its words (ours), the verdict, what is right, and the check.

    `basis` is how that is known; whatever does not hold as it is said has a `severity`.
    """

    note: str
    place: str
    says: str
    verdict: Verdict
    ought: str
    more: str  # a study that shows more of it
    check: Check
    basis: Basis
    severity: Severity | None = None

    def __post_init__(self) -> None:
        if not (self.verdict is Verdict.HOLDS) == (not self.ought) == (self.severity is None):
            raise ValueError(f"{self.key}: what does not hold, and only that, needs the right form and a severity")


class Rows(list[Statement]):
    """Collects the statements of a note: each check stands below the statement it is for."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self.note = note

    def __call__(
        self,
        key: str,
        title: str,
        place: str,
        says: str,
        verdict: Verdict = Verdict.HOLDS,
        ought: str = "",
        more: str = "",
        *,
        basis: Basis,
        severity: Severity | None = None,
    ) -> Callable[[Check], Check]:
        def keep(check: Check) -> Check:
            self.append(Statement(key, title, self.note, place, says, verdict, ought, more, check, basis, severity))
            return check

        return keep


QUESTIONS = "Questions and gaps"


@dataclass(frozen=True)
class Reply:
    """A paragraph of computed figures, the chief one, and whether they bear the statement out."""

    text: str
    figure: str
    sound: bool


@dataclass(frozen=True)
class Answer(Entry):
    """A question or gap of the notes, and what answers it."""

    question: str
    place: str
    more: str
    reply: Callable[[], Reply]

    def row(self) -> dict[str, Any]:
        told = tell(self.reply)
        return {
            "key": self.key,
            "title": self.title,
            "note": QUESTIONS,
            "place": self.place,
            "says": self.question,
            "verdict": "answered",
            "ought": told.text,
            "seen": told.figure,
            "supported": told.sound,
            "command": self.command,
            "more": also(self.more),
        }


class Questions(list[Answer]):
    """Collects answers: what computes each stands below its question."""

    def __call__(
        self, key: str, title: str, place: str, question: str, more: str = ""
    ) -> Callable[[Callable[[], Reply]], Callable[[], Reply]]:
        def keep(reply: Callable[[], Reply]) -> Callable[[], Reply]:
            self.append(Answer(key, title, question, place, more, reply))
            return reply

        return keep


def also(more: str) -> str:
    """The command of the study that shows more, if there is one."""
    return f"headcount study run {more}" if more else ""


@cache
def look(check: Check) -> Seen:
    """Each is computed once; the same version sees the same again."""
    return check()


@cache
def tell(reply: Callable[[], Reply]) -> Reply:
    return reply()


def supported(statement: Statement) -> bool:
    """Whether what was computed bears the verdict out."""
    return look(statement.check).verdict is statement.verdict
