"""A PostgreSQL of our own, in memory where there is room, as somebody who is not root, gone when the tests end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

IN_MEMORY = Path("/dev/shm")  # noqa: S108
SETTINGS = "-c listen_addresses='' -c max_connections=200 -c fsync=on -c shared_buffers=32MB"


def quick_folder(prefix: str) -> Path:
    """A new folder where a disk is not waited for, if there is one."""
    where = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix=prefix, dir=where))


class Cluster:
    """It listens on a socket in its folder."""

    def __init__(self, folder: Path, run: Callable[..., None]) -> None:
        self.folder, self._run, self._numbers = folder, run, count(1)

    def start(self) -> None:
        log, settings = str(self.folder / "log"), f"-k {self.folder} {SETTINGS}"
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", settings, "-w", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "fast", "-w", "stop")

    def address(self, name: str) -> str:
        return f"postgresql://headcount@/{name}?host={self.folder}"

    def database(self, like: str = "template1", name: str = "") -> str:
        """The name of a new one, which is a copy of another."""
        name = name or f"party{next(self._numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {like}")
        return name

    def drop(self, name: str) -> None:
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def started(bin: Path) -> Iterator[Cluster]:
    folder = quick_folder("headcount-pg-")
    owner: list[str] = []
    if os.getuid() == 0:
        owner = ["runuser", "-u", "postgres", "--"]
        shutil.chown(folder, "postgres", "postgres")

    def run(program: str, *arguments: str) -> None:
        command = [*owner, str(bin / program), *arguments]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    try:
        run("initdb", "-D", str(folder / "data"), "-A", "trust", "--no-sync", "-k", "-U", "headcount")
        cluster = Cluster(folder, run)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
