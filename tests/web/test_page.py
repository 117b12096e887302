"""The page in a real browser, served by a real shuffler and analyser."""

import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pytest
from chromium import VIEWS, WRONG, looking
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.core.wire import P256
from headcount.service.desk import Desk
from headcount.service.devices import reported
from headcount.web.files import contents

ASKED = "/?task=count&n=500&epsilon=1&delta=1e-4&trust=shuffle,local#advisor"
MODELS = ["shuffle", "local"]


def clean(looked, *addresses):
    """Nothing was forbidden or broken, and nobody else was asked."""
    assert looked.problems == []
    assert looked.hosts <= {urlsplit(address).netloc for address in addresses} | {""}


def ranking(**wishes):
    return [option.name for option in hc.advise(**wishes).feasible]


def test_the_advisor_answers_as_python_does(trial, browser):
    with looking(browser) as looked:
        page = looked.page
        page.goto(trial.shuffler + ASKED)
        looked.answered()
        asked = {"task": "count", "n": 500, "epsilon": 1.0, "delta": 1e-4, "models": MODELS}
        assert looked.ranking() == ranking(**asked)[:8]
        assert page.inner_text("#best") == ranking(**asked)[0]
        page.focus("#epsilon-slider")
        page.keyboard.press("ArrowRight")  # from 1 to 1.5
        looked.wait("body[data-answered*='epsilon=1.5']")
        assert looked.ranking() == ranking(**{**asked, "epsilon": 1.5})[:8]
        page.fill("#cap", "1")
        page.press("#cap", "Enter")
        looked.wait("body[data-answered*='cap=1']")
        capped = {**asked, "epsilon": 1.5, "max_messages": 1}
        assert looked.ranking() == ranking(**capped)[:8]
        page.uncheck("#trust-shuffle")
        looked.wait("body[data-answered*='trust=local']")
        assert looked.ranking() == ranking(**{**capped, "models": ["local"]})
        page.select_option("#task", "mean")
        looked.wait("body[data-answered*='task=mean']")
        local = hc.advise(hc.Mean((0, 100)), n=500, epsilon=1.5, delta=1e-4, models=["local"], max_messages=1)
        assert looked.ranking() == [option.name for option in local.feasible]
        page.reload()  # the address says everything
        looked.answered()
        assert looked.ranking() == [option.name for option in local.feasible]
        clean(looked, trial.shuffler)


def test_what_is_wrong_is_said(trial, browser):
    with looking(browser) as looked:
        page = looked.page
        page.goto(trial.shuffler + ASKED)
        looked.answered()
        page.fill("#n", "plenty")
        page.press("#n", "Enter")
        assert page.get_attribute("#n", "aria-invalid") == "true"
        page.fill("#n", "0")
        page.press("#n", "Enter")
        looked.wait("#status.wrong")
        assert "N is 0; use a whole number" in page.inner_text("#status")


def test_it_can_be_taken_along(trial, browser, tmp_path):
    with looking(browser) as looked:
        page = looked.page
        page.goto(trial.shuffler + ASKED)
        looked.answered()
        page.click("#copy-command")
        looked.wait("#taken:has-text('copied')")
        command = page.evaluate("() => navigator.clipboard.readText()")
        assert command.startswith("headcount advise count --n 500 --epsilon 1")
        with page.expect_download() as saved:
            page.click("#save-plan")
        plan, people = tmp_path / "plan.json", tmp_path / "people.csv"
        saved.value.save_as(plan)
        people.write_text("clicked\n" + "1\n0\n" * 250)
        done = CliRunner().invoke(app, ["run", str(plan), str(people), "--column", "clicked", "--format", "json"])
        assert json.loads(done.output)["protocol"] == page.inner_text("#best")
        looked.wait("body[data-drawn]:not([data-drawn=''])")
        with page.expect_download() as drawn:
            page.click("#figure-n .save")
        picture = tmp_path / "figure.svg"
        drawn.value.save_as(picture)
        assert "zsum" in picture.read_text()
        assert "var(--" not in picture.read_text()


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_overflows_overlaps_or_is_too_pale(view, trial, browser):
    with looking(browser, view) as looked:
        looked.page.goto(trial.shuffler + ASKED)
        looked.wait("body[data-drawn]:not([data-drawn=''])")
        assert looked.layout() == {}
        looked.page.goto(trial.analyser + "/#collections")
        looked.wait("#token")
        assert looked.layout() == {}
        clean(looked, trial.shuffler, trial.analyser)


SAME = 0.99  # of all squares of two pictures


def pictured(browser, view, address, without=None):
    with looking(browser, view) as looked:
        looked.page.goto(address + ASKED)
        looked.wait("body[data-drawn]:not([data-drawn=''])")
        if without:
            looked.page.evaluate("(hidden) => { document.querySelector(hidden).style.opacity = 0; }", without)
        return looked.inked()


@pytest.mark.parametrize(("light", "dark"), [("light", "dark"), ("phone", "dark phone")])
def test_a_dark_page_shows_what_a_light_one_shows(light, dark, trial, browser):
    """Pictures of both: the same squares hold something."""
    first, second = (pictured(browser, view, trial.shuffler) for view in (light, dark))
    assert first.shape == second.shape
    assert np.mean(first == second) > SAME
    lacking = pictured(browser, dark, trial.shuffler, without="#ranking")  # the twin
    assert first.shape == lacking.shape
    assert np.mean(first == lacking) < SAME


def test_what_overlaps_or_overflows_is_noticed(trial, browser):
    """The twin."""
    with looking(browser) as looked:
        looked.page.goto(trial.shuffler + ASKED)
        looked.wait("body[data-drawn]:not([data-drawn=''])")
        looked.page.evaluate("""() => {
          const texts = document.querySelectorAll("#figure-n text.of");
          texts[0].setAttribute("y", texts[1].getAttribute("y"));
          document.querySelector("#why").textContent = "w".repeat(400);
          document.querySelector("#best").style.color = "gray";
          document.querySelector("#copy-link").textContent = "";
        }""")
        assert set(looked.layout()) == set(WRONG)


def test_whoever_answers_is_counted(trial, browser):
    """A visitor, a shuffler, an analyser, and a crowd: from an answer in the browser to a release that is proved."""
    with looking(browser) as looked:
        page = looked.page
        page.goto(trial.shuffler + "/#ask")
        looked.wait("#ask button.main")
        page.keyboard.press("Tab")
        page.focus("#ask button.main")
        page.keyboard.press("Enter")
        looked.wait("#receipt")
        receipt = page.inner_text("#receipt")
        assert "has left this device, and was taken" in receipt
        assert "at most 2.72 times as likely" in receipt
        page.click("text=Let the others answer")
        looked.wait("#estimate")
        told = page.inner_text("#ask")
        assert "of 300 say yes" in told
        assert "proved" in told
        assert looked.layout() == {}
        clean(looked, trial.shuffler)
    desk = Desk.open(trial.folder)
    states = [batch["state"] for name in desk.names() for batch in desk.state(name)["batches"]]
    assert states == ["released"]


ELSEWHERE = """<!doctype html><title>A shop</title><p id="told"></p><script type="module">
import { Client, MemoryStore } from "./client.js";
const [at, name, hash] = location.hash.slice(1).split(",");
const told = document.getElementById("told");
try {
  const receipt = await new Client(new MemoryStore()).report(at, name, "red", { hash });
  const visit = await fetch(`${at}/page/visits`, { method: "POST" }).then(() => "read", () => "not read");
  told.textContent = `${receipt.state}, visit ${visit}`;
} catch (problem) {
  told.textContent = problem.message;
}
told.dataset.done = "yes";
</script>"""


@contextmanager
def shop(folder):
    """A page of somebody else's, who has copied the client."""
    folder.mkdir()
    (folder / "index.html").write_text(ELSEWHERE)
    (folder / "client.js").write_bytes(contents()["client.js"].body)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_people_report_from_a_page_that_is_somebody_elses(trial, browser, tmp_path):
    desk = Desk.open(trial.folder)
    plan = hc.advise(hc.Histogram(["red", "green"]), n=100, epsilon=2.0, models=["local"], collected=True).best
    plan.save(tmp_path / "plan.json")
    desk.endow("customers", 2.0, 1e-6)
    asked = ["--question", "Which?", "--population", "customers", "--suite", P256, "--format", "json"]
    command = ["collection", "create", str(tmp_path / "plan.json"), "--data", str(trial.folder), *asked]
    made = json.loads(CliRunner().invoke(app, command).output)
    before = len(desk.names())
    with shop(tmp_path / "shop") as address, looking(browser) as looked:
        looked.page.goto(f"{address}/#{trial.shuffler},{made['collection']},{made['hash']}")
        looked.wait("#told[data-done]")
        assert looked.page.inner_text("#told") == "taken, visit not read"
    assert len(desk.names()) == before  # nor was it begun
    assert desk.shuffler.ask("GET", f"/v1/collections/{made['collection']}/state")["batches"][0]["reports"] == 1


def test_an_operator_sees_how_far_it_is_and_what_was_answered(trial, browser, tmp_path):
    desk = Desk.open(trial.folder)
    colours = ["red", "green", "blue"]
    plan = hc.advise(
        hc.Histogram(colours), n=40, epsilon=2.0, delta=1e-3, models=["local"], collected=True
    ).best  # fmt: skip
    desk.endow("painters", 4.0, 1e-2)
    made = desk.create(plan, question="Which colour?", population="painters", window=3_600)
    reported(desk.shuffler.address, made.id, ["red"] * 25, hash=made.hash)
    with looking(browser) as looked:
        page = looked.page

        def log_in(address, party):
            page.goto(address + "/#collections")
            looked.wait("#token")
            page.fill("#token", trial.tokens[party])
            page.press("#token", "Enter")

        log_in(trial.shuffler, "shuffler")
        shown = looked.wait(f"[data-collection='{made.id}']").inner_text()
        assert "Which colour?" in shown
        assert "25 reports of at least 40" in shown
        assert looked.layout() == {}
        reported(desk.shuffler.address, made.id, ["green"] * 15, hash=made.hash)
        desk.close(made.id)
        log_in(trial.analyser, "analyser")
        card = f"[data-collection='{made.id}']"
        looked.wait(f"{card} button")
        page.click(f"{card} button")
        assert "painters" in page.inner_text(card)
        page.click(f"{card} button")
        looked.wait(f"{card} svg")
        assert "Which colour?" in page.inner_text(card)
        assert [text for text in colours if text in page.text_content(f"{card} svg")] == colours
        assert page.evaluate("() => [localStorage.length, document.cookie]") == [0, ""]
        assert looked.layout() == {}
        page.click("text=Forget the token")
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        looked.wait("[role=alert]")
        looked.problems[:] = [said for said in looked.problems if "401" not in said]
        clean(looked, trial.shuffler, trial.analyser)
