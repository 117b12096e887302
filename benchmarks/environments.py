"""One environment for each peer, in `.venv-bench/NAME`, made once from `benchmarks/peers/NAME.txt`.

`python benchmarks/environments.py` makes whatever is missing; it needs nothing but Python. A peer that does not install
is remembered with pip's reason and the day, until its requirements change or `--again` is given.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path

from plain import without_places

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"
MADE = ROOT / ".venv-bench"
PACKAGE = re.compile(r"\w[\w.-]*")
MINUTES = 15


@dataclass(frozen=True)
class Environment:
    """The environment of a peer, or the reason why there is none."""

    name: str
    reason: str = ""

    @property
    def python(self) -> Path:
        return MADE / self.name / "bin" / "python"

    def versions(self) -> dict[str, str]:
        """The installed versions of its requirements."""
        places = [str(path) for path in (MADE / self.name).glob("lib/python*/site-packages")]
        found = {_same(each.name): each.version for each in distributions(path=places)}
        return {name: found[_same(name)] for name in required(self.name) if _same(name) in found}


def names() -> list[str]:
    """Ourselves first, then the peers."""
    return sorted((path.stem for path in PEERS.glob("*.txt")), key=lambda name: (name != "headcount", name))


def environment(name: str, again: bool = False) -> Environment:
    """The peer's environment, which is made if it is not there or its requirements are others by now."""
    stamp, wanted = MADE / name / "stamp.json", _digest(name)
    if stamp.exists():
        known = json.loads(stamp.read_text())
        if known["requirements"] == wanted and not (again and known["reason"]):
            return Environment(name, known["reason"])
    reason = _installed(name)
    if reason:
        reason = f"does not install (tried on {datetime.now(UTC):%Y-%m-%d}): {reason}"
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(json.dumps({"requirements": wanted, "reason": reason}))
    return Environment(name, reason)


def required(name: str) -> list[str]:
    """The packages that its requirements name."""
    lines = [line.partition("#")[0].strip() for line in (PEERS / f"{name}.txt").read_text().splitlines()]
    return [found[0] for line in lines if (found := PACKAGE.match(line))]


def _same(name: str) -> str:
    """Names that differ only in case, dots, dashes and underscores are the same to pip."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _digest(name: str) -> str:
    """The digest of the requirements; ours are in the projects' own files too."""
    text = (PEERS / f"{name}.txt").read_bytes() + sys.version.encode()
    ours = (ROOT / at / "pyproject.toml" for at in ("", "service", "survey") if name == "headcount")
    return sha256(text + b"".join(path.read_bytes() for path in ours)).hexdigest()


def _installed(name: str) -> str:
    """Install a peer; returns the reason if that failed."""
    python = str(Environment(name).python)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(MADE / name)],
        [*pip, "--upgrade", "pip"],
        [*pip, "--requirement", str(PEERS / f"{name}.txt")],
    )
    for step in steps:
        try:
            done = subprocess.run(step, cwd=ROOT, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
        except subprocess.TimeoutExpired:
            return f"pip was not done after {MINUTES} minutes"
        if done.returncode:
            return complaint(done.stderr + done.stdout)
    return ""


def complaint(said: str) -> str:
    """The last line in which pip speaks of an error, without any address or path."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error:") and len(line) > len("error: ")] or lines
    return without_places(errors[-1].partition(":")[2] or errors[-1]) if errors else "pip failed without a word"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these; all where left out")
    parser.add_argument("--again", action="store_true", help="try again what did not install")
    options = parser.parse_args()
    for name in options.names or names():
        reason = environment(name, options.again).reason
        print(f"{name}: {reason or 'ready'}", file=sys.stderr)
        if reason and name == "headcount":
            raise SystemExit(1)


if __name__ == "__main__":
    main()
