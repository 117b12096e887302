"""The machine that the figures were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shutil import which
from time import perf_counter

import environments
import headcount
import headcount_service

LIBRARIES = (
    "headcount", "numpy", "scipy", "cryptography", "pyarrow", "granian", "sqlalchemy", "pysqlite3", "psycopg",
)  # fmt: skip


def described() -> str:
    """Cores, processor, memory, versions and date, as a Markdown list."""
    peers = f"Peers, each in an environment of its own: {'; '.join(_peers())}"
    facts = [_machine(), _software(), peers, f"Java: {_java()}", _moment()]
    return "\n".join(f"* {fact}" for fact in facts)


def alone() -> str:
    """The same without peers, as a sentence, for a section that was measured apart from the others."""
    return f"{_machine()}. {_software()}. {_moment()}."


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"Machine: {len(os.sched_getaffinity(0))} cores, {_processor()}, {memory:.0f} GiB of memory"


def _software() -> str:
    return f"Python {platform.python_version()}; {', '.join(_versions())}"


def _moment() -> str:
    return f"Date: {datetime.now(UTC):%Y-%m-%d}; digest of the sources: {sources()}"


def sources() -> str:
    """A digest of our sources, service and all: figures from different ones must not be compared, nor mixed."""
    digest = sha256()
    folders = [Path(one.__file__).parent for one in (headcount, headcount_service)]
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


adopted: list[float] = []  # processor seconds of ours that the system does not count as ours: children's children


class OthersAtWork:
    """How many cores other people's processes keep busy, from when it is made until it is asked."""

    def __init__(self) -> None:
        self._start, self._others = perf_counter(), self._used_by_others()

    def cores(self) -> float:
        return max(0.0, self._used_by_others() - self._others) / (perf_counter() - self._start)

    @staticmethod
    def _used_by_others() -> float:
        """Processor seconds since the machine started, those of this process and its children left out."""
        user, nice, system, _idle, _waiting, *rest = map(int, Path("/proc/stat").read_text().split()[1:9])
        return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4]) - sum(adopted)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _versions() -> list[str]:
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    return found


def _peers() -> list[str]:
    """With what else they were asked to bring; or why they are not there."""
    told = []
    for name in environments.names():
        if name == "headcount":
            continue
        there = environments.environment(name)
        versions = [f"{package} {found}" for package, found in there.versions().items()]
        told.append(f"{name} {there.reason}" if there.reason else ", ".join(versions))
    return told


def _java() -> str:
    java = which("java")
    if java is None:
        return "none"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    return said.partition('"')[2].partition('"')[0] or "unknown"
