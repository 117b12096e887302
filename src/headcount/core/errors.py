"""What headcount refuses, and how it says so.

    HeadcountError
    └── Refused                 the request cannot be granted as it stands (exit code 2)
        ├── BadArgument         an argument is out of range; also a ValueError
        ├── BadData             the data are not what the task expects; also a ValueError
        ├── Unsupported         this protocol does not offer that task, relation or model
        ├── Infeasible          no parameters meet the budget with this crowd
        ├── OverBudget          the loss is larger than the budget allows
        ├── Damaged             a ledger's file is not what was written there
        ├── TooFewReports       fewer reports than the guarantee was computed for
        ├── TooManyReports      more of them, where that matters
        └── MissingExtra        an optional dependency is not installed

Privacy errors are raised, never warned about. A message names the argument, what was wrong and a value that
would work; it never quotes anybody's data.
"""

from __future__ import annotations

from typing import NoReturn


class HeadcountError(Exception):
    """Everything this library raises on purpose."""


class Refused(HeadcountError):
    """The request cannot be granted as it stands."""


def without_cause(refusal: Refused) -> NoReturn:
    """Raises it without what led to it. What other libraries say quotes data, and `from None` only hides that: whoever
    walks along contexts, as tools that record errors do, would still find it."""
    try:
        raise refusal from None
    except Refused:
        refusal.__context__ = None
        raise


class BadArgument(Refused, ValueError):
    """An argument is out of range."""

    def __init__(self, argument: str, problem: str, works: str) -> None:
        self.argument = argument
        super().__init__(f"{argument} {problem}; {works}")


class BadData(Refused, ValueError):
    """The data are not what the task expects. The message counts, it never quotes."""


class Unsupported(Refused):
    """This protocol does not offer that."""


class Infeasible(Refused):
    """No parameters of this protocol meet the budget with this crowd."""


class OverBudget(Refused):
    """The loss is larger than the budget allows."""


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
