r"""Any local protocol, shuffled [FMT21]: the same reports, but nobody knows whose they are.

Randomiser: that of the local protocol, with a much larger local $\epsilon_0$.
Analyser:   that of the local protocol.
View:       all messages in no order: at most that of clones, which every report is with chance
            $e^{-\epsilon_0}$.
Error:      that of the local protocol.

[FMT21] Feldman, McMillan and Talwar, Hiding Among the Clones, FOCS 2021.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache, lru_cache
from typing import Any, ClassVar

from headcount.errors import Unsupported
from headcount.privacy import Budget, Crowd, Model, NoGuarantee, PrivacyLoss
from headcount.privacy.clones import Clones
from headcount.protocols.base import Choices, Protocol, Settings
from headcount.questions import Question

LARGEST = 25.0  # of the local epsilons that are looked for
CLOSE = 1e-3


class ShuffledLocal(Protocol):
    """The shuffled form of a local protocol."""

    model: ClassVar[Model] = Model.SHUFFLE
    pure: ClassVar[bool] = False  # where delta is 0, shuffling adds nothing to the local protocol
    local: ClassVar[type[Protocol]]
    binary: ClassVar[bool]

    def view(self, honest: int) -> PrivacyLoss:
        epsilon = self.local_epsilon
        return NoGuarantee() if epsilon is None else Clones(epsilon, honest - 1, self.binary)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        return cls.local.choices(task, crowd, _before_shuffling(budget, crowd, cls.binary))

    def __reduce__(self) -> tuple[Any, ...]:
        """A class made on the way is not found by its name, but made again."""
        return _again, (self.local, self.binary, {entry.name: getattr(self, entry.name) for entry in fields(self)})


def shuffled(local: type[Protocol], *, binary: bool = False) -> type[Protocol]:
    """The local protocol's shuffled form, cached; `binary` if it sends one flipped bit."""
    return _form(local, binary)


@cache
def _form(local: type[Protocol], binary: bool) -> type[Protocol]:
    if local.model is not Model.LOCAL:
        works = "only those can be shuffled as they are"
        raise Unsupported("is not a local protocol", works, protocol=local.name)

    def start(budget: Budget, given: Settings) -> float:
        return local.knob.start(_before_shuffling(budget, given["crowd"], binary), given)

    own = {
        "__doc__": f"{(local.__doc__ or '').splitlines()[0]} Here among shuffled reports.",
        "__module__": __name__,
        "name": f"shuffled-{local.name}",
        "reference": f"Feldman, McMillan and Talwar 2021, arXiv:2012.12803; {local.reference}",
        "knob": replace(local.knob, start=start),
        "local": local,
        "binary": binary,
    }
    return type(f"Shuffled{local.__name__}", (ShuffledLocal, local), own)


def _again(local: type[Protocol], binary: bool, given: dict[str, Any]) -> Protocol:
    return _form(local, binary)(**given)


@lru_cache(maxsize=256)
def _before_shuffling(budget: Budget, crowd: Crowd, binary: bool) -> Budget:
    """The local budget at which the shuffled reports just meet this one."""

    low, high = budget.epsilon, max(budget.epsilon, LARGEST)
    while high > (1.0 + CLOSE) * low:
        middle = (low + high) / 2.0
        fits = Clones(middle, crowd.honest - 1, binary).delta(budget.epsilon) <= budget.delta
        low, high = (middle, high) if fits else (low, middle)
    return replace(budget, epsilon=low)
