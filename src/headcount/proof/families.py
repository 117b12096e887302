r"""Totals in several families, of which a person changes one in each, with noise from tables.

A person sends a message for each of k totals, and no total is told about by two of the messages. So a
replaced person moves at most k totals up by one and k down, and one who is there or not moves k. With
discrete Laplace noise the log-ratio of a total is its rate or minus that, as of randomised response:
$$\delta(\epsilon) = \sum_j \binom{m}{j} \frac{a^j}{(1+a)^m} \big(1 - e^{\epsilon - (m - 2j)\,r}\big)_+,
\quad a = e^{-r},$$
with m totals moved. The noise of the tables is compared with that law; other noise is gone through, and the log-ratios
of the totals are added up on a grid.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

from flint import arb

from headcount.proof.ball_laws import ball, least, most
from headcount.proof.central import MOST_VALUES, NEAR, check_noise, is_pure, law_of, nearest_laplace
from headcount.proof.claim import Claim, Proof, TableNoise
from headcount.proof.divergence import BallPair, Bounds
from headcount.proof.effort import TooLarge, spend
from headcount.proof.expression import Expression
from headcount.proof.many_pairs import ManyPairs
from headcount.proof.programme import All, Emit, Step


def prove(claim: Claim) -> Proof | None:
    release = claim.release
    if claim.model != "central" or release.noise is None or claim.summed or claim.values is None:
        return None
    if release.threshold is not None or not release.touches_empty or not isinstance(claim.report, All):
        return None
    fields = totals_of(claim.report)
    if not fields:
        return None
    check_noise(release.noise)
    return _moved(release.noise, len(fields), claim.neighbours, changed(fields, claim.values))


def totals_of(report: Step) -> list[Expression]:
    """The kinds of the messages, if a report is several of one field each and nothing else."""
    parts = report.parts if isinstance(report, All) else ()
    fields = [part.fields[0] for part in parts if isinstance(part, Emit) and len(part.fields) == 1]
    return fields if len(fields) == len(parts) else []


def changed(fields: list[Expression], values: int) -> bool:
    """Whether a replaced person changes a total in each family; refused if families share one."""
    if values > MOST_VALUES:
        raise TooLarge("there are too many values to go through")
    spend(4 * values * len(fields))
    families = [[field.at({"value": value}) for value in range(values)] for field in fields]
    totals = [set(family) for family in families]
    if len(set().union(*totals)) < sum(map(len, totals)):
        raise TooLarge("two messages of a person may be of the same kind")
    return all(family[0] != family[-1] for family in families)


def _moved(noise: TableNoise, families: int, neighbours: str, all_change: bool) -> Proof:
    replaced = neighbours != "add-remove"
    moved = families * (2 if replaced else 1)
    crowds = f"one person changes {moved} totals by one"
    attained = all_change or not replaced
    nearest = cache(lambda: nearest_laplace(noise))
    pairs = cache(lambda: of_families(BallPair.shifted(law_of(noise)), families, replaced))

    def bounds(epsilon: Fraction) -> Bounds:
        if is_pure(noise, 1, epsilon / moved):
            return Bounds.at_most(Fraction(0), crowds)
        rate, distance = nearest()
        if not distance < NEAR or not rate > 0:
            found = pairs().worst(epsilon).among(crowds)
            return found if attained else found.only_above
        charge = (1 + most(ball(epsilon).exp())) * moved * distance
        found = _repeated_response(rate, moved, epsilon).widened(charge, charge).among(crowds)
        return found if attained else found.only_above

    because = f"a person changes one total in each of {families} families, and every mass of the noise was looked at"
    return Proof(bounds, because)


def of_families(pair: BallPair, families: int, replaced: bool) -> ManyPairs:
    """One total per family that moves by one; if a person is replaced, another that moves back."""
    return ManyPairs([(pair, families), *([(pair.reversed, families)] if replaced else [])], symmetric=replaced)


def _repeated_response(rate: arb, moved: int, epsilon: Fraction) -> Bounds:
    """The divergence of this many totals with ideal noise, term by term of its sum."""
    spend(8 * moved)
    a, growth = (-rate).exp(), ball(epsilon).exp()
    low = high = here = there = Fraction(0)
    for falls in range(moved + 1):
        mass = comb(moved, falls) * a**falls / (1 + a) ** moved
        other = mass * (-(moved - 2 * falls) * rate).exp()
        excess = mass - growth * other
        high += max(Fraction(0), most(excess))
        if least(excess) > 0:
            low, here, there = low + least(excess), here + least(mass), there + most(other)
    return Bounds(low, high, (here, there))
