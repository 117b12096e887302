r"""Linear combinations of cells: the exact law of their error, and intervals for their values.

The cells' errors are independent, and have one law in each family, with the characteristic function
$\varphi$. Their sum with the coefficients $a$ has $\prod_v \varphi_v(a_v t)$, and the Fourier
series of that is its law. Few cells, or cells that all count alike, keep their lattice: their laws
are put on a grid, each value shared between its two neighbours so that its mean is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from headcount.answers.error_law import ErrorLaw
from headcount.answers.intervals import digits
from headcount.answers.number import Number
from headcount.errors import Unsupported
from headcount.programme.coins import Coins
from headcount.programme.law import Floats, Ints, Noise, weighed
from headcount.questions.domains.domain import Shape
from headcount.questions.scales import NUMBERS, Scale
from headcount.questions.strategies.strategy import Terms

if TYPE_CHECKING:
    from headcount.protocols.base.protocol import Protocol

REACH = 24.0  # standard deviations: half the period of the series
SMOOTH_POINTS = 1 << 12
POINTS = 1 << 15  # of the grid of lattices
FINE = 1 << 6  # steps of the table of a characteristic function to the inverse of a standard deviation
LARGEST_TABLE = 1 << 21
NEGLIGIBLE = 1e-13
HARMONICS = 64, 256, 1_024, 2_048
WHOLE = 1e-9  # what floats are off counts as whole
RATES, LARGEST_EXPONENT = 96, 600.0  # of Chernoff's bound
GUIDES = 1 << 16  # to where a number that is drawn lies in a distribution function
MANY = 1 << 12  # coefficients
FEW = 64  # cells whose lattices are not blurred by each other

Part: TypeAlias = (
    "tuple[CellError, Floats, Floats | Ints]"  # the coefficients of cells of one law, and how many have each
)


class CellError:
    """The law of one cell's error, and its characteristic function."""

    def __init__(self, noise: Noise) -> None:
        self.noise, self.std_error = noise, noise.std_error
        self.first, self.step = float(noise.values[0]), max(noise.step, 1e-300)

    @cached_property
    def _table(self) -> Any:
        """The characteristic function over one period, and a little beyond it, of values counted
        from that nearest to zero."""
        masses = self.noise.masses / self.noise.masses.sum()
        wanted = 2.0 * math.pi * max(self.std_error / self.step, 1.0) * FINE
        length = 1 << math.ceil(math.log2(max(min(wanted, LARGEST_TABLE), 2 * masses.size)))
        turns = np.exp(-2j * np.pi * ((np.arange(length) * self._nearest) % length) / length)
        return np.pad(np.conj(np.fft.fft(masses, length)) * turns, (1, 2), mode="wrap")

    @property
    def _nearest(self) -> int:
        """The place of the value nearest to zero."""
        return round(-self.first / self.step)

    def characteristic(self, at: Floats) -> Any:
        """By the cubic through four neighbours."""
        table = self._table
        turn = at * self.step / (2.0 * np.pi)
        place = (turn - np.floor(turn)) * (table.size - 3)
        below = np.minimum(place.astype(np.int64), table.size - 4)
        t = place - below
        inner, outer = (t - 1.0) * (t - 2.0), (t + 1.0) * t
        value = inner * ((t + 1.0) / 2.0 * table[below + 1] - t / 6.0 * table[below])
        value += outer * ((t - 1.0) / 6.0 * table[below + 3] - (t - 2.0) / 2.0 * table[below + 2])
        return value * np.exp(1j * at * (self.first + self.step * self._nearest))

    def cumulant(self, rates: Floats) -> Floats:
        """The logarithm of E[exp(rate · error)], the larger for the rate and its negative."""
        tilted = np.exp(np.multiply.outer([rates, -rates], self.noise.values)) @ self.noise.masses
        return np.asarray(np.log(tilted).max(axis=0))

    def drawn(self, size: int, coins: Coins) -> Floats:
        """Errors drawn afresh."""
        reached, first = self._guide
        chances = coins.uniform(size)
        places = first[(chances * (first.size - 1)).astype(np.int64)]
        later = np.flatnonzero(reached[places] <= chances)
        while later.size:
            places[later] += 1
            later = later[reached[places[later]] <= chances[later]]
        return np.asarray(self.noise.values[places])

    @cached_property
    def _guide(self) -> tuple[Floats, Ints]:
        """The distribution function, and where its search begins for many equal parts of [0, 1)."""
        reached = np.cumsum(self.noise.masses)
        reached /= reached[-1]
        return reached, np.searchsorted(reached, np.arange(GUIDES + 1) / GUIDES, side="right").astype(np.int64)


class CellErrors:
    """The error laws of cells, one per family or for several, and of any linear combination."""

    def __init__(self, noises: Sequence[Noise], families: Sequence[int] = (0,), unit: float | None = None) -> None:
        self.laws, self.families = [CellError(noise) for noise in noises], families
        self.first, self.std_error = self.laws[0], self.laws[0].std_error if unit is None else unit

    @classmethod
    def of(cls, protocol: Protocol, reports: int) -> CellErrors:
        """Those of a protocol's cells where nobody is."""
        strategy, own = protocol.strategy, protocol.strategy.noise
        noises = [protocol.noise_in(family, 0, reports) for family in strategy.laws]
        if not own:
            return cls(noises, [0] * strategy.families)
        unit = noises[0].std_error
        scales = [
            unit * math.sqrt(own[law]) / (noise.std_error or 1.0)
            for law, noise in zip(strategy.laws, noises, strict=True)
        ]
        scaled = [noise.times(scale) for noise, scale in zip(noises, scales, strict=True)]
        return cls(scaled, [strategy.laws.index(own.index(each)) for each in own], unit)

    @property
    def step(self) -> float:
        """The lattice of the first family."""
        return self.first.step

    def drawn(self, family: int, size: int, coins: Coins) -> Floats:
        """Errors of cells of a family, drawn afresh."""
        return self.laws[self.families[family]].drawn(size, coins)

    def furthest(self, chance: float, squares: Floats) -> Floats:
        """How far sums of errors are off with this chance at most, by Chernoff's bound: of
        coefficients up to 1 whose squares, times the variances of their cells, add up to these.

        Cumulants grow at least with the square of their argument, so that a cell with the
        coefficient a counts for at most a**2 of one with 1.
        """
        rates, growth = self._growth
        steps = np.geomspace(
            max(float(squares.max(initial=0.0)) * 1e-9, 1e-300), squares.max(initial=1e-300) * 1.01, 256
        )
        bounds = ((np.multiply.outer(steps, growth) - math.log(chance)) / rates).min(axis=1)
        return np.where(squares > 0.0, bounds[np.minimum(np.searchsorted(steps, squares), steps.size - 1)], 0.0)

    @cached_property
    def _growth(self) -> tuple[Floats, Floats]:
        """Rates, and the largest cumulants of the cells at these, in their variances."""
        reach = max(float(np.abs(law.noise.values).max()) for law in self.laws)
        largest = min(1e3, LARGEST_EXPONENT * self.std_error / reach)
        rates = np.geomspace(min(1e-3, largest / 1e3), largest, RATES) / self.std_error
        return rates, np.max([law.cumulant(rates) / law.std_error**2 for law in self.laws], axis=0)

    def spread(self, terms: Terms) -> float:
        """The standard deviation of the sum of independent errors; `terms` as for `combined`."""
        parts = zip(self.laws, terms, strict=True)
        return math.sqrt(sum(law.std_error**2 * float((times * found**2).sum()) for law, (found, times) in parts))

    def combined(self, terms: Terms) -> ErrorLaw:
        """The law of the sum of independent errors: each law with its counts and coefficients."""
        parts = [(law, *term) for law, term in zip(self.laws, terms, strict=True) if term[0].size]
        spread = self.spread(terms)
        if not spread:
            return ErrorLaw(Noise(np.zeros(1), np.ones(1)), 0.0)
        alike = np.ptp(np.abs(np.concatenate([found for _, found, _ in parts]))) == 0.0
        few = sum(int(times.sum()) for *_, times in parts) <= FEW
        gathered = [(law, *_gathered(found, times)) for law, found, times in parts]
        series = None if (alike and len(parts) == 1) or few else _series(gathered, 2.0 * REACH * spread)
        if series is None:
            return ErrorLaw(_on_grid(parts, spread), spread)
        masses = np.roll(np.fft.irfft(np.conj(series), SMOOTH_POINTS), SMOOTH_POINTS // 2)
        values = 2.0 * REACH * spread / SMOOTH_POINTS * np.arange(-SMOOTH_POINTS // 2, SMOOTH_POINTS // 2)
        return ErrorLaw(Noise(values, np.where(masses > NEGLIGIBLE, masses, 0.0)), spread, smooth=True)


def _gathered(found: Floats, times: Ints) -> tuple[Floats, Floats | Ints]:
    """Very many coefficients, in order, by few of them: each is shared between its two neighbours
    so that its mean is kept, which makes errors no smaller. The largest stay as they are."""
    if found.size <= MANY:
        return found, times
    largest = np.argpartition(np.abs(found), -MANY // 2)[-MANY // 2 :]
    nodes = found[np.union1d(largest, np.linspace(0, found.size - 1, MANY // 2).astype(np.int64))]
    above = np.clip(np.searchsorted(nodes, found, side="right"), 1, nodes.size - 1)
    share = (found - nodes[above - 1]) / (nodes[above] - nodes[above - 1])
    return nodes, weighed(above - 1, times * (1.0 - share), nodes.size) + weighed(above, times * share, nodes.size)


def _series(parts: Sequence[Part], period: float) -> Any:
    """The characteristic function at the multiples of 2 pi / period, until it is negligible."""
    for harmonics in HARMONICS:
        at = 2.0 * np.pi / period * np.arange(harmonics + 1)
        found = np.ones(harmonics + 1, dtype=np.complex128)
        for law, coefficients, times in parts:
            found *= np.prod(law.characteristic(np.multiply.outer(coefficients, at)) ** times[:, None], axis=0)
        if np.abs(found[harmonics // 2 :]).max() < NEGLIGIBLE:
            return found
    return None


def _on_grid(parts: Sequence[Part], spread: float) -> Noise:
    """On a grid that contains the lattice of the largest coefficient, unless that is finer."""
    largest = max(float(np.abs(found).max()) * law.step for law, found, _ in parts)
    fine = 2.0 * REACH * spread / POINTS
    step = fine if largest < fine else largest / math.ceil(largest / fine)
    start, dropped, spectrum = 0.0, 0.0, np.ones(POINTS // 2 + 1, dtype=np.complex128)
    for law, coefficients, every in parts:
        dropped += float(every.sum()) * law.noise.dropped
        for coefficient, many in zip(coefficients.tolist(), every.tolist(), strict=True):
            values = law.noise.values * (coefficient / step)
            lowest = float(values.min())
            below = np.floor(values - lowest + 1e-9).astype(np.int64)
            share = np.clip(values - lowest - below, 0.0, 1.0)
            masses = weighed(below % POINTS, law.noise.masses * (1.0 - share), POINTS)
            masses += weighed((below + 1) % POINTS, law.noise.masses * share, POINTS)
            spectrum *= np.fft.rfft(masses) ** many
            start += many * lowest
    first = math.ceil(-start - POINTS / 2)
    masses = np.roll(np.fft.irfft(spectrum, POINTS), -first)
    return Noise((start + first + np.arange(POINTS)) * step, np.where(masses > NEGLIGIBLE, masses, 0.0), dropped)


@lru_cache(maxsize=64)
def cell_errors(protocol: Protocol, reports: int) -> CellErrors:
    """The errors of a protocol's cells, where these are independent of each other and the data."""
    if not protocol.linear or protocol.task.shape is Shape.KEY:
        problem = "has errors that depend on each other, or on the data"
        raise Unsupported(problem, "ask for the sum instead", protocol=protocol.name)
    return CellErrors.of(protocol, reports)


@lru_cache(maxsize=64)
def shown_errors(protocol: Protocol) -> CellErrors | None:
    """The errors of counts that are shown, where small ones are dropped after noise is added; None
    if they have no such law."""
    added = protocol.added_noise
    return None if added is None else CellErrors([added])


@lru_cache(maxsize=64)
def bin_law(protocol: Protocol, reports: int) -> ErrorLaw:
    """The law of the error of the count of one code, which is the same for every code."""
    return cell_errors(protocol, reports).combined(protocol.strategy.prefix(1))


@lru_cache(maxsize=1 << 14)
def prefix_tails(protocol: Protocol, reports: int, codes: int, chance: float) -> tuple[float, float]:
    """The tails of the error of the people with the first codes."""
    return cell_errors(protocol, reports).combined(protocol.strategy.prefix(codes)).tails(chance)


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Number):
    """A sum of an answer's parts with weights, such as the people in a range, and its interval.

    Where the bins do not tell it exactly, the truth lies between two sums: `least` and `most` are
    estimates of them, each with the law of its error. Either end of the interval fails equally
    often. Of what was brought into a range, it is no wider than what is `possible`.

    Examples
    --------
    >>> answer = hc.distribution([3.0] * 900 + [7.0] * 100, bounds=(0, 10), bins=16, epsilon=1, model="central")
    >>> low, high = answer.below(5).interval(0.999999)
    >>> low < 900 < high
    True
    """

    value: Any
    least: tuple[float, ErrorLaw]
    most: tuple[float, ErrorLaw]
    promises: Sequence[str] = ()
    scale: Scale = NUMBERS
    possible: tuple[float, float] = (-math.inf, math.inf)

    @property
    def std_error(self) -> float:
        """The standard deviation of the error; the larger one of the two sums."""
        return max(law.std_error for _, law in (self.least, self.most))

    def _ends(self, confidence: float) -> tuple[float, float]:
        tail = (1.0 - confidence) / 2.0
        (low, first), (high, last) = self.least, self.most
        ends = np.clip([low - first.tails(tail)[1], high - last.tails(tail)[0]], *self.possible).tolist()
        return self.scale.at(ends[0]), self.scale.at(ends[1])

    def shown(self) -> tuple[str, str, str]:
        low, high = self.interval()
        if not self.scale.numeric:
            return self.scale.shown(self.value, (low, high))
        whole = all(abs(each - round(each)) < WHOLE for each in (self.value, low, high))
        places = 0 if whole else digits(low, high)
        return f"{self.value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"
