"""Refusals and advice in the words of a command: its own options, and values as they are typed."""

import pickle
import re

import pytest
import typer

from headcount.cli.main import app
from headcount.cli.spelling import Flags
from headcount.errors import BadArgument, Infeasible, Refused
from headcount.phrases import Aside, Phrase, packed, said, setting, unpacked

ADVISE = Flags(typer.main.get_command(app).commands["advise"].commands["histogram"])
SUM = Flags(typer.main.get_command(app).commands["sum"])


@pytest.mark.parametrize(
    ("name", "value", "python", "typed"),
    [
        ("delta", 1, "delta=1", "--delta 1"),
        ("delta", 1e-7, "delta=1e-7", "--delta 1e-7"),
        ("least", ..., "least=", "--least"),
        ("max_messages", 1.1, "max_messages=1.1", "--max-messages 1.1"),
        ("models", "central", "models='central'", "--model central"),
        ("bounds", (0, 120), "bounds=(0, 120)", "--bounds 0 120"),
        ("bins", [0, 18, 65.5], "bins=[0, 18, 65.5]", "--bins 0,18,65.5"),
        ("categories", ["a", "b"], "categories=['a', 'b']", "--categories a,b"),
        ("ones", {0: 90, 500: 10}, "ones={0: 90, 500: 10}", "--ones 0:90,500:10"),
        ("categories", {"plan": ["a", "b"]}, "categories={'plan': ['a', 'b']}", "--categories plan=a,b"),
        ("other", True, "other=True", "--other"),
        ("other", False, "other=False", "--no-other"),
        ("collected", False, "collected=False", "no --collected"),
        ("where", "yes", "where='yes'", "--where yes"),  # an option of another command
    ],
)
def test_an_argument_is_written_as_in_python_and_as_an_option(name, value, python, typed):
    found = setting(name, value)
    assert (str(found), found.said(ADVISE)) == (python, typed)


def test_a_refusal_has_its_argument_problem_and_remedy_apart():
    refusal = BadArgument("max_messages", "is 0", Phrase("use {max_messages} or {delta}", max_messages=2, delta=1e-6))
    assert (refusal.argument, refusal.problem, refusal.remedy) == (
        "max_messages", "is 0", "use max_messages=2 or delta=1e-6",
    )  # fmt: skip
    assert str(refusal) == "max_messages is 0; use max_messages=2 or delta=1e-6"
    assert refusal.said(ADVISE) == "--max-messages is 0; use --max-messages 2 or --delta 1e-6"
    assert refusal.said(SUM) == "max messages is 0; use --max-messages 2 or --delta 1e-6"


def test_the_reason_leaves_out_whose_it_is():
    refusal = Infeasible("cannot give delta = 0", setting("delta", 1e-6), protocol="zsum")
    assert str(refusal) == "zsum cannot give delta = 0; delta=1e-6"
    assert refusal.reason.said(ADVISE) == "cannot give delta = 0; --delta 1e-6"
    assert str(Refused("it cannot be done")) == "it cannot be done"


def test_an_aside_is_left_out_where_nobody_could_act_on_it():
    text = Phrase("nothing is released{}.", Aside(" (plan with a smaller {least})"))
    assert text == "nothing is released (plan with a smaller least=)."
    assert text.said(ADVISE) == "nothing is released (plan with a smaller --least)."
    assert text.said(SUM) == "nothing is released."


@pytest.mark.parametrize("text", [
    "plain {text}", Phrase("use {}, or {ones}", Aside("{bounds}", bounds=(0, 1)), ones={0: 1}),
    BadArgument("delta", "is {0}", setting("delta", 1e-6)).reason,
])  # fmt: skip
def test_phrases_travel(text):
    for again in (unpacked(packed(text)), pickle.loads(pickle.dumps(text))):
        assert again == text
        assert said(again, ADVISE) == said(text, ADVISE)


def test_text_in_braces_is_not_taken_for_an_argument():
    """A problem may quote what somebody typed."""
    refusal = BadArgument("n", "is '{delta}'", "use a number")
    assert refusal.said(ADVISE) == "--n is '{delta}'; use a number"


def test_every_option_of_advice_keeps_python_out_of_the_command_line():
    """Whatever is named by a phrase and is an option of the command is written as one."""
    for name in ("n", "epsilon", "delta", "ones", "models", "least", "corrupt", "honest", "objective", "within"):
        assert re.fullmatch(r"--[a-z]+", ADVISE.argument(name))
