"""No fraction is formatted as a float is: Python before 3.12 refuses that, and only where the line is reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import headcount
import headcount_service
from stress import STRESS

FOLDERS = [Path(one.__file__).parents[1] for one in (headcount, headcount_service)]
SOURCE = """
from fractions import Fraction
def told(share: Fraction, other: float | Fraction, fine: float) -> str:
    return f"{share:.4g} {other:.4g} {fine:.4g} {float(share):.4g} {share}"
"""


def formatted(*folders: Path) -> Iterator[str]:
    """Where a value that may be a fraction is given a format, by the types that mypy finds."""
    pytest.importorskip("mypy")
    from mypy import build, nodes
    from mypy.modulefinder import BuildSource
    from mypy.options import Options

    options = Options()
    options.export_types, options.preserve_asts, options.incremental = True, True, False
    options.ignore_missing_imports = options.show_traceback = True
    options.follow_imports, options.mypy_path = "normal", [str(folder) for folder in folders]
    paths = {
        path: path.relative_to(folder).with_suffix("").parts
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    }
    names = {path: parts[:-1] if parts[-1] == "__init__" else parts for path, parts in paths.items()}
    types = build.build([BuildSource(str(path), ".".join(parts)) for path, parts in names.items()], options).types
    for call in [each for each in types if isinstance(each, nodes.CallExpr)]:
        callee, given = call.callee, call.args
        if not isinstance(callee, nodes.MemberExpr) or not isinstance(callee.expr, nodes.StrExpr):
            continue
        if callee.expr.value != "{:{}}" or (isinstance(given[1], nodes.StrExpr) and not given[1].value):
            continue  # an f-string is turned into just this call, and a format of nothing is fine
        if "fractions.Fraction" in str(types.get(given[0])):
            yield f"line {call.line}: {types[given[0]]}"


def test_a_fraction_with_a_format_is_found(tmp_path: Path) -> None:
    """The broken twin, and what is right beside it."""
    (tmp_path / "broken.py").write_text(SOURCE)
    found = list(formatted(tmp_path))
    assert found == ["line 4: fractions.Fraction", "line 4: float | fractions.Fraction"]


@STRESS
def test_no_fraction_is_given_a_format() -> None:
    assert list(formatted(*FOLDERS)) == []
