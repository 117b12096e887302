"""Whoever writes a certificate chooses its numbers: a proof pays for its work first, and ends when nothing is left.

Work is counted in calls, not in seconds, so that a step which does not pay is found on every machine.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from forged import VALUE, certificate, chance, copies, each, emit, every, let, maybe, named, of, signed, table
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.proof import DEFAULT_EFFORT, Verdict, uniform_blanket, verify
from headcount.proof.programme import read
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol

EFFORT = 3_000
CALLS_A_UNIT, CALLS_TO_READ = 20, 60_000
MEMORY = 2 << 30
POINTS = [(Fraction(1), Fraction(1, 100))]
HALF = Fraction(1, 2)


class Unpaid(Exception):
    """More was done than was paid for."""


@contextmanager
def counted(most: int) -> Iterator[None]:
    """Refuses more calls of functions than that, and more than so much memory."""
    left = most

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        left -= event in ("call", "c_call")
        if left < 0:
            sys.setprofile(None)
            raise Unpaid

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def judged(content: dict[str, Any], effort: int = EFFORT) -> Verdict:
    """The verdict, if it was paid for."""
    with counted(CALLS_A_UNIT * effort + CALLS_TO_READ):
        return verify(content, effort)


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of numbers, and of integers that are written as text; of long lists the first and the last."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _numbers(part, (*path, key))
    elif isinstance(value, list):
        for place in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from _numbers(value[place], (*path, place))
    elif isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
        yield path


def _with(content: dict[str, Any], path: tuple[Any, ...], number: int) -> dict[str, Any]:
    changed = json.loads(json.dumps(content))
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = str(number) if isinstance(inner[path[-1]], str) else number
    return signed(changed)


def _smallest(kind: type[Protocol]) -> list[Protocol]:
    """A tiny protocol of each task."""
    return [*{tiny.task.name: tiny for tiny in kind.tinies()}.values()]


@pytest.mark.parametrize("kind", CATALOGUE, ids=lambda kind: kind.name)
def test_no_number_of_a_certificate_buys_work(kind: type[Protocol]) -> None:
    """Whatever number is enormous, there is an answer, and no more is done than was paid for."""
    for tiny in _smallest(kind):
        honest = of(tiny, POINTS)
        for path in _numbers({name: part for name, part in honest.items() if name != "hash"}):
            for number in (3_000_017, 10**12, 1 << 200):
                verdict = judged(_with(honest, path, number))
                assert verdict.effort <= EFFORT or verdict.answer == "cannot prove"


def _hashed(buckets: int, prime: int = 101) -> dict[str, Any]:
    """Hashed values, among hashes of nothing."""
    told = (["+", named("u"), 1], named("v"))
    bucket = ["%", ["%", ["+", ["*", told[0], VALUE], told[1]], prime], buckets]
    own = let("u", {"below": prime - 1}, let("v", {"below": prime}, emit(*told, bucket)))
    blank = let("w", {"below": buckets}, emit(["+", named("a"), 1], named("b"), named("w")))
    return every(own, copies(3, let("a", {"below": prime - 1}, let("b", {"below": prime}, blank))))


HUGE = 10**12
FLIP = Fraction(1, 4)
ENORMOUS: dict[str, dict[str, Any]] = {
    "buckets": {"report": _hashed(HUGE, 10**12 + 39), "people": 1_000},
    "people": {"report": maybe(FLIP, emit(["-", 1, VALUE]), emit(VALUE)), "people": HUGE},
    "more people than fit into a word": {
        "report": every(emit(VALUE), maybe(HALF, emit(0), every())),
        "people": 1 << 400,
    },
    "noise": {"report": every(emit(VALUE), *(maybe(HALF, emit(j), every()) for j in range(2))), "people": 10**9},
    "values": {"report": maybe(HALF, emit(0), emit(VALUE)), "values": HUGE, "model": "local"},
    "values of a sum": {"report": every(emit(["%", VALUE, 7])), "values": HUGE, "people": 9},
    "rounds": {"report": every(emit(VALUE), each("j", HUGE, maybe(HALF, emit(named("j")), every())))},
    "copies": {"report": every(emit(VALUE), copies(HUGE, maybe(HALF, emit(0), every())))},
    "nested copies": {
        "report": copies(1_000, copies(1_000, copies(1_000, copies(1_000, maybe(HALF, emit(0), emit(VALUE))))))
    },
    "nested rounds": {"report": each("a", 2_000, each("b", 2_000, each("c", 2_000, emit(VALUE))))},
    "draws": {"report": let("x", {"below": HUGE}, emit(["+", named("x"), VALUE])), "model": "local"},
    "shares": {"report": {"shares": VALUE, "modulus": HUGE, "count": HUGE}, "model": "local"},
    "a row": {"report": {"row": 1 << 17, "here": VALUE, "off": chance(HALF), "on": chance(FLIP)}, "values": 1 << 17},
    "a subset": {
        "report": {"subset": 1 << 17, "size": 1 << 16, "here": VALUE, "with": chance(HALF)},
        "values": 1 << 17,
    },
    "steps": {"report": let("x", {"round": VALUE, "from": HUGE, "to": HUGE - 1}, emit(named("x"))), "values": HUGE + 1},
    "bits": {
        "report": every(
            copies(["*", 10**9, VALUE], maybe(FLIP, emit(0), emit(1))),
            copies(["-", 10**9, ["*", 10**9, VALUE]], maybe(FLIP, emit(1), emit(0))),
        )
    },
    "a table of copies": {"report": copies(table(*[Fraction(1, 2_000)] * 2_000), maybe(HALF, emit(0), emit(VALUE)))},
    "a threshold": {
        "report": maybe(HALF, emit(VALUE), every()),
        "people": HUGE,
        "model": "shuffle-threshold",
        "release": {"threshold": HUGE // 2},
    },
    "messages": {
        "report": every(emit(VALUE), copies(table(HALF, HALF), copies(900, emit(0)))),
        "wire": {"messages": 1_000},
    },
    "ways to be hidden": {
        "report": every(emit(VALUE), *(maybe(Fraction(j + 1, 4_000), emit(j), every()) for j in range(2_000))),
        "values": 2_000,
    },
}


@pytest.mark.parametrize("name", ENORMOUS)
def test_an_enormous_certificate_ends(name: str) -> None:
    verdict = judged(certificate(points=POINTS, **ENORMOUS[name]), 20_000)
    assert verdict.answer == "cannot prove"


def _free(_units: int) -> None:
    """What paying is not."""


@pytest.mark.parametrize(
    ("modules", "name", "effort"),
    [
        ("noise_sources expression", "rounds", 20_000),
        ("noise_sources programme expression", "copies", 20_000),
        ("enumeration expression local compared_values", "values", 20_000),
        ("ball_laws", "noise", 20_000),
    ],
)
def test_a_step_that_does_not_pay_is_found_out(
    modules: str, name: str, effort: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twins: some modules forget to pay."""
    for module in modules.split():
        monkeypatch.setattr(f"headcount.proof.{module}.spend", _free)
    monkeypatch.setattr("headcount.proof.noise_sources.MOST_KINDS", HUGE)
    monkeypatch.setattr("headcount.proof.compared_values.MOST_CELLS", HUGE**2)
    with pytest.raises(Unpaid):
        judged(certificate(points=POINTS, **ENORMOUS[name]), effort)


@pytest.mark.parametrize(("prime", "buckets"), [(2, 1), (3, 2), (101, 1), (101, 7), (101, 101), (101, 1_000)])
def test_buckets_are_counted_without_going_through_them(prime: int, buckets: int) -> None:
    own, copied = read(_hashed(buckets, prime)).parts  # type: ignore[union-attr]
    residues = [sum(residue % buckets == bucket for residue in range(prime)) for bucket in range(buckets)]
    shared = Fraction(sum(m * (m - 1) for m in residues), prime * (prime - 1))
    assert uniform_blanket._hashed(own, copied.step, 2) == (Fraction(1, buckets), shared)


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    return hc.certify(hc.advise(hc.Count(), n=1_000, epsilon=1, delta=1e-6, protocols="zsum")).to_json()


def test_too_little_effort_is_said_and_more_is_enough(honest: dict[str, Any]) -> None:
    proved = hc.verify(honest)
    assert proved
    assert 1_000 < proved.effort < DEFAULT_EFFORT
    short = hc.verify(honest, effort=1_000)
    assert short.answer == "cannot prove"
    assert short.because.startswith("effort=1,000 does not suffice: this takes 1,")
    assert hc.verify(honest, effort=proved.effort)
    assert not hc.verify(honest, effort=proved.effort - 1)


@pytest.mark.parametrize("effort", [0, -1, 1.5, "much", True])
def test_effort_is_a_positive_whole_number(honest: dict[str, Any], effort: Any) -> None:
    with pytest.raises(hc.Refused, match="effort"):
        hc.verify(honest, effort=effort)


def test_the_command_line_takes_an_effort_and_says_what_is_not_proved(honest: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(honest))
    short = CliRunner().invoke(app, ["verify", str(file), "--effort", "1e3"])
    assert (short.exit_code, "effort=1,000 does not suffice" in short.output) == (2, True)
    told = CliRunner().invoke(app, ["verify", str(file)])
    assert (told.exit_code, "not proved: " in told.output, "claim.accounting" in told.output) == (0, True, True)
    spoken = json.loads(CliRunner().invoke(app, ["verify", str(file), "--format", "json"]).output)
    assert {"claim.accounting", "claim.slack", "protocol", "trusted"} <= {*spoken["unproved"]}
    assert not {"claim.delta", "report", "crowd"} & {*spoken["unproved"]}
    assert "not proved: " in str(hc.verify(honest))


def test_accounting_may_say_anything_without_being_proved(honest: dict[str, Any]) -> None:
    lying = signed({**honest, "claim": {**honest["claim"], "accounting": "exact, by royal decree"}})
    verdict = verify(lying)
    assert verdict.answer == "proved"
    assert "claim.accounting" in verdict.unproved
