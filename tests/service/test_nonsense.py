"""Whatever a server answers, a command ends in words that show no value: no variable, no answer, no escape code."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
import typer
from nonsense import SPOILT, between
from rig import Rig, plan
from serving import Served

import headcount
import headcount_service
import needs
from cli.shell import alone
from cli.shell import headcount as shell
from headcount.cli import main as command_line
from headcount.cli.render import Format, show
from headcount.common.canonical import canonical
from headcount.common.printable import printable
from headcount.privacy.budget import Budget
from headcount_service.cli.collection import given_or_read
from headcount_service.operator.operator import Operator
from headcount_service.wire import http_client as remote
from headcount_service.wire.schemas import SCHEMAS
from headcount_service.wire.validation import ANSWERS, fits, form_of
from stress import STRESS, lengths

CANARY = "11"  # the bucket that is answered: the last of twelve
HELD = "canary-of-an-answer"
REPORT = ("collection", "report", "{name}", "--answer", CANARY, "--least", "1", "--device", "{device}")
COMMANDS = {
    "desk": (
        "desk",
        "{new}",
        "--shuffler",
        "{shuffler}",
        "--shuffler-token",
        "{tokens}/shuffler",
        "--analyser",
        "{analyser}",
        "--analyser-token",
        "{tokens}/analyser",
    ),
    "ledger create": ("ledger", "create", "others {number}", "--epsilon", "1", "--delta", "0", "--data", "{desk}"),
    "ledger show": ("ledger", "show", "people", "--data", "{desk}"),
    "ledger verify": ("ledger", "verify", "people", "--data", "{desk}"),
    "ledger cost": ("ledger", "cost", "people", "{plan}", "--data", "{desk}"),
    "collection create": ("collection", "create", "{plan}", "--data", "{desk}", "--question", "Which?"),
    "collection show": ("collection", "show", "--data", "{desk}"),
    "collection report": (*REPORT, "--data", "{desk}"),
    "collection report, without a desk": (*REPORT, "--shuffler", "{shuffler}"),
    "collection report, by many": (*REPORT[:5], "--data", "{desk}", "--devices", "2"),
    "collection report, by invitation": (
        *("collection", "report", "{invited}", *REPORT[3:], "--data", "{desk}"),
        *("--invitation", "{invitation}"),
    ),
    "collection invite": ("collection", "invite", "--data", "{desk}", "{invited}"),
    "collection close": ("collection", "close", "--data", "{desk}", "{other}"),
    "collection release": ("collection", "release", "--data", "{desk}", "{name}"),
    "collection series": ("collection", "series", "--data", "{desk}", "{weekly}", "--format", "json"),
    "collection destroy": ("collection", "destroy", "--data", "{desk}", "--yes", "{unknown}"),
}
LOCAL = {"serve", "batch shuffle", "batch analyse"}  # --data is a folder there, and nobody is asked


def _commands(group, before=()):
    for name in group.commands:
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from _commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), {flag for option in command.params for flag in option.opts}


def test_every_command_that_asks_a_server_is_tried():
    asking = {
        name
        for name, flags in _commands(typer.main.get_command(command_line.app))
        if flags & {"--data", "--shuffler", "--analyser"} and name not in LOCAL | {"party create"}
    }
    assert asking == {name.split(",")[0] for name in COMMANDS}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Both parties served, each behind somebody who may spoil an answer, and a collection that both have agreed on."""
    folder = tmp_path_factory.mktemp("nonsense")
    rig = Rig.made(folder / "parties")
    with ExitStack() as stack:
        served = stack.enter_context(Served(rig).running())
        spoilers = {role: stack.enter_context(between(served.ports[role])) for role in ("shuffler", "analyser")}
        addresses = {role: f"http://127.0.0.1:{port}" for role, (_, port) in spoilers.items()}
        tokens = {role: rig.tokens[role]["operator"] for role in spoilers}
        Operator.write(folder / "desk", **{role: (addresses[role], tokens[role]) for role in spoilers})
        (folder / "tokens").mkdir()
        for role, token in tokens.items():
            (folder / "tokens" / role).write_text(token)
        plan().save(folder / "plan.json")
        desk = Operator.open(folder / "desk")
        desk.endow("people", 50, 0)
        name, other, invited = (
            desk.create(plan(), question="Which?", population="people", window=3_600, admission=admission).id
            for admission in ("anyone", "anyone", "invited")
        )
        rounds = replace(plan(epsilon=0.5), budget=Budget(1, rounds=2))
        weekly = desk.create(
            rounds, question="Weekly?", population="people", window=3_600, batches=2, admission="anyone"
        )
        yield {
            "spoilers": {role: spoiler for role, (spoiler, _) in spoilers.items()},
            "folder": folder,
            "desk": folder / "desk",
            "plan": folder / "plan.json",
            "tokens": folder / "tokens",
            "name": name,
            "other": other,
            "invited": invited,
            "invitations": desk.invite(invited, 500),
            "weekly": weekly.id,
            "unknown": "0" * 32,
            **addresses,
        }


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(remote, "TRIES", 1)
    monkeypatch.setattr("headcount_service.operator.operator.PATIENCE", 20.0)


class Words:
    """A command, with a new folder, a new name and a new invitation each time."""

    number = 0

    @classmethod
    def of(cls, command, place):
        cls.number += 1
        new = {"new": place["folder"] / f"new{cls.number}", "device": place["folder"] / f"device{cls.number}"}
        new |= {"number": cls.number, "invitation": place["invitations"][cls.number % len(place["invitations"])]}
        return [word.format(**{**place, **new}) for word in COMMANDS[command]]


def judged(done):
    said = done.stdout + done.stderr
    assert done.returncode in (0, 2), said
    assert "Traceback" not in said
    assert "\x1b" not in said
    if done.returncode == 2:
        assert done.stderr.startswith("headcount: "), said
        assert CANARY not in done.stderr.replace("127.0.0.1", "").split(), said


@pytest.mark.parametrize("command", COMMANDS)
@lengths("kinds", ("other types within",), tuple(SPOILT))
def test_a_server_that_answers_nonsense_is_refused_in_words(place, command, kinds):
    refused = 0
    for spoiler in place["spoilers"].values():
        for kind in kinds:
            for at in range(6):
                spoiler.reset(at, SPOILT[kind])
                done = shell(*Words.of(command, place))
                reached, _ = spoiler.answers > at, spoiler.reset(None, SPOILT[kind])
                judged(done)
                refused += done.returncode == 2
                if not reached:
                    break
    assert refused, "somebody was believed every time"


@pytest.mark.parametrize("kind", ["an empty object", "a page", "no text", "a lot"])
def test_a_refusal_that_is_nonsense_is_one_line(place, kind):
    for status in (400, 500, 302):
        place["spoilers"]["shuffler"].reset(0, SPOILT[kind], status)
        done = shell(*Words.of("collection report", place))
        place["spoilers"]["shuffler"].reset(None, SPOILT[kind])
        judged(done)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert len(done.stderr) < 700


def test_the_words_of_a_server_are_shown_without_their_escape_codes(place):
    words = "red \x1b[31m\x1b]0;title\x07 \x9b2J \u202egnp " + "long " * 1_000
    place["spoilers"]["shuffler"].reset(0, lambda _: json.dumps({"error": words}).encode(), 409)
    done = shell(*Words.of("collection report", place))
    place["spoilers"]["shuffler"].reset(None, SPOILT["null"])
    judged(done)
    assert done.stderr.startswith("headcount: red \N{REPLACEMENT CHARACTER}[31m")
    assert printable(done.stderr, keep="\n") == done.stderr
    assert len(done.stderr) < 700


@pytest.mark.parametrize("how", Format)
def test_no_format_lets_an_escape_code_through(how, capsys):
    """Whatever a release or a state says: as a table, as JSON, as CSV and as Markdown."""
    said = "a\x1b[31mb\x9bc\u202ed\x07e\ud800f"
    show([{"question": said}], how, said)
    shown = capsys.readouterr().out
    assert printable(shown, keep="\r\n") == shown
    assert "a" in shown
    if how is Format.JSON:
        assert json.loads(shown) == [{"question": said}], "JSON still means what it meant"


def test_an_error_of_our_own_shows_where_and_no_value(monkeypatch, tmp_path):
    def broken(*_, **__):
        secret = {HELD: 1}
        raise KeyError(f"{HELD} {secret}")

    monkeypatch.setattr(Operator, "open", broken)
    done = shell("collection", "report", "--answer", HELD, "--data", tmp_path)
    assert done.returncode == command_line.FAULT
    assert "KeyError" in done.stderr
    assert "in broken" in done.stderr
    assert HELD not in done.stdout + done.stderr


def test_no_group_of_commands_prints_variables():
    assert command_line.app.pretty_exceptions_enable is False


CRASH = """
import sys
from headcount_service.client import device as client
def prepare(self, offer, name, answer, **given):
    kept = {"answer": answer}
    raise KeyError(answer)
client.Client.prepare = prepare
from headcount.cli.main import main
main()
"""


CODE = [str(Path(one.__file__).parents[1]) for one in (headcount, headcount_service)]


def crashed(place, path=""):
    """`collection report` in a process of its own, with an error of our own in the middle."""
    words = [HELD if word == CANARY else word for word in Words.of("collection report, without a desk", place)]
    given = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [path, *CODE]))}
    program = [sys.executable, "-c", CRASH, *words]
    return subprocess.run(program, capture_output=True, text=True, check=False, env=given)


def test_a_crash_in_a_process_of_its_own_shows_no_answer(place):
    done = crashed(place)
    assert done.returncode == command_line.FAULT, done.stderr
    assert HELD not in done.stdout + done.stderr


@STRESS
@pytest.mark.parametrize("typer_version", ["typer==0.16.0", "typer>=0.16"])
def test_no_allowed_typer_shows_an_answer(place, typer_version, tmp_path):
    wanted = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tmp_path), typer_version]
    if subprocess.run(wanted, check=False, capture_output=True).returncode:
        needs.absent("packages cannot be installed: other versions of typer are not tried")
    done = crashed(place, str(tmp_path))
    assert done.returncode == command_line.FAULT, done.stderr
    assert HELD not in done.stdout + done.stderr
    place["spoilers"]["shuffler"].reset(0, SPOILT["an empty object"])
    before, os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH", ""), os.pathsep.join([str(tmp_path), *CODE])
    try:
        done = alone(*Words.of("collection report, without a desk", place))
    finally:
        os.environ["PYTHONPATH"] = before
        place["spoilers"]["shuffler"].reset(None, SPOILT["null"])
    judged(done)


def test_an_answer_is_read_from_standard_input(place, monkeypatch):
    """Nobody sees it in the list of processes."""
    words = Words.of("collection report, without a desk", place)
    at = words.index("--answer")
    without = [*words[:at], *words[at + 2 :]]
    monkeypatch.setattr(sys, "stdin", StringIO("5\nnot read\n"))
    done = shell(*without)
    assert (done.returncode, "was taken" in done.stdout) == (0, True), done.stderr
    assert sys.stdin.read() == "not read\n"
    monkeypatch.setattr(sys, "stdin", StringIO(""))
    done = shell(*without)
    assert (done.returncode, "--answer is missing, and standard input is empty" in done.stderr) == (2, True)
    monkeypatch.setattr("headcount_service.cli.collection.getpass", lambda _: "7")
    terminal = StringIO("8\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert given_or_read(None) == "7", "on a terminal it is not shown"
    assert given_or_read("9") == "9"


# The forms of answers.


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_the_forms_of_answers_are_those_of_the_routes(parties):
    for party, app in parties.apps.items():
        routes = {
            f"{route.method} {route.pattern.pattern}": route.answer for route in app.routes if route.answer != "text"
        }
        assert len(routes) == len(ANSWERS[party])
        for route in app.routes:
            if route.answer != "text":
                path = route.path.replace("{collection}", "a" * 32).replace("{population}", "people")
                path = path.replace("{batch#}", "1").replace("{part#}", "2")
                assert form_of(party, route.method, path) is SCHEMAS[route.answer], route.path


@pytest.mark.parametrize(
    ("value", "form", "right"),
    [
        (1, {"type": "integer"}, True),
        (True, {"type": "integer"}, False),
        (1 << 60, {"type": "integer"}, False),
        (1.5, {"type": "number"}, True),
        (float("inf"), {"type": "number"}, False),
        (10**400, {"type": "number"}, False),
        (None, {"type": ["integer", "null"]}, True),
        ("x", {"type": ["integer", "null"]}, False),
        ("taken", {"type": "string", "enum": ["taken"]}, True),
        ("lost", {"type": "string", "enum": ["taken"]}, False),
        ([1, 2], {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}, True),
        ([1], {"type": "array", "items": {"type": "integer"}, "minItems": 2}, False),
        ({"a": 1, "new": 2}, {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, True),
        ({"a": "1"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, False),
        ({}, {"type": "object", "required": ["a"]}, False),
    ],
)
def test_what_fits_and_what_does_not(value, form, right):
    assert fits(value, form) is right
    assert canonical(form)
