r"""A random few send what they hold, and small counts are dropped.

Of k holders Bin(k, r) are sampled; one holder more is likelier by $(k+1)(1-r)/(k+1-v)$ at v
samples, which grows with v. With m = k + 1 the worst event in favour of the holder is therefore "v
or more", with v the first from the threshold on where that exceeds $e^\epsilon$, and the worst
against them "fewer than v", silence included, with v the first where its inverse no longer does.
Both are followed from one k to the next in a few operations:
$P[B_{k+1} \ge v] = P[B_k \ge v] + r P[B_k = v - 1]$.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from headcount.proof.ball_laws import Tail, ball, binomial, least, middle, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import MISSED, BallPair, Bounds, divergence, worst_of
from headcount.proof.effort import spend
from headcount.proof.expression import VALUE
from headcount.proof.programme import All, Copies, Emit, Maybe

ANY_NUMBER = 10**12  # as many as there may ever be; the proof ends where no larger crowd can be worse
FEW_PEOPLE = 64
EVERY_BIT = 1 << 16  # no mass of up to this many people underflows


def prove(claim: Claim) -> Proof | None:
    """Proof for sampling and a threshold, which is lowered by the number of corrupt people."""
    release = claim.release
    if claim.model != "shuffle-threshold" or release.noise is not None or release.threshold is None:
        return None
    if claim.summed or not isinstance(claim.report, Maybe) or claim.report.otherwise != All(()):
        return None
    private = claim.neighbours == "add-remove"
    rate, people = claim.report.chance, ANY_NUMBER if private else claim.size - claim.most_corrupt
    threshold = max(1, release.threshold - claim.most_corrupt)
    match claim.report.then:
        case Copies(amount, Emit((kind,))) if amount == VALUE and not kind.reads and claim.values == 2:
            moved = 1
        case Emit((field,)) if field == VALUE:
            moved = 1 if private else 2
        case _:
            return None
    if not 0 < rate < 1 or (moved == 2 and people > FEW_PEOPLE):
        return None
    # With few buckets the others must be in the same ones, and corrupt people cannot push both over
    # the threshold.
    exact = claim.values is None or claim.values > moved
    if moved == 2:
        exact &= not claim.most_corrupt

    def bounds(epsilon: Fraction) -> Bounds:
        worst = _every_crowd if moved == 1 else _two_buckets
        found = worst(rate, threshold, people, epsilon)
        return found if exact else found.only_above

    holders = "every number of holders" if private else f"every number of holders up to {people:,}"
    return Proof(bounds, f"{holders} was gone through, on either side of the threshold")


def _every_crowd(rate: Fraction, threshold: int, people: int, epsilon: Fraction) -> Bounds:
    """The worst k below the number of people, either way round."""
    nothing = Bounds.at_most(Fraction(0))
    if people < threshold:
        return nothing
    found = [nothing, _scan(rate, threshold, people, epsilon, more=True)]
    if 1 - (1 - rate) * most(ball(epsilon).exp()) > 0:
        found.append(_scan(rate, threshold, people, epsilon, more=False))
    return worst_of(found)


def _scan(rate: Fraction, threshold: int, people: int, epsilon: Fraction, *, more: bool) -> Bounds:
    """The worst k, in favour of one more holder (`more`) or against."""
    r, growth = ball(rate), ball(epsilon).exp()
    share = 1 - (1 - r) / growth if more else 1 - (1 - r) * growth  # of k + 1, where the likelihood ratio is e**epsilon
    step = middle(share)
    sampled = Tail.all_of(r, threshold - 1)
    best, where, chances, highest = arb(0), 0, (arb(0), arb(0)), arb(0)
    while True:
        spend(6)
        while sampled.v < step * (sampled.trials + 1):
            sampled.one_more_success()
        gained = r * sampled.mass
        if more:
            here, there = sampled.tail + gained, sampled.tail
        else:
            here, there = 1 - sampled.tail, 1 - sampled.tail - gained
        excess = here - growth * there
        highest = highest.max(excess)
        if excess > best:
            best, where, chances = excess, sampled.trials, (here, there)
        if sampled.trials + 1 >= people:
            break
        if _is_past(sampled, threshold, best, more=more):
            break
        sampled.one_more_trial()
    fewer, larger = where, where + 1
    crowds = f"{larger:,} people hold it in one crowd and {fewer:,} in the other"
    return Bounds(least(best), most(highest) + MISSED, (least(chances[0]), most(chances[1])), crowds)


def _is_past(sampled: Tail, threshold: int, best: arb, *, more: bool) -> bool:
    """Whether no larger k can be worse.

    Once the event begins beyond the threshold, that plays no part, and every further holder is
    noise that hides the others. While the threshold decides, a larger crowd falls short of it with
    a smaller chance: against the holder, that chance bounds every excess that is still to come.
    """
    return sampled.v > threshold or (not more and 1 - sampled.tail < best.max(ball(MISSED)))


def _two_buckets(rate: Fraction, threshold: int, people: int, epsilon: Fraction) -> Bounds:
    """A person moves from one bucket to another, whatever the others hold."""
    pairs = [_shown(rate, threshold, k) for k in range(people)]
    return worst_of(
        divergence(epsilon, pairs[k], pairs[j].reversed).among(
            f"one of {k + 1} people in a bucket joins {j} in another"
        )
        for k in range(people)
        for j in range(people - k)
    )


def _shown(rate: Fraction, threshold: int, holders: int) -> BallPair:
    """A crowd with one holder more, against one with k of them."""
    spend(4 * holders)
    columns = []
    for k in (holders + 1, holders):
        law = binomial(k, ball(rate), EVERY_BIT)
        shown = [law.at(v) for v in range(threshold, holders + 2)]
        columns.append([sum((law.at(v) for v in range(min(threshold, k + 1))), arb(0)), *shown])
    return BallPair(columns[0], columns[1])
