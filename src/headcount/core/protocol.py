"""A protocol: what people send, what becomes of it, and what that gives away.

A leaf declares its name, model and parameters and writes a few short formulas. Everything else here follows from
those: drawing, tallying, estimating with an interval, simulating, and stating the cost.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.core.brick import VALUE, Brick, Field, Values, drawn
from headcount.core.budget import Budget, Neighbours
from headcount.core.coins import Coins, SecretCoins, SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, TooFewReports, Unsupported
from headcount.core.estimate import Estimate, Simulation
from headcount.core.law import Floats, Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.quantity import quantity
from headcount.core.release import AsItIs, Release
from headcount.core.table import Ints
from headcount.core.tally import Batch, Tally
from headcount.core.task import Count, Task


class Model(StrEnum):
    """Whom people must trust, from everybody to nobody."""

    CENTRAL = "central"  # the analyser, who sees every value
    THRESHOLD = "shuffle-threshold"  # a shuffler who also drops small counts
    SHUFFLE = "shuffle"  # a shuffler who mixes the messages
    LOCAL = "local"  # nobody


@dataclass(frozen=True)
class Knob:
    """The parameter that calibration turns: `along(u, crowd)` gets more private as u grows from `low` to `high`."""

    name: str
    along: Callable[[float, Crowd], float]
    low: float
    high: float
    start: Callable[[Budget, Mapping[str, Any]], float]  # where to look first, given the crowd and other parameters


def likely_variance(budget: Budget) -> float:
    """About the noise variance that hides one person in a count; a first guess, never a claim."""
    log = math.log(1.0 / max(budget.delta, 1e-18))
    return 1.5 * log / budget.epsilon**2 + log


@dataclass(frozen=True, kw_only=True)
class Protocol(ABC):
    """One way to answer a task. The loss is that of whatever crosses the model's trust line."""

    name: ClassVar[str]
    model: ClassVar[Model]
    tasks: ClassVar[frozenset[str]] = frozenset({"count"})
    relations: ClassVar[frozenset[Neighbours]] = frozenset({Neighbours.REPLACE})
    knob: ClassVar[Knob]
    pure: ClassVar[bool] = False  # whether delta = 0 can be met
    reference: ClassVar[str]
    message: ClassVar[np.dtype[Any]] = np.dtype([("kind", np.uint8)])
    kinds: ClassVar[int] = 1  # how many different messages there are, and cells in the tally

    task: Task = field(default_factory=Count)
    crowd: Crowd
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        if self.task.name not in self.tasks:
            raise Unsupported(
                f"{self.name} does not answer {self.task.name}; it answers {', '.join(sorted(self.tasks))}"
            )
        if self.neighbours not in self.relations:
            others = " or ".join(f"neighbours='{relation}'" for relation in sorted(self.relations))
            raise Unsupported(
                f"{self.name} has no guarantee for neighbours='{self.neighbours}', because the number of reports "
                f"is public and a person who leaves takes their noise along; use {others}"
            )

    @property
    def serves(self) -> bool:
        """Whether this crowd could get any answer out of it at all."""
        return True

    def bounded(self, name: str, low: float, high: float) -> None:
        """Refuses a parameter outside its open range (a closed end where it is itself allowed, as in keep <= 1)."""
        works = f"use a number above {low:g}" + ("" if math.isinf(high) else f" and up to {high:g}")
        value = quantity(name, getattr(self, name), works)
        if not low < value <= high:
            raise BadArgument(name, f"is {value:g}", works)

    # What a leaf writes.

    @classmethod
    def choices(cls, task: Task, crowd: Crowd, budget: Budget) -> Iterable[Mapping[str, Any]]:
        """Settings of the parameters other than the knob; calibration turns the knob for each and ranks them."""
        return ({},)

    @abstractmethod
    def report(self, value: Field) -> Brick:
        """What one person sends."""

    def released(self) -> Release:
        """What the trusted side adds or drops."""
        return AsItIs()

    @abstractmethod
    def view(self, honest: int) -> PrivacyLoss:
        """The loss of what crosses the trust line when so many honest people took part."""

    @abstractmethod
    def point(self, tally: Tally) -> float:
        """The estimate."""

    @abstractmethod
    def noise(self, truth: int, reports: int) -> Noise:
        """The exact law of the estimate's error when `truth` of `reports` people hold a one."""

    @abstractmethod
    def sample(self, truth: int, reports: int, coins: Coins, runs: int) -> Ints:
        """Totals of released tallies, one row a run, drawn from their law directly. For simulation only."""

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        """The parameters by the paper's closed form: for comparison, never for a claim."""
        raise Unsupported(f"no closed form is known for {cls.name}")

    @classmethod
    @abstractmethod
    def tiny(cls) -> Self:
        """An instance small enough to enumerate."""

    def size_of_error(self, truth: int, reports: int) -> float:
        """Its root mean square. A leaf may have a shorter way than through the error's law."""
        return self.noise(truth, reports).rmse

    @property
    def steady(self) -> bool:
        """Whether the error has the same size whatever the data."""
        return True

    @property
    def local_epsilon(self) -> float | None:
        """What remains if everyone but the person colludes; None if nothing does."""
        return None

    def interval(self, tally: Tally, confidence: float) -> tuple[float, float]:
        """An interval that covers the truth with this confidence, from the exact law of the error."""
        value = self.point(tally)
        guess = 0 if self.steady else min(max(round(value), 0), tally.reports)
        half = half_width(self, guess, tally.reports, confidence)
        return value - half, value + half

    # What follows from it.

    @classmethod
    def parameter_names(cls) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The protocol's own parameters: those that must be given, and all of them."""
        own = [entry for entry in fields(cls) if entry.name not in {"task", "crowd", "neighbours"}]
        return tuple(entry.name for entry in own if entry.default is MISSING), tuple(entry.name for entry in own)

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """A row of the catalogue. Collectable: no trusted step between the shuffler and the outside."""
        return {
            "name": cls.name,
            "model": str(cls.model),
            "tasks": sorted(cls.tasks),
            "parameters": list(cls.parameter_names()[1]),
            "relations": sorted(str(relation) for relation in cls.relations),
            "collectable": cls.model in (Model.SHUFFLE, Model.LOCAL),
            "reference": cls.reference,
        }

    @property
    def parameters(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in self.parameter_names()[1]}

    @cached_property
    def programme(self) -> Brick:
        return self.report(VALUE)

    @cached_property
    def loss(self) -> PrivacyLoss:
        return self.view(self.crowd.honest)

    def randomise(self, data: npt.ArrayLike, coins: Coins | None = None) -> Batch:
        """What the crowd's devices send, in sorted order: the shuffler shows a multiset and nothing else."""
        values = self.task.encoded(np.asarray(data))
        messages = self.reports(values, coins or SecretCoins()).messages
        order = np.lexsort([messages[name] for name in reversed(self.message.names or ())])
        return Batch(values.size, messages[order])

    def reports(self, values: Values, coins: Coins) -> Batch:
        """Everyone's messages, in no order."""
        return Batch(values.size, drawn(self.programme, values, coins, self.message))

    def tally(self, batch: Batch) -> Tally:
        """What the analyser keeps: how often each kind of message occurs."""
        kinds = batch.messages["kind"]
        if self.kinds == 1:
            return Tally(batch.reports, np.array([kinds.size]))
        if self.kinds == 2:
            ones = int(np.count_nonzero(kinds))
            return Tally(batch.reports, np.array([kinds.size - ones, ones]))
        return Tally(batch.reports, np.bincount(kinds, minlength=self.kinds))

    def release(self, tally: Tally, coins: Coins | None = None) -> Tally:
        """The tally as the trusted side lets it go; refused where fewer reports came than the proof needs."""
        if tally.reports < self.crowd.least:
            raise TooFewReports(
                f"{tally.reports:,} reports came and the guarantee needs {self.crowd.least:,}; "
                "wait for more, or plan with a smaller least="
            )
        return self.released().apply(tally, coins or SecretCoins())

    def estimate(self, released: Tally) -> Estimate:
        if released.reports < self.crowd.least:
            raise TooFewReports(f"{released.reports:,} reports are fewer than the planned {self.crowd.least:,}")
        return Estimate(protocol=self, tally=released, value=self.point(released))

    def error(self, truth: int | None = None, reports: int | None = None) -> Noise:
        """The law of the error with `truth` ones; with none given, for the truth that is hardest to estimate."""
        people = self.crowd.size if reports is None else reports
        return self.noise(self._hardest(people) if truth is None else truth, people)

    def _hardest(self, people: int) -> int:
        if self.steady:
            return people // 2
        truths: list[int] = sorted({0, *np.geomspace(1, people, 40).astype(int).tolist()})
        return max(truths, key=lambda truth: self.size_of_error(truth, people))

    def rmse(self, truth: int | None = None, reports: int | None = None) -> float:
        """The root mean square of the error; with no truth given, for the one that is hardest to estimate."""
        people = self.crowd.size if reports is None else reports
        return self.size_of_error(self._hardest(people) if truth is None else truth, people)

    def loss_if(self, honest: int) -> PrivacyLoss:
        """What is left of the guarantee if only so many honest people took part."""
        return self.view(max(1, honest))

    @property
    def messages_per_person(self) -> float:
        """The mean for the value that costs most."""
        return max(self.programme.mean(value) for value in range(self.task.values))

    @property
    def bits_per_person(self) -> float:
        return self.messages_per_person * max(1, math.ceil(math.log2(self.kinds)))

    def simulate(self, data: npt.ArrayLike, *, runs: int = 200, seed: int = 0) -> Simulation:
        """Repeat the whole protocol with seeded coins, without touching each person each time."""
        values = self.task.encoded(np.asarray(data))
        truth = int(np.count_nonzero(values))
        totals = self.sample(truth, values.size, SeededCoins(seed), runs)
        return Simulation(truth=truth, values=self.points(totals, values.size), seed=seed)

    def points(self, totals: Ints, reports: int) -> Floats:
        return np.array([self.point(Tally(reports, row)) for row in totals])

    def among(self, crowd: Crowd) -> Self:
        return replace(self, crowd=crowd)

    def to_json(self) -> dict[str, Any]:
        crowd = {"size": self.crowd.size, "least": self.crowd.least, "corrupt": self.crowd.corrupt}
        return {
            "protocol": self.name, "task": self.task.name, "crowd": crowd, "neighbours": str(self.neighbours),
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
        }  # fmt: skip


@lru_cache(maxsize=1 << 13)
def half_width(protocol: Protocol, truth: int, reports: int, confidence: float) -> float:
    """Of the error's law; remembered, because many tallies of one protocol share it."""
    half = protocol.noise(truth, reports).half_width(confidence)
    return half if half.is_integer() else half * (1.0 + 1e-12)  # a sum of doubles must not exclude its own end


def _plain(value: float) -> float:
    """Floats survive JSON exactly; a chance is a float."""
    return value if isinstance(value, int) else float(value)
