"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("headcount", "numpy", "scipy", "cryptography", "opendp", "diffprivlib", "scikit-learn")


def described() -> str:
    """Cores, processor, memory, versions and date, as a Markdown list."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = [
        f"Machine: {len(os.sched_getaffinity(0))} cores, {_processor()}, {memory:.0f} GiB of memory",
        f"Python {platform.python_version()}; {', '.join(_versions())}",
        f"Date: {datetime.now(UTC):%Y-%m-%d}; other work on the machine at the start: load {os.getloadavg()[0]:.1f}",
    ]
    return "\n".join(f"* {fact}" for fact in facts)


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
