"""Certificates that version 0.2.0 wrote and proved: this version proves them, too, and no smaller claim."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import headcount as hc
from stress import some

EARLIER = json.loads((Path(__file__).parent / "earlier" / "0.2.0.json").read_text())
EXACT = [name for name, certificate in EARLIER.items() if certificate["claim"]["accounting"] == "exact"]
LONG = {"balcer-cheu-histogram-histogram", "cheu-count-count"}  # more than 0.3 s of a processor


@pytest.mark.parametrize("name", some(EARLIER, lambda name: name not in LONG))
def test_a_certificate_of_0_2_0_is_proved(name):
    assert hc.verify(EARLIER[name]).answer == "proved"


@pytest.mark.parametrize("name", some(EXACT, lambda name: name.startswith(("zsum", "poisson-count", "geometric"))))
def test_a_smaller_claim_is_not(name):
    claim = EARLIER[name]["claim"]
    if not Fraction(claim["delta"]):
        claim = {**claim, "epsilon": str(Fraction(claim["epsilon"]) * Fraction(9, 10)), "curve": []}
    else:
        claim = {**claim, "delta": str(Fraction(claim["delta"]) * Fraction(9, 10)), "curve": []}
    assert hc.verify(hc.Certificate.of({**EARLIER[name], "claim": claim})).answer != "proved"
