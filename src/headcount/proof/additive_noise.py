"""Shuffled messages in which people hide behind noise that everybody adds, whatever they hold.

Part of a report is decided by the value alone, the rest does not depend on it. The view is how
often each message occurs: fixed numbers that one person changes, plus the noise of all honest
people. Messages whose noise has nothing to do with those that change tell nothing, and groups of
messages with noise of their own are independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from flint import arb

from headcount.proof.ball_laws import BallLaw, ball, geometric_more, least, most
from headcount.proof.claim import Claim, Proof
from headcount.proof.divergence import BallPair, Bounds, either_order, worst_of
from headcount.proof.effort import TooLarge, spend
from headcount.proof.enumeration import Message
from headcount.proof.many_pairs import ManyPairs
from headcount.proof.noise_sources import NoiseSources, NotFixed, Source, fixed
from headcount.proof.programme import All, Maybe, Step, reads
from headcount.proof.table_laws import NegativeBinomial, NoSuchLaw

MOST_VALUES = 1 << 17
FEW_VALUES = 48
MOST_MESSAGES = 1 << 20
NOT_APART = "there are messages that are not hidden separately"
COMPARED = 1 << 10  # values of which all pairs are looked at
PAIR = 8  # units for two values that are compared

BECAUSE = (
    "what a person sends is fixed by their value, the noise of the {people:,} honest people is not; sums of such noise "
    "are known laws, and the tables lie within {distance:.2g} of them in all"
)


def _parts(step: Step) -> Iterator[Step]:
    if isinstance(step, All):
        for part in step.parts:
            yield from _parts(part)
    else:
        yield step


def prove(claim: Claim) -> Proof | None:
    if claim.model != "shuffle" or claim.neighbours != "replace" or claim.values is None:
        return None
    parts = list(_parts(claim.report))
    own, keep = _kept([part for part in parts if "value" in reads(part)])
    if claim.values > MOST_VALUES:
        return None
    try:
        sent = _sent(own, claim.values)
        noise = NoiseSources(claim.honest)
        for part in parts:
            if "value" not in reads(part):
                noise.add(part, {})
    except (NotFixed, NoSuchLaw):
        return None
    cases = list(_cases(sent, noise, keep))
    if not cases:
        return Proof(lambda _: Bounds.at_most(Fraction(0)), "what a person sends does not depend on what they hold")

    def bounds(epsilon: Fraction) -> Bounds:
        both = 1 + most(ball(epsilon).exp())  # a distance counts on either side
        return worst_of(
            case.bounds(epsilon).widened(both * (noise.distance + case.surplus), both * noise.distance)
            for case in cases
        )

    return Proof(bounds, BECAUSE.format(people=claim.honest, distance=float(noise.distance)))


def _kept(own: list[Step]) -> tuple[All, Fraction]:
    """The part that depends on the value, and the chance with which all of it is sent."""
    match own:
        case [Maybe(keep, inner, All(()))] if "value" in reads(inner):
            return All((inner,)), keep
    return All(tuple(own)), Fraction(1)


def _thinned(pair: BallPair, times: int, keep: Fraction) -> BallPair:
    """The pair if what the person sends of this message is only sent with this chance."""
    if keep == 1:
        return pair
    spend(4 * len(pair.p))
    kept, dropped = ball(keep), 1 - ball(keep)
    p, q = (pair.q, pair.p) if times > 0 else (pair.p, pair.q)  # p has the message
    mixed = [kept * a + dropped * b for a, b in zip(p, q, strict=True)]
    return BallPair(q, mixed, pair.outside) if times > 0 else BallPair(mixed, q, pair.outside)


def _sent(own: Step, values: int) -> list[Counter[Message]]:
    """The messages of a person who holds each value."""
    sent, messages = [], 0
    for value in range(values):
        sent.append(fixed(own, {"value": value}))
        messages += len(sent[-1])
        if messages > MOST_MESSAGES:
            raise TooLarge("there are too many messages that depend on the value")
    return sent


@dataclass(frozen=True)
class Case:
    """Two adjacent crowds, the real noise's surplus over that assumed, and whether they exist."""

    pairs: tuple[BallPair, ...]
    surplus: Fraction
    crowds: str
    attained: bool = True
    symmetric: bool = False  # whether as many messages of each kind are one more as are one less

    def bounds(self, epsilon: Fraction) -> Bounds:
        found = either_order(epsilon, *self.pairs) if len(self.pairs) <= 2 else self._together.worst(epsilon)
        return (found if self.attained else found.only_above).among(self.crowds)

    @cached_property
    def _together(self) -> ManyPairs:
        """Equal pairs are the same objects."""
        times = Counter(map(id, self.pairs))
        different = {id(pair): pair for pair in self.pairs}
        return ManyPairs([(pair, times[name]) for name, pair in different.items()], self.symmetric)


def _cases(sent: list[Counter[Message]], noise: NoiseSources, keep: Fraction) -> Iterator[Case]:
    """One case for each two values that differ in what hides them."""
    groups = _Groups(noise)
    seen = set()
    if len(sent) <= FEW_VALUES:
        held = [*range(len(sent))]
    else:  # values that are hidden alike need not be told apart: each against the first and the second of its like
        alike: defaultdict[object, list[int]] = defaultdict(list)
        for value, messages in enumerate(sent):
            alike[frozenset((groups.of(message).key, times) for message, times in messages.items())].append(value)
        if any(len(messages) != 1 for messages in sent):
            if keep < 1:
                raise TooLarge(NOT_APART)
            yield _all_changed(sent, groups)
            return
        if groups.of_different(map(_only, sent)) < len(sent):
            raise TooLarge(NOT_APART)
        held = [value for values in alike.values() for value in values[:2]]
    for first, second in combinations(held, 2):  # in either order
        spend(PAIR + 2 * (len(sent[first]) + len(sent[second])))
        change = Counter(sent[first])
        change.subtract(sent[second])
        moved = {message: times for message, times in change.items() if times}
        if not moved:
            continue
        if keep < 1 and len({times > 0 for times in moved.values()}) < len(moved):
            raise TooLarge("two messages of a person are sent or not together")
        touched = [groups.of(message) for message in moved]
        if groups.of_different(moved) < len(moved):
            raise TooLarge(NOT_APART)
        keys = (group.key for group in touched)
        changes = Counter(zip(keys, moved.values(), strict=True))
        key = frozenset(changes.items())
        if key in seen:
            continue
        seen.add(key)
        shifts = [group.shifted(times) for group, times in zip(touched, moved.values(), strict=True)]
        pairs = [_thinned(pair, times, keep) for (pair, _), times in zip(shifts, moved.values(), strict=True)]
        text = f"one person holds {first} in one crowd and {second} in the other; all others are the same"
        even = changes == Counter({(role, -by): many for (role, by), many in changes.items()})
        extra = sum((extra for _, extra in shifts), Fraction(0))
        yield Case(tuple(pairs), extra, text, symmetric=even)


def _all_changed(sent: list[Counter[Message]], groups: _Groups) -> Case:
    """One person who changes all their messages, all hidden alike: the worst there may be.

    Messages that two values share do not change, which tells less.
    """
    many, messages = len(sent[0]), {message for each in sent for message in each}
    spend(PAIR * sum(map(len, sent)))
    if any(len(each) != many or set(each.values()) != {1} for each in sent):
        raise TooLarge("there are too many values, and not all of them send as many messages")
    if groups.of_different(messages) < len(messages) or len({groups.of(message).key for message in messages}) > 1:
        raise TooLarge(NOT_APART)
    group = groups.of(_only(sent[0]))
    (up, extra), (down, more) = group.shifted(1), group.shifted(-1)
    attained = any(not sent[0].keys() & each.keys() for each in sent)
    if not attained and len(sent) <= COMPARED:
        spend(PAIR * len(sent) * len(sent))
        many -= min(len(first.keys() & second.keys()) for first, second in combinations(sent, 2))
        attained = True
    text = f"one person changes {2 * many} messages; all others are the same"
    return Case((up,) * many + (down,) * many, many * (extra + more), text, attained, symmetric=True)


def _only(messages: Counter[Message]) -> Message:
    return next(iter(messages))


class _Groups:
    """Messages that share noise, found by joining the members of each source."""

    def __init__(self, noise: NoiseSources) -> None:
        self._parent: dict[Message, Message] = {}
        for sent, _ in noise.sources:
            first = self._root(sent[0][0])
            for message, _ in sent[1:]:
                self._parent[self._root(message)] = first
        self._members: defaultdict[Message, list[Source]] = defaultdict(list)
        for source in noise.sources:
            self._members[self._root(source[0][0][0])].append(source)
        self._people = noise.people
        self._pairs: dict[object, tuple[BallPair, Fraction]] = {}

    def _root(self, message: Message) -> Message:
        self._parent.setdefault(message, message)
        while (parent := self._parent[message]) != message:
            self._parent[message] = message = self._parent[parent]
        return message

    def of_different(self, messages: Iterable[Message]) -> int:
        """The number of groups that these messages belong to."""
        return len({self._root(message) for message in messages})

    def of(self, message: Message) -> NoiseGroup:
        return NoiseGroup(message, self._members[self._root(message)], self._people, self._pairs)


@dataclass(frozen=True)
class NoiseGroup:
    """One message, and all the noise of those that share some with it."""

    message: Message
    members: list[Source]
    people: int
    known: dict[object, tuple[BallPair, Fraction]]

    @property
    def key(self) -> frozenset[object]:
        """Equal for messages hidden alike: how often each law sends this one and others."""
        spend(4 * sum(len(sent) for sent, _ in self.members) + 1)
        roles = ((often, dict(sent).get(self.message, 0), sum(dict(sent).values())) for sent, often in self.members)
        return frozenset(Counter(roles).items())

    def shifted(self, times: int) -> tuple[BallPair, Fraction]:
        """The pair of this message with and without the person's, and the real noise's surplus."""
        known = (self.key, times)
        if known not in self.known:
            self.known[known] = self._shifted(times)
        return self.known[known]

    def _shifted(self, times: int) -> tuple[BallPair, Fraction]:
        if not self.members:
            return BallPair.shifted(BallLaw(0, [arb(1)], arb(0)), times), Fraction(0)
        if len(self.members) == 1 and self.members[0][0] == ((self.message, 1),):
            return BallPair.shifted(self.members[0][1].in_crowd(self.people), times), Fraction(0)
        return self._cancelling(times)

    def _cancelling(self, times: int) -> tuple[BallPair, Fraction]:
        r"""Geometric noise A on this message, B on another, Z on both: P[A = k] = (1 - q) q^k.

        The view is (A - B, B + Z), of which w = A - B moves by one. With h the law of Z +
        Geom(q^2), P[w, v] = (1 - q)/(1 + q) q^|w| h(v - max(0, -w)). All w > 0 have the likelihood
        ratio q and the mass q/(1 + q); those w <= 0 with v + w = t have h(t) against q h(t - 1),
        and together 1/(1 + q) times that.
        """
        alone = [often for sent, often in self.members if sent == ((self.message, 1),)]
        others = {message for sent, _ in self.members for message, _ in sent} - {self.message}
        other = next(iter(others), None)
        away = [often for sent, often in self.members if sent == ((other, 1),)]
        both = [often for sent, often in self.members if dict(sent) == {self.message: 1, other: 1}]
        if abs(times) != 1 or len(others) != 1 or [len(alone), len(away), len(both), len(self.members)] != [1, 1, 1, 3]:
            raise TooLarge("messages share noise in a way that is not known here")
        own, flood = alone[0], both[0]
        if not isinstance(own, NegativeBinomial) or away[0] != own:
            raise TooLarge("messages share noise in a way that is not known here")
        surplus = own.shape_in_crowd(self.people) - 1
        if least(surplus) < 0:
            raise TooLarge("fewer people take part than the noise was made for")
        q = ball(own.decay)
        hidden = geometric_more(flood.in_crowd(self.people), q * q)
        spend(2 * len(hidden.masses))
        p = [mass / (1 + q) for mass in [*hidden.masses, arb(0)]]
        before = [q * mass / (1 + q) for mass in [arb(0), *hidden.masses]]
        pair = BallPair([*p, q / (1 + q)], [*before, 1 / (1 + q)], hidden.outside)
        # More noise than that is as good as noise added later; how likely A or B has any bounds the
        # difference.
        extra = 2 * (1 - ((1 - q).log() * surplus).exp())
        return pair if times > 0 else pair.reversed, most(extra)
