"""What is written about the service is true: every test that is named exists, and nothing is left out of the tables."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from headcount_service import party
from headcount_service.client.device import Limits
from headcount_service.runtime.metrics import ANALYSERS, REPORTS, SHUFFLERS, Metrics
from headcount_service.runtime.tokens import ROLES
from headcount_service.shuffler.intake import WAITING
from headcount_service.shuffler.outer_keys import GRACE, LIFETIME, MOST
from headcount_service.wire.collection import Shortfall

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "service" / "src" / "headcount_service"
MODEL = (ROOT / "THREATMODEL.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "operator.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`((?:tests|docs)/[\w/]+\.py)::(\w+)`")


def missing(text):
    """Tests that are named and do not exist."""
    return [
        f"{path}::{name}"
        for path, name in NAMED.findall(text)
        if not (ROOT / path).exists() or f"\ndef {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]


def bare(text):
    """Promises that name no test."""
    promises = re.findall(r"^- \*\*.*\n(?:  .*\n)*", text, re.MULTILINE)
    assert len(promises) > 25
    return [promise for promise in promises if not NAMED.search(promise)]


def test_every_promise_names_tests_and_they_exist():
    assert len(NAMED.findall(MODEL)) > 30
    assert missing(MODEL) == []
    assert bare(MODEL) == []
    attacks = MODEL.partition("| attack or fault | tests |\n|---|---|\n")[2].splitlines()
    assert len(attacks) > 30
    assert [attack for attack in attacks if not NAMED.search(attack)] == []


def test_twins_of_the_model_are_caught():
    once = "test_promises.py::test_tokens_are_kept_as_hashes`"
    broken = MODEL.replace(once, "test_promises.py::test_tokens_are_kept_as_they_are`")
    assert missing(broken) == ["tests/service/test_promises.py::test_tokens_are_kept_as_they_are"]
    broken = MODEL.replace("`tests/service/test_promises.py::test_tokens_are_kept_as_hashes`", "the tests")
    assert len(bare(broken)) == 1


def test_every_test_of_a_promise_is_named_in_the_model():
    own = (ROOT / "tests" / "service" / "test_promises.py").read_text(encoding="utf-8")
    assert set(re.findall(r"^def (test_\w+)", own, re.MULTILINE)) == {
        name for path, name in NAMED.findall(MODEL) if path.endswith("test_promises.py")
    }


def test_the_documents_refer_to_each_other():
    assert "(KNOWN_ISSUES.md)" in MODEL
    for name in ("SECURITY.md", "KNOWN_ISSUES.md"):
        assert "(THREATMODEL.md)" in (ROOT / name).read_text(encoding="utf-8")
    assert "(KNOWN_ISSUES.md)" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def told(*names):
    return [name for name in names if f"`{name}`" not in GUIDE]


def shown(party, figures):
    """Every series of a party."""
    metrics = Metrics(party)
    metrics.count_answer("/live", 200)
    metrics.count_step("done")
    metrics.set_batches(dict.fromkeys(REPORTS, 0))
    for figure in figures:
        metrics.set(figure, 1.0)
    return [line for line in metrics.page().decode().splitlines() if not line.startswith("#")]


def test_the_guide_has_every_series():
    lines = [*shown("shuffler", SHUFFLERS), *shown("analyser", ANALYSERS)]
    assert len(lines) == 2 * (2 + 2 + len(REPORTS)) + len(SHUFFLERS) + len(ANALYSERS)
    assert told(*{re.split(r"[{ ]", line)[0] for line in lines}) == []
    assert told(*{label for line in lines for label in re.findall(r"(\w+)=", line)}) == []
    assert told(*REPORTS) == []


def test_the_guide_has_every_event_and_its_fields():
    source = "".join(path.read_text(encoding="utf-8") for path in SERVICE.rglob("*.py"))
    events = re.findall(r"^ +log\(\"([\w ]+)\", (.*)\)$", source, re.MULTILINE)
    assert len(events) == source.count(' log("') >= 5
    for event, given in events:
        row = next(line for line in GUIDE.splitlines() if line.startswith(f"| `{event}` |"))
        assert [name for name in re.findall(r"(\w+)=", given) if f"`{name}`" not in row] == []


@pytest.mark.parametrize(
    "names",
    [
        party.KNOWN,
        {name for roles in ROLES.values() for name in roles},
        set(Shortfall),
        {f.name for f in fields(Limits)},
    ],
    ids=["settings", "roles", "shortfalls", "limits"],
)
def test_the_guide_leaves_nothing_out(names):
    assert told(*map(str, names)) == []


def test_the_guide_has_every_variable_of_the_environment():
    assert told(*(f"{party.PREFIX}{name.upper()}" for name in party.KNOWN - {"party"})) == []


def test_the_guide_has_the_states_of_a_batch():
    schema = SERVICE / "store" / "migrations"
    steps = "".join(path.read_text(encoding="utf-8") for path in schema.glob("*/v*.py"))
    states = [re.findall(r"'(\w+)'", found) for found in re.findall(r"state IN \(([^)]*delivered[^)]*)\)", steps)]
    assert len(states) >= 2
    assert told(*{state for each in states for state in each}) == []


def test_the_guide_has_the_right_figures():
    guide = " ".join(GUIDE.split())
    assert f"announced for {LIFETIME // 86_400} days" in guide
    assert (GRACE, MOST, WAITING) == (2 * 86_400, 255, 512)
    assert "two more days" in guide
    assert "There are 255 numbers in all" in guide
    assert "near 512" in guide
    limits = Limits()
    assert (limits.epsilon, limits.delta, limits.least) == (2, 1e-4, 100)
    assert (limits.lifetime_epsilon, limits.lifetime_delta) == (10, 1e-3)
