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
from headcount.service.released import Released
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
        for name, text, works in [
            ("n", "plenty", "a whole number such as 1,000"), ("n", "10.000", "whole"), ("n", "0x10", "whole"),
            ("epsilon", "0,5", "0.5, with a point"), ("honest", "most", "90%"), ("cap", "10k", "or “no limit”"),
        ]:  # fmt: skip
            typed(page, name, text)
            assert page.get_attribute(f"#{name}", "aria-invalid") == "true"
            assert works in page.inner_text(f"#{name}-hint")
            assert "The answer is still that for" in page.inner_text("#status")
        assert looked.ranking()
        typed(page, "n", "-5")
        looked.wait("#status.wrong:has-text('“People” is -5; use a whole number')")
        assert page.input_value("#n") == "-5"
        assert page.get_attribute("#n", "aria-invalid") == "true"
        assert [page.inner_text(part) for part in ("#best", "#command", "#ranking")] == ["No answer yet", "", ""]
        typed(page, "n", "5,000")
        looked.wait("body[data-answered*='n=5000']")
        assert page.get_attribute("#n", "aria-invalid") == "false"
        assert page.is_hidden("#caution")
        typed(page, "delta", "1e-3")
        looked.wait("#caution:has-text('too large for 5,000 people')")


def typed(page, name, text):
    page.fill(f"#{name}", text)
    page.press(f"#{name}", "Enter")


def test_numbers_are_read_as_they_are_written(trial, browser):
    with looking(browser) as looked:
        page = looked.page
        page.goto(trial.shuffler + "/?task=toString&n=500&delta=1e-4&epsilon=0,5&trust=local#advisor")
        looked.answered()
        assert "task=count&n=500&epsilon=1&" in page.url
        for name, text, said in [
            ("n", "1,000", "n=1000&"), ("epsilon", ".5", "epsilon=0.5"), ("honest", "90", "honest=0.9"),
            ("cap", "2.5", "cap=2.5"),
        ]:  # fmt: skip
            typed(page, name, text)
            looked.wait(f"body[data-answered*='{said}']")
        typed(page, "cap", "none")
        looked.wait("body[data-answered]:not([data-answered*='cap=']):not([data-answered=''])")
        clean(looked, trial.shuffler)


def test_the_address_says_what_the_fields_say(trial, browser):
    with looking(browser) as looked:
        page = looked.page
        page.goto(trial.shuffler + ASKED.replace("#advisor", "#main"))  # as old links have it
        looked.answered()
        page.focus("#skip")
        page.keyboard.press("Enter")
        assert page.evaluate("() => document.activeElement.id") == "main"
        page.click("nav a[data-part=ask]")
        page.click("nav a[data-part=advisor]")
        typed(page, "n", "600")
        looked.wait("body[data-answered*='n=600']")
        page.go_back()
        page.go_back()
        page.wait_for_function("() => location.hash === '#main'")
        assert page.input_value("#n") == "600"
        page.click("#copy-link")
        looked.wait("#taken:has-text('copied')")
        assert "n=600" in page.evaluate("() => navigator.clipboard.readText()")
        assert "n=600" in page.url


SLOW = ("advice", "errors", "costs", "column", "plan", "complete")


def test_whoever_moves_on_leaves_nothing_behind(trial, browser):
    """What takes seconds is asked one at a time, and only if it is still wanted."""
    with looking(browser) as looked:
        page, under_way, most, asked = looked.page, set(), [0], []

        def begun(request):
            if request.url.endswith(SLOW):
                under_way.add(request)
                most[0] = max(most[0], len(under_way))
                asked.append(request.url)

        page.on("request", begun)
        for event in ("requestfinished", "requestfailed"):
            page.on(event, lambda request: under_way.discard(request))
        page.goto(trial.shuffler + "/?task=histogram&n=700&categories=10&trust=shuffle,local#advisor")
        looked.wait("body[data-quick]:not([data-quick=''])")
        page.focus("#categories-slider")
        for _ in range(8):
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(250)
        looked.answered()
        assert "5000" in page.input_value("#categories")
        assert most == [1]
        assert sum(url.endswith("advice") for url in asked) < 8


def test_a_server_that_is_away_can_be_asked_again(trial, browser):
    with looking(browser) as looked:
        page = looked.page
        page.route("**/page/about", lambda route: route.abort())
        page.goto(trial.shuffler + ASKED)
        looked.wait("#trouble:has-text('The server cannot be reached; is it still running?')")
        assert "?." not in page.inner_text("#trouble")
        page.unroute("**/page/about")
        page.route("**/page/quick", lambda route: route.fulfill(status=200, body="<p>Hotel Wi-Fi"))
        page.click("#trouble button")
        looked.wait("#status:has-text('not one of this server’s')")
        page.unroute("**/page/quick")
        page.click("#again")
        looked.answered()
        assert page.is_hidden("#again")
        page.route("**/page/visits/*/crowd", lambda route: route.fulfill(status=404, body='{"error": "who?"}'))
        page.click("nav a[data-part=ask]")
        looked.wait("#ask button.main").click()
        looked.wait("text=Let the others answer").click()
        looked.wait("#ask [role=alert]:has-text('not known any more')")
        page.click("text=Start again")
        looked.wait("#ask button.main")
        assert page.evaluate("() => document.activeElement.textContent") == "1. You answer"


def test_a_hidden_field_does_not_cut_the_curves(trial, browser):
    with looking(browser) as looked:
        looked.page.goto(trial.shuffler + "/?task=count&n=1000&ones=900&trust=local#advisor")
        looked.answered()
        looked.page.select_option("#task", "sum")
        looked.wait("body[data-drawn*='task=sum']")
        points = looked.page.get_attribute("#figure-n polyline", "points")
        assert len(points.split()) >= 5


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
    desk = Desk.open(trial.folder)
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


def logged_in(looked, trial, address, party):
    looked.page.goto(address + "/#collections")
    looked.wait("#token")
    typed(looked.page, "token", trial.tokens[party])


COUNTRIES = [f"Country {number}" for number in range(78)]


@pytest.fixture
def made(trial):
    """Collections of all kinds, by what they ask."""
    desk = Desk.open(trial.folder)
    desk.endow("travellers", 20.0, 1e-2)
    found = {}
    for question, task, n, answers, shortfall in [
        ("Where?", hc.Histogram(COUNTRIES), 100, COUNTRIES + COUNTRIES[:22], "hold"),
        ("How warm?", hc.Mean((-0.04, 0.04)), 100, [-0.04] * 100, "hold"),
        ("Too few?", "count", 1_500, [1] * 5, "purge"),
        ("Filled up?", "count", 150, [1] * 5, "top-up"),
        ("Almost?", "count", 1_234, [1] * 3, "hold"),
    ]:
        plan = hc.advise(task, n=n, epsilon=2.0, delta=1e-4, models=["local"], collected=True).best
        made = desk.create(plan, question=question, population="travellers", window=3_600, shortfall=shortfall)
        reported(desk.shuffler.address, made.id, answers, hash=made.hash)
        found[question] = made.id
        if question != "Almost?":
            desk.close(made.id)
        if question not in ("Almost?", "Too few?"):
            desk.release(made.id)
    return found


def test_an_operator_is_told_exactly_what_became_of_batches(trial, made, browser, tmp_path):
    with looking(browser) as looked:
        page = looked.page

        def card(question):
            return looked.wait(f"[data-collection='{made[question]}']").inner_text()

        page.goto(trial.shuffler + "/#ask")
        looked.wait("#ask button.main")  # a visit, which is kept apart
        logged_in(looked, trial, trial.shuffler, "shuffler")
        assert "destroyed unread · fewer reports came than 1,500" in card("Too few?")
        assert "5 reports, and 145 of nobody to fill it up" in card("Filled up?")
        assert "3 reports of at least 1,234" in card("Almost?")
        open_or_not = (made["Almost?"], made["Filled up?"])
        bars = [page.locator(f"[data-collection='{name}'] progress").count() for name in open_or_not]
        assert bars == [1, 0]
        assert page.is_hidden("text=Have you ever told a lie")
        kept = page.locator(f"[data-collection='{made['Where?']}'] h2")
        kept.evaluate("(heading) => getSelection().selectAllChildren(heading)")
        page.click("nav a[data-part=advisor]")
        page.wait_for_timeout(3_500)
        page.click("nav a[data-part=collections]")
        reported(trial.shuffler, made["Almost?"], [1])
        looked.wait("text=4 reports of at least 1,234")
        assert page.evaluate("() => getSelection().toString()") == "Where?"
        logged_in(looked, trial, trial.analyser, "analyser")
        assert "5 reports, and 145 of nobody" in card("Filled up?")
        assert "Batch 1 of 1: released" in card("Where?")
        shown = page.text_content(f"[data-collection='{made['Where?']}'] svg")
        assert all(name in shown for name in COUNTRIES)
        bar = page.locator(f"[data-collection='{made['How warm?']}'] svg rect").bounding_box()
        assert bar["width"] > 100
        assert "0000000" not in page.text_content(f"[data-collection='{made['How warm?']}'] svg")
        with page.expect_download() as saved:
            page.click(f"[data-collection='{made['Where?']}'] button:has-text('Download')")
        file = tmp_path / saved.value.suggested_filename
        saved.value.save_as(file)
        assert Released.read(file).content["people"] == 100
        told = Desk.open(trial.folder).analyser.text("POST", f"/v1/collections/{made['Where?']}/batches/1/release")
        assert file.read_text() == told
        assert file.name in page.text_content(f"[data-collection='{made['Where?']}'] details code")
        for width in (1280, 360, 320):
            page.set_viewport_size({"width": width, "height": 700})
            page.wait_for_timeout(200)
            assert looked.layout() == {}
        clean(looked, trial.shuffler, trial.analyser)


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

        log_in = partial(logged_in, looked, trial)
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
        looked.wait(f"{card} [role=status]:has-text('painters”, once: the plan has epsilon 2, and 4 is left')")
        page.click(f"{card} button")
        looked.wait(f"{card} svg")
        page.wait_for_function("() => document.activeElement.textContent === 'Which colour?'")
        assert "Which colour?" in page.inner_text(card)
        assert [text for text in colours if text in page.text_content(f"{card} svg")] == colours
        assert page.evaluate("() => [localStorage.length, document.cookie]") == [0, ""]
        assert looked.layout() == {}
        page.click("text=Forget the token")
        for token, said in [("tökén☃", "This is not a token"), ("wrong", "A token is needed.")]:
            typed(page, "token", token)
            looked.wait(f"[role=alert]:has-text('{said}')")
            assert page.evaluate("() => [document.activeElement.id, sessionStorage.length]") == ["token", 0]
        looked.problems[:] = [said for said in looked.problems if "401" not in said]
        clean(looked, trial.shuffler, trial.analyser)
