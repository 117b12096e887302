"""The page as it looks: nothing sticks out, lies on something else, or is there in one theme only."""

import numpy as np
import pytest
from chromium import ASKED, VIEWS, WRONG, clean, looking

from stress import some


@pytest.mark.parametrize("view", some(VIEWS, lambda view: view in ("light", "dark", "phone")))
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


@pytest.mark.parametrize(
    ("light", "dark"), some([("light", "dark"), ("phone", "dark phone")], lambda views: "light" in views)
)
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
