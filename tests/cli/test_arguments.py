"""Options that are left out, misspelt or of another kind: always one refusal in the words of the shell."""

import contextlib
import io
import re
import sys

import pytest
import typer

from headcount.cli import main as command_line
from headcount.cli.main import app
from stress import lengths

BUDGET = ("--epsilon", "1", "--delta", "1e-6")
LEFT, SPEND = ("--column", "left"), ("--column", "spend", "--bounds", "0", "30")
PEOPLE = "people.csv"
ROUNDS = ("--time", "day", "--unit", "who", "--first", "2026-01-05", "--rounds", "3")
COMMANDS = {  # each with what it needs
    ("count",): (PEOPLE, *LEFT, *BUDGET),
    ("fraction",): (PEOPLE, *LEFT, *BUDGET),
    ("histogram",): (PEOPLE, "--column", "plan", "--categories", "a,b,c", *BUDGET),
    ("sum",): (PEOPLE, *SPEND, *BUDGET),
    ("mean",): (PEOPLE, *SPEND, *BUDGET),
    ("distribution",): (PEOPLE, *SPEND, *BUDGET),
    ("quantile",): (PEOPLE, *SPEND, *BUDGET),
    ("table",): (PEOPLE, "--columns", "plan=a,b,c", *BUDGET),
    ("series",): (PEOPLE, *LEFT, *ROUNDS, *BUDGET),
    ("compare",): (PEOPLE, *LEFT, *BUDGET),
    ("difference",): ("one.json", "two.json"),
    ("ratio",): ("one.json",),
    ("ledger", "create"): ("new.ledger", "--epsilon", "1"),
    ("ledger", "show"): ("no.ledger",),
    ("ledger", "verify"): ("no.ledger",),
    ("ledger", "cost"): ("no.ledger", "no.json"),
    ("advise", "count"): ("--n", "1000", "--model", "central", *BUDGET),
    ("advise", "mean"): ("--n", "1000", "--bounds", "0", "9", "--model", "central", *BUDGET),
    ("price",): ("zsum", "--n", "1000", *BUDGET),
    ("protocols",): (),
    ("explain",): ("rmse",),
    ("run",): ("no.json", PEOPLE),
    ("certify",): ("zsum", "--n", "100", *BUDGET),
    ("verify",): ("no.json",),
    ("export",): ("no.json",),
}
QUICK = ["0,2", "-1", "nobody"]
EVERY = [*QUICK, "0", "nan", "", "30:0"]
WRITES = {"help", "plot", "witness", "out", "save"}
PYTHON = re.compile(r"Traceback|Error\(|hc\.|\w=['\[(]|=True|=False|NoneType|programme's own")


@pytest.fixture(autouse=True)
def a_folder_with_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rows = (f"{n},{'abc'[n % 3]},{n % 2},{n % 30},2026-01-{5 + n % 20:02}\n" for n in range(60))
    (tmp_path / PEOPLE).write_text("who,plan,left,spend,day\n" + "".join(rows))


def told(monkeypatch, *words):
    """The exit code and what is said on standard error, in this process."""
    said, code = io.StringIO(), 0
    monkeypatch.setattr(sys, "argv", ["headcount", *words])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            command_line.main()
        except SystemExit as end:
            code = end.code or 0
    return code, " ".join(said.getvalue().split())


def command(path):
    found = typer.main.get_command(app)
    for word in path:
        found = found.commands[word]
    return found


def options(words):
    """The words in pieces: an option with its values, or a word that stands alone."""
    pieces = []
    for word in words:
        if word.startswith("--") or not pieces or not pieces[-1][0].startswith("--"):
            pieces.append([word])
        else:
            pieces[-1].append(word)
    return pieces


def check(answer, words):
    code, said = answer
    assert code in (0, 2), (words, said)
    assert code == 0 or said, words
    assert not PYTHON.search(said), (words, said)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_what_is_left_out_is_named(path, monkeypatch):
    pieces = options(COMMANDS[path])
    for left in pieces:
        rest = [word for piece in pieces if piece is not left for word in piece]
        answer = told(monkeypatch, *path, *rest)
        check(answer, rest)
        needed = {name for option in command(path).params if option.required for name in option.opts}
        if left[0] in needed:
            assert f"{left[0]} is missing; " in answer[1]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_misspelt_option_is_named_with_the_nearest(path, monkeypatch):
    if path == ("explain",):  # options are words, too
        return
    code, said = told(monkeypatch, *path, *COMMANDS[path], "--epsilonn", "1")
    assert code == 2
    assert "No such option: --epsilonn" in said
    if "--epsilon" in COMMANDS[path]:
        assert re.search(r"(Did you mean|Possible options:)[│ ]+--epsilon\b", said)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
@lengths("values", QUICK, EVERY)
def test_what_an_option_cannot_be_is_refused_in_the_words_of_the_shell(path, values, monkeypatch):
    pieces = options(COMMANDS[path])
    every = [each for each in command(path).params if each.param_type_name == "option" and each.name not in WRITES]
    for option in every if values is EVERY else [each for each in every if each.required]:
        if option.is_flag:
            continue
        rest = [word for piece in pieces if piece[0] not in option.opts for word in piece]
        for value in values:
            words = (*path, *rest, option.opts[0], *[value] * option.nargs)
            check(told(monkeypatch, *words), words)
        if option.nargs == 2:
            words = (*path, *rest, option.opts[0], "30", "0")
            code, said = told(monkeypatch, *words)
            assert code == 2
            assert option.opts[0] in said or not option.required  # another option may be what does not fit it


def test_every_command_of_ours_is_gone_through():
    groups = {"ledger", "advise", "frontier"}
    own = {
        name for name, place in type(typer.main.get_command(app)).panels.items() for name in place if "." in place[name]
    }
    assert own - groups - {path[0] for path in COMMANDS} == {"map"}


@pytest.mark.parametrize("said", ["use neighbours='add-remove'", "mean() missing: TypeError(", "give hc.Count()"])
def test_words_of_python_are_noticed(said):
    with pytest.raises(AssertionError):
        check((2, said), ())
