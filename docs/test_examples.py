"""Every example in the documentation runs and prints what it says, up to the digits that chance decides."""

import gc
import re
import sys
from pathlib import Path

import pytest
from protocol_table import PAGE, written

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from examples import Beside, Example, Session, commands, examples, in_session, people_in, run_alone, shape
from protocol_pages import example as example_of

from headcount.protocols import CATALOGUE

DOCS = Path(__file__).parent
ROOT = DOCS.parent
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # which Spark leaves to the collector
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md")), ROOT / "CONTRIBUTING.md"]
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
ALONE = [
    pytest.param(example, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    if not in_session(text)
    for number, example in enumerate(examples(text))
]


@pytest.fixture(autouse=True)
def sockets_of_spark():
    """Examples run in this process; what Spark has left open is closed before the next test finds it."""
    yield
    if "pyspark" in sys.modules:
        gc.collect()


@pytest.mark.parametrize("example", ALONE)
def test_examples_run_by_themselves(example, tmp_path):
    people_in(tmp_path)
    printed = run_alone(example, tmp_path)
    if example.output is not None:
        assert shape(printed) == shape(example.output)


@pytest.mark.parametrize("name", [name for name, text in TEXTS.items() if in_session(text)])
def test_examples_of_a_session_run_one_after_the_other(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Beside(tmp_path) as beside:
        session = Session(beside)
        for example in examples(TEXTS[name]):
            printed = session.run(example)
            if example.output is not None:
                assert shape(printed) == shape(example.output), example.code


@pytest.mark.parametrize("protocol", CATALOGUE, ids=lambda protocol: protocol.name)
def test_the_example_of_every_protocol_runs(protocol):
    """What its page shows is printed when the page is made."""
    printed = Session().run(Example("python", example_of(protocol), None))
    assert f" {protocol.name}, n=2,000" in printed


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("signed by e7f1b6eef873", "signed by 123456789012"),
        ("hash 491ba5ab161a9d06", "hash 0e12345678901234"),
        ("open until 2026-11-16 18:35 UTC", "open until 2027-01-02 03:04 UTC"),
        ("took 0.8 s", "took 12.34 s"),
        ("delta 0.0001, rmse 3", "delta 9.99999e-05, rmse 3.00"),
        ("1,204 people, and then\nsome", "98 people, and\nthen some"),
    ],
    ids=["hash", "longer hash", "date and time", "duration", "last digit", "width"],
)
def test_pages_do_not_depend_on_it(shown, printed):
    """What another machine or day prints is the same page, and another word beside it is not."""
    assert shown != printed
    assert shape(shown) == shape(printed) != shape(f"{printed} more")
    first, *others = printed.split()
    assert shape(shown) != shape(" ".join([f"{first}x", *others]))


def test_twins_of_examples_are_caught(tmp_path, monkeypatch):
    """A wrong output, a failing command, a refusal that does not come, and a command that nobody knows."""
    monkeypatch.chdir(tmp_path)
    assert shape("1,204 people") == shape("98 people") != shape("98 persons")
    with pytest.raises(AssertionError, match="ended with 2, not 0"):
        Session().run(Example("console", "headcount explain nonsense\n", None))
    with pytest.raises(AssertionError, match="ended with 0, not 2"):
        run_alone(Example("console", "headcount explain delta  # refused\n", None), tmp_path)
    with pytest.raises(NameError, match="math"):
        run_alone(Example("python", "math.pi\n", None), tmp_path)
    with pytest.raises(AssertionError, match="ended with 1, not 0"):
        run_alone(Example("python", "if __name__ == '__main__':\n    math.pi\n", None), tmp_path)
    with pytest.raises(AssertionError, match="did not start"):
        run_alone(Example("console", "headcount serve &\n", None), tmp_path)
    with pytest.raises(ValueError, match="curl is no command"):
        list(commands("curl elsewhere"))


def test_the_page_of_the_catalogue_lists_it():
    text = PAGE.read_text(encoding="utf-8")
    assert text == written(text), "run python docs/protocol_table.py"


def leads_nowhere(text):
    targets = re.findall(r"(?:\]\(|src=\"|srcset=\")([\w./-]+)", text)
    return [target for target in targets if not (ROOT / target).exists()]


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.encode()) < 6_000
    assert leads_nowhere(text) == []
    assert leads_nowhere(text.replace("(docs/start.md)", "(docs/begin.md)")) == ["docs/begin.md"]
