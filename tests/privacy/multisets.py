"""What an analyser sees of a handful of people, enumerated: the law of the multiset of all messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import reduce

import truth

Message = Hashable
MessageLaw = dict[Message, Fraction]
View = dict[tuple[Message, ...], Fraction]


def uniform(messages: Iterable[Message]) -> MessageLaw:
    listed = list(messages)
    return dict.fromkeys(listed, Fraction(1, len(listed)))


def shuffled(laws: Iterable[MessageLaw]) -> View:
    """One independent message from each of the laws, in no order."""

    def one_more(view: View, law: MessageLaw) -> View:
        following: View = defaultdict(Fraction)
        for seen, chance in view.items():
            for message, mass in law.items():
                following[tuple(sorted((*seen, message)))] += chance * mass  # type: ignore[type-var]
        return following

    return reduce(one_more, laws, {(): Fraction(1)})


def hockey_stick(p: View, q: View, epsilon: float) -> float:
    factor = Fraction(str(truth.mp.exp(epsilon)))
    return float(sum(max(mass - factor * q.get(seen, Fraction(0)), Fraction(0)) for seen, mass in p.items()))
