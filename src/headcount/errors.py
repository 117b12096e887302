"""Every error that headcount raises on purpose::

    HeadcountError
    ├── Refused                     the request cannot be granted as it stands (exit code 2)
    │   ├── BadArgument             an argument is out of range; also a ValueError
    │   │   ├── AlreadyThere        a new ledger was to take the name of a file that exists
    │   │   ├── Forged              a release is not what its analyser signed
    │   │   ├── UnknownCollection   the party that was asked has no such collection
    │   │   └── WrongCall           an argument is left out, misspelt or given twice; also a TypeError
    │   ├── BadData                 the data are not what the question expects; also a ValueError
    │   ├── Unsupported             the protocol does not offer that question, adjacency or model
    │   │   ├── OverCap             more messages or bytes would be sent than max_messages or max_bytes allow
    │   │   └── AnswerExposed       colluding operators would learn the answer
    │   ├── Infeasible              no parameters meet the budget with this crowd
    │   ├── OverBudget              the privacy loss is larger than the budget, or than what a ledger has left
    │   ├── Damaged                 a ledger's file is not what was written there
    │   ├── TooFewReports           fewer reports than the guarantee was computed for
    │   ├── TooManyReports          more reports than the guarantee was computed for
    │   ├── MissingExtra            an optional dependency is not installed
    │   ├── RemoteRefusal           the party at the other end refused, or could not be reached
    │   ├── BatchUnavailable        a batch is not there in full, or its messages can no longer be opened
    │   ├── Conflict                something else was said of the same batch before
    │   ├── TokenSpent              an invitation has had its token for this batch
    │   ├── Unavailable             the database cannot be used now; nothing was changed
    │   └── Busy                    a queue is full; try again later
    │       └── Occupied            too much is being computed at once
    └── WireError                   bytes that are not a sealed report to this batch

Privacy errors are raised, never warned about. Catch `Refused` for whatever a caller can put right.
A refusal has an argument, a problem and a remedy, and never quotes anybody's data. As a string it
speaks of Python's arguments; the command line and the page say it in theirs, by a
`phrases.Spelling` of their own.
"""

from __future__ import annotations

from typing import NoReturn

from headcount.phrases import ArgumentName, Phrase, Spelling

__all__ = [
    "AlreadyThere",
    "AnswerExposed",
    "BadArgument",
    "BadData",
    "BatchUnavailable",
    "Busy",
    "Conflict",
    "Damaged",
    "Forged",
    "HeadcountError",
    "Infeasible",
    "MissingExtra",
    "Occupied",
    "OverBudget",
    "OverCap",
    "Refused",
    "RemoteRefusal",
    "TokenSpent",
    "TooFewReports",
    "TooManyReports",
    "Unavailable",
    "UnknownCollection",
    "Unsupported",
    "WireError",
    "WrongCall",
]


class HeadcountError(Exception):
    """Everything this library raises on purpose."""


class Refused(HeadcountError):
    """The request cannot be granted as it stands.

    Attributes
    ----------
    argument : str
        Name of the argument that is wrong; empty if it is none in particular.
    problem : str
        What is wrong.
    remedy : str
        What would work instead; empty if nothing would.
    reason : str
        Argument, problem and remedy, without the protocol that the refusal is about.
    """

    def __init__(self, problem: str, remedy: str = "", *, argument: str = "", protocol: str = "") -> None:
        self.argument, self.problem, self.remedy = argument, problem, remedy
        told = Phrase.joined(" ", [ArgumentName(argument), problem] if argument else [problem])
        self.reason = Phrase.joined("; ", [told, remedy] if remedy else [told])
        self._words = Phrase.joined(" ", [protocol, self.reason]) if protocol else self.reason
        super().__init__(str(self._words))

    def said(self, spelling: Spelling) -> str:
        """The whole of it, with arguments in this spelling."""
        return self._words.said(spelling)


def without_cause(refusal: Refused) -> NoReturn:
    """Raise it without its context.

    Messages of other libraries quote data. `from None` only hides the context: tools that record
    errors walk along it.
    """
    try:
        raise refusal from None
    except Refused:
        refusal.__context__ = None
        raise


class BadArgument(Refused, ValueError):
    """An argument is out of range."""

    def __init__(self, argument: str, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy, argument=argument)


class AlreadyThere(BadArgument):
    """A new file was asked for, and there is one of that name."""


class Forged(BadArgument):
    """A release is not what its analyser has signed, or contradicts itself."""


class WrongCall(BadArgument, TypeError):
    """An argument is left out, misspelt, given twice or without its name."""


class UnknownCollection(BadArgument):
    """The party that was asked has no such collection."""

    def __init__(self, name: str) -> None:
        super().__init__("collection", f"{name[:64]!r} is not known here", "ask its operators for the right name")


class BadData(Refused, ValueError):
    """The data are not what the question expects. The message counts values and quotes none."""

    def in_column(self, column: str) -> BadData:
        """The same of the column that it is about, if it does not say which."""
        if self.problem.startswith("column "):
            return self
        about = next((each for each in ("data ", "by ") if self.problem.startswith(each)), "")
        said = "column {} {}" if about else "column {}: {}"
        return BadData(Phrase(said, repr(column), self.problem.removeprefix(about)), self.remedy)


class Unsupported(Refused):
    """The protocol does not offer that question, adjacency or model."""


class OverCap(Unsupported):
    """More messages or bytes would be sent than a cap allows.

    Attributes
    ----------
    times : float
        By which factor the cap would have to be raised.
    """

    def __init__(self, problem: str, remedy: str, times: float) -> None:
        super().__init__(problem, remedy)
        self.times = times


class AnswerExposed(Unsupported):
    """Colluding operators would learn the answer, and the device has not agreed to that."""


class Infeasible(Refused):
    """No parameters of this protocol meet the budget with this crowd."""


class OverBudget(Refused):
    """The privacy loss is larger than the budget, or than what a ledger has left."""


class Damaged(Refused):
    """A ledger's file is not what was written there."""


class TooFewReports(Refused):
    """Fewer reports than the guarantee was computed for."""


class TooManyReports(Refused):
    """More reports than the guarantee was computed for."""


class MissingExtra(Refused):
    """An optional dependency is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional part: pip install 'headcount[{extra}]'")


class RemoteRefusal(Refused):
    """The party at the other end refused, or could not be reached.

    Attributes
    ----------
    status : int
        The status of its HTTP answer; 0 if there was none.
    """

    def __init__(self, problem: str, status: int = 0) -> None:
        super().__init__(problem)
        self.status = status


class BatchUnavailable(Refused):
    """A batch is not there in full, or its messages can no longer be opened."""


class Conflict(Refused):
    """Something else was said of the same batch before."""


class TokenSpent(Refused):
    """There is one token for an invitation and batch, and it was given to another request."""

    def __init__(self) -> None:
        super().__init__(
            "this invitation has had its token for this batch, on another device or before its folder was emptied"
        )


class Unavailable(Refused):
    """The database cannot be used now: disk full, locked or gone. Nothing was changed."""


class Busy(Refused):
    """More reports are coming in than the disk can take."""

    def __init__(self, problem: str = "too many reports are coming in at once") -> None:
        super().__init__(problem, "try again in a moment")


class Occupied(Busy):
    """More is to be computed than can be."""

    def __init__(self) -> None:
        super().__init__("too much is being computed")


class WireError(HeadcountError):
    """These bytes are not what was sealed for this batch. Nothing else is ever said about them."""

    def __init__(self) -> None:
        super().__init__("not a report to this batch")
