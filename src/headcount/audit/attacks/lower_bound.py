"""A lower bound on epsilon by experiment, with no theory of the protocol.

Two neighbouring crowds are run many times. Half of the runs choose an event, a set of observations
that are far more likely for one crowd than for the other; the other half count how often it happens
to each. If its probabilities are p and q, then epsilon at delta is at least ln((p - delta)/q), and
the Clopper-Pearson bounds on p and q make that a statement which is wrong with a probability of at
most `error`. The protocol's accounting helps to choose neither the crowds nor the event; its claim
is only compared with the bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np

from headcount.audit.attacks.observation import Observer, Vantage
from headcount.audit.attacks.wording import crowds_in_words, event_in_words
from headcount.audit.enumeration import Held, crowds
from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.privacy.budget import Neighbours
from headcount.privacy.loss import NoGuarantee, PrivacyLoss
from headcount.privacy.model import Model, Party
from headcount.programme.coins import Coins, SecretCoins
from headcount.programme.law import Floats
from headcount.programme.table import Ints, Words
from headcount.protocols.base.protocol import Protocol

FEWEST = 1_000
MOST = 10**9
MOST_PEOPLE = 10_000
MOST_PAIRS = 200
FEW = 5  # values that stand for many
PILOTS = ((100, 8), (10, 3), (4, 1))  # which part of the samples, and how many pairs go on
SMOOTHED = 0.5
CAREFREE = 0.05  # the error while events are only being chosen
TOLD = 4_000  # runs from which the event is put into words
TYPICAL = 1.0  # the epsilon whose delta is attacked unless told

Pair = tuple[Held, Held]


@dataclass(frozen=True)
class Event:
    """A set of observations, by their fingerprints, and the epsilon that it showed when it was
    chosen."""

    fingerprints: Words
    promise: float

    def hits(self, fingerprints: Words) -> int:
        return int(np.count_nonzero(np.isin(fingerprints, self.fingerprints)))


@dataclass(frozen=True)
class Attack:
    """An empirical lower bound on epsilon, as `hc.attack` returns it.

    Parameters
    ----------
    protocol : Protocol
        What was attacked.
    seen : Vantage
        What the attacker sees: the whole view, one message, the answer, or the answer as a
        shuffler reads it that added messages.
    pair : tuple
        Two adjacent crowds, by how many people hold each value; the event is more likely for the
        first.
    delta, epsilon : float
        At this delta, epsilon is at least this.
    claim : float
        The epsilon that the protocol claims.
    hits : tuple of int
        How often each crowd met the event.
    runs, samples : int
        Runs of each crowd that were counted, and all.
    error : float
        The chance that the bound is wrong.
    event : str
        What tells the crowds apart.

    Examples
    --------
    >>> found = hc.attack(hc.protocol("cheu-count", n=6, lam=3), samples=10_000)
    >>> found.violated
    False
    """

    protocol: Protocol
    seen: Vantage
    pair: Pair  # how many people hold each value; the event is more likely for the first crowd
    delta: float
    epsilon: float
    claim: float
    hits: tuple[int, int]
    runs: int  # of each crowd, in which the event was looked for
    samples: int
    error: float
    event: str

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted."""
        return self.epsilon > self.claim

    @property
    def crowds(self) -> str:
        """The adjacent pair, in words."""
        return crowds_in_words(*self.pair)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount audit --format json` fingerprints it."""
        return {
            "seen": str(self.seen),
            "people": max(map(sum, self.pair)),
            "crowds": [list(held) for held in self.pair],
            "event": self.event,
            "hits": list(self.hits),
            "runs": self.runs,
            "samples": self.samples,
            "error": self.error,
            "delta": self.delta,
            "epsilon_at_least": self.epsilon,
            "epsilon_claimed": self.claim if math.isfinite(self.claim) else None,
            "violated": self.violated,
        }

    def __str__(self) -> str:
        claim = f"{self.claim:.4g} is claimed" if math.isfinite(self.claim) else "none is claimed"
        found = f"epsilon is at least {self.epsilon:.4g} at delta={self.delta:.4g}, and {claim}"
        return f"VIOLATED: {found}" if self.violated else found

    def __repr__(self) -> str:
        return f"Attack on {self.protocol.name}: {self}"


def attack(
    protocol: Protocol,
    *,
    seen: str = "view",
    people: int | None = None,
    samples: int = 10**6,
    delta: float | None = None,
    error: float = 1e-6,
    coins: Coins | None = None,
    pair: Pair | None = None,
) -> Attack:
    """A lower bound on epsilon from runs of a protocol on adjacent crowds, by Clopper and Pearson's
    intervals.

    Half of the runs choose an event, the other half count it. Nothing of the protocol's accounting
    takes part.

    Parameters
    ----------
    protocol : Protocol
        With few people, so that views repeat.
    seen : str
        "view" for everything that crosses the trust line, "message" for what one person sends,
        "released" for the answer, or "shuffler" for what a shuffler that adds messages makes of it.
    people : int, optional
        The size of the crowds; the protocol's unless given.
    samples : int
        Runs of each crowd.
    delta : float, optional
        The delta that is claimed at epsilon = 1 unless given.
    error : float
        The chance that the bound is wrong.
    coins : Coins, optional
        Secret ones unless given.
    pair : tuple, optional
        Two adjacent crowds, by how many people hold each value; a pilot chooses them unless given.

    Returns
    -------
    Attack

    Raises
    ------
    errors.BadArgument
        If a number is out of range, or the pair is not adjacent.

    Examples
    --------
    >>> hc.attack(hc.protocol("cheu-count", n=6, lam=3), samples=10_000)
    Attack on cheu-count: epsilon is at least ... at delta=0.01671, and 1 is claimed
    """
    observer, coins = Observer(protocol, Vantage.parse(seen)), coins or SecretCoins()
    works = f"use a whole number from {FEWEST:,} on, for example 1,000,000"
    if not quantity("samples", samples, works).is_integer() or samples < FEWEST:
        raise BadArgument("samples", f"is {samples!r}", works)
    if samples > MOST:
        raise BadArgument("samples", f"is {samples:g}", f"use at most {MOST:g}")
    if not 0.0 < quantity("error", error, "use a number such as 1e-6") < 1.0:
        raise BadArgument("error", f"is {error:g}", "use a number between 0 and 1, for example 1e-6")
    if pair is not None:
        pair = _neighbouring(protocol, pair)
    people = _people(observer, people) if pair is None else max(map(sum, pair))
    if people > MOST_PEOPLE:
        raise BadArgument("people", f"is {people:,}", f"use at most {MOST_PEOPLE:,}: larger views hardly repeat")
    loss = _promised(observer, people)
    if delta is None:
        told = loss.delta(TYPICAL)
        delta = told if told < 1.0 else 0.0
    elif not 0.0 <= quantity("delta", delta, "use a number such as 1e-6") < 1.0:
        raise BadArgument("delta", f"is {delta:g}", "use a number from 0 to below 1, for example 1e-6")
    pair = pair or _most_telling_pair(observer, pairs(protocol, people), int(samples), delta, coins)
    claim = loss.epsilon(delta)
    if observer.seen is Vantage.MESSAGE and protocol.local_epsilon is not None:
        claim = min(claim, protocol.local_epsilon)
    return _measured(observer, pair, int(samples), delta, error, coins, claim)


def _neighbouring(protocol: Protocol, pair: Pair) -> Pair:
    """The pair, if its crowds differ in one person."""
    first, second = (tuple(int(times) for times in held) for held in pair)
    moved = sorted(b - a for a, b in zip(first, second, strict=False) if a != b)
    fits = {Neighbours.REPLACE: ([-1, 1],), Neighbours.ADD_REMOVE: ([-1], [1])}[protocol.neighbours]
    if not len(first) == len(second) == protocol.task.values or min(*first, *second) < 0 or moved not in fits:
        works = "give twice how many people hold each value, for example ((6, 0), (5, 1))"
        raise BadArgument("pair", "is not of two neighbouring crowds", works)
    return first, second


def _people(observer: Observer, people: int | None) -> int:
    """The size of the crowds: one where a single report is observed; otherwise the honest people,
    unless given."""
    if observer.seen is Vantage.MESSAGE or (observer.seen is Vantage.VIEW and observer.protocol.model is Model.LOCAL):
        return 1
    number = quantity("people", observer.protocol.crowd.honest if people is None else people, "use a whole number")
    if number != int(number) or number < 1:
        raise BadArgument("people", f"is {number:g}", "use a whole number of people")
    if observer.protocol.model is Model.THRESHOLD and number > (most := observer.protocol.crowd.size):
        raise BadArgument("people", f"is {number:g}, more than it is planned for", f"use at most {most:,}")
    return int(number)


def _promised(observer: Observer, people: int) -> PrivacyLoss:
    """The privacy loss that the protocol states for what is observed, among this many honest
    people."""
    if observer.protocol.model is Model.DUMMIES and observer.seen is not Vantage.VIEW:
        party = Party.SHUFFLER if observer.seen is Vantage.SHUFFLER else Party.PUBLIC
        return observer.protocol.views()[party] or NoGuarantee()
    if observer.protocol.model.releases or people >= observer.protocol.crowd.honest:
        return observer.protocol.loss
    return observer.protocol.loss_if(people)


def _measured(
    observer: Observer, pair: Pair, samples: int, delta: float, error: float, coins: Coins, claim: float
) -> Attack:
    half = samples // 2
    (first, second), event = _ordered(
        pair, [observer.fingerprints(held, samples - half, coins) for held in pair], delta
    )
    p, q = (event.hits(observer.fingerprints(held, half, coins)) for held in (first, second))
    seen = [observation for held in pair for observation in observer.observations(held, TOLD, coins)]
    return Attack(
        protocol=observer.protocol,
        seen=observer.seen,
        pair=(first, second),
        delta=delta,
        epsilon=float(clopper_pearson_epsilon(np.array(p), np.array(q), half, delta, error)),
        claim=claim,
        hits=(p, q),
        runs=half,
        samples=samples,
        error=error,
        event=event_in_words(observer.noun, seen, event.fingerprints),
    )


def clopper_pearson_epsilon(p: Ints, q: Ints, runs: int, delta: float, error: float) -> Floats:
    """The lower bound on epsilon from p and q hits in as many runs each; half of the error is for
    either bound."""
    from scipy.special import betaincinv  # takes long to import, and counting does not need it

    low = np.where(p > 0, betaincinv(np.maximum(p, 1), runs - p + 1, error / 2.0), 0.0)
    high = np.where(q < runs, betaincinv(q + 1, np.maximum(runs - q, 1), 1.0 - error / 2.0), 1.0)
    return np.asarray(np.log(np.maximum(np.maximum(low - delta, 0.0) / high, 1.0)))


def _ordered(pair: Pair, fingerprints: Sequence[Words], delta: float) -> tuple[Pair, Event]:
    """The order of the two crowds that shows the larger epsilon, with the event that shows it."""
    halves = [part for crowd in fingerprints for part in np.array_split(crowd, 2)]
    different, place = np.unique(np.concatenate(halves), return_inverse=True)
    which = np.repeat(np.arange(4), [half.size for half in halves])
    seen = np.bincount(place + different.size * which, minlength=4 * different.size).reshape(2, 2, different.size)
    forward, backward = _chosen(different, seen, delta), _chosen(different, seen[::-1], delta)
    return (pair, forward) if forward.promise >= backward.promise else ((pair[1], pair[0]), backward)


def _chosen(different: Words, seen: Ints, delta: float) -> Event:
    """The observations with the largest likelihood ratios, as many of them as show the largest
    epsilon.

    How many is decided by cross-validation: on either half of these samples, for ratios that were
    estimated on the other, and counted in runs of the first crowd.
    """
    runs, promises = zip(*(_best(seen[:, i], seen[:, 1 - i], delta) for i in (0, 1)), strict=True)
    every = seen.sum(axis=1)
    falling = np.argsort(-_ratios(every), kind="stable")
    taken = int(np.searchsorted(np.cumsum(every[0, falling]), sum(runs))) + 1
    return Event(different[falling[:taken]], sum(promises) / 2.0)


def _ratios(seen: Ints) -> Floats:
    """The log-likelihood ratio of each observation, with additive smoothing."""
    return np.asarray(np.log((seen[0] + SMOOTHED) / (seen[1] + SMOOTHED)))


def _best(ranked: Ints, tried: Ints, delta: float) -> tuple[int, float]:
    """The number of runs of the first crowd in which the best event happened, and the epsilon that
    it shows."""
    p, q = np.cumsum(tried[:, np.argsort(-_ratios(ranked), kind="stable")], axis=1)
    promises = clopper_pearson_epsilon(p, q, int(tried[0].sum()), delta, CAREFREE)
    best = int(np.argmax(promises))
    return int(p[best]), float(promises[best])


def pairs(protocol: Protocol, people: int) -> list[Pair]:
    """Neighbouring crowds: all of them where there are few, otherwise with few kinds of other
    people."""
    values = protocol.task.values
    every = list(islice(_differing(protocol, crowds(values, people - 1), range(values)), MOST_PAIRS + 1))
    if len(every) <= MOST_PAIRS:
        return every
    few = np.unique(np.linspace(0, values - 1, FEW).astype(int)).tolist()
    alike = [tuple((people - 1) * (i == value) for i in range(values)) for value in few]
    mixed = tuple((people - 1) // values + (i < (people - 1) % values) for i in range(values))
    return list(_differing(protocol, [*alike, mixed], few))


def _differing(protocol: Protocol, others: Iterable[Held], values: Sequence[int]) -> Iterator[Pair]:
    for rest in others:
        with_one = [tuple(k + (i == value) for i, k in enumerate(rest)) for value in values]
        if protocol.neighbours is Neighbours.ADD_REMOVE:
            yield from ((rest, more) for more in with_one)
        else:
            yield from combinations(with_one, 2)


def _most_telling_pair(observer: Observer, candidates: list[Pair], samples: int, delta: float, coins: Coins) -> Pair:
    """The pair that shows the largest epsilon, by a small pilot and, for the best few, a larger
    one."""
    for part, kept in PILOTS:
        if len(candidates) > kept:
            runs, each = max(FEWEST, samples // part), {held for pair in candidates for held in pair}
            fingerprints = {held: observer.fingerprints(held, runs, coins) for held in sorted(each)}
            promises = [_ordered(pair, [fingerprints[held] for held in pair], delta)[1].promise for pair in candidates]
            candidates = [candidates[i] for i in np.argsort(promises)[::-1][:kept].tolist()]
    return candidates[0]
