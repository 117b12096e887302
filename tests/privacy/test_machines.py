"""Plans, certificates, rankings and what is shown of them are the same bytes on every machine."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from headcount.answers.worst_case import worst_truth
from headcount.common import short_decimals as short
from headcount.common.short_decimals import compared, decayed, log_of_rest, rounded_up, settled, shortened, shortest
from headcount.planner.option import number
from headcount.privacy.crowd import Crowd
from headcount.privacy.shuffled_digits import added
from headcount.programme.chance import Chance
from headcount.programme.law import Law
from headcount.protocols.base.knob import Knob
from headcount.protocols.local.oracle_by_lot import kept
from oldest import oldest
from stress import STRESS, lengths

MACHINE = Path(__file__).parent / "machine.py"
OLD_PROCESSOR = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
}


ROOT = Path(__file__).parents[2]
QUICK, EVERY = (0, 2), (2, 24)  # of the situations; one of five has a thousand million people
VERSIONS = ("3.12", "3.13")


@cache
def found(
    *arguments: int, environment: tuple[tuple[str, str], ...] = (), python: str = sys.executable
) -> dict[str, str]:
    """What a process of its own finds, in which the numerical functions may be others."""
    given = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **dict(environment)}
    command = [python, MACHINE, *map(str, arguments)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    return dict(json.loads(line) for line in done.stdout.splitlines())


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    assert len(one) > 1
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@lengths("situations", QUICK, EVERY)
@pytest.mark.parametrize(
    ("salt", "environment"),
    [
        (0, tuple(OLD_PROCESSOR.items())),
        (0, (("OPENBLAS_CORETYPE", "Prescott"),)),
        (1, ()),
        pytest.param(2, (), marks=STRESS),
    ],
    ids=["old processor", "other BLAS", "perturbed", "perturbed otherwise"],
)
def test_another_machine_makes_the_same_plans_certificates_and_advice(salt, environment, situations):
    assert not differing(found(*situations, salt, environment=environment), found(*situations, 0))


def test_settings_that_are_not_shortened_differ():
    """The twin: with settings as calibration finds them, a perturbed machine is told from this one."""
    unrounded = (("HEADCOUNT_UNROUNDED", "1"),)
    names = differing(found(*QUICK, 1, environment=unrounded), found(*QUICK, 0, environment=unrounded))
    assert any("plan" in name for name in names)
    assert any("certificate" in name for name in names)


@STRESS
def test_the_oldest_numpy_and_scipy_make_the_same(tmp_path):
    python = _installed(sys.executable, tmp_path, "numpy", "scipy")
    assert not differing(found(*EVERY, 0, python=python), found(*EVERY, 0))


@STRESS
@pytest.mark.parametrize("version", VERSIONS)
def test_another_python_makes_the_same(version, tmp_path):
    other = shutil.which(f"python{version}")
    if other is None or subprocess.run([other, "-V"], capture_output=True, check=False).returncode:
        pytest.skip(f"Python {version} is missing")
    assert not differing(found(*EVERY, 0, python=_installed(other, tmp_path)), found(*EVERY, 0))


def _installed(python: str, folder: Path, *oldest_of: str) -> str:
    """An interpreter in an environment of its own, with the oldest version of some dependencies."""
    made, constraints = folder / "venv", folder / "constraints.txt"
    constraints.write_text("\n".join(oldest(*oldest_of)) if oldest_of else "")
    subprocess.run([python, "-m", "venv", made], check=True)
    own = str(made / "bin" / "python")
    pip = [own, "-m", "pip", "install", "--quiet", "--no-compile", "--constraint", constraints, "--editable", ROOT]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        pytest.skip("packages cannot be installed: no registry can be reached, or it lacks them")
    return own


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0.9999986, 1.0005, 1.0), (0.73105884, 0.731, 0.731), (34.0679, 34.08, 34.07), (1e-9, 1.0001e-9, 1e-9),
        (-3.14159, -3.15, -3.15), (9.997, 10.4, 10.0), (0.5, 0.5, 0.5), (3.0, 2.9995, 3.0),
    ],
)  # fmt: skip
def test_the_decimal_with_the_fewest_digits(start, end, expected):
    assert shortest(start, end) == expected


def test_a_setting_moves_toward_privacy_and_not_far():
    for value, accurate, private in ((0.73105884, 1.0, 0.5), (34.067906, 1e-3, 1e12), (0.99663337, 0.0, 1.0)):
        moved = shortened(value, accurate, private)
        assert (moved - value) * (private - accurate) >= 0.0
        assert abs(moved - value) <= short.NEAR * min(abs(value - accurate), abs(private - value))


@pytest.mark.parametrize("toward", [0.0, 1.0])
def test_the_end_of_a_range_is_the_same_whatever_the_exponential(toward):
    """Beyond it a setting would be refused, and short of it by a bit it would be another."""

    def along(u: float, _: Crowd) -> float:
        return math.nextafter(math.exp(u), toward)

    knob = Knob("gamma", along, math.log(1e-12), math.log(0.5), lambda *_: 0.0)
    assert knob.at(knob.high, {"crowd": Crowd(10)}) == 0.5
    assert shortest(1 / 3, 1 / 3) == settled(1 / 3) == 1 / 3


def test_claims_are_never_rounded_down():
    for value in (9.99227e-7, 1e-6, 0.123451, 2.0, 1.0000000000000002e-6, 5e-324, 0.0):
        assert value <= rounded_up(value) <= value * 1.0011 + 5e-324
        assert value <= rounded_up(value, finest=1e-14) <= value * 1.0011 + 1e-14


@pytest.mark.parametrize("round_number", [8e-32, 0.25, 1.0, 9.999e-7])
def test_claims_that_are_short_decimals_but_for_their_last_bits_are_the_same(round_number):
    claims = {rounded_up(math.nextafter(round_number, end)) for end in (0.0, round_number, 2.0)}
    assert len(claims) == 1


def test_what_is_left_of_two_chances_in_just_the_ratio_is_claimed_alike():
    """Their difference is all rounding, of which no digit means anything."""
    assert rounded_up(5.9e-16, finest=1e-14) == rounded_up(4.4e-16, finest=1e-14) == 1e-14
    assert rounded_up(3.3331e-12, finest=1e-14) == 3.34e-12


def test_an_interval_does_not_hang_on_how_far_a_law_reaches():
    """A transform leaves a little where there is nothing, and more or less of it on another machine."""
    masses = np.exp(-(((np.arange(3_000) - 1_490.3) / 180.0) ** 2))
    masses /= masses.sum()
    reaching = np.pad(masses, (7, 3), constant_values=1e-18)
    widths = {added([Law(0, masses), law], [1.0, 0.37]).half_width() for law in (Law(0, masses), Law(-7, reaching))}
    assert len(widths) == 1


def test_places_of_the_hardest_truth_are_whole_powers_of_ten(monkeypatch):
    """Cut off instead of rounded, one that came out just below itself would be another."""
    asked, spread = set(), np.geomspace
    monkeypatch.setattr(np, "geomspace", lambda *given: np.nextafter(spread(*given), 0.0))
    worst_truth(lambda ones: float(asked.add(ones) or 1.0), 1_000, 4)
    assert asked == {0, 1, 10, 100, 1_000}


def test_a_lot_s_chance_of_the_truth_is_the_same_whatever_the_exponential(monkeypatch):
    """It is part of the plan, to all of its bits."""
    chances, exponential = [kept(4, 1.0)], math.exp
    monkeypatch.setattr(math, "exp", lambda at: math.nextafter(exponential(at), math.inf))
    assert [kept(4, 1.0)] == chances != [Chance.down(1.0 / (1.0 + 3 * math.exp(-1.0 + 1e-15)))]


def test_exponentials_and_logarithms_that_are_no_machines_own():
    from flint import arb, ctx

    with ctx.workprec(200):
        _check_exponentials(arb)


def _check_exponentials(arb):
    for rate in (1e-9, 0.3, 1.0, 3.7, 40.0):
        assert arb(decayed(rate)) > (-arb(rate)).exp()
        assert decayed(rate) <= float((-arb(rate)).exp()) * (1.0 + 1e-15)
    assert abs(arb(log_of_rest(0.3)) - (1 - arb(0.3)).log()) < 1e-16


def test_what_is_compared_and_shown_has_six_digits():
    assert compared(1.23456789) == 1.23457
    assert compared(math.nextafter(3.0, 4.0)) == compared(math.nextafter(3.0, 2.0)) == 3.0
    assert compared(math.inf) == math.inf
    assert (compared(2.44e-15, 5.8), compared(-0.123456789, 100.0), compared(0.0)) == (0.0, -0.123, 0.0)
    assert number(math.nextafter(3.0, 4.0)) == "3"
