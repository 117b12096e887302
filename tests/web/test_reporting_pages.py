"""Whoever answers in a browser is counted: on the page's own question, and on a page of somebody else's."""

import json
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from chromium import clean, looking
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.protocols.base.report_size import P256
from headcount_service.operator.operator import Operator
from headcount_service.web.static_files import contents


def test_whoever_answers_is_counted(trial, browser):
    """A visitor, a shuffler, an analyser, and a crowd: from an answer in the browser to a release that is proved."""
    desk = Operator.open(trial.folder)
    before = set(desk.names())
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
        assert page.evaluate("() => document.activeElement.textContent") == "3. Everybody together"
        looked.wait("#estimate")
        assert page.evaluate("() => document.activeElement.textContent") == "3. Everybody together"
        told = page.inner_text("#ask")
        assert "of 300 say yes" in told
        assert "proved" in told
        assert looked.layout() == {}
        clean(looked, trial.shuffler)
    states = [batch["state"] for name in set(desk.names()) - before for batch in desk.state(name)["batches"]]
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
    desk = Operator.open(trial.folder)
    plan = hc.advise(hc.Histogram(["red", "green"]), n=100, epsilon=2.0, models=["local"], collected=True).best
    plan.save(tmp_path / "plan.json")
    desk.endow("customers", 2.0, 1e-6)
    asked = [
        "--question",
        "Which?",
        "--population",
        "customers",
        "--suite",
        P256,
        "--format",
        "json",
        "--anyone",
        "--trust-all",
    ]
    command = ["collection", "create", str(tmp_path / "plan.json"), "--data", str(trial.folder), *asked]
    made = json.loads(CliRunner().invoke(app, command).output)
    before = len(desk.names())
    with shop(tmp_path / "shop") as address, looking(browser) as looked:
        looked.page.goto(f"{address}/#{trial.shuffler},{made['collection']},{made['hash']}")
        looked.wait("#told[data-done]")
        assert looked.page.inner_text("#told") == "taken, visit not read"
    assert len(desk.names()) == before  # nor was it begun
    assert desk.shuffler.ask("GET", f"/v1/collections/{made['collection']}/state")["batches"][0]["reports"] == 1
