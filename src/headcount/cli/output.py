"""How a command's answer is shown: its format, and the figure that is drawn of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from warnings import catch_warnings

import typer

from headcount.cli.option_groups import OptionGroup
from headcount.cli.options import Formats
from headcount.cli.render import Format, write_file
from headcount.figures.canvas import destination, matplotlib
from headcount.figures.colours import theme_called


@dataclass(frozen=True)
class Output(OptionGroup):
    """The options of commands whose answers can be drawn."""

    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw it, to a file that ends in .png, .svg or .pdf.")
    ] = None
    title: Annotated[str, typer.Option("--title", help="What to write above the figure.")] = ""
    theme: Annotated[str, typer.Option("--theme", help="The figure's colours: light or dark.")] = "light"
    how: Formats = Format.TABLE

    def require_drawable(self) -> None:
        """Refuses a figure that cannot be drawn, before anything is computed or charged."""
        theme_called(self.theme)
        if self.plot is not None:
            destination(self.plot, "plot")
            matplotlib()

    def draw(self, found: Any, **look: Any) -> None:
        """Writes the figure of what can be plotted, if one was asked for, and says where."""
        if self.plot is not None:
            with catch_warnings(record=True) as remarks:
                write_file(self.how, found.plot(title=self.title, theme=self.theme, **look).save, self.plot)
            for remark in remarks:
                print(f"headcount: {remark.message}", file=sys.stderr)
