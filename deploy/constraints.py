"""Writes down which versions of other packages are known to work.

    python deploy/constraints.py              deploy/constraints.txt: what a party needs, with hashes
    .venv/bin/python deploy/constraints.py --installed    constraints-dev.txt: what the tests were run with

For a party pip resolves what headcount[files] and headcount-service ask for, in the oldest Python that is supported,
and the index that pip is set up with tells the hashes of all files of these versions, so that they serve every
platform. No index is named in either file.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[1]
OUT = ROOT / "deploy" / "constraints.txt"
OURS = ("headcount", "headcount-service")
DEFAULT = "global.index-url"
HEAD = """\
# Made by `make constraints`, from both files pyproject.toml: headcount[files], headcount-service and what builds them.
#     pip install --require-hashes --requirement deploy/constraints.txt
#     pip install --no-deps --no-build-isolation . ./service
"""
DEV = ROOT / "constraints-dev.txt"
HEAD_OF_DEV = """\
# Made by `make tested`: the versions that the tests were last run with, for `make check test PINNED=1`, or
#     pip install --constraint constraints-dev.txt --editable '.[dev]' --editable ./service --editable ./survey
"""
NOT_OURS = {"pip", "setuptools", "wheel"}  # what an environment begins with
JSON = "application/vnd.pypi.simple.v1+json"


def pip(*words: str) -> str:
    return subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True, text=True).stdout  # noqa: S603


def resolved() -> dict[str, dict[str, Any]]:
    """What pip would install into an empty environment, by name."""
    builds = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    words = [
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--report",
        "-",
        f"{ROOT}[files]",
        f"{ROOT}/service",
        *builds,
    ]
    found = json.loads(pip(*words))["install"]
    return {plain(each["metadata"]["name"]): each for each in found if each["metadata"]["name"] not in OURS}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def index() -> str:
    """The index that pip uses."""
    given = re.search(rf"{DEFAULT}='(.*)'", pip("config", "list"))
    if given:
        return given[1].rstrip("/") + "/"
    from pip._internal.models.index import PyPI  # its own default

    return str(PyPI.simple_url).rstrip("/") + "/"


def hashes(name: str, each: dict[str, Any]) -> set[str]:
    """Of all files of this version that the index has, and in any case of the one that pip chose."""
    own = {each["download_info"]["archive_info"]["hashes"]["sha256"]}
    with urlopen(Request(urljoin(index(), f"{name}/"), headers={"Accept": f"{JSON}, text/html;q=0.1"})) as page:  # noqa: S310
        text = page.read().decode()
    version = each["metadata"]["version"]
    if text.lstrip().startswith("{"):
        files = {file["filename"]: file["hashes"].get("sha256", "") for file in json.loads(text)["files"]}
    else:
        files = {file: found for found, file in re.findall(r"#sha256=([0-9a-f]{64})[^>]*>\s*([^<\s]+)\s*<", text)}
    return own | {found for file, found in files.items() if found and version_of(file) == version}


def version_of(file: str) -> str:
    """As the name of a file tells it: of a wheel the second part, of a source archive the last."""
    if file.endswith(".whl"):
        return file.split("-")[1]
    return re.sub(r"\.(tar\.gz|zip|tar\.bz2)$", "", file).rpartition("-")[2]


def installed() -> list[str]:
    """What is installed in the environment of this interpreter, beside headcount."""
    pins = (line.partition("==") for line in pip("list", "--format=freeze", "--exclude-editable").splitlines())
    return sorted(f"{plain(name)}=={version}" for name, _, version in pins if plain(name) not in NOT_OURS)


def main() -> None:
    if sys.argv[1:] == ["--installed"]:
        DEV.write_text(HEAD_OF_DEV + "\n".join(installed()) + "\n", encoding="utf-8")
        return
    lines = []
    for name, each in sorted(resolved().items()):
        pinned = f"{name}=={each['metadata']['version']}"
        lines.append(" \\\n".join([pinned, *(f"    --hash=sha256:{found}" for found in sorted(hashes(name, each)))]))
    OUT.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
