"""Checks of samplers: draws follow their laws, and people's draws are independent."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from headcount.audit.conformance.all_tapes import TooManyTapes, coarsened, fitting_base, law_over_all_tapes
from headcount.audit.conformance.check import goodness_of_fit, require
from headcount.audit.enumeration import PLACE, Enumerated, Held, as_integers, in_order, one_report
from headcount.privacy.crowd import Crowd
from headcount.programme.brick import Brick
from headcount.programme.coins import SeededCoins
from headcount.programme.report_law import WHOLE, Message
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol

RUNS = 4_000
PAIRS = 1_000


def the_sampler_follows_the_programme(protocol: Protocol) -> None:
    """Over all tapes of a coarsened programme, messages have exactly the enumerated law.

    Where there are too many tapes, a goodness-of-fit test of random ones.
    """
    base = fitting_base(protocol.programme)
    programme = coarsened(protocol.programme, base)
    for value in range(protocol.task.values):
        try:
            outcomes = law_over_all_tapes(protocol, programme, value, base)
        except TooManyTapes:
            law = _lists(protocol.programme, value)
            goodness_of_fit(protocol, _many_reports(protocol, value), law, f"a report of value {value}")
            continue
        expected = _lists(programme, value)
        for sent in expected.keys() | outcomes.keys():
            drawn, right = outcomes.get(sent, 0.0), expected.get(sent, 0.0)
            require(
                math.isclose(drawn, right, abs_tol=1e-12),
                f"{protocol.name}: value {value} is drawn into {sent} with chance {drawn:.9g}, "
                f"and the programme's law has {right:.9g}",
            )


def _lists(programme: Brick, value: int) -> dict[tuple[Message, ...], float]:
    """The probability of each sorted list of messages."""
    law = programme.law({"value": value})
    return {
        tuple(message for message, times in multiset for _ in range(times)): mass / law.total
        for multiset, mass in law.masses.items()
    }


def _many_reports(protocol: Protocol, value: int) -> Counter[tuple[Message, ...]]:
    values = np.full(RUNS, value, dtype=np.min_scalar_type(value))
    messages, owners = protocol.attributed(values, np.arange(RUNS), SeededCoins(6))
    order = np.argsort(owners, kind="stable")
    ends = np.searchsorted(owners[order], np.arange(1, RUNS))
    return Counter(map(in_order, np.split(messages[order], ends)))


def what_is_drawn_is_what_is_claimed(protocol: Protocol) -> None:
    """Released tallies of the real sampler have the enumerated law of their crowd."""
    held = _mixed(protocol)
    values = np.repeat(np.arange(len(held)), held).astype(np.min_scalar_type(len(held)))
    coins = SeededCoins(1)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(RUNS):
        released = protocol.release(protocol.tally(protocol.reports(values, coins)), coins)
        require(released.totals.dtype == np.int64, f"{protocol.name}: a total is not an integer")
        seen[tuple(released.totals.tolist())] += 1
    goodness_of_fit(protocol, seen, _released(protocol, held), "the sampler")


def the_shortcut_is_the_protocol(protocol: Protocol) -> None:
    """`sample` draws released tallies from the same law as the people themselves."""
    held = _mixed(protocol)
    direct = type(protocol).sample is not Protocol.sample
    totals = protocol.sample(np.array(held), SeededCoins(2), 10 * RUNS if direct else RUNS)
    goodness_of_fit(protocol, Counter(map(tuple, totals.tolist())), _released(protocol, held), "sample")


def _mixed(protocol: Protocol) -> Held:
    """A crowd in which the values are as evenly held as possible."""
    values, people = protocol.task.values, protocol.crowd.size
    return tuple(people // values + (value < people % values) for value in range(values))


def _released(protocol: Protocol, held: Held) -> dict[Any, float]:
    outcomes = zip(*Enumerated(protocol).released(held), strict=True)
    return {tuple(total.tolist()): float(mass) for total, mass in outcomes}


def the_order_of_messages_tells_nothing(protocol: Protocol) -> None:
    """Messages are handed on in an order that does not depend on their senders."""
    crowd, task = protocol.among(Crowd(60)), protocol.task
    values = np.arange(60)[::-1] % task.values
    data = [task.domain.label(value) for value in values.tolist()]
    batch = crowd.randomise(data, SeededCoins(3))
    same = bool((batch.messages == batch.shuffled().messages).all())
    require(same, f"{protocol.name}: messages are handed on in the order in which they were sent")


def people_draw_apart(protocol: Protocol) -> None:
    """Reports of two people with the same value are independent: they share no random word."""
    enumerated, coins, seen = Enumerated(protocol), SeededCoins(4), Counter[int]()
    every = range(protocol.task.values)
    most = max(every, key=lambda value: len(one_report(protocol, value).masses))  # where there is most to draw
    held, values = tuple(2 * (value == most) for value in every), np.full(2, most, dtype=np.min_scalar_type(most))
    place = {message: 1 << PLACE * i for i, message in enumerate(enumerated.alphabet)}
    for _ in range(PAIRS):
        sent = map(as_integers, protocol.reports(values, coins).messages.tolist())
        seen[sum(place.get(message, -1) for message in sent)] += 1
    law = {number: part / WHOLE for number, part in enumerated.messages.law(held).items()}
    goodness_of_fit(protocol, seen, law, "a pair of reports")


def all_randomness_is_an_argument(protocol: Protocol) -> None:
    """Equal coins give equal messages, other coins give others: no hidden seed or state."""
    crowd = protocol.among(Crowd(400))
    values = (np.arange(400) % protocol.task.values).astype(np.min_scalar_type(protocol.task.values))

    def seen(seed: int) -> list[tuple[bytes, Tally]]:
        coins = SeededCoins(seed)
        batches = [crowd.reports(values, coins) for _ in range(12)]
        return [(batch.shuffled().messages.tobytes(), crowd.release(crowd.tally(batch), coins)) for batch in batches]

    require(seen(1) == seen(1), f"{protocol.name}: the same coins give different answers")
    require(seen(1) != seen(2), f"{protocol.name}: the answer does not depend on the coins")
    require(len(set(seen(1))) > 1, f"{protocol.name}: every run gives the same answer")
