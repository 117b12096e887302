"""Public names are documented: every parameter, what is returned, and an example that runs; each prints on one line."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from dataclasses import replace
from enum import Enum
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

import headcount as hc
import headcount_service as client
from headcount import testing
from headcount.cli.posing import posing
from headcount.public import SHADOWING
from headcount.questions import QUESTIONS

PUBLIC = {name: getattr(hc, name) for name in (*hc.__all__, *SHADOWING)} | {
    f"client.{name}": getattr(client, name) for name in client.__all__
}
DOCUMENTED = {
    name: thing
    for name, thing in PUBLIC.items()
    if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__ != "headcount.errors"
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SECTION = re.compile(r"^(\w+)\n-{3,}$", re.MULTILINE)


def _lacking(thing: type | object) -> list[str]:
    """What a reader of its docstring would miss."""
    text = inspect.getdoc(thing) or ""
    abstract = inspect.isclass(thing) and (inspect.isabstract(thing) or issubclass(thing, Enum | dict))
    taken = [] if abstract else [name.lstrip("*") for name in inspect.signature(thing).parameters]  # type: ignore[arg-type]
    found = SECTION.findall(text)
    told = " ".join(re.findall(r"^([*\w, ]+?)(?: :.*)?$", text, re.MULTILINE))
    wanted = ["Returns"] if inspect.isfunction(thing) else []
    lacking = [name for name in taken if not re.search(rf"\b{name}\b", told)]
    return [*lacking, *(name for name in wanted if name not in found)]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_parameter_and_result_is_documented(name: str) -> None:
    assert _lacking(DOCUMENTED[name]) == []


def _incomplete(here: int, there: int) -> int:
    """Sum.

    Parameters
    ----------
    here : int
        The one.
    """
    return here + there


def test_what_is_not_documented_is_noticed() -> None:
    assert _lacking(_incomplete) == ["there", "Returns"]


MEMBERS = re.findall(
    r"^\.\. autoclass:: ([\w.]+).*\n   :members: (.+)$",
    (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def _methods() -> dict[str, object]:
    """The methods and properties that the page of the API lists, by name; fields stand under Parameters."""
    places = [path.rpartition(".") for path, _ in MEMBERS]
    kinds = [getattr(importlib.import_module(module), name) for module, _, name in places]
    listed = [(kind, name) for kind, (_, names) in zip(kinds, MEMBERS, strict=True) for name in names.split(", ")]
    found = {f"{kind.__name__}.{name}": inspect.getattr_static(kind, name, None) for kind, name in listed}
    return {name: member for name, member in found.items() if member is not None}


def _unexplained(member: object) -> bool:
    """Whether it has no docstring, or parameters that this does not document."""
    function = getattr(member, "__func__", getattr(member, "fget", None) or member)
    told = inspect.cleandoc(getattr(function, "__doc__", None) or "")
    taken = inspect.signature(function).parameters if inspect.isfunction(function) else {}
    return not told or ("Parameters" not in SECTION.findall(told) and not {*taken} <= {"self", "cls"})


def test_methods_on_the_page_of_the_api_are_documented() -> None:
    methods = _methods()
    assert len(methods) > 90
    assert [name for name, member in methods.items() if _unexplained(member)] == []


def test_a_method_without_its_parameters_is_noticed() -> None:
    assert _unexplained(property(lambda _: 0))
    assert _unexplained(re.sub)
    assert not _unexplained(_incomplete)


def _examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    modules = {inspect.getmodule(thing) for thing in DOCUMENTED.values()} | {testing}
    found = [test for module in modules if isinstance(module, ModuleType) for test in finder.find(module, globs={})]
    return sorted(found, key=lambda test: test.name)


@pytest.mark.parametrize("example", [test for test in _examples() if test.examples], ids=lambda test: test.name)
def test_examples_in_docstrings_run(example: doctest.DocTest, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    example.globs = {"hc": hc}
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.append)
    assert said == []


def test_a_wrong_example_is_noticed() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> hc.Crowd(5)\nCrowd(6)\n", {"hc": hc}, "wrong", None, 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(wrong, out=said.append)
    assert "Crowd(5)" in "".join(said)


def test_every_question_takes_the_same_options_as_ask() -> None:
    asked = inspect.signature(hc.ask).parameters
    options = {name: asked[name].annotation for name in asked if name not in ("data", "question", "epsilon")}
    assert hc.Options.__annotations__.keys() == options.keys()
    assert {name: kind.__forward_arg__ for name, kind in hc.Options.__annotations__.items()} == options
    for name in ("count", "fraction", "histogram", "sum", "mean"):
        taken = inspect.signature(getattr(hc, name)).parameters
        assert taken["options"].annotation == "Unpack[Options]"
        assert not set(taken) & set(options)


def test_classes_with_a_constructor_have_an_example() -> None:
    names = {test.name.rpartition(".")[2] for test in _examples() if test.examples}
    kept = {"Receipt", "Operator"}  # which only a collection makes: docs/operator.md
    assert {thing.__name__ for thing in DOCUMENTED.values()} - names == kept


@pytest.mark.parametrize("kind", QUESTIONS.values())
def test_a_command_shows_no_section_of_a_docstring(kind: type) -> None:
    told = posing(kind, lambda _: None).__doc__ or ""
    whole = inspect.getdoc(kind) or ""
    assert whole.startswith(told)
    assert (bool(told), SECTION.findall(told)) == (True, [])
    assert SECTION.findall(whole) != []


PROTOCOL = hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6)
ANSWERS = [1] * 300 + [0] * 700


def _things() -> list[object]:
    batch = PROTOCOL.randomise(ANSWERS)
    tally = PROTOCOL.tally(batch)
    advice = hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6, models="shuffle")
    certificate = hc.certify(advice)
    label = ["a"] * 600 + ["b"] * 400
    frame = {"plan": label, "churned": ANSWERS}
    asked = {"epsilon": 1, "model": "central"}
    cells = hc.histogram(label, categories=["a", "b"], **asked)
    rates = hc.fraction(frame, column="churned", by="plan", categories=["a", "b"], **asked)
    table = hc.table(frame, columns={"plan": ["a", "b"], "churned": 2}, **asked)
    spread = hc.distribution(ANSWERS, bounds=(0, 2), bins=16, **asked)
    again = [hc.count(ANSWERS, **asked) for _ in range(2)]
    return [
        cells.top(1), cells.linear([1, 0]), rates, table, table["plan"], table.rate(of={"plan": "a"}), spread,
        spread.quantile(0.4), again[1] - again[0], again[1] / again[0], replace(again[0], habit="2 questions; more"),
        hc.histogram(label, categories=["a", "b"], **asked) - cells, advice["zsum"],
        hc.randomiser([[0.7, 0.3], [0.3, 0.7]]),
        *hc.Model, *hc.Neighbours, hc.Budget(1, 1e-6), hc.Crowd(10, least=8), hc.SecretCoins(), hc.SeededCoins(1),
        hc.Count(), hc.Fraction(), hc.Sum((0, 1)), hc.Mean((0, 1)), hc.Histogram(["a", "b"]), hc.Histogram(),
        PROTOCOL, batch, tally, PROTOCOL.loss, PROTOCOL.estimate(PROTOCOL.release(tally)), advice, advice.best,
        hc.histogram(label, categories=["a", "b"], epsilon=1, delta=1e-6), PROTOCOL.simulate(ANSWERS, runs=5),
        certificate, hc.verify(certificate), hc.compose([PROTOCOL.loss] * 2), hc.Ledger(epsilon=1),
        hc.attack(hc.protocol("cheu-count", n=6, lam=3), samples=1_000), hc.compare(ANSWERS, epsilon=1, delta=1e-6),
        hc.frontier("count", n=1_000, epsilon=1, delta=1e-6, protocols="zsum"),
        hc.map(epsilon=1, delta=1e-6, points=2, protocols=["zsum"]), client.Limits(),
        client.Remote("https://shuffler.example", "secret"),
    ]  # fmt: skip


def _readable(text: str) -> bool:
    return "\n" not in text and len(text) <= 200 and " object at 0x" not in text and "array(" not in text


def test_everything_public_prints_on_one_readable_line() -> None:
    assert [repr(thing) for thing in _things() if not _readable(repr(thing))] == []
    assert "secret" not in repr(client.Remote("https://shuffler.example", "secret"))


class _Closed(HTMLParser):
    """Whether every tag is closed by its own, and which there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.seen: set[str] = set()
        self.wrong = False
        self.feed(text)
        self.sound = not self.opened and not self.wrong

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        self.opened += [] if tag == "br" else [tag]

    def handle_endtag(self, tag: str) -> None:
        self.wrong |= not self.opened or self.opened.pop() != tag


def _tables() -> list[object]:
    ledger = hc.Ledger(epsilon=4, delta=1e-5)
    return [
        hc.histogram(["<b>"] * 600 + ["&"] * 400, categories=["<b>", "&"], epsilon=1, delta=1e-6, ledger=ledger),
        hc.advise("count", n=1_000, epsilon=1, delta=1e-6, models="shuffle"),
        hc.compare(ANSWERS, epsilon=1),
        hc.frontier("count", n=1_000, epsilon=1, delta=1e-6, protocols="zsum"),
        hc.map(epsilon=1, delta=1e-6, points=2, protocols=["zsum"]),
        ledger,
    ]


def test_tables_are_tables_in_a_notebook() -> None:
    for thing in _tables():
        page = _Closed(thing._repr_html_())  # type: ignore[attr-defined]
        assert page.sound, thing
        assert {"table", "tr", "th", "td"} <= page.seen, thing
        assert "b" not in page.seen, thing


def test_a_question_prints_what_was_said_of_it() -> None:
    said = [hc.Count(), hc.Sum((0, 1)), hc.Mean.whole((0, 9), clip=True), hc.Histogram(["a", "b"], other=True)]
    assert [repr(question) for question in said] == [
        "Count()",
        "Sum(bounds=(0.0, 1.0))",
        "Mean(bounds=(0.0, 9.0), steps=9, clip=True)",
        "Histogram(categories=('a', 'b'), other=True)",
    ]


@pytest.mark.parametrize("text", ["<table><tr></table></tr>", "<div>", "</p>"])
def test_a_tag_that_is_not_closed_is_noticed(text: str) -> None:
    assert not _Closed(text).sound


@pytest.mark.parametrize(
    "bad", [object(), hc.protocol("zsum", n=5, gamma=0.1).randomise([1] * 5).messages, "two\nlines"]
)
def test_what_is_not_readable_is_noticed(bad: object) -> None:
    assert not _readable(str(bad) if isinstance(bad, str) else repr(bad))
