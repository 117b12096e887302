"""The attack from the outside: sound, sharp, and able to catch what is broken."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from broken_protocols import (
    KeepsTooOften,
    OneCoinForAll,
    ThresholdOffByOne,
    TooFewDummies,
    TooLittleNoise,
    UnaccountedTail,
)
from scipy.special import bdtr, bdtrc, chdtri
from scipy.stats import binom

from headcount.audit.attacks.events import clopper_pearson_epsilon
from headcount.audit.attacks.lower_bound import attack
from headcount.audit.attacks.observation import Observer, Vantage
from headcount.audit.attacks.pairs import pairs
from headcount.audit.attacks.wording import crowds_in_words
from headcount.audit.conformance.exact_loss import exact_delta
from headcount.errors import BadArgument, Unsupported
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from headcount_survey.pages.attacks import attacks, sharpest
from stress import TINIES, lengths, tinies

SHARP = ["geometric", "randomised-response", "basic-rappor", "zsum", "poisson-count", "blanket-histogram"]


def name_of(tiny):
    return f"{tiny.name}-{tiny.task.name}-{tiny.neighbours}"


@lengths("seeds", 1, 4)
@tinies()
def test_sound_claims_stand(tiny, seeds):
    """Two hundred runs over all instances, at length: none raises an alarm."""
    for seed in range(seeds):
        assert not attack(tiny, samples=4_000, coins=SeededCoins(seed)).violated


@pytest.mark.parametrize("name", SHARP)
def test_nine_tenths_of_the_exact_epsilon_are_found(name):
    (row,) = attacks(10**6, 1, [named(name).tiny()])
    assert row.sound
    assert 0.3 <= row.exact <= 4.0
    assert row.reached >= 0.9


@pytest.mark.parametrize(
    ("twin", "delta"),
    [
        (TooLittleNoise, 0.0),
        (TooFewDummies, None),
        (UnaccountedTail, None),
        (ThresholdOffByOne, None),
        (KeepsTooOften, 0.0),
    ],
    ids=lambda case: getattr(case, "__name__", str(case)),
)
def test_broken_twins_are_caught(twin, delta):
    found = attack(twin.tiny(), samples=10**6, delta=delta, coins=SeededCoins(3))
    assert found.violated, str(found)
    assert str(found).startswith("VIOLATED")


def test_a_twin_with_reports_of_its_own_is_run_crowd_by_crowd():
    """One coin for all six people shows in what the crowd sends, though each of them is flipped as often as said."""
    assert attack(OneCoinForAll.tiny(), samples=4_000, coins=SeededCoins(1)).violated


class LineByLine(Protocol):
    """Whatever protocol it is mixed into, run crowd by crowd as devices and analyser would."""

    def reports(self, values, coins):
        return super().reports(values, coins)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("geometric", "view"),
        ("basic-rappor", "view"),
        ("subset-selection", "released"),
        ("zsum", "released"),
        ("split-and-mix", "view"),
        ("cheu-sum", "view"),
        ("sample-threshold", "view"),
    ],
)
def test_many_crowds_at_once_look_like_one_after_the_other(name, seen):
    tiny = named(name).tiny()
    slow = type("Slow", (LineByLine, type(tiny)), {})(**{field: getattr(tiny, field) for field in _fields(tiny)})
    held = (tiny.crowd.size - 1, 1, *(0 for _ in range(tiny.task.values - 2)))
    together = Observer(tiny, Vantage(seen)).fingerprints(held, 40_000, SeededCoins(1))
    singly = Observer(slow, Vantage(seen)).fingerprints(held, 10_000, SeededCoins(2))
    different, place = np.unique(np.concatenate([together, singly]), return_inverse=True)
    table = np.array([np.bincount(part, minlength=different.size) for part in (place[:40_000], place[40_000:])])
    often = table.sum(axis=0) >= 250
    table = np.column_stack([table[:, often], table[:, ~often].sum(axis=1)])
    table = table[:, table.sum(axis=0) >= 50]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert ((table - expected) ** 2 / expected).sum() <= chdtri(max(1, table.shape[1] - 1), 1e-6)


def _fields(protocol):
    return ("task", "crowd", "neighbours", *protocol.parameter_names()[1])


def test_attributed_messages_are_the_reports_of_the_same_coins():
    for tiny in TINIES:
        values = (np.arange(12) % tiny.task.values).astype(np.uint8)
        messages, owners = tiny.attributed(values, np.arange(12), SeededCoins(5))
        assert messages.tobytes() == tiny.reports(values, SeededCoins(5)).messages.tobytes()
        assert owners.size == messages.size


def test_every_message_is_its_owners():
    """Shares add up to what their owner holds plus the owner's noise; rows have their owner's bit; copies follow."""
    values = np.arange(3_000, dtype=np.uint8) % 3
    owners = np.arange(3_000)
    subsets = replace(named("subset-selection").tiny(), task=Histogram(3), keep=1.0, size=1)
    rows = named("basic-rappor")(task=Histogram(3), crowd=Crowd(3), keep=1.0, flip=2.0**-60)
    for protocol in (subsets, rows):
        messages, whose = protocol.attributed(values, owners, SeededCoins(1))
        assert (messages.view(np.uint8).ravel() == 1 << values[whose].astype(int)).all()
    spread = replace(named("split-and-mix").tiny(), inner=60.0)
    bits = values % 2
    messages, whose = spread.attributed(bits, owners, SeededCoins(1))
    sums = np.bincount(whose, weights=messages["share"]).astype(int) % spread.modulus
    assert (sums == bits).all()


@pytest.mark.parametrize("name", ["zsum", "randomised-response", "shuffled-local-hashing", "cheu-sum"])
def test_single_messages_and_answers_can_be_attacked(name):
    tiny = named(name).tiny()
    view = attack(tiny, samples=20_000, delta=0.05, coins=SeededCoins(1))
    answer = attack(tiny, samples=20_000, delta=0.05, seen="released", coins=SeededCoins(1))
    message = attack(tiny, samples=20_000, delta=0.05, seen="message", coins=SeededCoins(1))
    assert not any(found.violated for found in (view, answer, message))
    assert message.epsilon > 0.5
    assert message.pair[0] != message.pair[1]
    assert sum(message.pair[0]) == 1


def test_one_message_gives_away_its_local_epsilon():
    tiny = named("blanket-histogram").tiny()
    found = attack(tiny, samples=200_000, seen="message", delta=0.0, coins=SeededCoins(1))
    assert 0.9 * tiny.local_epsilon < found.epsilon <= tiny.local_epsilon
    assert found.claim == pytest.approx(tiny.local_epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.5])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_bound_is_wrong_as_rarely_as_it_says(epsilon, delta):
    """Exactly, over all outcomes of 60 runs each."""
    runs, error, q = 60, 0.05, 0.15
    p = delta + math.exp(epsilon) * q
    hits = np.arange(runs + 1)
    proved = clopper_pearson_epsilon(hits[:, None], hits[None, :], runs, delta, error)
    chance = np.outer(binom.pmf(hits, runs, p), binom.pmf(hits, runs, q))
    assert chance[proved > epsilon + 1e-12].sum() <= error


def test_the_bound_is_clopper_and_pearsons():
    proved = clopper_pearson_epsilon(np.array(900), np.array(100), 1_000, 0.1, 2e-6)
    low = np.linspace(0.8, 0.9, 100_001)[np.searchsorted(bdtrc(899, 1_000, np.linspace(0.8, 0.9, 100_001)), 1e-6)]
    high = np.linspace(0.2, 0.1, 100_001)[np.searchsorted(bdtr(100, 1_000, np.linspace(0.2, 0.1, 100_001)), 1e-6)]
    assert proved == pytest.approx(math.log((low - 0.1) / high), abs=1e-4)
    assert clopper_pearson_epsilon(np.array(0), np.array(1_000), 1_000, 0.0, 1e-6) == 0.0


def test_pairs_differ_in_one_person():
    assert ((6, 0), (5, 1)) in pairs(named("zsum").tiny(), 6)
    for first, second in pairs(named("stability-histogram").tiny(), 4):
        assert sum(first) == sum(second) == 4
        assert sum(abs(a - b) for a, b in zip(first, second, strict=True)) == 2
    leaving = named("geometric")(task=Histogram(3), crowd=Crowd(4), scale=0.5, neighbours="add-remove")
    assert {abs(sum(a) - sum(b)) for a, b in pairs(leaving, 4)} == {1}
    assert len(pairs(named("generalised-response")(task=Histogram(100), crowd=Crowd(50), keep=0.5), 50)) <= 100


def test_a_given_pair_is_attacked():
    found = attack(named("zsum").tiny(), samples=20_000, pair=((2, 2), (1, 3)), delta=0.2, coins=SeededCoins(1))
    assert set(found.pair) == {(2, 2), (1, 3)}
    assert found.claim == named("zsum").tiny().loss_if(4).epsilon(0.2)


def test_the_delta_of_a_row_belongs_to_its_epsilon():
    tiny = named("zsum").tiny()
    epsilon, delta = sharpest(tiny, 6)
    assert float(exact_delta(tiny, 6, [epsilon])[0].high) == pytest.approx(delta)


def test_crowds_and_events_in_words():
    assert crowds_in_words((5, 1), (6, 0)) == "5 hold 0; one more holds 1 rather than 0"
    assert crowds_in_words((0, 1), (1, 0)) == "one person holds 1 rather than 0"
    assert crowds_in_words((1, 0, 2), (1, 0, 1)) == "1 holds 0, 1 holds 2; one more, who holds 2, is there"
    assert crowds_in_words((2, 0), (3, 0)) == "2 hold 0; one more, who holds 0, is missing"
    words = {
        "geometric": r"the released total is -?\d+ or (more|less)",
        "zsum": r"the number of messages is \d+ or (more|less)",
        "randomised-response": r"the messages are 1×[01]",
        "stability-histogram": r"the released totals are one of \d+, above all \(",
    }
    for name, pattern in words.items():
        found = attack(named(name).tiny(), samples=50_000, coins=SeededCoins(2))
        assert re.match(pattern, found.event), found.event


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"seen": "everything"}, "seen"),
        ({"samples": 10}, "samples"),
        ({"samples": math.nan}, "samples"),
        ({"delta": 1.0}, "delta"),
        ({"error": 0.0}, "error"),
        ({"people": 0}, "people"),
        ({"pair": ((6, 0), (4, 2))}, "pair"),
        ({"pair": ((6, 0), (5, 0))}, "pair"),
        ({"pair": ((5, 0, 1), (5, 1, 0))}, "pair"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, argument):
    with pytest.raises(BadArgument) as refusal:
        attack(named("zsum").tiny(), **wrong)
    assert refusal.value.argument == argument


def test_more_people_than_a_threshold_is_planned_for_are_refused():
    with pytest.raises(BadArgument, match="at most 6"):
        attack(named("sample-threshold").tiny(), people=7)


def test_what_cannot_be_attacked_is_refused():
    unknown = named("stability-histogram")(task=Histogram(), crowd=Crowd(4), scale=0.5, threshold=2)
    numbers = replace(named("duchi").tiny(), task=Sum((0, 1)))
    for protocol, seen in ((unknown, "view"), (numbers, "view"), (named("geometric").tiny(), "message")):
        with pytest.raises(Unsupported):
            attack(protocol, seen=seen)
