"""The advisor in a real browser: it answers as Python does, in its own words, and only what is still asked."""

import json
import math

from chromium import ASKED, clean, looking, typed
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app

MODELS = ["shuffle", "local"]


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
        bound = page.inner_text("#ranking tr[data-protocol='one-sided-count'] td:last-child")
        least = hc.protocol("one-sided-count", n=500, epsilon=1, delta=1e-4).loss.epsilon_at_least(1e-4)
        assert bound == f"bound, ε ≥ {math.floor(1_000 * least) / 1_000:g}"
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
