"""A shuffler and an analyser that listen, each served by `headcount serve` in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

import headcount as hc
from headcount.protocols.base.report_size import HYBRID, Wire
from headcount_service import party
from headcount_service.operator.operator import Operator
from headcount_service.wire.collection import Collection

ROLES = ("analyser", "shuffler")
DATABASES = ("SQLite", "PostgreSQL")


@dataclass(frozen=True)
class Serving:
    """Both parties, and their processes."""

    folder: Path
    desk: Operator
    pids: dict[str, int]
    ports: dict[str, int]

    def megabytes(self, role: str, peak: bool = True) -> float:
        return megabytes(self.pids[role], peak)

    def forget_peak(self, role: str) -> None:
        Path(f"/proc/{self.pids[role]}/clear_refs").write_text("5")

    def processor(self, role: str) -> float:
        """Seconds of a core that it has used so far."""
        return processor(self.pids[role])

    def files(self, role: str) -> int:
        return len(list(Path(f"/proc/{self.pids[role]}/fd").iterdir()))

    def collection(self, people: int, suite: str = HYBRID) -> Collection:
        """One message from everybody, for an hour."""
        protocol, budget = hc.protocol("randomised-response", n=people, epsilon=1), hc.Budget(1, 0)
        plan, population = hc.Plan(protocol, budget, Wire.of(protocol, budget, suite)), f"people at {time.time_ns()}"
        self.desk.endow(population, 2, 1e-5)
        return self.desk.create(
            plan, question="Yes?", population=population, window=3_600, admission="anyone", fixed=False, trust_all=True
        )


@contextmanager
def serving(database: str) -> Iterator[Serving]:
    """Run both parties with this kind of database while the context lasts."""
    with ExitStack() as kept:
        folder = Path(kept.enter_context(TemporaryDirectory(prefix="headcount-bench-")))
        addresses = kept.enter_context(cluster()) if database == "PostgreSQL" else dict.fromkeys(ROLES, "")
        ports = {role: free_port() for role in ROLES}
        _make(folder, addresses, ports)
        pids = {role: kept.enter_context(process(folder / role)) for role in ROLES}
        yield Serving(folder, Operator.open(folder), pids, ports)


def _make(folder: Path, databases: dict[str, str], ports: dict[str, int]) -> None:
    at = {role: f"127.0.0.1:{ports[role]}" for role in ROLES}
    analyser = party.create(
        folder / "analyser", "analyser", listen=at["analyser"], database=databases["analyser"]
    ).open()
    to_deliver, to_analyse = (analyser.tokens.issue(role, role) for role in ("shuffler", "operator"))
    shuffler = party.create(
        folder / "shuffler", "shuffler", listen=at["shuffler"], database=databases["shuffler"],
        analyser=f"http://{at['analyser']}", token=to_deliver,
    ).open()  # fmt: skip
    to_operate = shuffler.tokens.issue("operator", "operator")
    Operator.write(
        folder,
        shuffler=(f"http://{at['shuffler']}", to_operate),
        analyser=(f"http://{at['analyser']}", to_analyse),
    )
    analyser.close()
    shuffler.close()


@contextmanager
def process(folder: Path, *options: str) -> Iterator[int]:
    command = [sys.executable, "-m", "headcount", "serve", "--config", str(folder / party.SETTINGS), *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        if not server.stdout.readline():
            raise RuntimeError("a party did not start")
        yield server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


@contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """A PostgreSQL server of its own, with its usual settings, reached by a socket in its folder."""
    programs = Path(shutil.which("initdb") or "initdb").resolve().parent
    aside = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    with TemporaryDirectory(prefix="headcount-bench-") as name:
        folder = Path(name)
        if aside:
            shutil.chown(folder, "postgres")
        own = [*aside, str(programs / "pg_ctl"), "-D", str(folder / "data")]
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder}
        settings = ["-A", "trust", "-k", "-U", "headcount"]
        subprocess.run([*aside, str(programs / "initdb"), "-D", str(folder / "data"), *settings], **quiet)
        log = ["-l", str(folder / "log")]
        subprocess.run([*own, *log, "-o", f"-k {folder} -c listen_addresses=''", "-w", "start"], **quiet)
        try:
            with psycopg.connect(f"postgresql://headcount@/postgres?host={folder}", autocommit=True) as connection:
                for role in ROLES:
                    connection.execute(f"CREATE DATABASE {role}")
            yield {role: f"postgresql://headcount@/{role}?host={folder}" for role in ROLES}
        finally:
            subprocess.run([*own, "-w", "-m", "fast", "stop"], **quiet)


def processor(pid: int) -> float:
    """Seconds of a core that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int, peak: bool = True) -> float:
    """Resident memory: the greatest that it was since the program began, or what it is."""
    return _status(pid, "VmHWM" if peak else "VmRSS") / 1024.0


def _status(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise LookupError(field)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
