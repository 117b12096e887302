"""A trial that is served as its users serve it, and a browser."""

import json
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import needs


@dataclass(frozen=True)
class Trial:
    folder: Path
    shuffler: str
    analyser: str

    @property
    def tokens(self):
        told = json.loads((self.folder / "desk.json").read_text())
        return {party: told[party]["token"] for party in ("shuffler", "analyser")}


def free():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextmanager
def served(folder):
    ports = [free(), free()]
    command = [sys.executable, "-m", "headcount", "serve", "--data", str(folder), "--ports", *map(str, ports)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout.readline()
            yield Trial(folder, *(f"http://127.0.0.1:{port}" for port in ports))
        finally:
            server.terminate()
            assert server.wait(300) == 0


@pytest.fixture(scope="session")
def trial(tmp_path_factory):
    """One for all tests of a process: what it has computed for one of them it knows for the next."""
    with served(tmp_path_factory.mktemp("trial")) as trial:
        yield trial


@pytest.fixture
def empty_trial(tmp_path):
    """One that nobody has been to."""
    with served(tmp_path) as trial:
        yield trial


@pytest.fixture(scope="module")
def browser():
    """Chromium, driven by Playwright, whose event loop runs as long: no longer than one module, so that others can have
    theirs. It sees pages of ours only, and a container may have no sandbox for it."""
    program = needs.chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
