"""The receipt of a report: what left the device, and the privacy loss of that."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from headcount.common.plurals import counted

BARE = "Your answer is in it as it is, without noise: you trust the shuffler to add its messages,"
SO = "and to tell nobody how many of each kind."


@dataclass(frozen=True)
class Receipt:
    """What left the device, and what that gives away. Nothing in it depends on the answer.

    Parameters
    ----------
    question, collection, batch
        What was asked, by which collection, for which batch.
    state : str
        "made", "taken" or "closed".
    messages, bytes : int
        The size of the report, the same for everybody.
    epsilon, delta : float
        What it costs, mixed with the others.
    least : int
        The fewest reports among which it is mixed.
    colluding : float or None
        The local epsilon if shuffler and analyser collude; None if nothing is left.
    lifetime_epsilon, lifetime_delta : float
        What all reports of the device cost.
    again : bool
        Whether it had been made before.
    top_up : bool
        Whether reports of nobody may stand in for people who stay away.
    corrupt : int or None
        How many of the least may lie or collude; None if that was not noted.
    anyone, fixed : bool or None
        Whether strangers may report; whether batches end with their windows.
    padded : bool or None
        Whether the answer itself was sent, which only messages that the shuffler adds hide.
    pinned : bool
        Whether a hash vouches for the claim, which the device did not work out.
    rounds : int or None
        Of a series, how many rounds its promise is for; epsilon and delta are those of all of them.
    number : int or None
        Of a series, which of this device's own reports to it this is.
    """

    question: str
    collection: str
    batch: int
    state: str
    messages: int
    bytes: int
    epsilon: float
    delta: float
    least: int
    colluding: float | None
    lifetime_epsilon: float
    lifetime_delta: float
    again: bool = False
    top_up: bool = False
    corrupt: int | None = None
    anyone: bool | None = None
    fixed: bool | None = None
    padded: bool | None = None
    pinned: bool = False
    rounds: int | None = None
    number: int | None = None

    @property
    def odds(self) -> float:
        """How much more likely anything seen can be for one answer than for another."""
        return math.exp(self.epsilon)

    @property
    def relies(self) -> bool:
        """Whether others hide this report: by itself it gives away more than the guarantee says."""
        return not self.padded and (self.colluding is None or self.colluding > self.epsilon)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        left = {
            "made": "has been made and is still on this device",
            "taken": "has left this device, and was taken",
            "closed": "came when the batch took no reports",
        }[self.state]
        others = f"at least {self.least - 1:,} others{', or of nobody' if self.top_up else ''}"
        among = f"{others} and messages that the shuffler adds" if self.padded else others
        mixed = (
            f"Mixed with those of {among}, whatever is learnt is at most {_times(self.odds)} as likely for one answer "
            f"as for another, but for a chance of {self.delta:g}."
        )
        if self.rounds is not None:
            mixed += (
                f" That holds for all rounds together: this is report {self.number} of at most {self.rounds:,}, which "
                f"come to epsilon {self.epsilon:g}, delta {self.delta:g} in all."
            )
        alone = (
            "If the shuffler and the analyser work together, they learn the answer."
            if self.colluding is None
            else "If the shuffler and the analyser work together, the messages are at most "
            f"{_times(math.exp(self.colluding))} as likely for one answer as for another."
        )
        choices = [
            words
            for chosen, words in (
                (self.padded is True, f"{BARE} {SO}"),
                (self.corrupt == 0 and self.relies, "That holds only if all of them are honest."),
                (self.anyone is True, "Anybody may report, as often as they like: many of them may be one."),
                (self.fixed is False, "Its operator may end it at any moment, and so choose with whom you are mixed."),
            )
            if chosen
        ]
        return "\n".join(
            [
                f"“{self.question}”",
                f"Your report {left}: {counted(self.messages, 'sealed message')}, {self.bytes:,} bytes, as from "
                "everybody else.",
                *(["It was made before: what is answered now changes nothing."] if self.again else []),
                mixed,
                *choices,
                alone,
                *(
                    ["This device did not work that out: it relies on the hash that it was given."]
                    if self.pinned
                    else []
                ),
                f"All your reports together: epsilon {self.lifetime_epsilon:.4g}, delta {self.lifetime_delta:.3g}.",
            ]
        )


def _times(factor: float) -> str:
    return f"{factor:,.3g} times" if factor < 1e6 else "some millions of times"
