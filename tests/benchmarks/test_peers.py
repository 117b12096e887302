"""Peers that answer, fail, fall silent or chatter; and reasons that give no machine away."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not BENCHMARKS.exists(), reason="benchmarks run on Linux, from a checkout"
)
FAKE = """
import os, time
PACKAGES = ("pip",)
print("chatter while importing")

def twice(job):
    print("chatter while working")
    return lambda: 2 * job["number"]

def refused(job):
    raise ValueError("cannot read /home/somebody/data.parquet")

def died(job):
    os._exit(3)

def slept(job):
    time.sleep(60)
"""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield __import__
    for name in set(sys.modules) - before:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def peer(modules: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    module, environments = modules("peer"), modules("environments")
    (tmp_path / "fake.py").write_text(FAKE)
    shutil.copy(BENCHMARKS / "peers" / "serving.py", tmp_path)

    class Here(environments.Environment):
        python = sys.executable

    monkeypatch.setattr(module, "PEERS", tmp_path)
    monkeypatch.setattr(module, "environment", Here)
    with module.Peer("fake", seconds=5.0) as process:
        process.module = module
        yield process


def test_a_peer_answers_as_often_as_asked_whatever_it_prints(peer: Any) -> None:
    answer = peer.ask("twice", number=21, runs=3, answers=True)
    assert answer["answers"] == [42.0] * 3
    assert len(answer["seconds"]) == 3
    assert answer["peak"] > 1e6
    assert list(answer["versions"]) == ["pip"]


def test_an_error_is_told_without_its_path_and_the_peer_goes_on(peer: Any) -> None:
    with pytest.raises(peer.module.NotMeasured, match=r"^ValueError: cannot read$"):
        peer.ask("refused")
    with pytest.raises(peer.module.NotMeasured, match="it has no mean"):
        peer.ask("mean")
    assert peer.ask("twice", number=1, answers=True)["answers"] == [2.0]


def test_a_peer_that_dies_is_not_asked_again(peer: Any) -> None:
    with pytest.raises(peer.module.NotMeasured, match="ended without an answer"):
        peer.ask("died")
    with pytest.raises(peer.module.NotMeasured, match="ended without an answer"):
        peer.ask("twice", number=1)


def test_a_peer_that_takes_too_long_is_stopped(peer: Any) -> None:
    peer.ask("twice", number=1)
    peer.seconds = 0.2
    with pytest.raises(peer.module.NotMeasured, match="stopped after 0 s"):
        peer.ask("slept")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "WARNING: Location 'file:///opt/simple/x/' is ignored\nERROR: Could not find a version that satisfies x\n"
            "ERROR: No matching distribution found for x==9\n",
            "No matching distribution found for x==9",
        ),
        ("error: command '/usr/bin/gcc' failed with exit code 1\n", "command '' failed with exit code 1"),
        ("ERROR: HTTPSConnectionPool(host='mirror.example', port=443): Read timed out.", "Read timed out"),
        ("ERROR: cannot get https://mirror.example/simple/x/ today", "cannot get today"),
        ("", "pip failed without a word"),
    ],
)
def test_the_reason_is_pips_last_and_gives_no_place_away(modules: Any, said: str, told: str) -> None:
    reason = modules("environments").complaint(said)
    assert told in reason
    assert not any(place in reason for place in ("mirror", "/opt", "/usr", "443"))


def test_every_peer_has_requirements_and_a_script(modules: Any) -> None:
    names = modules("environments").names()
    scripts = {path.stem for path in (BENCHMARKS / "peers").glob("*.py")} - {"serving"}
    assert names[0] == "headcount"
    assert set(names) == scripts
