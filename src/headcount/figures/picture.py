"""`.plot()` and its result: a figure that a notebook shows and that can be saved to a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Self

from headcount.errors import BadArgument
from headcount.figures.canvas import DOTS, SUFFIXES, destination, matplotlib
from headcount.figures.colours import theme_called

SCREEN = 96  # dots an inch, for which notebooks are made


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A figure of an answer, as `.plot()` returns it. A notebook shows it below the cell.

    Parameters
    ----------
    draw : callable
        Draws it into a file, into bytes, or onto axes of matplotlib.

    Examples
    --------
    >>> answer = hc.count([1] * 300 + [0] * 700, epsilon=1, model="central")
    >>> answer.plot()
    Picture: .save('chart.png') writes it; .svg and .pdf do as well
    """

    draw: Callable[[Any], object]

    @classmethod
    def drawn(cls, draw: Callable[[Any, str], object], ax: Any, theme: str) -> Self:
        """The picture in this theme; if there are axes, it is drawn onto them at once."""
        theme_called(theme)
        matplotlib()
        if isinstance(ax, str | Path):
            raise BadArgument("ax", "is the name of a file", f"write .plot().save({str(ax)!r})")
        picture = cls(lambda target: draw(target, theme))
        if ax is not None:
            picture.draw(ax)
        return picture

    def save(self, path: str | Path) -> Path:
        """Write it to a file.

        Parameters
        ----------
        path : str or Path
            Its name, which ends in .svg, .png or .pdf. Its folder is made if there is none.

        Returns
        -------
        Path

        Raises
        ------
        errors.BadArgument
            If the name ends in something else.
        """
        target = destination(path)
        self.draw(target)
        return target

    def __repr__(self) -> str:
        others = " and ".join(SUFFIXES[i] for i in (0, 2))
        return f"Picture: .save('chart.png') writes it; {others} do as well"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        written = BytesIO()
        self.draw(written)
        data = written.getvalue()
        wide = int.from_bytes(data[16:20], "big")  # as the first chunk of every PNG tells
        return data, {"width": wide * SCREEN // DOTS}


class Pictured:
    """A result that can be drawn."""

    @abstractmethod
    def draw(self, target: Any, theme: str, title: str) -> object:
        """Draw it to a file, bytes or axes, under this title or, if that is empty, its own."""

    def plot(self, ax: Any = None, *, title: str = "", theme: str = "light") -> Picture:
        """A figure of it; the answers' intervals are drawn, and what was promised stands below.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw it; a figure of its own unless given.
        title : str
            What to write above it; its own words unless given.
        theme : str
            "light" or "dark".

        Returns
        -------
        Picture
            A notebook shows it, and `.save("chart.png")` writes it; .svg and .pdf do as well.

        Raises
        ------
        errors.MissingExtra
            If matplotlib is not installed.
        """
        return Picture.drawn(lambda target, theme: self.draw(target, theme, title), ax, theme)
