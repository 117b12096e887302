"""Figures of distributions are those that were derived, to 1%; and a figure that is not is noticed."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from distributions import ROWS, Row, medians, too_large


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.protocol}-{row.bins}-{row.radices}-{row.most}")
def test_errors_and_messages_are_as_derived(row: Row) -> None:
    _, found = row.figures()
    assert not too_large(row, found)
    assert too_large(replace(row, range_=0.9 * row.range_), found)


def test_medians_err_as_simulated_before() -> None:
    for _, error, spread, expected in medians(60):
        if expected != "-":
            low, high = map(float, expected.split(" to "))
            assert low - 4.0 * spread <= error <= high + 4.0 * spread
