r"""The exact privacy loss of small crowds, as an interval that is certain.

All pairs of neighbouring crowds of a given size are enumerated, with corrupt people among them who
send whatever helps most. The hockey-stick divergence $\sum (P - e^\epsilon Q)_+$ is computed in
integers. Masses are rounded down and rare ones left out, and the missing mass of either view is
charged in full: if P lacks p of one and Q lacks q, the divergence lies between the sum less
$e^\epsilon q$ and the sum plus p. A lower bound, good to 2**-126, stands for $e^\epsilon$.

There is no other enumeration: it is fast enough for the conformance suite, and what that needs in
doubles (estimates, intervals, goodness of fit) is converted from the same integers at the end.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import accumulate

from headcount.audit.enumeration import Enumerated, neighbouring_crowds
from headcount.privacy.loss import ROUND_UP, WITHIN, PrivacyLoss
from headcount.privacy.model import Model
from headcount.programme.report_law import WHOLE, Parts
from headcount.protocols.base.protocol import Protocol

EPSILONS = (0.0, 0.05, 0.3, 0.7, 1.0, 1.5, 2.5, 4.0)
AGREES = 1e-12  # an exact claim is the truth, rounded up, but for this and its slack


@dataclass(frozen=True)
class Interval:
    """Bounds of a number that is known this well."""

    low: Fraction
    high: Fraction

    def __or__(self, other: Interval) -> Interval:
        """The larger of two."""
        return Interval(max(self.low, other.low), max(self.high, other.high))

    @property
    def width(self) -> float:
        return float(self.high - self.low)

    def __str__(self) -> str:
        return f"{float(self.high):.6g}"


NONE = Interval(Fraction(0), Fraction(0))


@lru_cache(maxsize=256)
def exp_parts(epsilon: float) -> int:
    """e**epsilon in parts of `WHOLE`: at most the truth, and less than three parts below it."""
    power = Context(prec=60 + math.ceil(epsilon)).exp(Decimal(epsilon))  # correctly rounded
    return math.floor(Fraction(power) * WHOLE) - 1


def divergences(p: Parts, q: Parts, epsilons: Sequence[float]) -> list[Interval]:
    """The hockey-stick divergences of the first view from the second, at epsilons rising from 0.

    Outcomes are sorted into the gap between two epsilons where their ratio lies. Quotients are
    rounded to the nearest double, which preserves their order; where they are equal the integers
    decide.
    """
    factors = [exp_parts(epsilon) for epsilon in epsilons]
    edges = [factor / WHOLE for factor in factors]
    above, below = [0] * (len(edges) + 1), [0] * (len(edges) + 1)
    for outcome, mine in p.items():
        theirs = q.get(outcome, 0)
        if mine <= theirs:
            continue
        gap = len(edges)
        if theirs:
            ratio = mine / theirs
            gap = bisect_left(edges, ratio)
            while gap < len(edges) and ratio == edges[gap] and mine * WHOLE > theirs * factors[gap]:
                gap += 1
        above[gap] += mine
        below[gap] += theirs
    missing, their_missing = (WHOLE - sum(law.values()) for law in (p, q))
    sums = zip(*(list(accumulate(reversed(side)))[-2::-1] for side in (above, below)), factors, strict=True)
    found = []
    for mine, theirs, factor in sums:
        sum_ = mine * WHOLE - theirs * factor
        low = max(0, sum_ - their_missing * (factor + 3) - 3 * WHOLE)
        found.append(Interval(Fraction(low, WHOLE**2), Fraction(min(sum_ + missing * WHOLE, WHOLE**2), WHOLE**2)))
    return found


def exact_delta(protocol: Protocol, people: int, epsilons: Sequence[float], corrupt: int = 0) -> list[Interval]:
    """For each epsilon, delta of the worst pair of neighbouring crowds of this many honest people,
    with corrupt people besides who choose what they send."""
    return worst_delta(Enumerated(protocol), people, epsilons, corrupt)


def worst_delta(
    enumerated: Enumerated, people: int, epsilons: Sequence[float] = EPSILONS, corrupt: int = 0
) -> list[Interval]:
    """The same from a reused enumeration. In the local model the view is one person's reports."""
    people = enumerated.protocol.crowd.each if enumerated.protocol.model is Model.LOCAL else people
    increasing = sorted(set(epsilons))
    worst = [NONE] * len(increasing)
    for sent in enumerated.helps(people, corrupt):
        view = cache(partial(enumerated.view, help_sent=sent))
        for first, second in neighbouring_crowds(enumerated.protocol, people):
            here = divergences(view(first), view(second), increasing)
            worst = [before | now for before, now in zip(worst, here, strict=True)]
    found = dict(zip(increasing, worst, strict=True))
    return [found[epsilon] for epsilon in epsilons]


@dataclass(frozen=True)
class JudgedClaim:
    """The exact delta of a crowd at one epsilon, and the claimed one."""

    protocol: Protocol
    people: int
    corrupt: int
    epsilon: float
    exact: Interval
    claimed: float
    slack: float
    within: float  # how much more than the truth, relatively, a claim of its kind may say; infinite for a bound

    @property
    def tight(self) -> bool:
        """Whether the claim says that it is not much more than the truth."""
        return math.isfinite(self.within)

    @property
    def difference(self) -> float:
        """The claim less the truth, both rounded up."""
        return self.claimed - float(self.exact.high) * ROUND_UP

    @property
    def holds(self) -> bool:
        """Whether the claim is at least the truth, not too large, and the truth precise enough."""
        return self.exact.low <= self.claimed and self.exact.width <= AGREES and not self._is_too_large

    @property
    def _is_too_large(self) -> bool:
        return self.tight and self.difference > self.slack + AGREES + self.within * float(self.exact.high)

    def __str__(self) -> str:
        corrupt = f" and {self.corrupt} corrupt" if self.corrupt else ""
        who = f"{self.protocol.name}: with {self.people} honest{corrupt} people"
        claim = f"{self.claimed:.6g} is claimed" + " to be exact" * (not self.within)
        known = str(self.exact)
        if self.exact.width > AGREES:
            known = f"only known to lie between {float(self.exact.low):.6g} and {float(self.exact.high):.6g}"
        return f"{who}, delta at epsilon={self.epsilon:g} is {known}, and {claim}{self._wrong}"

    @property
    def _wrong(self) -> str:
        """The direction in which the claim is wrong, and by how much."""
        if self.exact.low > self.claimed:
            return f": too small by {float(self.exact.low) - self.claimed:.3g}"
        if self._is_too_large:
            return f": too large by {self.difference:.3g}, of which {self.slack:.3g} is stated as slack"
        return ""


def judge_claim(
    protocol: Protocol,
    people: int,
    loss: PrivacyLoss,
    truth: Sequence[Interval],
    corrupt: int = 0,
    *,
    tight: bool = True,
) -> list[JudgedClaim]:
    """A claim for this many honest people against the exact deltas, at all `EPSILONS`."""
    exact = 0.0 if loss.kind == "exact" else WITHIN[loss.kind]  # so small a crowd is not searched, but gone through
    within = exact if tight else math.inf
    claims = [(loss.delta(epsilon), loss.delta_slack(epsilon)) for epsilon in EPSILONS]
    return [
        JudgedClaim(protocol, people, corrupt, epsilon, truly, *claim, within)
        for epsilon, truly, claim in zip(EPSILONS, truth, claims, strict=True)
    ]
