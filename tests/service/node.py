"""The client for browsers, built and run by Node."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import needs
from headcount.ledger.files import locked

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients" / "js"
BUNDLE = ROOT / "service" / "src" / "headcount_service" / "web" / "static" / "client.js"


def run(*command: str | Path, given: str = "", check: bool = True) -> subprocess.CompletedProcess[str]:
    """In the folder of the package."""
    done = subprocess.run([*map(str, command)], cwd=PACKAGE, input=given, capture_output=True, text=True, timeout=300)
    if check and done.returncode:
        pytest.fail(f"{' '.join(map(str, command))} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}", pytrace=False)
    return done


def built() -> Path:
    """The folder of its modules and tests, made anew where something has changed, by one process at a time."""
    node = needs.node()
    lock = PACKAGE / ".lock"
    lock.touch()
    with locked(lock, alone=True):
        packages, wanted = PACKAGE / "node_modules" / ".installed", _digest(PACKAGE / "package-lock.json")
        if not packages.exists() or packages.read_text() != wanted:
            if run("npm", "ci", check=False).returncode:
                needs.absent("packages of the client for browsers are missing: run npm ci in clients/js with a network")
            packages.write_text(wanted)
        stamp, sources = PACKAGE / "build" / ".built", _digest(*sorted(PACKAGE.glob("*/*.ts")), PACKAGE / "build.mjs")
        if not stamp.exists() or stamp.read_text() != wanted + sources:
            run(node, "build.mjs", "--test")
            stamp.write_text(wanted + sources)
    return PACKAGE / "build"


def reported(**told: Any) -> list[dict[str, Any]]:
    """What devices say and keep that are told this, one for each answer."""
    given = {"address": "https://shuffler.example", "limits": {}, "invitation": "", **told}
    text = json.dumps(given).replace(": Infinity", ": 1e999")
    lines = run("node", "build/test/report.js", given=text).stdout.splitlines()
    return [json.loads(line) for line in lines]


def _digest(*paths: Path) -> str:
    content = b"".join(path.name.encode() + path.read_bytes() for path in paths)
    return hashlib.sha256(content).hexdigest()
