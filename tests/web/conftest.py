"""A trial that is served as its users serve it, and a browser."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from chromium import CHROMIUM


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


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder, ports = tmp_path_factory.mktemp("trial"), [free(), free()]
    command = [sys.executable, "-m", "headcount", "serve", "--data", str(folder), "--ports", *map(str, ports)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout.readline()
            yield Trial(folder, *(f"http://127.0.0.1:{port}" for port in ports))
        finally:
            server.terminate()
            assert server.wait(30) == 0


@pytest.fixture(scope="module")
def browser():
    """Chromium, driven by Playwright. Where one of them is missing, that is said."""
    if CHROMIUM is None:
        pytest.skip("chromium is missing: the page is tested in a real browser (apt install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("playwright is missing: it drives the browser (pip install playwright; no browser of its own)")
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield opened
        opened.close()
