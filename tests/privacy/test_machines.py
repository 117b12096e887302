"""Plans, certificates and rankings are the same bytes on every machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from headcount.core import short
from headcount.core.short import compared, decayed, log_of_rest, rounded_up, shortened, shortest

MACHINE = Path(__file__).parent / "machine.py"
OLD_PROCESSOR = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
}


@cache
def found(*arguments: str, environment: tuple[tuple[str, str], ...] = ()) -> dict[str, list[str]]:
    """What a process of its own finds, in which the numerical functions may be others."""
    given = {**os.environ, **dict(environment)}
    done = subprocess.run([sys.executable, MACHINE, *arguments], env=given, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        ((), tuple(OLD_PROCESSOR.items())),
        ((), (("OPENBLAS_CORETYPE", "Prescott"),)),
        (("1",), ()),
        (("2",), ()),
    ],
    ids=["old processor", "other BLAS", "perturbed", "perturbed otherwise"],
)
def test_another_machine_makes_the_same_plans_and_certificates(arguments, environment):
    assert found(*arguments, environment=environment) == found()


def test_settings_that_are_not_shortened_differ():
    """The twin: with settings as calibration finds them, a perturbed machine is told from this one."""
    assert found("1", environment=(("HEADCOUNT_UNROUNDED", "1"),)) != found(environment=(("HEADCOUNT_UNROUNDED", "1"),))


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


def test_claims_are_never_rounded_down():
    for value in (9.99227e-7, 1e-6, 0.123451, 2.0, 1.0000000000000002e-6, 5e-324, 0.0):
        assert value <= rounded_up(value) <= value * 1.0011 + 5e-324


def test_exponentials_and_logarithms_that_are_no_machines_own():
    from flint import arb, ctx

    with ctx.workprec(200):
        _check_exponentials(arb)


def _check_exponentials(arb):
    for rate in (1e-9, 0.3, 1.0, 3.7, 40.0):
        assert arb(decayed(rate)) > (-arb(rate)).exp()
        assert decayed(rate) <= float((-arb(rate)).exp()) * (1.0 + 1e-15)
    assert abs(arb(log_of_rest(0.3)) - (1 - arb(0.3)).log()) < 1e-16
    assert compared(1.23456789) == 1.23457
