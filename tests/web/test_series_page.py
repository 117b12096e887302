"""A collection in rounds on the analyser's page: tables, chart and files of what was released."""

import time
import urllib.error
import urllib.request
from contextlib import suppress
from io import StringIO

import pandas as pd
import pytest
from chromium import clean, looking, typed

import headcount as hc
from headcount.errors import Unsupported
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service.client.simulated import report_all
from headcount_service.operator.operator import Operator

ROUNDS, PEOPLE = 2, 3
HTML = "<img src=x> & “quoted”"
CELLS = ["never", f"often {HTML}"]


class Weekly:
    """Rounds of a second, each of which is held until all have reported, and released when it is delivered."""

    def __init__(self, trial):
        self.desk = Operator.open(trial.folder)
        protocol = hc.protocol("generalised-response", hc.Histogram(CELLS), n=PEOPLE, least=PEOPLE, epsilon=0.5)
        plan = hc.Plan(protocol, hc.Budget(1.5, rounds=ROUNDS), Wire(2, X25519))
        self.desk.endow("weekly", 1.5, 1e-6)
        terms = {"admission": "anyone", "shortfall": "hold", "holds": 99, "automatic": True, "trust_all": True}
        question = f"How often? {HTML}"
        made = self.desk.create(plan, question=question, population="weekly", window=1, batches=ROUNDS, **terms)
        self.name = made.id
        self.hash = made.hash

    def taken(self):
        """Whether a device's report is: between two windows it is not."""
        with suppress(Unsupported):
            [receipt] = report_all(self.desk.shuffler.address, self.name, [CELLS[0]], hash=self.hash)
            return receipt.state == "taken"

    def collect(self, number):
        until = time.monotonic() + 60
        for _ in range(PEOPLE):
            while not self.taken():
                assert time.monotonic() < until, self.desk.state(self.name)
                time.sleep(0.05)
        while self.desk.state(self.name)["batches"][number - 1]["state"] != "released":
            assert time.monotonic() < until, self.desk.state(self.name)
            time.sleep(0.1)

    def rows(self, cell):
        return [list(row) for row in self.desk.series(self.name).sheet(cell=cell, changes=True).rows]


def told(page):
    """The table: each interval stands below its value."""
    return page.evaluate("""() => [...document.querySelectorAll("table.rounds tbody tr")].map((row) => [
      row.querySelector("th").textContent,
      ...[...row.querySelectorAll("td")].flatMap((cell) =>
        [cell.firstChild?.data ?? "", cell.querySelector("small").textContent]),
    ])""")


def logged_in(looked, trial):
    looked.page.goto(trial.analyser + "/#collections")
    looked.wait("#token")
    typed(looked.page, "token", trial.tokens["analyser"])
    looked.wait(".series svg circle")


def saved_by_key(page, kind, folder):
    with page.expect_download() as saved:
        page.focus(f".series button:has-text('{kind}')")
        page.keyboard.press("Enter")
    path = folder / saved.value.suggested_filename
    saved.value.save_as(path)
    return path


def test_a_series_is_shown_refreshed_and_saved(trial, browser, tmp_path):
    weekly = Weekly(trial)
    weekly.collect(1)
    with looking(browser) as looked:
        page = looked.page
        logged_in(looked, trial)
        assert told(page) == weekly.rows(CELLS[0])
        assert "1 of 2 rounds are released" in page.inner_text("main")
        page.focus(".series select")
        page.keyboard.press("ArrowDown")
        looked.wait(".series svg[aria-label*=', often']")  # the question has the word, too
        assert told(page) == weekly.rows(CELLS[1])
        weekly.collect(2)
        page.click("nav a[data-part=advisor]")
        page.click("nav a[data-part=collections]")
        looked.wait("table.rounds tbody tr:nth-child(2)")
        page.wait_for_function("() => document.querySelectorAll('.series svg circle').length === 5")
        assert page.locator(".series select").input_value() == CELLS[1]
        assert told(page) == weekly.rows(CELLS[1])
        series = weekly.desk.series(weekly.name)
        assert saved_by_key(page, "CSV", tmp_path).read_text() == series.to_csv()
        parquet = pd.read_parquet(saved_by_key(page, "Parquet", tmp_path))
        pd.testing.assert_frame_equal(parquet, pd.read_csv(StringIO(series.to_csv())), check_dtype=False)
        assert page.locator("h3").filter(has_text=HTML).count() == 1
        assert page.locator("main img").count() == 0
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 800})
                page.wait_for_timeout(100)
                assert looked.layout() == {}
        page.route("**/page/series/**", lambda route: route.fulfill(body=route.fetch().text().replace('"2"', '"9"')))
        page.focus(".series select")
        page.keyboard.press("ArrowUp")
        looked.wait("table.rounds th:text-is('9')")
        assert told(page) != weekly.rows(CELLS[0])  # the twin: another figure than the library's
        clean(looked, trial.analyser)
        page.evaluate("(text) => { document.querySelector('.series').innerHTML += text; }", HTML)  # the twin
        assert page.locator("main img").count() == 1
    for part in ("0", "csv", "parquet"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{trial.analyser}/page/series/{weekly.name}/{part}")  # noqa: S310
