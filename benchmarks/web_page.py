"""The page in Chromium: how soon it is there, how soon it answers a slider, and how fast its client seals."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import headcount as hc
from headcount_service.operator.operator import Operator
from headcount_service.wire.collection import Collection
from page import Section, met
from parties import free_port
from timing import Spread

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SLIDERS = {"epsilon": 8, "n": 8}  # and how often each is moved
QUESTIONS = {
    "a count": ("/?task=count&n=1000&epsilon=0.1&delta=1e-6", 0.2),
    "a histogram of 20 categories": ("/?task=histogram&n=1000&categories=20&epsilon=0.1&delta=1e-6", 1.0),
    "a mean": ("/?task=mean&n=1000&low=0&high=100&epsilon=0.1&delta=1e-6", None),
}
PAINT, SEALS = 1.0, 300.0
SENT: dict[str, Any] = {"n": 300, "epsilon": 0.1, "delta": 1e-9}  # takes tens of messages
PAUSE = 500  # milliseconds between two moves: whoever looks at the answer
COLUMNS = ["measured", "median (spread)", "target", ""]
PAINTED = """() => new Promise((found) => new PerformanceObserver((seen) => found(seen.getEntries()[0].startTime))
  .observe({ type: "paint", buffered: true }))"""
MOVED = """(name) => new Promise((found) => {
  const slider = document.getElementById(`${name}-slider`);
  const began = performance.now();
  const seen = new MutationObserver(() => {
    if (!document.body.dataset.quick) return;
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => found(performance.now() - began)));
  });
  slider.stepUp();
  slider.dispatchEvent(new Event("input"));
  setTimeout(() => seen.observe(document.body, { attributes: true, attributeFilter: ["data-quick"] }), 0);
})"""
PREPARED = """async ([name, hash, often]) => {
  const { Client, MemoryStore, Remote } = await import("/page/client.js");
  const offer = await new Remote(location.origin).get(`/v1/collections/${name}`);
  let seals = 0;
  const began = performance.now();
  for (let device = 0; device < often; device++) {
    const store = new MemoryStore();
    const report = await new Client(store).prepare(offer, name, true, { hash });
    seals += JSON.parse(await store.get(report)).messages.length + 1;
  }
  return (1000 * seals) / (performance.now() - began);
}"""


@contextmanager
def trial() -> Iterator[tuple[str, Collection]]:
    """`headcount serve`: where the page is, and a collection to which everybody sends many messages."""
    with TemporaryDirectory(prefix="headcount-bench-") as folder:
        ports = [str(free_port()), str(free_port())]
        command = [sys.executable, "-m", "headcount", "serve", "--data", folder, "--ports", *ports]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                assert server.stdout is not None
                server.stdout.readline()
                desk, population = Operator.open(Path(folder)), "everybody"
                desk.endow(population, 1, 1e-6)
                plan = hc.advise(hc.Count(), **SENT, protocols=["poisson-count"], collected=True).best
                made = desk.create(
                    plan,
                    question="Yes?",
                    population=population,
                    window=3_600,
                    admission="anyone",
                    fixed=False,
                    trust_all=True,
                )
                yield desk.shuffler.address, made
            finally:
                server.terminate()


def painted(browser: Any, address: str) -> float:
    """Seconds until the first paint of a tab that has seen nothing before."""
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(address)
        return float(tab.evaluate(PAINTED)) / 1000.0


def moved(browser: Any, address: str) -> list[float]:
    """Seconds from a slider's move, each to a question that was never asked before, to the ranking on the screen."""
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(address)
        tab.wait_for_selector("body[data-quick]:not([data-quick=''])")
        times = []
        for name in (name for name, often in SLIDERS.items() for _ in range(often)):
            tab.wait_for_timeout(PAUSE)
            times.append(float(tab.evaluate(MOVED, name)) / 1000.0)
        return times


def sealing(browser: Any, address: str, made: Collection, often: int) -> float:
    """Seals a second of devices that prepare their reports one after another, from the check of the plan on."""
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(address)
        return float(tab.evaluate(PREPARED, [made.id, made.hash, often]))


def measure(quick: bool) -> Section:
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        raise SystemExit("chromium is missing: apt install chromium")
    options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    rows = []
    with trial() as (address, made), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        first = Spread.of([painted(browser, address) for _ in range(3 if quick else 10)])
        rows.append(["first paint", f"{first:.2f} s", f"below {PAINT:g} s", met(first.median < PAINT)])
        for asked, (path, target) in QUESTIONS.items():
            answered = Spread.of(moved(browser, address + path))
            rows.append([
                f"a slider, {asked}", f"{answered:.2f} s",
                *(["", ""] if target is None else [f"below {target:g} s", met(answered.median < target)]),
            ])  # fmt: skip
        sealed = Spread.of([sealing(browser, address, made, 10 if quick else 50) for _ in range(3)])
        rows.append(["seals a second", f"{sealed:,.0f}", f"at least {SEALS:g}", met(sealed.median >= SEALS)])
        browser.close()
    return Section(
        "The page",
        "What `headcount serve` shows in Chromium on the same machine: from the address to the first paint in a tab "
        "that has seen nothing; from a slider's move to the new ranking on the screen, "
        f"{sum(SLIDERS.values())} moves, each to a question that was not asked before; and devices that check a plan, "
        f"randomise, and seal {made.plan.wire.messages} messages to the analyser and all of them to the shuffler.",
        COLUMNS,
        rows,
        "The calibration of every protocol that can be computed quickly; the others follow, and then the pictures, in "
        "a process that gives way. A slider that is dragged asks 60 milliseconds after it rests.",
    )
