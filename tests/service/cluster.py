"""A PostgreSQL of our own, in memory where there is room, as somebody who is not root, gone when the tests end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
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

    def __init__(self, folder: Path) -> None:
        self.folder, self._numbers = folder, count(1)

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

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "-A", "trust", "--no-sync", "-k", "-U", "headcount")
        run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", f"-k {folder} {SETTINGS}", "-w", "start")
        try:
            yield Cluster(folder)
        finally:
            run("pg_ctl", "-D", data, "-m", "fast", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
