"""The picture of the page in the README: `make picture`. It needs Chromium, and Playwright to drive it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

STATIC = Path(__file__).resolve().parent / "static"
ASKED = "?task=count&n=10000&epsilon=1&delta=1e-6&trust=shuffle-threshold,shuffle,local#advisor"
DRAWN = "body[data-drawn]:not([data-drawn=''])"
SIZE = {"width": 1180, "height": 840}


def main() -> None:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [sys.executable, "-m", "headcount", "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        for theme in ("light", "dark"):
            tab = browser.new_page(color_scheme=theme, viewport=SIZE)
            tab.goto(address + ASKED)
            tab.wait_for_selector(DRAWN, timeout=120_000)
            tab.screenshot(path=STATIC / f"page-{theme}.png")
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
