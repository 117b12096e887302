r"""A local randomiser of one's own, as a matrix: what it tells alone, and among shuffled reports.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from headcount.common.calls import checked
from headcount.common.plurals import people as people_words
from headcount.errors import BadArgument
from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Panel, lines
from headcount.figures.picture import Picture
from headcount.privacy.amplified import CrowdLoss
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.protocols.local.matrix_response import MatrixResponse
from headcount.protocols.shared.chance_matrix import matrix_rows, matrix_text
from headcount.questions.histogram import Histogram

Entry = Fraction | float | int | str
DELTA = 1e-6
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
DOTTED = (1.5, 2.5)  # over the bound that is attained


class WorstCase(NamedTuple):
    """Two values of one person that are told apart best, and what everybody else holds."""

    values: tuple[int, int]
    others: int


@dataclass(frozen=True)
class Randomiser:
    """A local randomiser, by the chances of its messages: a row for each value.

    Made by `hc.randomiser`.

    Parameters
    ----------
    matrix : tuple of tuple of Fraction
        The chance of each message under each value.

    Examples
    --------
    >>> response = hc.randomiser([["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]])
    >>> print(f"{response.local_epsilon:.4f}")
    1.3863
    >>> print(f"{response.shuffled(10_000).epsilon(1e-6):.4f}")
    0.0608
    """

    matrix: tuple[tuple[Fraction, ...], ...]

    def _response(self, n: int) -> MatrixResponse:
        """The protocol in which n people report by this matrix."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise BadArgument("n", f"is {n!r}", "use a whole number from 1 on")
        return MatrixResponse(task=Histogram(len(self.matrix)), crowd=Crowd(n), matrix=matrix_text(self.matrix))

    @property
    def local_epsilon(self) -> float:
        """The epsilon of one report by itself; infinite where a message rules a value out."""
        epsilon = self._response(1).local_epsilon
        return math.inf if epsilon is None else epsilon

    def shuffled(self, n: int) -> PrivacyLoss:
        """The loss of one report among those of n people, mixed, whatever the others hold.

        Parameters
        ----------
        n : int
            Everybody who follows the protocol.

        Returns
        -------
        PrivacyLoss
            An upper bound; of a bit that is flipped either way alike, exact.
        """
        return self._response(n).shuffled_loss(n)

    def lower(self, n: int) -> PrivacyLoss:
        """The loss of the worst crowd in which all others hold the same: no bound is below it.

        Parameters
        ----------
        n : int
            Everybody who follows the protocol.

        Returns
        -------
        PrivacyLoss
            Of these crowds alone.
        """
        return CrowdLoss(self._response(n).message_laws, n)

    def worst(self, n: int, epsilon: float) -> WorstCase:
        """The crowds whose loss `lower` is at this epsilon.

        Parameters
        ----------
        n : int
            Everybody who follows the protocol.
        epsilon : float
            From 0 on.

        Returns
        -------
        WorstCase
            Two values of one person, and the value that everybody else holds.
        """
        _, values, others = CrowdLoss(self._response(n).message_laws, n).worst(epsilon)
        return WorstCase(values, others)

    def describe(self, n: int, delta: float = DELTA) -> str:
        """What n shuffled reports tell, in words.

        Parameters
        ----------
        n : int
            Everybody who follows the protocol.
        delta : float
            Above 0.

        Returns
        -------
        str
        """
        most, least = self.shuffled(n).epsilon(delta), self.lower(n).epsilon(delta)
        (first, second), others = self.worst(n, least)
        return (
            f"local epsilon {self.local_epsilon:.3g}\n"
            f"among {people_words(n)}, shuffled, epsilon is at most {most:.3g} and at least {least:.3g} "
            f"at delta={delta:g}\n"
            f"as it is where one holds {first} or {second} and everybody else {others}"
        )

    def plot(
        self,
        ax: Any = None,
        *,
        sizes: Iterable[int] = SIZES,
        delta: float = DELTA,
        title: str = "",
        theme: str = "light",
    ) -> Picture:
        """Epsilon against the number of people, from above and from below.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw it; a figure of its own unless given.
        sizes : iterable of int
            Numbers of people.
        delta : float
            Above 0.
        title : str
            What to write above it; its own words unless given.
        theme : str
            "light" or "dark".

        Returns
        -------
        Picture

        Examples
        --------
        >>> coin = hc.randomiser([["3/4", "1/4"], ["1/5", "4/5"]])
        >>> coin.plot(sizes=[100, 1_000])
        Picture: .save('chart.png') writes it; .svg and .pdf do as well
        """
        crowds = sorted(sizes)
        if len(crowds) < 2:
            raise BadArgument("sizes", "are fewer than two", "use for example [1_000, 10_000, 100_000]")
        return Picture.drawn(partial(self._draw, crowds, delta, title), ax, theme)

    def _draw(self, crowds: list[int], delta: float, title: str, target: Any, theme: str) -> Any:
        most = [(float(n), self.shuffled(n).epsilon(delta)) for n in crowds]
        least = [(float(n), self.lower(n).epsilon(delta)) for n in crowds]
        drawn = [Line("at most", most, "ink"), Line("at least, in some crowd", least, "sampling", DOTTED)]
        if not math.isfinite(most[-1][1]):
            works = "draw it against a larger delta, or for a matrix in which no message rules a value out"
            raise BadArgument("sizes", "have no finite epsilon", works)
        some = any(epsilon > 0.0 for _, epsilon in most)
        panel = Panel(drawn, Axis("people who report", log=True), Axis(f"epsilon at delta {delta:g}", log=some))
        words = f"{len(self.matrix)} values, {len(self.matrix[0])} messages, local epsilon {self.local_epsilon:.3g}"
        found = f"Among {crowds[-1]:,} people epsilon is at most {most[-1][1]:.3g}"
        return lines([panel], target, title=title or found, subtitle=words, theme=theme)

    def __repr__(self) -> str:
        return f"Randomiser: {len(self.matrix)} values, {len(self.matrix[0])} messages"


@checked
def randomiser(matrix: Sequence[Sequence[Entry]]) -> Randomiser:
    """A local randomiser of one's own: its privacy alone and shuffled, and a protocol to report by.

    The protocols are `matrix-response` and `shuffled-matrix-response`, with the randomiser as their
    `matrix`.

    Parameters
    ----------
    matrix : sequence of sequences
        A row for each value: the chances of the messages, as fractions such as "1/3" or decimals.
        Each row adds up to 1. Chances without a common denominator up to 2**56 are rounded to one:
        small ones up, and the largest of a row gives what they take. What is drawn is what is
        accounted for.

    Returns
    -------
    Randomiser

    Raises
    ------
    errors.BadArgument
        If it is no such matrix.

    Examples
    --------
    >>> coin = hc.randomiser([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> print(coin.describe(1_000))
    local epsilon 1.1
    among 1,000 people, shuffled, epsilon is at most 0.142 and at least 0.142 at delta=1e-06
    as it is where one holds 0 or 1 and everybody else 0

    Asked for a budget, with some chance a report is drawn from the mean of all rows instead,
    whatever is held.

    >>> plan = hc.Plan(hc.protocol("shuffled-matrix-response", n=1_000, matrix=coin), hc.Budget(1, 1e-6))
    >>> hc.verify(hc.certify(plan)).answer
    'proved'
    """
    return Randomiser(matrix_rows(matrix))
