"""A protocol: what people send, what becomes of it, and what that gives away.

A leaf of the catalogue declares its name, model and parameters and writes a few short formulas (see
`declaration`). Drawing, tallying, estimating with intervals and simulating follow from them here,
the predicted error and cost in `predicted`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.answers.arrivals import ArrivalsEstimate
from headcount.answers.distribution import DistributionEstimate
from headcount.answers.estimate import Estimate
from headcount.answers.grouped import GroupedEstimate
from headcount.answers.intervals import covering
from headcount.answers.table import TableEstimate
from headcount.common.plurals import counted, people
from headcount.errors import TooFewReports, TooManyReports, Unsupported
from headcount.privacy.crowd import LARGEST, Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model, Party
from headcount.programme.brick import Outbox
from headcount.programme.coins import Coins, SecretCoins, SeededCoins
from headcount.programme.field import People, Values
from headcount.programme.law import Floats
from headcount.programme.report_law import WHOLE, Parts
from headcount.programme.table import Ints
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.declaration import Declaration
from headcount.protocols.base.predicted import FEW_VALUES, Predicted
from headcount.protocols.base.reach import Reach
from headcount.protocols.base.simulation import Simulation, repeated
from headcount.questions.domains.domain import Shape
from headcount.questions.reading import column

ANSWERS = {  # by their form
    "values": Estimate,
    "arrivals": ArrivalsEstimate,
    "distribution": DistributionEstimate,
    "groups": GroupedEstimate,
    "table": TableEstimate,
}


@dataclass(frozen=True, kw_only=True)
class Protocol(Predicted):
    """A mechanism with its parameters: what people send, what is released, and its loss.

    Base class of the catalogue. Get one by name from `hc.protocol`, calibrated to a budget or with
    the parameters of its paper. CONTRIBUTING.md tells how to write one.

    Parameters
    ----------
    task : Question
        What is asked.
    crowd : Crowd
        Who is expected.
    neighbours : Neighbours
        The adjacency of its guarantee.

    Examples
    --------
    >>> protocol = hc.protocol("poisson-histogram", hc.Histogram(["yes", "no"]), n=1_000, epsilon=1, delta=1e-6)
    >>> messages = protocol.randomise(["yes"] * 600 + ["no"] * 400)  # the devices, then the shuffler
    >>> released = protocol.release(protocol.tally(messages))  # the analyser
    >>> protocol.estimate(released).categories
    ['yes', 'no']
    """

    FINAL: ClassVar[tuple[str, ...]] = (
        "loss",
        "loss_if",
        "group_local_epsilon",
        "most",
        "require_fit",
        "release",
        "estimate",
    )

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuses a leaf that overrides its own promise, which would forget groups or other crowds,
        and one that has a release step where nobody is trusted to take it.
        """
        super().__init_subclass__(**options)
        steps = (cls.released, Declaration.released), (cls.by_analyser, Declaration.by_analyser)
        if hasattr(cls, "model") and not cls.model.releases and any(own is not usual for own, usual in steps):
            raise TypeError(f"{cls.__name__} releases something else than it received, in the {cls.model} model")
        for name in Protocol.FINAL:
            if getattr(cls, name) is not getattr(Protocol, name):
                raise TypeError(f"{cls.__name__} overrides {name}; a protocol writes view(), group() or room instead")

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        """Simulated totals of released tallies, a row a run, of a crowd with these values.

        A leaf may draw them from their law directly, without touching each person.
        """
        return self.repeated(np.repeat(np.arange(held.size), held), coins, runs)

    def intervals(self, tally: Tally, confidence: float) -> Floats:
        """A confidence interval [low, high] for each cell, from the error's exact law."""
        return covering(self, self.point(tally), tally.reports, confidence)

    @classmethod
    def parameter_names(cls) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The protocol's own parameters: those that must be given, and all of them."""
        own = [entry for entry in fields(cls) if entry.name not in {"task", "crowd", "neighbours"}]
        return tuple(entry.name for entry in own if entry.default is MISSING), tuple(entry.name for entry in own)

    @classmethod
    def collectable(cls) -> bool:
        """Whether the collecting service carries it: its shuffler mixes, and adds messages."""
        return cls.model.from_devices

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """A row of the catalogue."""
        return {
            "name": cls.name,
            "model": str(cls.model),
            "tasks": cls.question_names(),
            "parameters": list(cls.parameter_names()[1]),
            "relations": sorted(str(relation) for relation in cls.relations),
            "collectable": cls.collectable(),
            "reference": cls.reference,
        }

    @property
    def parameters(self) -> dict[str, Any]:
        """Its own parameters by name."""
        return {name: getattr(self, name) for name in self.parameter_names()[1]}

    @cached_property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of a person with all reports, in every crowd that gets an answer."""
        if self.model in (Model.SHUFFLE, Model.LOCAL):
            least_hidden = self.crowd.honest
        else:  # where small counts are dropped, the most people hide a person least
            least_hidden = LARGEST if self.neighbours.hides_size else self.crowd.size - self.crowd.most_corrupt
        return self.loss_if(least_hidden)

    @property
    def bits_per_person(self) -> float:
        """Bits of the messages a person sends on average."""
        return self.messages_per_person * max(1, (self.kinds - 1).bit_length())

    @property
    def most(self) -> float:
        """The most reports: those planned for, where a trusted side drops small counts."""
        limited = self.model is Model.THRESHOLD and not self.neighbours.hides_size
        return min(self.room, self.crowd.size if limited else math.inf)

    def require_fit(self, reports: int) -> None:
        """Refuses crowds it was not planned for; tells their size only because that is public."""
        if reports < self.crowd.least and not self.neighbours.hides_size:
            came = f"{counted(reports, 'report')} came and the plan needs at least {self.crowd.least:,}"
            plan = f"make a plan for {people(reports)}, or " if reports else ""
            raise TooFewReports(came, f"{plan}give everybody's answers")
        if reports > self.most:
            problem = f"was planned for at most {people(int(self.most))}"
            raise TooManyReports(problem, "plan for more", protocol=self.name)

    def randomise(self, data: npt.ArrayLike, coins: Coins | None = None) -> Batch:
        """Everybody's messages, as a shuffler shows them.

        Parameters
        ----------
        data : array-like
            One value for each person.
        coins : Coins, optional
            Secret ones unless given.

        Returns
        -------
        Batch

        Raises
        ------
        errors.BadData
            If a value is not one that the task takes.
        """
        values = self.task.domain.codes(column(data))
        return self.reports(values, coins or SecretCoins()).shuffled()

    def reports(self, values: Values, coins: Coins) -> Batch:
        """Everyone's messages, in no order."""
        return Batch(values.size, self._sent(values, coins).messages())

    def attributed(self, values: Values, owners: Values, coins: Coins) -> tuple[npt.NDArray[Any], Values]:
        """The messages of `reports` and whose they are: for audits only."""
        sent = self._sent(values, coins, owners)
        return sent.messages(), sent.owners()

    def _sent(self, values: Values, coins: Coins, owners: Values | None = None) -> Outbox:
        """The outbox for people's values; messages about unknown labels have the labels' type."""
        outbox = Outbox(np.dtype([("kind", values.dtype)]) if self.task.shape is Shape.KEY else self.message)
        self.programme.draw(People(values.size, {"value": values}, owners), coins, outbox)
        return outbox

    def counted(self, values: Values, people: Ints) -> Tally:
        """The tally of these numbers of people for each value, for a trusted side."""
        messages, owners = self.attributed(values, np.arange(values.size), SecretCoins())
        if self.summed:
            steps = messages["steps"].tolist()
            total = sum(step * many for step, many in zip(steps, people.tolist(), strict=True))
            return Tally(int(people.sum()), np.array([total], dtype=object))
        if self.task.shape is Shape.KEY:
            return Tally.by_key(int(people.sum()), messages["kind"], people)
        totals = np.bincount(
            messages["kind"], weights=people[owners], minlength=self.kinds
        )  # exact: all are below 2**53
        return Tally(int(people.sum()), totals.astype(np.int64))

    def totalled(self, people: int, total: int) -> Tally:
        """The tally of people whose values have this total, for a trusted side that adds up."""
        nothing = int(self.reports(np.zeros(1, dtype=np.int64), SecretCoins()).messages["steps"][0])
        return Tally(people, np.array([total + people * nothing], dtype=object))

    def pooled(self, groups: Values, people: Ints, steps: Iterable[int]) -> Tally:
        """The tally of groups, from each one's people and total amount, for a trusted side."""
        totals = np.zeros(self.task.cells, dtype=object)
        for group, many, total in zip(groups.tolist(), people.tolist(), steps, strict=True):
            totals[2 * group] += many * self.task.steps - total
            totals[2 * group + 1] += total
        return Tally(int(people.sum()), totals)

    def nobody(self) -> Tally:
        """The tally of no reports."""
        return self.tally(Batch(0, np.empty(0, dtype=self.message)))

    def shown_law(self, total: int) -> Parts:
        """The law of what the public sees of a total, after the trusted side and the analyser."""
        shown: Counter[int] = Counter()
        for released, part in self.released().law(total).items():
            for outcome, chance in self.by_analyser().law(released).items():
                shown[outcome] += part * chance // WHOLE
        return shown

    def release(self, tally: Tally, coins: Coins | None = None, *, padded: bool = False) -> Tally:
        """The tally with the noise of the trusted side, if the model has one, and of the analyser.

        Parameters
        ----------
        tally : Tally
            Of everybody's messages.
        coins : Coins, optional
            Secret ones unless given.
        padded : bool
            Whether the trusted side has done its part already, as a shuffler has that adds
            messages.

        Returns
        -------
        Tally
            How many reported goes along only if that is public.

        Raises
        ------
        errors.TooFewReports, errors.TooManyReports
            If it was not calibrated for such a crowd.
        """
        self.require_fit(tally.reports)
        coins, released = coins or SecretCoins(), tally
        if self.model.releases:
            released = tally if padded else self.released().apply(tally, coins)
            released = self.by_analyser().apply(released, coins)
        return replace(released, reports=0 if self.neighbours.hides_size else tally.reports, released=True)

    def estimate(self, released: Tally) -> Estimate:
        """The answer, from a tally that was released.

        Parameters
        ----------
        released : Tally
            As `release` returns it.

        Returns
        -------
        Estimate

        Raises
        ------
        errors.Unsupported
            If a trusted side has not released it.
        errors.TooFewReports, errors.TooManyReports
            If it was not calibrated for such a crowd.
        """
        self.require_fit(released.reports)
        if self.model.releases and not released.released:
            works = "estimate(release(tally))"
            raise Unsupported("must release a tally before anybody sees it", works, protocol=self.name)
        return ANSWERS[self.task.answered](
            protocol=self, tally=released, people=self.rebuilt(self.point(released), released.reports)
        )

    def loss_if(self, honest: int) -> PrivacyLoss:
        """The privacy loss if fewer honest people take part than it was calibrated for.

        Parameters
        ----------
        honest : int
            People who add their share of the noise.

        Returns
        -------
        PrivacyLoss
        """
        honest, reports = max(1, honest), self.crowd.each
        return self.view(honest) if reports == 1 else self.group(honest, reports)

    def views(self) -> Mapping[Party, PrivacyLoss | None]:
        """The privacy loss of each party's view, answer included; None if it sees every value."""
        return {
            Party.ANALYSER: None if self.model is Model.CENTRAL else self.loss,
            Party.PUBLIC: self.loss,
            **({Party.SHUFFLER: None} if self.model is Model.THRESHOLD else {}),
            **({Party.SHUFFLER: self.loss} if self.model is Model.SHUFFLE else {}),
        }

    def reach(self, messages: int = 1) -> Reach:
        """How far one liar can move a cell.

        Parameters
        ----------
        messages : int
            How many messages a report may consist of.

        Returns
        -------
        Reach
            Upward and downward, in people, and in how many cells at once.

        Examples
        --------
        >>> print(f"{hc.protocol('cheu-count', n=10_000, epsilon=1, delta=1e-6).reach().up:.4f}")
        1.0034
        """
        origin = self.point(self.nobody())
        if not self.model.from_devices:  # a value is handed over, and read as one
            values = np.unique(np.array([0, min(1, self.task.values - 1), self.task.values - 1]))
            reports = [self.tally(self.reports(np.array([value]), SecretCoins())) for value in values.tolist()]
            return Reach.among(0.0 * origin, np.array([self.point(report) - origin for report in reports]), 1)
        base = self.point(replace(self.nobody(), reports=1)) - origin
        slopes = [self.point(self.tally(Batch(0, told))) - origin for told in self.telling().reshape(-1, 1)]
        return Reach.among(base, np.array(slopes), messages)

    @property
    def group_local_epsilon(self) -> float | None:
        """The local epsilon of all of a person's reports; None if nothing is left."""
        return None if self.local_epsilon is None else self.crowd.each * self.local_epsilon

    def simulate(self, data: npt.ArrayLike, *, runs: int = 200, seed: int = 0) -> Simulation:
        """Repeat the whole protocol with seeded coins. Not private.

        Parameters
        ----------
        data : array-like
            One value for each person.
        runs : int
            How often.
        seed : int
            The same seed gives the same estimates.

        Returns
        -------
        Simulation
            With bias, standard deviation and all estimates.
        """
        values, coins = self.task.domain.codes(column(data)), SeededCoins(seed)
        if self.task.values <= FEW_VALUES:
            totals = self.sample(np.bincount(values, minlength=self.task.values), coins, runs)
        else:
            totals = self.repeated(values, coins, runs)
        modulus = self.nobody().modulus
        tallies = (Tally(values.size, row, None, modulus, released=True) for row in totals)
        estimates = [self.estimate(tally).values for tally in tallies]
        cells = self.rebuilt(self.task.truth(values), values.size)
        truth = self.task.answers(cells, values.size, private=self.neighbours.hides_size)
        return Simulation(truth=truth, values=np.array(estimates), seed=seed)

    def repeated(self, values: Values, coins: Coins, runs: int) -> Ints:
        """Totals of released tallies, one row a run, through every person's own randomiser."""
        return repeated(self, values, coins, runs)

    @property
    def origin(self) -> float:
        """The value everybody counts from; 0 where the number of people is private, not counted."""
        return 0.0 if self.neighbours.hides_size and not self.task.paired else self.task.low

    def among(self, crowd: Crowd) -> Self:
        return replace(self, crowd=crowd)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as in a plan, the same as in earlier versions."""
        own = self.parameters.items()
        told = {name: value for name, value in own if name not in self.later or value != getattr(type(self), name)}
        return {
            "protocol": self.name,
            "task": self.task.to_json(),
            "crowd": self.crowd.to_json(),
            "neighbours": str(self.neighbours),
            "parameters": {name: _plain(value) for name, value in told.items()},
        }


def _plain(value: float | str) -> float | str:
    """Floats survive JSON exactly; a chance is a float."""
    return value if isinstance(value, int | str) else float(value)
