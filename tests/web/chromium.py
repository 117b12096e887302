"""A browser that looks at the page, and notes whatever it should not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from PIL import Image

ASKED = "/?task=count&n=500&epsilon=1&delta=1e-4&trust=shuffle,local#advisor"
VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}, "has_touch": True},
    "small phone": {"color_scheme": "light", "viewport": {"width": 320, "height": 568}, "has_touch": True},
    "dark phone": {"color_scheme": "dark", "viewport": {"width": 360, "height": 740}, "has_touch": True},
}
PATIENCE = 120_000  # milliseconds

LOOKS = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
SQUARE, FAINT = 8, 24  # pixels, and how far a colour may be from the paper's
WRONG = ("overflows", "overlaps", "has no name", "is too pale")


@dataclass
class Looked:
    """A tab, and what was noticed."""

    page: Any
    hosts: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def wait(self, selector: str) -> Any:
        found = self.page.locator(selector).first
        try:
            found.wait_for(timeout=PATIENCE)
        except Exception as problem:
            shown = self.page.inner_text("main")[:400]
            raise AssertionError(f"{selector} has not come at {self.page.url}: {self.problems}, {shown!r}") from problem
        return found

    def answered(self) -> None:
        """Once the whole answer to what the address says is there."""
        self.wait("body[data-answered]:not([data-answered=''])")

    def ranking(self) -> list[str]:
        return [row.get_attribute("data-protocol") for row in self.page.query_selector_all("#ranking tbody tr")]

    def inked(self) -> NDArray[np.bool_]:
        """The whole page as a picture: where it is not paper, in squares of a few pixels."""
        self.page.evaluate("() => document.activeElement?.blur()")
        taken = Image.open(BytesIO(self.page.screenshot(full_page=True))).convert("RGB")
        colours = np.asarray(taken, dtype=int)
        ink = np.abs(colours - colours[0, 0]).max(axis=2) > FAINT
        rows, columns = (length - length % SQUARE for length in ink.shape)
        squares = ink[:rows, :columns].reshape(rows // SQUARE, SQUARE, columns // SQUARE, SQUARE)
        return np.asarray(squares.any(axis=(1, 3)))

    def layout(self) -> dict[str, list[str]]:
        every = {name: self.page.evaluate(f"(name) => ({LOOKS})[name]()", name) for name in WRONG}
        return {name: told for name, told in every.items() if told}


def clean(looked: Looked, *addresses: str) -> None:
    """Nothing was forbidden or broken, and nobody else was asked."""
    assert looked.problems == []
    assert looked.hosts <= {urlsplit(address).netloc for address in addresses} | {""}


def typed(page: Any, name: str, text: str) -> None:
    page.fill(f"#{name}", text)
    page.press(f"#{name}", "Enter")


@contextmanager
def looking(browser: Any, view: str = "light") -> Iterator[Looked]:
    context = browser.new_context(**VIEWS[view], accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    looked = Looked(context.new_page())
    looked.page.set_default_timeout(PATIENCE)
    looked.page.on("request", lambda request: looked.hosts.add(urlsplit(request.url).netloc))
    looked.page.on("pageerror", lambda error: looked.problems.append(str(error)))
    looked.page.on(
        "console", lambda said: looked.problems.append(said.text) if said.type in ("error", "warning") else None
    )
    try:
        yield looked
    finally:
        context.close()
