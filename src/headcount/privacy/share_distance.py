r"""Security of split-and-mix [IKOS06]: total variation between crowds with the same total.

Each of n people sends m residues modulo q that add up to a value; everybody's are shuffled. Two
crowds with the same total look alike up to $\sqrt{E[q^{C-1}] - 1}$ in total variation, for the
worst such crowds, where C counts the components of the graph on the people whose edges join the
owners of the t-th share under two independent uniform assignments of n(m-1) shares, m-1 to each.
Why m-1: show everybody's last share; the difference to their value is uniform, and by
Cauchy-Schwarz its law given the other shares is as far from uniform as two draws collide.

A given set of s people is closed with chance $1/\binom{ng}{sg}$, g = m-1, so with
$F_n = E_n[q^{C-1}]$ and $\kappa_s$ the chance that s people on their own are connected, the
component of the first person says

$$F_n - 1 = \sum_{s<n} w(n,s)\,\kappa_s\,(q F_{n-s} - 1), \quad
  1 - \kappa_n = \sum_{s<n} w(n,s)\,\kappa_s, \quad w(n,s) = \binom{n-1}{s-1} \Big/ \binom{ng}{sg}.$$

No term is negative, whatever q. Only the first people are worked out so; a larger crowd is bounded
by them, as `_large` explains, at a cost of a relative 1/n or so.

[IKOS06] Ishai, Kushilevitz, Ostrovsky and Sahai, Cryptography from Anonymity, FOCS 2006.
[BBGN20] Balle, Bell, Gascon and Nissim, Private Summation in the Multi-Message Shuffle Model, CCS
2020.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from headcount.errors import BadArgument
from headcount.programme.law import Floats

HEADS = (64, 128, 256, 512, 1024, 2048, 4096)  # people worked out exactly; the rest is bounded
NEAR = 8
ROUND_UP = 1e-8  # on logarithms, which are good to a few 1e-9


def share_distance(people: int, modulus: int, shares: int) -> float:
    """A bound on the total variation between the views of two crowds with the same total."""
    if min(people, modulus, shares) < 1:
        raise BadArgument("shares", "need people, a modulus and shares of at least 1", "use positive integers")
    if people == 1 or modulus == 1:
        return 0.0  # the total says it all
    if shares == 1:
        return 1.0
    return math.exp(min(0.0, 0.5 * _log_excess(people, modulus, shares - 1) + ROUND_UP))


def fewest_shares(people: int, modulus: int, distance: float) -> int:
    """The fewest shares a person that keep crowds with the same total this close."""
    if not distance > 0.0:
        raise BadArgument("distance", f"is {distance!r}", "use a positive one: shares never hide perfectly")
    shares = 1
    while _too_few(people, modulus, shares, distance) or share_distance(people, modulus, shares) > distance:
        shares += 1
    return shares


def published_shares(people: int, modulus: int, distance: float) -> int:
    """[BBGN20] for the worst crowds: one more than suffices for a crowd of random values."""
    if people < 19:
        raise BadArgument("people", f"is {people}", "the published formula needs at least 19")
    bits = -2.0 * math.log2(distance) + math.log2(modulus)
    return max(3, math.ceil(bits / (math.log2(people) - math.log2(math.e)) + 2.0))


def _too_few(people: int, modulus: int, shares: int, distance: float) -> bool:
    """Whether these shares are clearly too few, from one term of the sum."""
    if shares < 3 or people == 1 or modulus == 1:
        return False
    return _alone(people, modulus, shares - 1) > 2.0 * math.log(distance)


def _alone(people: int, modulus: int, group: int) -> float:
    """A lower bound on log(F_n - 1) for groups of two and more: the term s = n - 1."""
    return math.log((modulus - 1) / 2) + _log_complement(people, 1, group).item()


def _log_excess(people: int, modulus: int, group: int) -> float:
    if _alone(people, modulus, group) > 0.0 if group > 1 else people > HEADS[0]:
        return 0.0  # somebody on their own betrays everything already
    for size in HEADS:
        if people <= size:
            return float(_head(people, modulus, group)[-1])
        bound = _large(people, modulus, group, _head(size, modulus, group))
        if bound is not None:
            return bound
    return 0.0  # too few shares for their size hide nothing anyhow


@lru_cache(maxsize=64)
def _head(people: int, modulus: int, group: int) -> Floats:
    """log(F_n - 1) of the first crowds, from one person on."""
    log_connected, log_excess = np.zeros(people), np.full(people, -np.inf)
    log_modulus, log_factorial, at = math.log(modulus), _log_factorials(people, 1), _log_factorials(people, group)
    log_gain = _log_gain(log_excess, log_modulus)
    for n in range(2, people + 1):  # s = 1 .. n - 1 along each array
        chosen = log_factorial[n - 1] - log_factorial[: n - 1] - log_factorial[n - 1 : 0 : -1]
        log_found = chosen - (at[n] - at[1:n] - at[n - 1 : 0 : -1]) + log_connected[: n - 1]
        log_connected[n - 1] = math.log1p(-min(1.0 - 1e-15, float(np.exp(log_found).sum())))
        log_excess[n - 1] = _log_sum(log_found + log_gain[n - 2 :: -1])
        log_gain[n - 1] = _log_gain(log_excess[n - 1], log_modulus)
    return log_excess


def _log_gain(log_excess: Floats | np.float64, log_modulus: float) -> Floats:
    """log(q F - 1) = log(q - 1 + q (F - 1))"""
    return np.asarray(np.logaddexp(log_modulus + math.log1p(-math.exp(-log_modulus)), log_modulus + log_excess))


def _large(people: int, modulus: int, group: int, head: Floats) -> float | None:
    r"""An upper bound on log(F_n - 1) for n beyond the head of K people; None if K is too small.

    With $\kappa \le 1$ and v(n,k) = w(n,n-k): $F_n - 1 \le \sum_{k<n} v(n,k)(qF_k - 1)$. For g >= 2
    and fixed k both v(n,k) and w(n,k) fall as n grows: with x = n-k, the ratio of one n to the next
    is at most f(x)/f(n) for f(x) = (xg+1)(xg+2)/x times more factors below one, and f(n) - f(x) =
    (n-x)(g^2 - 2/(nx)) > 0. So if $T \ge \sum_{k>K} v(n,k)$ at n = K+1 and q T < 1, then by
    induction $F_n \le M = (1 + q S)/(1 - q T)$ for all n > K, with
    $S = \sum_{k \le K} v(K+1,k) F_k$; and at the crowd's own n that is used for the k > K only.
    """
    size, log_modulus = head.size, math.log(modulus)
    log_all = np.logaddexp(0.0, head)
    log_rest = log_modulus + _log_beyond(size + 1, group)
    if group < 2 or log_rest >= -0.01:
        return None
    log_few = log_modulus + _log_sum(_log_complement(size + 1, size, group) + log_all)
    log_most = float(np.logaddexp(0.0, log_few)) - math.log1p(-math.exp(log_rest))
    if log_most > math.log(2.0) and size < HEADS[-1]:
        return None  # a longer head is sharper
    near = _log_complement(people, size, group) + _log_gain(head, log_modulus)
    return float(np.logaddexp(_log_sum(near), log_modulus + log_most + _log_beyond(people, group)))


def _log_beyond(n: int, group: int) -> float:
    """A bound on log of the sum of w(n,j) over j < n - K, K >= 8: C(ng,jg) >= C(n,j)**g."""
    near = _log_complement(n, NEAR, group) + np.log(np.arange(1, NEAR + 1) / (n - np.arange(1, NEAR + 1)))
    j = np.arange(NEAR + 1)
    log_chosen = float(np.log((n - j) / (j + 1.0)).sum())  # C(n, 9) <= C(n, j) in between
    return float(np.logaddexp(_log_sum(near), math.log(n) - (group - 1) * log_chosen))


def _log_complement(n: int, last: int, group: int) -> Floats:
    """log v(n,k) = log C(n-1,k) / C(ng,kg), k = 1 .. last, factor by factor: n may be large."""
    k = np.arange(1, last + 1, dtype=np.float64)[:, None]
    i = np.arange(1, group + 1, dtype=np.float64)
    choices = np.log((n * group - (k - 1.0) * group - i + 1.0) / ((k - 1.0) * group + i)).sum(axis=1)
    return np.asarray(np.cumsum(np.log((n - k[:, 0]) / k[:, 0]) - choices))


def _log_factorials(last: int, group: int) -> Floats:
    """log (s group)!, s = 0 .. last"""
    return np.array([math.lgamma(s * group + 1.0) for s in range(last + 1)])


def _log_sum(logs: Floats) -> float:
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))
