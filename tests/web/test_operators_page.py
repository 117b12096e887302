"""What an operator sees of a shuffler and an analyser that are really served."""

from functools import partial

import pytest
from chromium import clean, looking, typed

import headcount as hc
from headcount_service.client.simulated import report_all
from headcount_service.operator.operator import Operator
from headcount_service.wire.signed_release import Released


def logged_in(looked, trial, address, party):
    looked.page.goto(address + "/#collections")
    looked.wait("#token")
    typed(looked.page, "token", trial.tokens[party])


TRIAL = {"admission": "anyone", "fixed": False, "trust_all": True}
COUNTRIES = [f"Country {number}" for number in range(78)]


@pytest.fixture
def made(trial):
    """Collections of all kinds, by what they ask."""
    desk = Operator.open(trial.folder)
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
        made = desk.create(plan, question=question, population="travellers", window=3_600, shortfall=shortfall, **TRIAL)
        report_all(desk.shuffler.address, made.id, answers, hash=made.hash)
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
        report_all(trial.shuffler, made["Almost?"], [1])
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
        told = Operator.open(trial.folder).analyser.text("POST", f"/v1/collections/{made['Where?']}/batches/1/release")
        assert file.read_text() == told
        assert file.name in page.text_content(f"[data-collection='{made['Where?']}'] details code")
        for width in (1280, 360, 320):
            page.set_viewport_size({"width": width, "height": 700})
            for _ in range(25):
                page.wait_for_timeout(200)
                if looked.layout() == {}:
                    break
            assert looked.layout() == {}
        clean(looked, trial.shuffler, trial.analyser)


def test_an_operator_sees_how_far_it_is_and_what_was_answered(trial, browser, tmp_path):
    desk = Operator.open(trial.folder)
    colours = ["red", "green", "blue"]
    plan = hc.advise(
        hc.Histogram(colours), n=40, epsilon=2.0, delta=1e-3, models=["local"], collected=True
    ).best  # fmt: skip
    desk.endow("painters", 4.0, 1e-2)
    made = desk.create(plan, question="Which colour?", population="painters", window=3_600, **TRIAL)
    report_all(desk.shuffler.address, made.id, ["red"] * 25, hash=made.hash)
    with looking(browser) as looked:
        page = looked.page

        log_in = partial(logged_in, looked, trial)
        log_in(trial.shuffler, "shuffler")
        shown = looked.wait(f"[data-collection='{made.id}']").inner_text()
        assert "Which colour?" in shown
        assert "25 reports of at least 40" in shown
        assert looked.layout() == {}
        report_all(desk.shuffler.address, made.id, ["green"] * 15, hash=made.hash)
        desk.close(made.id)
        log_in(trial.analyser, "analyser")
        card = f"[data-collection='{made.id}']"
        looked.wait(f"{card} button")
        page.click(f"{card} button")
        told = "painters” when it was delivered: the plan has epsilon 2, and 50% of its budget is left"
        looked.wait(f"{card} [role=status]:has-text('{told}')")
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
