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
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount.audit.attacks.events import clopper_pearson_epsilon, most_telling
from headcount.audit.attacks.observation import Observer, Vantage
from headcount.audit.attacks.pairs import Pair, neighbouring, pairs
from headcount.audit.attacks.wording import crowds_in_words, event_in_words
from headcount.common.calls import checked
from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.privacy.loss import NoGuarantee, PrivacyLoss
from headcount.privacy.model import Model, Party
from headcount.programme.coins import Coins, SecretCoins
from headcount.protocols.base.protocol import Protocol

FEWEST = 1_000
MOST = 10**9
MOST_PEOPLE = 10_000
PILOTS = ((100, 8), (10, 3), (4, 1))  # which part of the samples, and how many pairs go on
TOLD = 4_000  # runs from which the event is put into words
TYPICAL = 1.0  # the epsilon whose delta is attacked unless told


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


@checked
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
    """A lower bound on epsilon from protocol runs on adjacent crowds, by Clopper-Pearson intervals.

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
    if not isinstance(protocol, Protocol):
        raise BadArgument("protocol", f"is {protocol!r}", "give a protocol, as plan.protocol or hc.protocol(…)")
    observer, coins = Observer(protocol, Vantage.parse(seen)), coins or SecretCoins()
    works = f"use a whole number from {FEWEST:,} on, for example 1,000,000"
    if not quantity("samples", samples, works).is_integer() or samples < FEWEST:
        raise BadArgument("samples", f"is {samples!r}", works)
    if samples > MOST:
        raise BadArgument("samples", f"is {samples:g}", f"use at most {MOST:g}")
    if not 0.0 < quantity("error", error, "use a number such as 1e-6") < 1.0:
        raise BadArgument("error", f"is {error:g}", "use a number between 0 and 1, for example 1e-6")
    if pair is not None:
        pair = neighbouring(protocol, pair)
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


def _people(observer: Observer, people: int | None) -> int:
    """Crowd size: one if a single report is observed; otherwise the honest people, unless given."""
    if observer.seen is Vantage.MESSAGE or (observer.seen is Vantage.VIEW and observer.protocol.model is Model.LOCAL):
        return 1
    number = quantity("people", observer.protocol.crowd.honest if people is None else people, "use a whole number")
    if number != int(number) or number < 1:
        raise BadArgument("people", f"is {number:g}", "use a whole number of people")
    if observer.protocol.model is Model.THRESHOLD and number > (most := observer.protocol.crowd.size):
        raise BadArgument("people", f"is {number:g}, more than it is planned for", f"use at most {most:,}")
    return int(number)


def _promised(observer: Observer, people: int) -> PrivacyLoss:
    """The privacy loss the protocol states for what is observed, among this many honest people."""
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
    (first, second), event = most_telling(
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


def _most_telling_pair(observer: Observer, candidates: list[Pair], samples: int, delta: float, coins: Coins) -> Pair:
    """The pair with the largest epsilon, by a small pilot and, for the best few, a larger one."""
    for part, kept in PILOTS:
        if len(candidates) > kept:
            runs, each = max(FEWEST, samples // part), {held for pair in candidates for held in pair}
            fingerprints = {held: observer.fingerprints(held, runs, coins) for held in sorted(each)}
            promises = [
                most_telling(pair, [fingerprints[held] for held in pair], delta)[1].promise for pair in candidates
            ]
            candidates = [candidates[i] for i in np.argsort(promises)[::-1][:kept].tolist()]
    return candidates[0]
