"""Results with records: the same as CSV, LaTeX, or a frame of pandas or polars."""

from __future__ import annotations

from abc import abstractmethod
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from headcount.errors import MissingExtra, Unsupported
from headcount.figures.text_table import TextTable, comma_separated, flat

DIGITS = 6  # of a number in LaTeX


class Tabular:
    """A result with a record for each of its rows."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """A dictionary for each row, all with the same keys."""

    def __format__(self, spec: str) -> str:
        if spec:
            raise Unsupported(f"{type(self).__name__} has several values", "format one of them, or use .to_csv()")
        return str(self)

    def _repr_html_(self) -> str:
        return strong(str(self))

    def to_csv(self, path: str | Path | None = None) -> str:
        """The records as CSV, with columns of their own for the ends of an interval.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.
        """
        text = comma_separated(self.records())
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_parquet(self, path: str | Path | None = None) -> bytes:
        """The records as Parquet, with columns of their own for the ends of an interval.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.

        Raises
        ------
        errors.MissingExtra
            If Arrow is not installed.
        """
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise MissingExtra("writing Parquet", "files") from None
        written = BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(flat(self.records())), written)
        if path is not None:
            Path(path).write_bytes(written.getvalue())
        return written.getvalue()

    def to_latex(self) -> str:
        """The records as a table of LaTeX, which needs the package booktabs."""
        rounded = [{name: _short(cell) for name, cell in row.items()} for row in flat(self.records())]
        return TextTable.of(rounded).latex()

    def to_pandas(self) -> Any:
        """The records as a frame of pandas.

        Raises
        ------
        errors.MissingExtra
            If it is not installed.
        """
        return _library("pandas").DataFrame(flat(self.records()))

    def to_polars(self) -> Any:
        """The records as a frame of polars.

        Raises
        ------
        errors.MissingExtra
            If it is not installed.
        """
        return _library("polars").DataFrame(flat(self.records()))


def strong(text: str) -> str:
    """A line for a notebook: what stands before three spaces, and the rest in small print."""
    first, _, rest = text.partition("   ")
    return f"<div><strong>{escape(first)}</strong><br><small>{escape(rest)}</small></div>"


def _short(cell: Any) -> Any:
    return float(f"{cell:.{DIGITS}g}") if isinstance(cell, float) else cell


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(f"a frame of {name}", "frames") from None
