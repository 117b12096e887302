r"""A family by lot [CKS19]: all report one of their cells, drawn by lot, by a frequency oracle.

Randomiser: draw one of the $k$ families, evenly. If it has few cells, send yours with chance
            $p = e^\epsilon/(e^\epsilon+N-1)$ and any other of the $N$ otherwise; if this would err
            more, draw a hash function with $g \approx e^\epsilon+1$ buckets, and send it and your
            cell's bucket in the same way, with $g$ for $N$.
Analyser:   of the $n_f$ reports of a family $m_x$ support a cell: with $o$ the chance that a report of somebody else
            does, $\hat c_x = k(m_x - n_f o)/(p-o)$.
View:       each single report: its family tells nothing, and two values are told apart as by one oracle with
            $\epsilon$, even if all others collude.
Error:      unbiased, $\mathrm{Var}\,\hat c_x = k[(n-c_x)o(1-o) + c_x(p(1-p)+(p-o)^2)]/(p-o)^2 - c_x$: that of one
            oracle $k$ times, and of drawing lots. Cells are nearly uncorrelated.

To divide $\epsilon$ among the families instead would cost $k^2$ times the variance, and not $k$
times.

[CKS19] Cormode, Kulkarni and Srivastava, Answering Range Queries Under Local Differential Privacy,
VLDB 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.answers.error_sums import error_sum
from headcount.common.short_decimals import decayed
from headcount.privacy import Crowd, Model, Pair, PrivacyLoss, laws
from headcount.programme import Batch, Below, Brick, Chance, Emit, Field, Let, Maybe, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Knob, Protocol, Shape
from headcount.protocols.shared.cubic_hash import CubicHash
from headcount.questions import Distribution, Table

STEP = Field.named("step")
MOST_BUCKETS = 1 << 12


@dataclass(frozen=True)
class Oracle:
    """Randomised response among the cells of a family or, with a hash function, its buckets."""

    cells: int
    places: int
    keep: Chance
    hashing: CubicHash | None = None

    @classmethod
    def among(cls, cells: int, epsilon: float) -> Oracle:
        """The one that errs least where nobody is."""
        buckets = min(max(2, round(math.exp(min(epsilon, 40.0))) + 1), MOST_BUCKETS)
        direct = cls(cells, cells, kept(cells, epsilon))
        if cells <= buckets:
            return direct
        hashed = cls(cells, buckets, kept(buckets, epsilon), CubicHash.over(cells, buckets))
        return min(direct, hashed, key=lambda oracle: oracle.in_sums[0])

    @property
    def collision(self) -> float:
        """The chance that two cells share a place."""
        return self.hashing.collision if self.hashing else 0.0

    @property
    def elsewhere(self) -> float:
        """The chance of each other place."""
        return (1.0 - self.keep) / (self.places - 1)

    @property
    def other(self) -> float:
        """The chance that a report supports a cell which its sender is not in."""
        return self.collision * self.keep + (1.0 - self.collision) * self.elsewhere

    @property
    def gap(self) -> float:
        return self.keep - self.other

    def variance(self, share: float) -> float:
        """The variance of one report about a cell, in people, with this share of senders in it."""
        own, other = self.keep * (1.0 - self.keep) + self.gap**2, self.other * (1.0 - self.other)
        return (share * own + (1.0 - share) * other) / self.gap**2

    @property
    def in_sums(self) -> tuple[float, float]:
        """The part of a cell in the second moment of a sum whose weights add up to 0, as those of
        least squares do: for each report, and on top for a report of somebody in the cell.

        Errors of a family's cells are not uncorrelated. Told directly, a report supports exactly
        one of them; by a hash function, about as many whichever was drawn.
        """
        triple = self.hashing.triple_collision if self.hashing else 0.0
        both = self.keep * triple + self.elsewhere * (self.collision - triple) - self.other**2  # covariance of others
        beside = self.keep * (self.collision - self.other)  # of the own one and another
        others, own = self.other * (1.0 - self.other), self.keep * (1.0 - self.keep) + self.gap**2
        return (others - both) / self.gap**2, (own - others - 2.0 * (beside - both)) / self.gap**2

    def report(self, family: int, cell: Field) -> Brick:
        if self.hashing is None:
            return self._told(cell, lambda place: Emit(family, place, 0, 0))
        return self.hashing.drawn(self._told(self.hashing.of(cell), lambda place: self._named(family, place)))

    def _named(self, family: int, place: Field) -> Brick:
        return Emit(family, place, Field.named("u"), Field.named("v"))

    def _told(self, place: Field, send: Any) -> Brick:
        other = Let("step", Below(self.places - 1), send((place + 1 + STEP) % self.places))
        return Maybe(self.keep, send(place), other)

    def supporting(self, messages: npt.NDArray[Any]) -> Ints:
        """How many of a family's messages support each cell."""
        place = messages["place"].astype(np.int64)
        if self.hashing is None:
            return np.bincount(place, minlength=self.cells)
        return self.hashing.agreeing(messages["u"], messages["v"], place, self.cells)

    @property
    def pair(self) -> tuple[Floats, Floats]:
        """A report's chances under two cells: for the first, the second, or both or neither."""
        own, other = ((1.0 - self.collision) * chance for chance in (float(self.keep), self.elsewhere))
        rest = 1.0 - own - other
        return np.array([own, other, rest]), np.array([other, own, rest])


def kept(places: int, epsilon: float) -> Chance:
    """The chance of the truth among as many cells or buckets: below 1, even for large epsilons."""
    return Chance.down(min(1.0 / (1.0 + (places - 1) * decayed(epsilon)), 1.0 - 2.0**-53))


@dataclass(frozen=True, kw_only=True)
class OracleByLot(Protocol):
    """One cell each, of a family drawn by lot: distributions and tables where nobody is trusted."""

    name: ClassVar[str] = "oracle-by-lot"
    model: ClassVar[Model] = Model.LOCAL
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.K_OF})
    knob: ClassVar[Knob] = Knob.by_epsilon("epsilon", lambda epsilon: epsilon)
    pure: ClassVar[bool] = True
    steady: ClassVar[bool] = False
    reference: ClassVar[str] = "Cormode, Kulkarni and Srivastava 2019, arXiv:1812.10942"

    epsilon: float

    def __post_init__(self) -> None:
        self.require_within("epsilon", 0.0, 60.0)
        super().__post_init__()

    @property
    def linear(self) -> bool:
        return True

    @cached_property
    def oracles(self) -> tuple[Oracle, ...]:
        """The oracle of each family."""
        return tuple(Oracle.among(size, self.epsilon) for size in self._sizes)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.task.strategy.sizes_of_families)

    @property
    def _families(self) -> int:
        return len(self._sizes)

    @property
    def kinds(self) -> int:
        return sum(each.places * (each.hashing.functions if each.hashing else 1) for each in self.oracles)

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        prime = max((each.hashing.prime for each in self.oracles if each.hashing), default=1)
        places = max(each.places for each in self.oracles)
        functions = {"u": (0, max(0, prime - 2)), "v": (0, prime - 1)}
        return {"family": (0, self._families - 1), "place": (0, places - 1), **functions}

    def genuine(self, messages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """A mask of the messages whose place and function exist in their family."""
        fits = super().genuine(messages)
        family = np.minimum(messages["family"], self._families - 1)
        prime = np.array([each.hashing.prime if each.hashing else 1 for each in self.oracles])[family]
        places = np.array([each.places for each in self.oracles])[family]
        fits &= (messages["place"] < places) & (messages["v"] < prime)
        return np.asarray(fits & (messages["u"] < np.maximum(prime - 1, 1)))

    def telling(self) -> npt.NDArray[Any]:
        """The first place of each family."""
        return self.messages_with(family=range(self._families))

    def report(self, value: Field) -> Brick:
        starts = [*accumulate(self._sizes[:-1], initial=0)]
        cells = [
            cell - start if start else cell for cell, start in zip(self.task.strategy.cells(value), starts, strict=True)
        ]
        each = [
            oracle.report(family, cell) for family, (oracle, cell) in enumerate(zip(self.oracles, cells, strict=True))
        ]
        found = each.pop()
        while each:
            found = Maybe(Chance(1.0 / (self._families - len(each) + 1)), each.pop(), found)
        return found

    def tally(self, batch: Batch) -> Tally:
        """The supporters of each cell, and how many reports there are of each family."""
        told = [batch.messages[batch.messages["family"] == family] for family in range(self._families)]
        found = [oracle.supporting(messages) for oracle, messages in zip(self.oracles, told, strict=True)]
        return Tally(batch.reports, np.concatenate([*found, [messages.size for messages in told]]))

    def point(self, tally: Tally) -> Floats:
        supporters, reports = np.split(tally.totals, [-self._families])
        other, gap = (
            np.repeat([getattr(each, what) for each in self.oracles], self._sizes) for what in ("other", "gap")
        )
        return np.asarray(self._families * (supporters - np.repeat(reports, self._sizes) * other) / gap)

    def view(self, honest: int) -> PrivacyLoss:
        own, other = zip(*(each.pair for each in self.oracles), strict=True)
        return Pair(np.concatenate(own) / self._families, np.concatenate(other) / self._families)

    def _variance(self, family: int, truth: int, reports: int) -> float:
        share = truth / reports if reports else 0.0
        return self._families * reports * self.oracles[family].variance(share) - truth

    def relative_variance(self, family: int) -> float:
        return self.oracles[family].in_sums[0] / self.oracles[0].variance(0.0)

    def own_variance(self, family: int) -> float:
        return self._families * self.oracles[family].in_sums[1]

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(self._variance(0, truth, reports))

    def extremes(self, reports: int) -> tuple[int, ...]:
        """Empty cells: nearly all are, and people's own cells add little variance to a sum."""
        return (0,)

    def noise(self, truth: int, reports: int) -> Noise:
        return self.noise_in(0, truth, reports)

    def noise_in(self, family: int, truth: int, reports: int) -> Noise:
        """A law with the exact variance: of the lots that a cell's people draw, and of the reports
        of the family's average number of people, at least one."""
        oracle, families = self.oracles[family], self._families
        asked, own = max(round(reports / families), min(reports, 1)), round(truth / families)
        told = laws.binomial(own, oracle.keep) + laws.binomial(max(asked - own, 0), oracle.other)
        drawn = laws.binomial(truth, 1.0 / families)
        reported = Noise.of(told, centre=told.mean, scale=families / oracle.gap)
        lots = Noise.of(drawn, centre=truth / families, scale=families)
        law = error_sum([(reported, 1.0), (lots, 1.0)])
        exact = self._variance(family, truth, reports)
        return law.times(math.sqrt(exact / law.variance)) if law.variance else law

    @property
    def local_epsilon(self) -> float | None:
        return max(math.log(each.keep / each.elsewhere) for each in self.oracles)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Distribution((0.0, 4.0), 4, radices=(2, 2)), crowd=Crowd(2), epsilon=0.5)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Table({"a": 2, "b": 3}, margins=1, measured=["a", "b"]), crowd=Crowd(2), epsilon=1.0)
