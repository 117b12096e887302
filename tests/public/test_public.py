"""The public face: what can be imported, and that every error is in one tree."""

from __future__ import annotations

import builtins
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import headcount as hc
import headcount_service
from headcount import errors
from headcount.public import SHADOWING

RUNS = {"headcount.__main__", "headcount_service.store.migrations.env"}  # import them and they begin to work


def _tree(text: str) -> dict[str, str | None]:
    """The parent of each class, as a drawing with four signs for each step says."""
    found: dict[str, str | None] = {}
    path: list[str] = []
    for prefix, name in re.findall(r"^ {4}((?:[│├└ ][ ─]{2} )*)([A-Z]\w+)", text, re.MULTILINE):
        depth = len(prefix) // 4
        path[depth:] = [name]
        found[name] = path[depth - 1] if depth else None
    return found


def _classes(root: type[Exception]) -> dict[str, str | None]:
    found: dict[str, str | None] = {root.__name__: None}
    todo = [root]
    while todo:
        parent = todo.pop()
        own = [each for each in parent.__subclasses__() if each.__module__.startswith("headcount")]
        found.update({each.__name__: parent.__name__ for each in own})
        todo += own
    return found


def test_every_error_is_public_and_stands_in_the_tree() -> None:
    for package in (hc, headcount_service):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name not in RUNS:
                importlib.import_module(module.name)
    classes = _classes(errors.HeadcountError)
    assert classes == _tree(errors.__doc__ or "")
    assert set(classes) == set(errors.__all__)
    assert all(getattr(errors, name).__module__ == "headcount.errors" for name in classes)


def test_an_error_that_is_defined_elsewhere_is_noticed() -> None:
    class Root(Exception):  # of its own, so that no other test sees the stray
        pass

    stray = type("Stray", (Root,), {"__module__": "headcount_service.somewhere"})
    assert _classes(Root) == {"Root": None, stray.__name__: "Root"} != _tree("    Root\n")


def test_errors_are_caught_by_their_public_name() -> None:
    with pytest.raises(hc.errors.OverBudget) as refusal:
        hc.count([1] * 40 + [0] * 60, epsilon=1, model="central", ledger=hc.Ledger(epsilon=0.5))
    assert isinstance(refusal.value, hc.Refused)
    with pytest.raises(hc.errors.BadArgument) as bad:
        hc.Budget(-1.0)
    assert str(bad.value) == f"{bad.value.argument} {bad.value.problem}; {bad.value.remedy}"


def test_a_star_import_replaces_no_builtin() -> None:
    assert not set(hc.__all__) & set(dir(builtins))
    assert set(SHADOWING) <= set(dir(builtins))
    program = "from headcount import *; assert sum([1, 2]) == 3; assert list(map(abs, [-1])) == [1]; count, errors"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert callable(hc.sum)
    assert callable(hc.map)
    assert {"sum", "map", "errors", "count"} <= set(dir(hc))


def test_all_is_what_the_module_holds() -> None:
    assert len(set(hc.__all__)) == len(hc.__all__)
    assert all(getattr(hc, name) is not None for name in hc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hc.nothing


DOCS = Path(__file__).parents[2] / "docs"
MODULES = {"headcount", "headcount_service", "headcount.errors", "headcount.testing", "headcount.types"}


def _unlisted(page: str) -> list[str]:
    """Public names that the page does not document."""
    listed = set(re.findall(r"^\.\. (?:auto|py:)\w+:: (?:headcount|headcount_service)\.([\w.]+)", page, re.MULTILINE))
    names = [*hc.__all__, *SHADOWING, *headcount_service.__all__]
    return [name for name in names if name not in {*listed, *errors.__all__}]  # whose module is listed as a whole


def _internal(text: str) -> list[str]:
    """Modules that examples import although they are not public."""
    return [
        name for name in re.findall(r"^(?:from|import) (headcount[\w.]*)", text, re.MULTILINE) if name not in MODULES
    ]


def test_an_editor_offers_what_is_public_and_no_rooms() -> None:
    offered = {name for name in dir(hc) if not name.startswith("__")}
    assert offered == {*hc.__all__, *SHADOWING, "errors"}


def test_the_page_of_the_api_has_every_public_name() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert _unlisted(page) == []
    assert _unlisted(page.replace(".. autofunction:: headcount.attack\n", "")) == ["attack"]
    assert all(f"`{module}`" in page for module in MODULES)


def test_guides_teach_public_modules_only() -> None:
    assert {page.name: _internal(page.read_text(encoding="utf-8")) for page in DOCS.glob("*.md")} == {
        page.name: [] for page in DOCS.glob("*.md")
    }
    inside = "headcount.audit.attacks.lower_bound"
    assert _internal(f"from {inside} import attack\n") == [inside]


ROOMS = sorted(path.parent.name for path in Path(hc.__file__).parent.glob("*/__init__.py"))
TOP = sorted(path.stem for path in Path(hc.__file__).parent.glob("*.py") if not path.stem.startswith("_"))


@pytest.mark.parametrize("name", [*ROOMS, *TOP])
def test_a_module_says_whether_it_is_internal(name: str) -> None:
    said = importlib.import_module(f"headcount.{name}").__doc__ or ""
    assert ("docs/api.md" in said) == (f"headcount.{name}" not in MODULES)


LOADED = "import sys; before = set(sys.modules); {}; print(len(set(sys.modules) - before))"


def _loaded(code: str) -> int:
    """How many modules a fresh interpreter loads for this."""
    done = subprocess.run([sys.executable, "-c", LOADED.format(code)], check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_an_import_loads_less_than_numpy_and_the_first_use_loads_the_rest() -> None:
    """Modules are counted instead of seconds."""
    ours, numpy = _loaded("import headcount"), _loaded("import numpy")
    assert ours <= numpy
    assert _loaded("import headcount; headcount.count") > numpy
