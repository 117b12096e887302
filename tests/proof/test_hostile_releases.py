"""Whoever signs a release with a key of their own chooses every number in it: to check it ends, and takes little."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from forged import signed as hashed
from test_effort import HUGE, POINTS, certificate, counted, emit, every, maybe

import headcount as hc
from cli.shell import headcount as shell
from headcount.cli.main import FAULT
from headcount.common.canonical import canonical
from headcount_service.wire.keys import Signer
from headcount_service.wire.signed_release import Released
from stress import lengths

EFFORT = 20_000
MOST_CALLS = 3_000_000
SIGNER = Signer(Ed25519PrivateKey.generate())
FORMS = [10**12, 1 << 200, -(10**12), 10**400, 1e308, "1e999999999", "9" * 5_000, "\x1b[31m", [], {}, None, True]


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    """What an analyser would have signed."""
    plan = hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6, protocols="zsum").best
    proof = hc.certify(plan).to_json()
    claim = proof["claim"]
    estimate = {
        "value": 10.0,
        "interval95": [1.0, 20.0],
        "clipped_to": None,
        "epsilon": float(claim["epsilon"]),
        "delta": _exact(claim["delta"]),
        "protocol": proof["protocol"],
        "model": proof["model"],
        "neighbours": proof["neighbours"],
        "accounting": claim["accounting"],
    }
    own = {"question": "Which?", "people": 1_000, "added": 0, "analyser": SIGNER.public}
    looks = {"unreadable": 0, "plausible": 1_000, "corrupt": 0, "admission": "invited", "fixed": True, "early": False}
    return {**own, **looks, "estimate": estimate, "certificate": proof}


def _exact(text: str) -> float:
    number = float(Fraction(text))
    assert Fraction(number) == Fraction(text)
    return number


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All of them, of long lists the first and the last."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*path, key))
    elif isinstance(value, list) and value:
        for at in sorted({0, len(value) - 1}):
            yield from places(value[at], (*path, at))
    else:
        yield path


def changed(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """The release with this value at this place, hashed and signed again."""
    copied = json.loads(json.dumps(content))
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if path[0] == "certificate" and path[-1] != "hash":
        copied["certificate"] = hashed(copied["certificate"])
    return SIGNER.signed("release", copied)


def verified(content: Any, folder: Path) -> int:
    """What the command ends with; an error of its own if it does more than it may."""
    file = folder / "release.json"
    file.write_text(canonical(content))
    with counted(MOST_CALLS):
        done = shell("verify", file, "--effort", EFFORT)
    assert "\x1b" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode


def test_the_honest_one_is_believed(honest: dict[str, Any], tmp_path: Path) -> None:
    release = SIGNER.signed("release", honest)
    assert Released(release).analyser == SIGNER.public
    file = tmp_path / "release.json"
    file.write_text(canonical(release))
    assert shell("verify", file).returncode == 0


@lengths("some", 31, 1)
def test_no_part_of_a_signed_release_buys_work_or_crashes(honest: dict[str, Any], tmp_path: Path, some: int) -> None:
    """Every part is replaced by enormous, wrong and hostile ones: an answer is given each time."""
    cases = [(path, value) for path in places(honest) for value in FORMS]
    assert len(cases) > 400
    codes = set()
    for path, value in cases[::some]:
        try:
            content = changed(honest, path, value)
        except (ValueError, TypeError, AttributeError, KeyError):
            continue  # nobody could have hashed and signed this
        code = verified(content, tmp_path)
        assert code in (0, 1, 2, 3), (path, code)
        codes.add(code)
    assert {2, 3} <= codes


def test_a_signed_certificate_with_enormous_numbers_ends(honest: dict[str, Any], tmp_path: Path) -> None:
    report = maybe(POINTS[0][1], emit(["-", 1, {"name": "value"}]), emit({"name": "value"}))
    large = certificate(points=POINTS, report=every(report), people=HUGE, protocol="zsum")
    claim = large["claim"]
    estimate = {**honest["estimate"], "epsilon": 1, "delta": 0.01, "model": "shuffle", "neighbours": "replace"}
    content = {**honest, "estimate": estimate, "certificate": large, "people": HUGE}
    assert claim["epsilon"] == "1"
    assert verified(SIGNER.signed("release", content), tmp_path) in (2, 3)


def test_work_that_is_not_paid_for_is_found_out(
    honest: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin: a reader that goes through as many steps as a number says."""

    def slow(self: Released) -> bool:
        return sum(int(bool(step)) for step in range(self.content["people"])) > 0

    monkeypatch.setattr(Released, "_agrees", slow)
    assert verified(changed(honest, ("people",), 10**9), tmp_path) == FAULT
