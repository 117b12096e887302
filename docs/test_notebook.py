"""Notebooks run from top to bottom, as Jupyter would run them, and what a cell ends with is shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted(Path(__file__).parent.glob("*.ipynb"))
SHOWN = ("_repr_png_", "_repr_html_")


def cells(path: Path) -> list[str]:
    told = json.loads(path.read_text(encoding="utf-8"))
    assert all(not cell.get("outputs") for cell in told["cells"]), "a notebook is kept without what it has shown"
    return ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == "code"]


def run(code: str, names: dict[str, Any]) -> Any:
    """What the cell ends with, if that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_what_its_cells_end_with(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    results = [run(code, names) for code in cells(path)]
    ended = [result for result in results if result is not None]
    assert len(ended) > 5
    for result in ended:
        shows = [getattr(result, name) for name in SHOWN if hasattr(result, name)]
        assert shows
        assert all(show() for show in shows)


def test_a_cell_that_fails_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        run("a = 1\na / 0", {})
