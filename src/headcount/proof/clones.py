r"""A local randomiser behind a shuffler: the clones of [FMT21].

If no message is likelier under one value than under another by more than $e^{\epsilon_0}$, then a
person among n tells no more than (A + D, C - A + 1 - D) against the same with the two exchanged,
where C ~ Bin(n - 1, $e^{-\epsilon_0}$), A ~ Bin(C, 1/2) and D is 1 with chance
$p = e^{\epsilon_0}/(e^{\epsilon_0}+1)$. For one flipped bit C may be Bin(n - 1,
$2/(e^{\epsilon_0}+1)$), as then nothing but clones is sent.

Given N = C + 1 the first of the two, $N_1$, is Bin(N, 1/2) up to a weight, and with
$gain = p - e^\epsilon(1-p)$ and $loss = e^\epsilon p - (1-p)$ the divergence is
$\frac2N E[(gain\,N_1 - loss\,(N-N_1))_+]$: two tails of a fair binomial law, followed from one N to
the next.

[FMT21] Feldman, McMillan and Talwar, Hiding Among the Clones, FOCS 2021, Theorem 3.1.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from headcount.proof.ball_laws import Tail, ball, binomial, middle, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import Bounds
from headcount.proof.local import compared
from headcount.proof.programme import sends_one

BECAUSE = "one message a person, of odds at most {odds:.6g} between any two values: the clones of such reports hide it"


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace" or claim.values is None or not sends_one(claim.report):
        return None
    odds = compared(claim.report, claim.values).odds
    if odds is None or odds <= 1:
        return None

    def bounds(epsilon: Fraction) -> Bounds:
        return Bounds(Fraction(0), _divergence(epsilon, odds, claim.honest - 1), (Fraction(0), Fraction(0)))

    return Proof(bounds, BECAUSE.format(odds=float(odds)))


def _divergence(epsilon: Fraction, odds: Fraction, others: int) -> Fraction:
    p, growth = ball(odds / (odds + 1)), ball(epsilon).exp()
    gain, loss = p - growth * (1 - p), growth * p - (1 - p)
    if gain <= 0:
        return Fraction(0)
    share = loss / (gain + loss)  # of N, beyond which the first count is likelier
    clones = binomial(others, ball(1 / odds))
    first = clones.start + 1
    beyond = middle(share)
    half = arb(1) / 2
    total = clones.outside + 2 * (gain + loss) * (arb(2) ** -199 + share.rad())  # where N1 is so near to its share of N
    tail = Tail.at(half, first, int(beyond * first) + 1)
    for mass in clones.masses:
        while tail.v <= beyond * tail.trials:
            tail.one_more_success()
        total += mass * _excess(tail, gain, loss)
        tail.one_more_trial()
    return most(total)


def _excess(tail: Tail, gain: arb, loss: arb) -> arb:
    """2/N E[gain N1 - loss N2; N1 >= v].

    E[N1; N1 >= v] = N/2 P[N1 >= v] + (N - v + 1)/2 P[N1 = v - 1].
    """
    rest = tail.mass * (tail.trials - tail.v + 1) / tail.trials
    return (gain - loss) * tail.tail + (gain + loss) * rest
