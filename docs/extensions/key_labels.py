"""Citations carry the keys that the code uses, and MathJax comes with the site."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle

MATHJAX = ("tex-chtml.js", "output/chtml/fonts/woff-v2")


class KeyLabels(BaseLabelStyle):
    def format_labels(self, sorted_entries: Iterable[Any]) -> Iterator[str]:
        return (entry.key for entry in sorted_entries)


class KeyStyle(Style):
    default_label_style = KeyLabels
    default_sorting_style = SortingStyle


def mathjax(app: Any, failed: Exception | None) -> None:
    """Of the installed package only what formulas need: one script and its fonts."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    if failed or package is None or package.origin is None:
        return
    source, target = Path(package.origin).parent / "static" / "mathjax", Path(app.outdir) / "_static" / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / MATHJAX[0], target / MATHJAX[0])
    shutil.copytree(source / MATHJAX[1], target / MATHJAX[1], dirs_exist_ok=True)


def setup(app: Any) -> dict[str, bool]:
    register_plugin("pybtex.style.formatting", "keys", KeyStyle)
    app.connect("build-finished", mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
