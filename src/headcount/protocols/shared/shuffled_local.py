r"""Any local protocol, shuffled [BBGN19]: the same reports, but nobody knows whose they are.

Randomiser: that of the local protocol, with a much larger local $\epsilon_0$.
Analyser:   that of the local protocol.
View:       all messages in no order: one that depends on the value among a blanket of those that
            might be anybody's (`privacy/amplified.py`); exact where one flipped bit is sent.
Error:      that of the local protocol.

[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache, lru_cache
from typing import Any, ClassVar

from headcount.errors import Unsupported
from headcount.privacy import Budget, Crowd, Model, PrivacyLoss
from headcount.protocols.base import Choices, Protocol, Settings
from headcount.questions import Question

LARGEST = 25.0  # of the local epsilons that are looked for
CLOSE = 1e-2


class ShuffledLocal(Protocol):
    """The shuffled form of a local protocol."""

    model: ClassVar[Model] = Model.SHUFFLE
    pure: ClassVar[bool] = False  # where delta is 0, shuffling adds nothing to the local protocol
    local: ClassVar[type[Protocol]]

    def view(self, honest: int) -> PrivacyLoss:
        return self.shuffled_loss(honest)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        return cls.local.choices(task, crowd, _before_shuffling(cls.local, task, crowd, budget))

    def __reduce__(self) -> tuple[Any, ...]:
        """A class made on the way is not found by its name, but made again."""
        return _again, (self.local, {entry.name: getattr(self, entry.name) for entry in fields(self)})


@cache
def shuffled(local: type[Protocol]) -> type[Protocol]:
    """The local protocol's shuffled form."""
    if local.model is not Model.LOCAL:
        works = "only those can be shuffled as they are"
        raise Unsupported("is not a local protocol", works, protocol=local.name)

    def start(budget: Budget, given: Settings) -> float:
        return local.knob.start(_before_shuffling(local, given["task"], given["crowd"], budget), given)

    own = {
        "__doc__": f"{(local.__doc__ or '').splitlines()[0]} Here among shuffled reports.",
        "__module__": __name__,
        "name": f"shuffled-{local.name}",
        "reference": f"Balle, Bell, Gascon and Nissim 2019, arXiv:1903.02837; {local.reference}",
        "knob": replace(local.knob, start=start),
        "local": local,
    }
    return type(f"Shuffled{local.__name__}", (ShuffledLocal, local), own)


def _again(local: type[Protocol], given: dict[str, Any]) -> Protocol:
    return shuffled(local)(**given)


@lru_cache(maxsize=256)
def _before_shuffling(local: type[Protocol], task: Question, crowd: Crowd, budget: Budget) -> Budget:
    """About the local budget at which the shuffled reports just meet this one."""
    low, high = budget.epsilon, max(budget.epsilon, LARGEST)
    while high > (1.0 + CLOSE) * low:
        middle = (low + high) / 2.0
        fits = _shuffled_delta(local, task, crowd, replace(budget, epsilon=middle), budget.epsilon) <= budget.delta
        low, high = (middle, high) if fits else (low, middle)
    return replace(budget, epsilon=low)


def _shuffled_delta(local: type[Protocol], task: Question, crowd: Crowd, before: Budget, epsilon: float) -> float:
    """The delta once shuffled of the first choice for a local budget."""
    given = {"task": task, "crowd": crowd, **next(iter(local.choices(task, crowd, before)))}
    setting = local.knob.at(local.knob.start(before, given), given)
    return local(**{**given, local.knob.name: setting}).shuffled_loss(crowd.honest).delta(epsilon)
