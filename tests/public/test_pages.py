"""Names in the pages for contributors, and in docstrings, are names of something."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [path for place in ("src", "service/src", "survey/src") for path in (ROOT / place).rglob("*.py")]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
QUOTED = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def _prose(page: str) -> str:
    return re.sub(r"```.*?```", "", page, flags=re.DOTALL)


def _resolves(name: str) -> bool:
    """Whether this is a module of headcount, or something in one."""
    module, _, inner = f"headcount.{name.removeprefix('headcount.')}".rpartition(".")
    try:
        return hasattr(import_module(module), inner)
    except ImportError:
        return False


@pytest.mark.parametrize("name", sorted({*QUOTED.findall(_prose(CONTRIBUTING))}))
def test_what_contributors_are_told_about_exists(name: str) -> None:
    if re.fullmatch(r"[\w/]+\.(py|ts|md|toml)", name):
        assert (ROOT / name).exists() or any(path.match(name) for path in MODULES) or [*ROOT.glob(f"tests/**/{name}")]
    elif re.fullmatch(r"(\w+\.)+[A-Z]\w+", name):
        assert _resolves(name)


@pytest.mark.parametrize("stale", ["privacy.pair.Nearlier", "core.nothing.Law"])
def test_a_name_of_nothing_is_found_out(stale: str) -> None:
    assert not _resolves(stale)


def test_the_layers_are_those_of_the_import_contract() -> None:
    contract = next(one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    layers = {name.removeprefix("headcount.") for line in contract["layers"] for name in re.split(" [|:] ", line)}
    rows = re.findall(r"^\| (`.*?) \|", CONTRIBUTING, flags=re.MULTILINE)
    assert {name for row in rows for name in QUOTED.findall(row)} == layers - {"__main__"} | {"proof"}


def test_the_base_dependencies_are_those_that_are_installed() -> None:
    listed = re.search(r"\(base: ([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert listed is not None
    needed = [re.split(r"[<>=\[;]", one)[0] for one in PROJECT["project"]["dependencies"]]
    assert listed[1].split(", ") == needed


def _told(path: Path) -> list[str]:
    """The names of Python that a module's docstring quotes."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return [name for name in QUOTED.findall(told) if re.fullmatch(r"[a-z]+(_[a-z]+)+", name)]


def test_docstrings_of_modules_quote_names_that_are_there() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES}
    words = {path: {*re.findall(r"\w+", text.replace(ast.get_docstring(ast.parse(text), clean=False) or "", ""))}
             for path, text in texts.items()}  # fmt: skip
    every = set().union(*words.values())
    assert [(path.name, name) for path in texts for name in _told(path) if name not in every] == []
