"""Programs that some tests need. Where one is missing they are skipped, and where CI=true they fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

CLUSTERS = Path("/usr/lib/postgresql")  # where Debian keeps initdb and pg_ctl
NODE = 20  # the oldest that will do


class Absent(pytest.skip.Exception):
    """Skips a test for want of something that others may need, too."""


def absent(what: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}, and with CI=true nothing may be", pytrace=False)
    raise Absent(what)


def node() -> str:
    """Node, with npm beside it."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        absent("node is missing: the client for browsers is tested with it (apt install nodejs npm)")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.strip().removeprefix("v").split(".")[0]) < NODE:
        absent(f"node is {version.strip()}: the client for browsers needs Node {NODE} or later")
    return found


def chromium() -> str:
    """A browser that is installed: Playwright brings none of its own."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        absent("chromium is missing: pages are tested in a real browser (apt install chromium)")
    if find_spec("playwright") is None:
        absent("playwright is missing: it drives the browser (pip install playwright)")
    return found


def java() -> None:
    """Spark, and what it runs on."""
    if find_spec("pyspark") is None:
        absent("pyspark is missing: frames and lakes are tested with it (pip install 'headcount[spark]')")
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        absent("java is missing: Spark runs on it (apt install default-jre-headless)")


def nginx() -> str:
    """The relay before a shuffler."""
    found = shutil.which("nginx", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
    if found is None:
        absent("nginx is missing: the relay is tested with it (apt install nginx-light)")
    return found


def promtool() -> str:
    """What Prometheus says of rules and series."""
    found = shutil.which("promtool")
    if found is None:
        absent("promtool is missing: alerts are tried with it (apt install prometheus)")
    return found


def systemd_analyze() -> str:
    """What systemd says of units."""
    found = shutil.which("systemd-analyze")
    if found is None:
        absent("systemd-analyze is missing: units are read and their exposure is looked at (apt install systemd)")
    return found


def postgresql() -> Path:
    """The folder of initdb and pg_ctl."""
    beside = shutil.which("initdb")
    known = [Path(beside).parent] if beside else sorted(CLUSTERS.glob("*/bin"), key=_number, reverse=True)
    found = next((folder for folder in known if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)
    if found is None:
        absent("PostgreSQL is missing: both databases are tested (apt install postgresql)")
    return found


def _number(folder: Path) -> int:
    return int(re.sub(r"\D", "", folder.parent.name) or 0)
