"""Totals to which a trusted side adds noise from tables, and perhaps drops what is small."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import chain, pairwise, product

from flint import arb

from headcount.proof.ball_laws import NEGLIGIBLE_BITS, BallLaw, ball, least, most
from headcount.proof.claim import Claim, Proof, TableNoise
from headcount.proof.divergence import NOTHING, BallPair, Bounds, divergence, either_order, worst_of
from headcount.proof.effort import TooLarge, spend
from headcount.proof.expression import VALUE, Expression, Unreadable, is_linear
from headcount.proof.programme import Emit

MOST_CELLS = 1 << 20
MOST_VALUES = 1 << 17
FAR = 1_000  # e-folds of the noise beyond which its mass is bounded by that there
MOST_BLOCKS = 8  # of the noise, between masses that are compared
NEAR = Fraction(1, 1 << 30)  # to a discrete Laplace law, in total variation; other noise is summed cell by cell


def prove(claim: Claim) -> Proof | None:
    release = claim.release
    if claim.model != "central" or release.noise is None:
        return None
    check_noise(release.noise)
    if claim.summed:
        if release.threshold is not None or not release.touches_empty:
            return None
        return _moved_total(release.noise, *_reach(claim))
    if not isinstance(claim.report, Emit) or len(claim.report.fields) != 1:
        return None
    if claim.report.fields[0] != VALUE:
        return None
    if release.threshold is None and release.touches_empty:
        return _counts(release.noise, claim.neighbours) if claim.values != 1 else None
    if release.threshold is not None and not release.touches_empty and release.threshold >= 1:
        return _stable_counts(release.noise, release.threshold, claim.neighbours, claim.size, claim.values)
    return None


def check_noise(noise: TableNoise) -> None:
    """Refuses noise that is not symmetric and falling, or does not go on from its centre."""
    centre, beyond = noise.centre, noise.beyond
    reach = -centre.start
    if len(centre.masses) != 2 * reach + 1 or centre.masses != centre.masses[::-1] or reach < 1:
        raise Unreadable("the noise is not symmetric")
    if beyond.start or len(beyond.masses) != reach + 1:
        raise Unreadable("the noise does not go on as far as its centre reaches")
    if any(a < b for a, b in pairwise(_falling(noise, 2))):
        raise TooLarge("the noise does not fall from its middle on")


def _falling(noise: TableNoise, blocks: int) -> list[int]:
    """Masses from the middle on through this many blocks, as multiples of one mass.

    Each block is the one before it times the same factor, so that two of them show all that follow.
    """
    beyond, further = noise.beyond.masses, noise.beyond.total
    spend(2 * blocks * len(beyond))
    falling = [mass * further**blocks for mass in noise.centre.masses[-len(beyond) : -1]]
    outer = noise.centre.masses[-1]
    for block in range(blocks):
        falling += [outer * mass * further ** (blocks - block - 1) for mass in beyond[:-1]]
        outer *= beyond[-1]
    return falling


def law_of(noise: TableNoise) -> BallLaw:
    """Every mass until next to nothing is left, which then counts as lost."""
    spend(2 * len(noise.centre.masses))
    reach = len(noise.beyond.masses) - 1
    centre = [arb(mass) / noise.centre.total for mass in noise.centre.masses]
    step = [arb(mass) / noise.beyond.total for mass in noise.beyond.masses]
    side: list[arb] = []
    left = centre[-1]
    while not left < arb(2) ** -NEGLIGIBLE_BITS:
        spend(2 * reach)
        side += [left * mass for mass in step[:-1]]
        left = left * step[-1]
        if len(side) > MOST_CELLS:
            raise TooLarge("the noise reaches too far to go through it")
    masses = [*reversed(side), *centre[1:-1], *side]
    return BallLaw(1 - reach - len(side), masses, 2 * left)


def _reach(claim: Claim) -> tuple[int, bool]:
    """The sensitivity of the total in levels, and whether some crowd surely attains it.

    Whatever it is rounded by, floor(a + u) and floor(b + u) are at most b - a apart, rounded up.
    They are so for every u if both ends of the range are whole levels and everybody is there, so
    that nothing is ever left over.
    """
    if not isinstance(claim.report, Emit) or len(claim.report.fields) != 1 or claim.values is None:
        raise TooLarge("what a person adds to the total is not one number")
    lowest, highest = (end * claim.release.levels_per_step for end in _ends(claim.report.fields[0], claim.values - 1))
    furthest = max(abs(lowest), abs(highest)) if claim.neighbours == "add-remove" else highest - lowest
    return math.ceil(furthest), lowest.denominator == highest.denominator == 1


def _ends(field: Expression, last: int) -> tuple[int, int]:
    """The least and the largest value of the expression for 0 .. `last`."""
    tried: Iterable[int] = (0, last) if is_linear(field) else range(last + 1)
    if not is_linear(field) and last > MOST_VALUES:
        raise TooLarge("there are too many values to go through")
    found = [field.at({"value": value}) for value in tried]
    return min(found), max(found)


def _moved_total(noise: TableNoise, reach: int, attained: bool) -> Proof:
    """The loss of one total with this sensitivity; nothing is refuted unless it is attained.

    The noise is symmetric and falls from its middle on. At k below the shift, k - shift is on the
    other side, where the mass only falls as the shift grows; from the shift on the moved noise is
    the likelier one. So the widest shift is the worst, and either order is as bad.
    """
    crowds = f"one person moves the total by {reach}"
    nearest = cache(partial(nearest_laplace, noise))
    moved = cache(lambda: BallPair.shifted(law_of(noise), reach))

    def bounds(epsilon: Fraction) -> Bounds:
        if not reach or is_pure(noise, reach, epsilon):
            return Bounds.at_most(Fraction(0), crowds)
        if reach > 1 and nearest()[1] < NEAR:
            found = _shifted_far(*nearest(), reach, epsilon).among(crowds)
        else:
            found = divergence(epsilon, moved()).among(crowds)
        return found if attained else found.only_above

    return Proof(bounds, f"one person moves one total by at most {reach}, and every mass of the noise was looked at")


def is_pure(noise: TableNoise, reach: int, epsilon: Fraction) -> bool:
    """Whether no mass exceeds e**epsilon times that `reach` further, in exact integers.

    It is so if no mass exceeds the next one by its share of that; otherwise those `reach` apart are
    compared, on one side of the middle and across it, unless that is too far to be gone through.
    """
    if _all_within(pairwise(_falling(noise, 2)), epsilon / reach):
        return True
    apart = -(-reach // (len(noise.beyond.masses) - 1))
    if apart > MOST_BLOCKS:
        return False
    falling = _falling(noise, 2 + apart)
    across = ((falling[k], falling[reach - k]) for k in range(reach // 2 + 1))
    return _all_within(chain(zip(falling, falling[reach:], strict=False), across), epsilon)


def _all_within(pairs: Iterable[tuple[int, int]], log_ratio: Fraction) -> bool:
    growth = least(ball(log_ratio).exp())
    return all(a * growth.denominator <= b * growth.numerator for a, b in pairs)


def _shifted_far(rate: arb, distance: Fraction, reach: int, epsilon: Fraction) -> Bounds:
    """A shift by `reach`, where the noise is compared with the discrete Laplace law nearest to it.

    There the divergence is P[noise <= t] - e**epsilon P[noise <= t - reach] at the best t.
    """
    a, growth = (-rate).exp(), ball(epsilon).exp()

    # The likelihood ratio e**(rate (|k - shift| - |k|)) falls from e**(rate shift) at k = 0, past
    # e**epsilon here.
    if not rate > 0:
        raise TooLarge("the noise does not fall like a discrete Laplace law")
    furthest = int(FAR / least(rate))

    def tail(k: int) -> arb:
        return a**k / (1 + a) if k <= furthest else (a**furthest).union(arb(0))

    def below(t: int) -> arb:
        return 1 - tail(t + 1) if t >= 0 else tail(-t)

    middle = max(-1, int((reach - epsilon / least(rate)) / 2))
    excess = {t: below(t) - growth * below(t - reach) for t in range(max(-1, middle - 2), middle + 3)}
    best = max(excess, key=lambda t: least(excess[t]))
    here, there, charge = below(best), below(best - reach), (1 + most(growth)) * distance
    low, high = max(Fraction(0), least(excess[best])), max(Fraction(0), *map(most, excess.values()))
    return Bounds(low, high, (least(here) - distance, most(there) + distance)).widened(charge, charge)


def nearest_laplace(noise: TableNoise) -> tuple[arb, Fraction]:
    """The rate of the nearest discrete Laplace law, and its total variation distance."""
    reach = len(noise.beyond.masses) - 1
    spend(4 * reach)
    centre = noise.centre.masses[reach:]
    far = next((k for k, mass in enumerate(centre) if 3 * mass < centre[0]), reach - 1) or 1
    rate = (arb(centre[0]) / centre[far]).log() / far
    a = (-rate).exp()
    ideal = (1 - a) / (1 + a)
    apart = [abs(arb(centre[0]) / noise.centre.total - ideal)]
    for mass in centre[1:-1]:
        ideal = ideal * a
        apart.append(2 * abs(arb(mass) / noise.centre.total - ideal))
    # The first block beyond, cell by cell; block m is that times g**m, where the ideal one is times
    # a**(reach m).
    outer = arb(centre[-1]) / noise.centre.total / noise.beyond.total
    block, right = arb(0), arb(0)
    for mass in noise.beyond.masses[:-1]:
        ideal = ideal * a
        block, right = block + abs(outer * mass - ideal), right + ideal
    g = 1 / (1 - arb(noise.beyond.masses[-1]) / noise.beyond.total)
    beyond = block * g + right * abs(g - 1 / (1 - a**reach))
    return rate, most((sum(apart, arb(0)) + 2 * beyond) / 2)


def _counts(noise: TableNoise, neighbours: str) -> Proof:
    """A person is in one bin; replaced, they leave it for another."""
    shifted = cache(lambda: BallPair.shifted(law_of(noise)))

    def bounds(epsilon: Fraction) -> Bounds:
        moved = 1 if neighbours == "add-remove" else 2
        crowds = f"one person changes {moved} of the totals by one"
        if is_pure(noise, 1, epsilon / moved):
            return Bounds.at_most(Fraction(0), crowds)
        pair = shifted()
        return either_order(epsilon, pair, NOTHING if moved == 1 else pair.reversed).among(crowds)

    return Proof(bounds, "a person changes one total by one, or two of them, and every mass of the noise was looked at")


def _stable_counts(noise: TableNoise, threshold: int, neighbours: str, people: int, values: int | None) -> Proof:
    """Empty bins stay silent; others report from the threshold on.

    A bin that somebody else is in too gives away no more than its noisy total would if nothing were
    dropped. What is shown for certain is about people who are alone, or have as many others with
    them as leaves enough for both bins; all the rest are in a bin of their own, if there is one.
    """
    law = law_of(noise)
    alone = sum((law.at(k) for k in range(threshold - 1, law.stop)), arb(0))
    lonely = BallPair([alone, 1 - alone], [arb(0), arb(1)], law.outside)
    shared = BallPair.shifted(law)
    high = {"alone": lonely, "with others": shared}
    low, others = {"alone": lonely}, min((people - 1) // 2, threshold + law.stop)
    if others:
        low["with others"] = _shown(law, threshold, others)
    enough_bins = values is None or values > 2

    def bounds(epsilon: Fraction) -> Bounds:
        above = worst_of(_every_way(epsilon, high, neighbours))
        if not enough_bins:
            return above.only_above
        below = worst_of(_every_way(epsilon, low, neighbours))
        return replace(below, high=above.high)

    return Proof(bounds, "a person is alone in a bin, which tells if it is shown, or their total has noise of its own")


def _shown(law: BallLaw, threshold: int, others: int) -> BallPair:
    """The pair for a bin with this many others: one more person against these."""
    columns = []
    spend(4 * len(law.masses))
    for total in (others + 1, others):
        below = range(total + law.start, min(threshold, total + law.stop))
        silent = sum((law.at(k - total) for k in below), arb(0))
        columns.append([silent, *(law.at(k - total) for k in range(threshold, others + 1 + law.stop))])
    return BallPair(columns[0], columns[1], law.outside)


def _every_way(epsilon: Fraction, bins: dict[str, BallPair], neighbours: str) -> Iterator[Bounds]:
    if neighbours == "add-remove":
        for name, pair in bins.items():
            yield either_order(epsilon, pair).among(f"one person, {name} in a bin, is there or not")
        return
    for (first, gained), (second, lost) in product(bins.items(), repeat=2):
        crowds = f"one person, {first} in a bin, is in another instead, {second}"
        yield either_order(epsilon, gained, lost.reversed).among(crowds)
